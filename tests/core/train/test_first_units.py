"""The first units tell apart what a plate is made of, whatever its channels and their range are."""

from __future__ import annotations

import io

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.core.train.decoded import decoded
from torch import Tensor

from understudy.dataset import Dataset
from understudy.report.progress import Progress
from understudy.settings import Settings
from understudy.train.first_units import spread_first_units
from understudy.train.fit import fit_model
from understudy.train.network import NetworkSpec, Understudy, with_squares
from understudy.train.prepare import first_model

CHANNELS = {1: ("A",), 3: ("R", "G", "B"), 4: ("R", "G", "B", "A")}
SHADES = 400


def wedge(num_channels: int, brightest: float) -> NDArray[np.float64]:
    """A plate of 400 flat places, from black up, of numbers that half floats hold, as pairs are held."""
    shades = np.linspace(0, brightest, SHADES).reshape(20, 20, 1)
    plate = shades.repeat(num_channels, axis=2) * np.linspace(1, 0.5, num_channels)
    return plate.astype(np.float16).astype(np.float64)


def first_of(plate: NDArray[np.floating]) -> Understudy:
    channels = CHANNELS[plate.shape[2]]
    model = Understudy(NetworkSpec(input_channels=channels, target_channels=channels, model_size="small"))
    pairs = (decoded(plate, plate),)
    fit_model(model, pairs)
    spread_first_units(model, pairs)
    return model


def on_flat_places(model: Understudy, plate: NDArray[np.floating]) -> Tensor:
    """What the first layer gives before it bends, with each pixel a place of its own: P W0."""
    shades = torch.from_numpy(plate.astype(np.float32)).reshape(-1, plate.shape[2], 1, 1)
    places = shades.expand(-1, -1, 3, 3)  # P Cin 3 3
    weights, biases = (model.get_parameter(f"unet.enter.0.0.{name}") for name in ("weight", "bias"))
    given: Tensor = torch.nn.functional.conv2d(with_squares(model.input_transfer.encode(places)), weights, biases)
    return given.detach().flatten(1)


def assert_spread(model: Understudy, plate: NDArray[np.floating]) -> None:
    off = (on_flat_places(model, plate) < 0).float().mean(dim=0)
    torch.testing.assert_close(off, (torch.arange(len(off)) + 0.5) / len(off), rtol=0, atol=2 / SHADES)


@pytest.mark.parametrize("num_channels", sorted(CHANNELS))
@pytest.mark.parametrize("brightest", [0.02, 1.0, 50.0])
def test_each_unit_bends_at_another_shade(num_channels: int, brightest: float) -> None:
    plate = wedge(num_channels, brightest)
    assert_spread(first_of(plate), plate)


def test_a_plate_of_one_shade_puts_every_unit_at_it() -> None:
    plate = np.full((20, 20, 3), 0.25)
    given = on_flat_places(first_of(plate), plate)
    torch.testing.assert_close(given, torch.zeros_like(given), rtol=0, atol=1e-6)


def test_pixels_that_are_no_numbers_count_for_nothing() -> None:
    plate = wedge(3, 1.0)
    broken = plate.copy()
    broken[3, 4], broken[12, 1] = np.nan, np.inf
    assert_spread(first_of(broken), plate)


def test_every_new_run_begins_so() -> None:
    plate = wedge(3, 1.0)
    dataset = Dataset(pairs=(decoded(plate, plate),), input_channels=CHANNELS[3], target_channels=CHANNELS[3])
    assert_spread(first_model(Settings(model_size="small"), dataset, Progress("plain", io.StringIO())), plate)
