"""ColorCorrect: saturation, contrast, gamma, gain and offset for shadows, midtones, highlights and all of them.

All of it follows the DeepCorrect example of Nuke's developer kit, ColorCorrect's twin for deep pictures. In each range
((value / own) ** contrast * own / all) ** contrast * all is taken to the power of 1 / gamma, where `own` and `all` are
the values that the range's contrast and the contrast for all leave alone. Luminance says how much of each range counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Colour, Knob, Stated, bool_knob, colour_knob
from understudy.script.nodes.base import Tree
from understudy.script.nodes.colours import ColourNode, Recolour, luminance
from understudy.script.nodes.pixels import PixelNode
from understudy.script.values.moment import Moment
from understudy.script.values.written import words_of

_MOST = 1000.0
"""Exponents beyond it are taken for it."""
_PIVOT = 0.18
"""What contrast leaves alone."""
_SHADOWS_END = 0.09
"""Luminance from which nothing is a shadow; shadows fade from 0 on."""
_HIGHLIGHTS_START = 0.5
"""Luminance up to which nothing is a highlight; all of it is one from 1 on."""
_OWN_CURVES = {
    "shadow": ("", "curve 1 s0 x0.09 0 s0"),
    "midtone": ("", "1-shadow-highlight"),
    "highlight": ("", "curve x0.5 0 s0 x1 1 s0"),
}


@dataclass(frozen=True, kw_only=True)
class _Knobs:
    """Those of one range, or of all."""

    saturation: Knob[Colour]
    contrast: Knob[Colour]
    gamma: Knob[Colour]
    gain: Knob[Colour]
    offset: Knob[Colour]

    def all(self) -> tuple[Knob[Colour], ...]:
        return self.saturation, self.contrast, self.gamma, self.gain, self.offset


def _knobs(prefix: str) -> _Knobs:
    return _Knobs(
        saturation=colour_knob(f"{prefix}saturation", 1.0),
        contrast=colour_knob(f"{prefix}contrast", 1.0),
        gamma=colour_knob(f"{prefix}gamma", 1.0),
        gain=colour_knob(f"{prefix}gain", 1.0),
        offset=colour_knob(f"{prefix}offset", 0.0),
    )


def _lookup(stated: Stated) -> str:
    """Nothing, where the curves are Nuke's own."""
    words = words_of(stated.raw)
    curves = dict(zip(words[::2], words[1::2], strict=False))
    is_own = all(" ".join(curve.split()) in _OWN_CURVES.get(name, ()) for name, curve in curves.items())
    return "" if is_own and len(words) == 2 * len(curves) else stated.raw


MASTER = _knobs("")
RANGES = ((_knobs("shadows."), 0.04), (_knobs("midtones."), _PIVOT), (_knobs("highlights."), 0.65))
"""From dark to light, with the value that the range's contrast leaves alone."""
LOOKUP = Knob(name="lookup", default="", parse=_lookup)


class ColorCorrect(ColourNode):
    names = ("ColorCorrect",)
    page = "color_nodes/colorcorrect.html"
    takes_alpha = True
    knobs = (*PixelNode.knobs, *MASTER.all(), *(knob for knobs, _ in RANGES for knob in knobs.all()))
    fixed = (*PixelNode.fixed, LOOKUP, bool_knob("test", False))

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        moment = tree.moment(frame)
        ranges = [_grade(node, moment, knobs, pivot) for knobs, pivot in RANGES]

        return partial(_graded, grades=ranges)


@dataclass(frozen=True, kw_only=True)
class _Grade:
    """What a range and all ranges together do to red, green, blue and alpha. Equal where it is the same."""

    saturations: tuple[float, ...]
    exponents: tuple[float, ...]
    factors: tuple[float, ...]
    offsets: tuple[float, ...]

    def of(self, pixels: FloatPixels, light: FloatPixels) -> FloatPixels:
        """H W C, where `light`, H W, is their luminance."""
        out = np.empty_like(pixels)
        for part in range(pixels.shape[2]):
            values, saturation = pixels[..., part], np.float32(self.saturations[part])
            if saturation != 1:
                values = values * saturation + light * (1 - saturation)
            if self.exponents[part] != 1:
                values = np.where(values > 0, np.maximum(values, 0) ** np.float32(self.exponents[part]), values)
            out[..., part] = values * np.float32(self.factors[part]) + np.float32(self.offsets[part])
        return out


def _graded(pixels: FloatPixels, grades: Sequence[_Grade]) -> FloatPixels:
    """H W C: what each range makes of them, by its share of their luminance."""
    light = luminance(pixels)
    if grades[0] == grades[1] == grades[2]:
        return grades[0].of(pixels, light)
    shadows = _fall(light / np.float32(_SHADOWS_END))
    highlights = 1 - _fall((light - np.float32(_HIGHLIGHTS_START)) / np.float32(1 - _HIGHLIGHTS_START))
    out = np.zeros_like(pixels)
    shares: dict[_Grade, FloatPixels] = {}
    for grade, share in zip(grades, (shadows, 1 - shadows - highlights, highlights), strict=True):
        shares[grade] = shares[grade] + share if grade in shares else share
    for grade, share in shares.items():
        out += grade.of(pixels, light) * share[..., None]
    return out


def _fall(along: FloatPixels) -> FloatPixels:
    """From 1 at 0 and below to 0 at 1 and above, flat at both ends."""
    place = np.clip(along, np.float32(0), np.float32(1))
    fall: FloatPixels = 1 - place * place * (3 - 2 * place)
    return fall


def _grade(node: Node, moment: Moment, knobs: _Knobs, pivot: float) -> _Grade:
    own = [knob.of(node, moment) for knob in knobs.all()]
    master = [knob.of(node, moment) for knob in MASTER.all()]
    parts = [
        _part(tuple(value[part] for value in own), tuple(value[part] for value in master), pivot) for part in range(4)
    ]
    saturations, exponents, factors, offsets = zip(*parts, strict=True)
    return _Grade(saturations=saturations, exponents=exponents, factors=factors, offsets=offsets)


def _part(own: tuple[float, ...], master: tuple[float, ...], pivot: float) -> tuple[float, float, float, float]:
    """Saturation, exponent, factor and offset of one channel: both powers, and all that is multiplied, in one."""
    gamma = own[2] * master[2]
    bend = _clipped(1 / gamma, 0.0) if gamma else _MOST
    exponent = _clipped(own[1] * master[1] * bend, 0.0)
    kept = _power(pivot, (1 - own[1]) * master[1] * bend) * _power(_PIVOT, (1 - master[1]) * bend)
    return own[0] * master[0], exponent, kept * own[3] * master[3], own[4] + master[4]


def _power(base: float, exponent: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float64(base) ** _clipped(exponent, -_MOST))


def _clipped(exponent: float, low: float) -> float:
    return min(max(exponent, low), _MOST)
