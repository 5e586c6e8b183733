"""What kind of work pairs are taken for, and what a run makes of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.core.train.decoded import decoded

from understudy.dataset import Dataset
from understudy.settings import Task
from understudy.train.fit import fit_model
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.work import has_soft_edges, work_of

RGB, MATTE = ("R", "G", "B"), ("A",)
Pixels = NDArray[np.float32]


def dataset(seen: Pixels, wanted: Pixels, targets: tuple[str, ...]) -> Dataset:
    return Dataset(pairs=(decoded(seen, wanted, 16),), input_channels=RGB, target_channels=targets)


def plate() -> Pixels:
    return np.random.default_rng(0).random((64, 96, 3), np.float32)


def disc(num_channels: int) -> Pixels:
    y, x = np.mgrid[:64, :96]
    cover = np.clip(20.5 - np.hypot(y - 30, x - 40), 0, 1)
    return np.repeat(cover[..., None], num_channels, axis=2).astype(np.float32)


def patched() -> Pixels:
    made = plate()
    made[10:30, 20:60] *= 0.5
    return made


@pytest.mark.parametrize(
    ("wanted", "targets", "expected"),
    [
        (disc(1), MATTE, "matte (auto: the target is A)"),
        (disc(3), RGB, "matte (auto: 98% of the target is black or white)"),
        (patched(), RGB, "cleanup (auto: 87% of the pixels stay as they are)"),
        (plate()[..., ::-1] * 2, RGB, "look (auto: 0% of the pixels stay as they are)"),
        (plate(), ("depth.Z", "U", "V"), "look (auto: 0% of the pixels stay as they are)"),
        (100 * disc(3), RGB, "look (auto: 0% of the pixels stay as they are)"),
    ],
)
def test_auto_says_what_it_saw(wanted: Pixels, targets: tuple[str, ...], expected: str) -> None:
    assert str(work_of("auto", dataset(plate(), wanted, targets))) == expected


@pytest.mark.parametrize("task", ["matte", "cleanup", "look"])
def test_what_is_asked_for_is_taken(task: Task) -> None:
    work = work_of(task, dataset(plate(), disc(1), MATTE))
    assert str(work) == task
    assert work.measure == ("sharp" if task == "matte" else "squared")
    assert work.fall == ("steady" if task == "matte" else "held")
    assert work.miss_power == (2 if task == "matte" else 1)
    assert work.wakes == (task != "matte")


def test_a_matte_in_colour_channels_is_learnt_without_a_curve() -> None:
    found = dataset(plate(), disc(3), RGB)
    for is_matte in (True, False):
        model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size="small"))
        fit_model(model, found.training, is_matte=is_matte)
        assert bool(model.input_transfer.gain.all())
        assert bool(model.target_transfer.gain.any()) != is_matte


def test_validation_frames_are_not_asked() -> None:
    both = dataset(plate(), patched(), RGB).pairs + dataset(plate(), 2 * plate(), RGB).pairs
    last = dataclasses.replace(both[1], pair=dataclasses.replace(both[1].pair, use="validation"))
    found = Dataset(pairs=(both[0], last), input_channels=RGB, target_channels=RGB)
    assert work_of("auto", found).task == "cleanup"


@pytest.mark.parametrize(("wanted", "soft"), [(disc(1), True), (np.rint(disc(1)), False), (0 * disc(1), False)])
def test_a_matte_that_is_cut_out_hard_has_no_soft_edges(wanted: Pixels, soft: bool) -> None:
    assert has_soft_edges(dataset(plate(), wanted, MATTE)) == soft
