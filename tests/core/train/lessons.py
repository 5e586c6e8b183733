"""A small run without files: a network, two pairs of which one has pixels that are no numbers, and its steps."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from torch import Tensor

from understudy.dataset import Dataset, DecodedPair
from understudy.dataset.shelf import Shelf
from understudy.frames.colour import ColourRules
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train import device
from understudy.train.batch_plan import BatchPlan
from understudy.train.checkpoint import load_checkpoint
from understudy.train.crops import CropPlan
from understudy.train.device import Machine
from understudy.train.fit import fit_model
from understudy.train.gather import gather
from understudy.train.model_file import load_model, load_tensors
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.recordings import learn_for
from understudy.train.run import Run
from understudy.train.schedule import Schedule, StepPlan
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState, new_state
from understudy.train.step import train_step

RGB = ("R", "G", "B")
CROP_SIZE = 16
BATCH_SIZE = 5
"""No multiple of 2 or 3: shares are uneven."""
LEARNING_RATE = 5e-4
"""At twice that, rounding grows a hundredfold in four steps, in a lone run that is shaken by 1e-15, too."""


def machine(dtype: torch.dtype, device: str = "cpu") -> Machine:
    return Machine(device=torch.device(device), bfloat16=False, dtype=dtype)


def first_state(dtype: torch.dtype = torch.float64, seed: int = 0, device: str = "cpu") -> TrainingState:
    torch.manual_seed(seed)
    model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size="small"))
    fit_model(model, pairs())
    return new_state(model, machine(dtype, device), crops().interest, wakes=True)


def saved_state(files: RunFiles, step: int) -> TrainingState:
    """Of the run's checkpoint, whatever its frames were."""
    blocks = load_tensors(files.state(step))[0]["misses/blocks"].shape[1]
    state = new_state(load_model(files.model(step)).model, machine(torch.float32), (np.zeros((1, blocks), np.float32),))
    load_checkpoint(files, step, state)
    return state


@functools.cache
def pairs() -> tuple[DecodedPair, ...]:
    random = np.random.default_rng(0)
    plates = [random.random((40, 48, 3)) for _ in range(2)]
    paints = [plate.copy() for plate in plates]
    paints[0][5:25, 10:30] = 0.2
    paints[1][10:30, 5:25] = 0.7
    plates[1][:12, :20] = np.nan  # crops differ in how many of their pixels count
    return tuple(decoded(plate, paint, CROP_SIZE) for plate, paint in zip(plates, paints, strict=True))


def mapped_pairs(folder: Path) -> tuple[DecodedPair, ...]:
    """The plates in memory, the paint in a mapped file."""
    with Shelf(0, lambda: (folder / "frames").open("x+b"), folder) as shelf:
        kept = [shelf.keep(pair.target) for pair in pairs()]
        return tuple(replace(pair, target=shelf.take(place)) for pair, place in zip(pairs(), kept, strict=True))


@functools.cache
def crops() -> CropPlan:
    return CropPlan(pairs(), tuple(np.ones((3, 3), np.float32) for _ in pairs()), crop_size=CROP_SIZE, seed=3)


def small_run(settings: Settings | None = None, training: tuple[DecodedPair, ...] | None = None) -> Run:
    """Of the pairs above, if no others are given."""
    training = training or pairs()
    return Run(
        files=RunFiles(Path(), "r"),
        settings=settings or Settings(),
        dataset=Dataset(pairs=training, input_channels=RGB, target_channels=RGB),
        training=training,
        encoded=None,
        grain=None,
        squares=(),
        colour=ColourRules(),
        machine=machine(torch.float32),
        schedule=Schedule(total_steps=100, knob_learning_rate=1e-3, fall="held", multi_resolution=False),
        measure="squared",
        miss_power=1,
        wakes=False,
        batch=BatchPlan(size=BATCH_SIZE),
        crops=crops(),
        previews=(),
    )


def take_steps(
    state: TrainingState,
    sharing: Sharing,
    num_steps: int,
    *,
    learning_rate: float = LEARNING_RATE,
    batch_size: int = BATCH_SIZE,
    reduction: int = 1,
    bfloat16: bool = False,
) -> None:
    """As the loop does: this rank's crops of each step, then the step."""
    place = replace(machine(next(state.model.parameters()).dtype), bfloat16=bfloat16)
    learn = learn_for(state, place, sharing, "squared")
    for step in range(state.step + 1, state.step + 1 + num_steps):
        samples = sharing.share.computed(BatchPlan(size=batch_size).samples(step))
        batch = gather(pairs(), crops(), state.misses, samples)
        sharing.begin_step(step, reduction, is_last=False)
        plan = StepPlan(learning_rate=learning_rate, reduction=reduction)
        train_step(state, batch, plan, sharing, learn)


def weights_of(state: TrainingState) -> Tensor:
    """All of the model's."""
    return torch.cat([parameter.detach().flatten() for parameter in state.model.parameters()])


def average_of(state: TrainingState) -> Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in state.averaged.parameters()])


def distance(one: Tensor, other: Tensor) -> float:
    """Relative to the length of `other`."""
    return float((one - other).norm() / other.norm())


def let_first_steps_be(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those after which a batch grows that is chosen."""
    for name in ("FIRST_STEPS", "SLOW_FIRST_STEPS"):
        monkeypatch.setattr(device, name, number)
