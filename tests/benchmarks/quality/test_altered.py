"""Every choice that can be undone is undone: the run becomes another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from benchmarks.quality.altered import ALTERATIONS
from safetensors.torch import load_file
from tests.core.train.shots import SmallShot, make_shot, write_picture
from torch import Tensor

from understudy.cli.main import main
from understudy.errors import EXIT_DONE
from understudy.frames.read import read_image
from understudy.train import fit, misses

STEPS = 32
"""Of the 48 crops from step 9 on a quarter is drawn by what was missed; of fewer it may be none."""
HAD_ANYWAY = (
    "squared error",
    "black and white to be met",
    "held rate",
    "a fall to a fortieth",
    "second looks by absolute error",
    "last units wake",
    "no shifts",
    "an eighth shifted",
    "paint as large as white",
)
"""Or it is nothing to them: to pictures, of which the shot is one; and to this one, of which the mark goes from black
to half of white."""


@pytest.fixture(scope="module", autouse=True)
def soon_looked_again() -> Iterator[None]:
    """What was missed counts from step 9 on."""
    with patch.object(misses, "STEPS_BETWEEN", 4):
        yield


@pytest.fixture(scope="module")
def shot(tmp_path_factory: pytest.TempPathFactory) -> SmallShot:
    return make_shot(tmp_path_factory.mktemp("shot"))


@pytest.fixture(scope="module")
def usual(shot: SmallShot) -> dict[str, Tensor]:
    return trained(shot, "usual")


def trained(shot: SmallShot, name: str, *more: str) -> dict[str, Tensor]:
    words = [*shot.train_words("--run-name", name, *more, steps=STEPS), "--no-validation-squares"]
    assert main(words) == EXIT_DONE
    return load_file(shot.data / f"{name}.{STEPS}.safetensors")


def test_a_run_is_the_same_again(shot: SmallShot, usual: dict[str, Tensor]) -> None:
    again = trained(shot, "again")
    assert all(torch.equal(again[name], tensor) for name, tensor in usual.items())


@pytest.mark.parametrize("name", [name for name in ALTERATIONS if name not in HAD_ANYWAY])
def test_an_alteration_alters(shot: SmallShot, usual: dict[str, Tensor], name: str) -> None:
    with ALTERATIONS[name]():
        other = trained(shot, name.replace(" ", "_"))
    assert not all(torch.equal(other[key], tensor) for key, tensor in usual.items())


@pytest.mark.parametrize("name", HAD_ANYWAY)
def test_what_the_shot_has_anyway_alters_nothing(shot: SmallShot, usual: dict[str, Tensor], name: str) -> None:
    with ALTERATIONS[name]():
        other = trained(shot, name.replace(" ", "_"))
    assert all(torch.equal(other[key], tensor) for key, tensor in usual.items())


@pytest.mark.parametrize(
    "name", ["a fall to a fortieth", "second looks by absolute error", "last units wake", "no shifts", "no grain"]
)
def test_what_mattes_alone_have_or_lack_is_undone_for_a_matte(shot: SmallShot, name: str) -> None:
    matte = trained(shot, f"matte_before_{name.replace(' ', '_')}", "--task", "matte")
    with ALTERATIONS[name]():
        other = trained(shot, f"matte_with_{name.replace(' ', '_')}", "--task", "matte")
    assert not all(torch.equal(other[key], tensor) for key, tensor in matte.items())


def test_black_and_white_of_coverage_are_to_be_met_again(tmp_path: Path) -> None:
    shot = make_shot(tmp_path / "coverage")
    for frame in (1001, 1003):
        is_dark = read_image(shot.folder / f"plate.{frame}.exr").pixels.mean(axis=2, keepdims=True) < 0.5
        write_picture(shot.folder / f"paint.{frame}.exr", is_dark.astype(np.float32), ("A",))
    usual = trained(shot, "usual", "--target-layer", "A")
    with ALTERATIONS["black and white to be met"]():
        other = trained(shot, "met", "--target-layer", "A")
    assert not all(torch.equal(other[key], tensor) for key, tensor in usual.items())


def test_paint_that_is_faint_becomes_as_large_as_white() -> None:
    errors = np.full((8, 3), 0.05, np.float32)
    assert fit.paint_size(errors) == pytest.approx(0.2)
    with ALTERATIONS["paint as large as white"]():
        assert fit.paint_size(errors) == fit.LARGEST_PAINT
