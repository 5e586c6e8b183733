"""What is to stay stays to the last bit; what is a mix of channels is found."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.core.train.decoded import decoded
from torch import nn

from understudy.train.crops import BLOCK
from understudy.train.fit import (
    LARGEST_PAINT,
    SAMPLE_PIXELS,
    SMALLEST_PAINT,
    fit_ends,
    fit_model,
    interest_of,
    paint_size,
    sample_pixels,
)
from understudy.train.guess import PIXELS_AT_ONCE, fit_guess
from understudy.train.network import NetworkSpec, Understudy

RGB = ("R", "G", "B")


def fitted(plate: NDArray[np.floating], paint: NDArray[np.floating]) -> Understudy:
    channels = RGB if paint.shape[2] == 3 else ("A",)
    model = Understudy(NetworkSpec(input_channels=RGB, target_channels=channels, model_size="small"))
    fit_model(model, (decoded(plate, paint),))
    return model


def test_a_painted_patch_leaves_the_guess_the_identity() -> None:
    plate = np.random.default_rng(0).random((64, 64, 3)) * 20
    paint = plate.copy()
    paint[10:30, 10:30] = 0.5
    model = fitted(plate, paint)
    assert torch.equal(model.guess_matrix, torch.eye(3))
    assert torch.equal(model.guess_offset, torch.zeros(3))
    pixels = torch.from_numpy(plate.astype(np.float32)).permute(2, 0, 1)[None]
    torch.testing.assert_close(model(pixels), pixels, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("side", [4, 16, 40])
@pytest.mark.parametrize(("change", "size"), [(0.0, SMALLEST_PAINT), (0.1, 0.4), (0.3, 1.2), (2.0, LARGEST_PAINT)])
def test_paint_is_measured_by_its_size_not_by_how_much_of_the_frame_it_covers(
    side: int, change: float, size: float
) -> None:
    errors = np.full((64, 64, 3), 1e-5, np.float32)
    errors[:side, :side, 1] = change
    assert paint_size(errors.reshape(-1, 3)) == pytest.approx(size, rel=0.05)


def test_a_model_knows_the_size_of_its_paint() -> None:
    plate = np.random.default_rng(0).random((64, 64, 3))
    paint = plate.copy()
    paint[4:12, 4:12] *= 0.9
    model = fitted(plate, paint)
    there = torch.from_numpy(np.stack([plate, paint])[:, 4:12, 4:12].astype(np.float32)).permute(0, 3, 1, 2)
    seen, wanted = model.target_transfer.encode(there)
    assert float(model.paint_size) == pytest.approx(4 * float((seen - wanted).mean()), rel=0.1)


def test_another_size_of_paint_changes_no_answer() -> None:
    torch.manual_seed(0)
    model = fitted(np.random.default_rng(0).random((32, 32, 3)), np.full((32, 32, 3), 0.5))
    scene = torch.rand(1, 3, 32, 32)
    guess = model(scene)
    nn.init.normal_(model.leave.weight, std=0.01)
    before = model(scene)
    assert not torch.allclose(before, guess, rtol=1e-3)
    model.set_paint_size(0.05)
    torch.testing.assert_close(model(scene), before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("painted", [0.0, 1.0, -0.0001, 1.0001, -0.05, 1.05])
def test_a_matte_ends_at_black_and_white_unless_it_is_painted_beyond(painted: float) -> None:
    plate = np.random.default_rng(0).random((32, 32, 3))
    paint = np.full((32, 32, 1), 0.5)
    paint[3, 4] = painted
    assert fitted(plate, paint).target_transfer.num_ends.tolist() == [2 if -0.01 < painted < 1.01 else 0]
    assert not fitted(plate, plate).target_transfer.num_ends.any(), "colour has no ends"


def test_colour_ends_at_black_where_much_of_it_is_just_that_and_nothing_is_darker() -> None:
    plate = np.random.default_rng(0).random((32, 32, 3))
    cut_out = plate.copy()
    cut_out[:8, :2] = 0  # a 64th
    cut_out[0, 0, 0] = -1e-5  # less than a hair
    cut_out[0, 0, 1] = -0.01
    cut_out[1:, :, 2] = plate[1:, :, 2]  # two of 1024
    assert fitted(plate, cut_out).target_transfer.num_ends.tolist() == [1, 0, 0]


def test_a_matte_that_goes_on_as_colour_has_but_the_ends_of_its_curve() -> None:
    plate = np.random.default_rng(0).random((32, 32, 3))
    model = fitted(plate, plate)
    black_or_white = (decoded(plate, (plate > 0.5).astype(float)),)
    fit_ends(model, black_or_white, is_matte=True)
    assert model.target_transfer.num_ends.tolist() == [2, 2, 2], "the curve of colour leaves white where it is"
    model.target_transfer.set_curves([(0.0, 0.5)] * 3)
    fit_ends(model, black_or_white, is_matte=True)
    assert model.target_transfer.num_ends.tolist() == [1, 1, 1]
    fit_ends(model, (decoded(plate, plate),), is_matte=False)
    assert not model.target_transfer.num_ends.any()


def test_a_mix_of_channels_is_found_and_constant_channels_do_not_disturb() -> None:
    inputs = np.random.default_rng(0).random((5000, 4)).astype(np.float32)
    inputs[:, 3] = 1.0
    targets = inputs[:, :1] * 0.3 + inputs[:, 1:2] * 0.7
    matrix, offset = fit_guess(inputs, targets)
    np.testing.assert_allclose(matrix[0, :3], [0.3, 0.7, 0.0], atol=1e-3)
    assert inputs @ matrix.T + offset == pytest.approx(targets, abs=1e-3)


def test_pixels_of_many_rounds_count_alike() -> None:
    random = np.random.default_rng(0)
    inputs = random.random((3 * PIXELS_AT_ONCE + 1, 1)).astype(np.float32)
    targets = inputs * 0.5
    targets[PIXELS_AT_ONCE : 2 * PIXELS_AT_ONCE] = random.random((PIXELS_AT_ONCE, 1))  # a piece of its own, all painted
    matrix, offset = fit_guess(inputs, targets)
    assert matrix[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert offset[0] == pytest.approx(0.0, abs=1e-3)


def test_every_pixel_of_a_small_frame_is_sampled_once_and_some_of_a_large_one() -> None:
    small = np.arange(5 * 7 * 3, dtype=np.float32).reshape(5, 7, 3)
    large = np.stack(np.broadcast_arrays(*np.ogrid[:500.0, :600.0], 0.0), axis=-1)  # of each pixel, where it lies
    mask = np.ones((5, 7), np.bool_)
    mask[2] = False
    masked = dataclasses.replace(decoded(small, small, crop_size=1), valid=mask)
    inputs, targets = sample_pixels((decoded(small, small + 1, crop_size=1), decoded(large, large), masked))
    np.testing.assert_array_equal(inputs[:35], small.reshape(-1, 3))
    np.testing.assert_array_equal(targets[:35], inputs[:35] + 1)
    np.testing.assert_array_equal(inputs[-28:], small[mask])
    places = inputs[35:-28] @ (600, 1, 0)
    assert len(places) == SAMPLE_PIXELS // 3
    assert (places[0], places[-1]) == (0, 500 * 600 - 1)
    assert (np.diff(places) > 0).all()


def test_interest_lies_where_paint_is() -> None:
    plate = np.random.default_rng(0).random((50, 70, 3))
    paint = plate.copy()
    paint[32:48, 48:64] += 0.5
    interest = interest_of(fitted(plate, paint), decoded(plate, paint))
    assert interest.shape == (4, 5)
    assert divmod(int(interest.argmax()), 5) == (2, 3)
    assert interest[2, 3] > 100 * np.delete(interest.ravel(), 2 * 5 + 3).max()


def test_pixels_that_are_not_finite_do_not_reach_the_fit() -> None:
    plate = np.random.default_rng(0).random((64, 64, 3))
    paint = plate * 0.5
    broken = plate.copy()
    broken[:20] = np.nan
    clean, with_nan = fitted(plate[20:], paint[20:]), fitted(broken, paint)
    torch.testing.assert_close(with_nan.guess_matrix, clean.guess_matrix, rtol=1e-2, atol=1e-2)
    assert torch.isfinite(with_nan.guess_matrix).all()


def test_of_a_large_frame_every_line_is_seen() -> None:
    plate = np.zeros((2049, 2050, 3), np.float32)
    paint = plate.copy()
    paint[1003], paint[:, 517], paint[2048], paint[:, 2049] = 0.5, 0.5, 0.5, 0.5
    model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size="small"))
    interest = interest_of(model, decoded(plate, paint))
    assert interest.shape == (129, 129)
    rows, columns = interest.sum(axis=1), interest.sum(axis=0)
    assert set(np.argsort(rows)[-2:]) == {1003 // BLOCK, 2048 // BLOCK}
    assert set(np.argsort(columns)[-2:]) == {517 // BLOCK, 2049 // BLOCK}
