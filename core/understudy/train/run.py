"""One run, as fixed before its first step: what it learns from, on what, and by which schedule."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.dataset import Dataset, DecodedPair
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train.batch_plan import BatchPlan
from understudy.train.crops import CropPlan
from understudy.train.device import Machine
from understudy.train.encoded_frames import EncodedFrames
from understudy.train.grain import Grain
from understudy.train.loss import ErrorMeasure
from understudy.train.schedule import Schedule
from understudy.train.squares import Square


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The part of a validation frame that contact sheets show: where there is most to learn."""

    name: str
    """File of the input."""
    input: FloatPixels
    """H W Cin, scene-linear."""
    target: FloatPixels
    """H W Cout."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything about a run that its steps do not change."""

    files: RunFiles
    settings: Settings
    dataset: Dataset
    training: tuple[DecodedPair, ...]
    """Of the data set, as they are learnt from: the pixels of `squares` are not valid."""
    encoded: EncodedFrames | None
    """`training` in transfer space, where that is to be had (encoded_frames.py); None: steps encode what they see."""
    grain: Grain | None
    """That is laid over crops (grain.py); None: none is."""
    squares: tuple[Square, ...]
    """By which the run is judged where there are no validation frames."""
    colour: ColourRules
    machine: Machine
    schedule: Schedule
    measure: ErrorMeasure
    """Of the loss."""
    miss_power: float
    """`Misses` takes it."""
    wakes: bool
    """Last units that are off where much is wrong are woken (waking.py)."""
    batch: BatchPlan
    crops: CropPlan
    previews: tuple[Preview, ...]
    """One per validation frame."""

    @property
    def validation(self) -> tuple[DecodedPair, ...]:
        return self.dataset.validation
