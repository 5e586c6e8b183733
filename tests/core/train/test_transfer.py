"""The HDR curve is exact both ways, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from understudy.train.transfer import HAIR, Transfer, choose_curve


@pytest.mark.parametrize("channel", ["R", "diffuse.G", "A", "Z", "forward.u"])
def test_what_goes_through_comes_back(channel: str) -> None:
    values = np.array([-60.0, -0.5, 0.0, 1e-6, 0.18, 1.0, 12.0, 413.0, 65504.0, 9e6], np.float32)
    transfer = Transfer(1)
    transfer.set_curves([choose_curve(channel, values)])
    scene = torch.from_numpy(values)[None, None, None]
    back = transfer.decode(transfer.encode(scene))
    torch.testing.assert_close(back, scene, rtol=2e-5, atol=1e-7)


def test_colour_is_curved_mattes_are_straight_and_data_is_brought_near_one() -> None:
    assert choose_curve("whitebarmask.mask", np.array([0, 1], np.float32)) == (0.0, 1.0)
    gain, scale = choose_curve("R", np.array([0, 400], np.float32))
    assert scale * np.arcsinh(gain * 1.0) == pytest.approx(1.0)
    assert scale * np.arcsinh(gain * 400.0) < 3
    vectors = np.linspace(-50, 50, 1001).astype(np.float32)
    gain, scale = choose_curve("forward.u", vectors)
    assert gain == 0
    assert 50 * scale == pytest.approx(1.0, rel=0.2)
    depth = np.concatenate([np.linspace(1, 10, 1000), [1e10]]).astype(np.float32)
    gain, scale = choose_curve("Z", depth)
    assert scale * np.arcsinh(gain * 1e10) < 20


def test_straight_channels_send_finite_gradients_back() -> None:
    """sinh of a large straight value overflows in the branch that is not taken."""
    transfer = Transfer(1)
    encoded = torch.full((1, 1, 2, 2), 500.0, requires_grad=True)
    transfer.decode(encoded).sum().backward()  # type: ignore[no-untyped-call]
    assert encoded.grad is not None
    assert torch.isfinite(encoded.grad).all()


@pytest.mark.parametrize("curves", [[(16.0, 0.3)] * 3, [(16.0, 0.3), (0.0, 0.01), (3e-4, 0.5)]])
def test_half_is_encoded_as_its_float_is(curves: list[tuple[float, float]]) -> None:
    transfer = Transfer(3)
    transfer.set_curves(curves)
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = torch.from_numpy(every[np.isfinite(every)].copy()).reshape(1, 1, 1, -1).expand(1, 3, 1, -1)
    encoded = transfer.encode(finite)
    assert encoded.dtype == torch.float32
    torch.testing.assert_close(encoded, transfer.encode(finite.float()), rtol=1e-6, atol=1e-9)
    transfer.set_curves([(0.0, 2.0)] * 3)
    assert transfer.encode(finite).equal(finite.float() * 2), "other curves, other tables"


@pytest.mark.parametrize(
    "curves", [[(16.0, 0.3)] * 3, [(0.0, 1.0)] * 3, [(0.0, 0.5)] * 3, [(16.0, 0.3), (0.0, 1.0), (0.0, 0.5)]]
)
@pytest.mark.parametrize("given", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("own", [torch.float32, torch.float64])
def test_the_more_precise_of_pixels_and_curves_decides(
    curves: list[tuple[float, float]], given: torch.dtype, own: torch.dtype
) -> None:
    transfer = Transfer(3).to(own)
    transfer.set_curves(curves)
    assert transfer.encode(torch.rand(1, 3, 4, 4).to(given)).dtype == torch.promote_types(given, own)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_curve_is_asinh_from_the_smallest_number_to_the_largest(dtype: torch.dtype) -> None:
    transfer = Transfer(1).to(dtype)
    transfer.set_curves([(16.0, 1.0)])
    sizes = torch.logspace(-40, 36, 10001, dtype=torch.float64).to(dtype)
    scene = torch.cat([-sizes, torch.zeros(1, dtype=dtype), sizes])[None, None, None]
    expected = torch.asinh(16 * scene.double()).to(dtype)
    rounding = torch.finfo(dtype).eps
    torch.testing.assert_close(transfer.encode(scene), expected, rtol=4 * rounding, atol=1e-43)


def test_black_and_white_are_ends_and_what_lies_between_comes_back_as_it_is() -> None:
    transfer = Transfer(3)
    transfer.set_ends([2, 1, 0])
    values = torch.linspace(-0.5, 1.5, 20001, dtype=torch.float64).float()
    matte, cut_out, data = transfer.decode(values.expand(1, 3, 1, -1))[0, :, 0]
    assert data.equal(values)
    for ended in (matte, cut_out):
        assert (ended[values < HAIR] == 0).all()
        between = (values >= 2 * HAIR) & (values <= 1 - 2 * HAIR)
        assert ended[between].equal(values[between])
        assert (ended.diff() >= 0).all()
        assert ended.diff().max() < 2.01 * values.diff().max(), "no jump"
    assert (matte[values > 1 - HAIR] == 1).all()
    assert cut_out[values > 0.5].equal(values[values > 0.5])


def test_colour_that_ends_at_black_is_as_it_was_from_a_ten_thousandth_on() -> None:
    transfer = Transfer(1)
    transfer.set_curves([choose_curve("R", np.zeros(1, np.float32))])
    transfer.set_ends([1])
    scene = torch.logspace(-8, 4, 1000)[None, None, None]
    back = transfer.decode(transfer.encode(scene))
    visible = scene >= 1.1e-4
    torch.testing.assert_close(back[visible], scene[visible], rtol=1e-4, atol=0)
    assert (back[scene < 5e-5] == 0).all()
    assert (transfer.decode(-scene) == 0).all()


def test_which_channels_have_ends_is_told_for_the_loss() -> None:
    transfer = Transfer(3)
    assert transfer.ends() is None
    transfer.set_ends([0, 1, 2])
    ends = transfer.ends()
    assert ends is not None
    assert ends.black.flatten().tolist() == [False, True, True]
    assert ends.white.flatten().tolist() == [False, False, True]
