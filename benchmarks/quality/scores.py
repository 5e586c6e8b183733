"""How close answers are to the truth of held-out frames: as displayed, in highlights, as a matte, and over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.kinds import is_colour
from understudy.frames.psnr import LEAST_ERROR, PooledPsnr

DARKEST = 2.0**-8
"""Added before the logarithm: darker than that counts as black."""
STOPS = 12.0
"""Peak of the HDR measure: from DARKEST to 16."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Of one model on one shot."""

    psnr: float
    """dB, colour as displayed (clamped, sRGB), mattes linear; higher is better."""
    log_psnr: float
    """dB, of stops, peak STOPS: what is above white counts; nan for mattes."""
    matte_error: float
    """Mean absolute error; nan for colour."""
    flicker: float
    """Mean change from frame to frame as displayed, over that of the truth: 1 is ideal, more is restless."""


def scores(channels: tuple[str, ...], answers: Mapping[int, FloatPixels], truths: Mapping[int, FloatPixels]) -> Scores:
    """By frame number, H W C each; frames that follow one another are compared for flicker."""
    pooled = PooledPsnr(channels)
    for frame, answer in answers.items():
        pooled.add(answer, truths[frame])
    is_matte = not any(map(is_colour, channels))
    wrong = [float(np.abs(answers[frame] - truths[frame]).mean()) for frame in answers]
    return Scores(
        psnr=pooled.decibels(),
        log_psnr=math.nan if is_matte else _log_psnr(answers, truths),
        matte_error=float(np.mean(wrong)) if is_matte else math.nan,
        flicker=_flicker(answers, truths),
    )


def _log_psnr(answers: Mapping[int, FloatPixels], truths: Mapping[int, FloatPixels]) -> float:
    errors = [np.square(_stops(answers[frame]) - _stops(truths[frame])).mean() for frame in answers]
    return 10 * math.log10(STOPS**2 / max(float(np.mean(errors)), LEAST_ERROR))


def _stops(pixels: FloatPixels) -> FloatPixels:
    stops: FloatPixels = np.log2(np.maximum(pixels, 0) + np.float32(DARKEST))
    return stops


def _flicker(answers: Mapping[int, FloatPixels], truths: Mapping[int, FloatPixels]) -> float:
    """nan when no two frames follow one another, or nothing changes in the truth."""
    changes, true_changes = 0.0, 0.0
    for frame in answers:
        if frame + 1 in answers:
            changes += float(np.abs(_seen(answers[frame + 1]) - _seen(answers[frame])).mean())
            true_changes += float(np.abs(_seen(truths[frame + 1]) - _seen(truths[frame])).mean())
    return changes / true_changes if true_changes else math.nan


def _seen(pixels: FloatPixels) -> FloatPixels:
    """Clamped, and brighter in shadows, as on a display."""
    clamped: FloatPixels = np.clip(pixels, 0, 1) ** np.float32(1 / 2.2)
    return clamped
