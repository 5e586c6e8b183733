"""The HDR curve is exact both ways, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from understudy.train.transfer import Transfer, choose_curve


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
