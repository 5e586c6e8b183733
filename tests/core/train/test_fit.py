"""What is to stay stays to the last bit; what is a mix of channels is found."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.core.train.decoded import decoded

from understudy.train.crops import BLOCK
from understudy.train.fit import fit_guess, fit_model, interest_of
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


def test_a_mix_of_channels_is_found_and_constant_channels_do_not_disturb() -> None:
    inputs = np.random.default_rng(0).random((5000, 4)).astype(np.float32)
    inputs[:, 3] = 1.0
    targets = inputs[:, :1] * 0.3 + inputs[:, 1:2] * 0.7
    matrix, offset = fit_guess(inputs, targets)
    np.testing.assert_allclose(matrix[0, :3], [0.3, 0.7, 0.0], atol=1e-3)
    assert inputs @ matrix.T + offset == pytest.approx(targets, abs=1e-3)


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
