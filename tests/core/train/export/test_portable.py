"""The module that other programs run gives the pixels of the network itself, at any size, in float and in half."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.core.train.export.models import RGB, ROUNDING, lively_model, scene_like

from understudy.settings import ModelSize
from understudy.train.export.portable import PortableUnderstudy
from understudy.train.export.proof import largest_difference

CHANNELS = [
    (RGB, RGB),
    ((*RGB, "A"), (*RGB, "A")),
    (RGB, ("A",)),
    ((*RGB, "Z", "forward.u"), ("forward.u", "forward.v")),
]

CALM = 0.004
"""Of a model without training, whose features are a third larger than while more layers lay between them: by it half
rounds its answers about as much as then. Those of trained models it rounds as before."""


@pytest.mark.parametrize(("height", "width"), [(1, 1), (16, 32), (17, 33), (15, 1), (64, 49), (101, 16)])
@pytest.mark.parametrize(("inputs", "targets"), CHANNELS)
@torch.no_grad()
def test_it_is_the_network_at_any_size(
    height: int, width: int, inputs: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    model = lively_model(inputs, targets)
    scene = scene_like(model, height, width)
    answer = PortableUnderstudy(model)(scene)
    assert answer.shape == (1, len(targets), height, width)
    assert largest_difference(model(scene).numpy(), answer.numpy()) < ROUNDING


@pytest.mark.parametrize("size", ["medium", "large"])
@torch.no_grad()
def test_it_is_the_network_at_every_model_size_and_for_several_pictures(size: ModelSize) -> None:
    model = lively_model(size=size)
    scene = scene_like(model, 37, 53).repeat(2, 1, 1, 1) * torch.tensor([1.0, 0.5]).reshape(2, 1, 1, 1)
    assert largest_difference(model(scene).numpy(), PortableUnderstudy(model)(scene).numpy()) < ROUNDING


@torch.no_grad()
def test_pixels_that_are_no_numbers_are_black_and_what_goes_out_is_finite() -> None:
    model = lively_model((*RGB, "Z"), (*RGB, "Z"))
    scene = scene_like(model, 40, 40)
    spoilt = scene.clone()
    for place, value in enumerate([np.nan, np.inf, -np.inf, 3e38, -1e35]):
        spoilt[0, :, 7 * place, 7 * place] = value
        scene[0, :, 7 * place, 7 * place] = 0.0
    answer = PortableUnderstudy(model)(spoilt)
    assert largest_difference(model(scene).numpy(), answer.numpy()) < ROUNDING
    assert PortableUnderstudy(model)(torch.full((1, 4, 20, 20), 1e30)).isfinite().all()


@torch.no_grad()
def test_half_leaves_curves_and_guess_alone_and_changes_little() -> None:
    model = lively_model(liveliness=CALM)
    portable = PortableUnderstudy(model)
    scene = scene_like(model, 61, 83).half()
    full = portable(scene.float())
    halved = PortableUnderstudy(model).half()
    assert {value.dtype for value in halved.state_dict().values()} == {torch.float16}
    assert (halved.input_gain, halved.guess_matrix) == (portable.input_gain, portable.guess_matrix)
    answer = halved(scene)
    assert answer.dtype == torch.float16
    assert largest_difference(full.numpy(), answer.float().numpy()) < 5e-3
    assert halved(scene.float()).dtype == torch.float32


@torch.no_grad()
def test_half_keeps_highlights_that_a_curve_in_half_would_lose() -> None:
    """From 4094 on 16 x pixel is infinite in half."""
    model = lively_model(liveliness=CALM)
    halved = PortableUnderstudy(model).half()
    scene = torch.linspace(3000, 60000, 48).reshape(1, 1, 1, 48).expand(1, 3, 32, 48)
    answer = halved(scene.half()).float()
    assert largest_difference(model(scene).clamp(-65504, 65504).numpy(), answer.numpy()) < 0.02
    assert not (scene.half() * 16).isfinite().all()


@torch.no_grad()
def test_half_is_finite_whatever_comes_in() -> None:
    for seed in range(3):
        halved = PortableUnderstudy(lively_model((*RGB, "Z"), (*RGB, "forward.u"), seed=seed)).half()
        scene = torch.randn(1, 4, 33, 47).mul(3e4).clamp(-65504, 65504).half()
        scene[0, :, ::5, ::3], scene[0, :, 1::5, ::3] = np.nan, np.inf
        assert halved(scene).isfinite().all()


@torch.no_grad()
def test_what_it_makes_on_the_way_lies_where_its_input_lies() -> None:
    """On another device than the CPU a tensor made without a word would end the frame."""
    portable = PortableUnderstudy(lively_model())
    assert portable.to("meta")(torch.empty(1, 3, 20, 30, device="meta")).shape == (1, 3, 20, 30)


def test_the_model_itself_stays_as_it_was() -> None:
    model = lively_model()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    PortableUnderstudy(model).half()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert model.leave.weight.requires_grad
