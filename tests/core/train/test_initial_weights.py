"""A run may start from any other run's weights: what the two have in common goes on, the rest begins anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.export.models import save_lively_model
from torch import Tensor
from torch.nn import functional

from understudy.dataset import DecodedPair
from understudy.errors import UnderstudyError
from understudy.settings import STARTING_WEIGHTS, ModelSize
from understudy.train.initial_weights import OURS, started_from
from understudy.train.network import NetworkSpec, Understudy

RGB, MATTE = ("R", "G", "B"), ("A",)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A model RGB -> RGB, A that paints something of its own everywhere."""
    torch.manual_seed(1)
    model = Understudy(spec(RGB, RGB + MATTE))
    for parameter in model.leave.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    model.set_paint_size(0.25)
    return save_lively_model(tmp_path / "other.1.safetensors", model)


def spec(inputs: tuple[str, ...], targets: tuple[str, ...], size: ModelSize = "small") -> NetworkSpec:
    return NetworkSpec(input_channels=inputs, target_channels=targets, model_size=size)


def pairs(num_inputs: int, num_targets: int) -> tuple[DecodedPair, ...]:
    pixels = np.random.default_rng(0)
    return (decoded(pixels.random((32, 32, num_inputs)), pixels.random((32, 32, num_targets))),)


def paint(model: Understudy, scene: Tensor) -> Tensor:
    """What the last layer says, before the guess: 1 2*Cout H W."""
    with torch.no_grad():
        answer = functional.conv2d(model.unet(scene), *model.last_layer())
    return answer


def test_the_same_channels_go_on_to_the_last_bit(weights: Path) -> None:
    same = started_from(weights, spec(RGB, RGB + MATTE), pairs(3, 4), print)
    again = started_from(weights, spec(RGB, RGB + MATTE), pairs(3, 4), print)
    assert all(map(torch.equal, same.state_dict().values(), again.state_dict().values()))
    assert same.leave.weight.abs().max() > 0


def test_what_goes_on_ends_where_its_new_pairs_do(weights: Path) -> None:
    painted = np.random.default_rng(0).random((32, 32, 4))
    assert started_from(weights, spec(RGB, RGB + MATTE), pairs(3, 4), print).target_transfer.num_ends[3] == 2
    painted[3, 4, 3] = -0.1
    painted[:8, :, 1] = 0
    there = (decoded(painted[..., :3], painted),)
    model = started_from(weights, spec(RGB, RGB + MATTE), there, print)
    assert model.target_transfer.num_ends.tolist() == [0, 1, 0, 0]


def test_an_input_more_changes_nothing_at_first(weights: Path) -> None:
    said: list[str] = []
    before = started_from(weights, spec(RGB, RGB + MATTE), pairs(3, 4), print)
    after = started_from(weights, spec(("depth.Z", *RGB), RGB + MATTE), pairs(4, 4), said.append)
    scene = torch.rand(1, 4, 40, 56)
    torch.testing.assert_close(paint(after, scene), paint(before, scene[:, 1:]), rtol=1e-4, atol=1e-5)
    assert said == [
        "Initial weights, Input: R,G,B as learnt; depth.Z begins anew",
        "Initial weights, Target: R,G,B,A as learnt",
    ]


def test_channels_are_found_by_name_in_any_order(weights: Path) -> None:
    before = started_from(weights, spec(RGB, RGB + MATTE), pairs(3, 4), print)
    after = started_from(weights, spec(("fg.blue", "fg.green", "fg.red"), ("mask.alpha", "G")), pairs(3, 2), print)
    scene = torch.rand(1, 3, 32, 32)
    expected = paint(before, scene)[:, [3, 1, 7, 5]]
    torch.testing.assert_close(paint(after, scene.flip(1)), expected, rtol=1e-4, atol=1e-5)


def test_a_new_target_starts_as_the_guess(weights: Path) -> None:
    model = started_from(weights, spec(RGB, ("Z",)), pairs(3, 1), print)
    assert not paint(model, torch.rand(1, 3, 32, 32)).any()
    assert model.guess_offset.abs().sum() > 0


def test_what_has_nothing_in_common_is_refused(weights: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"saw R,G,B, this run has U,V: not one input channel in common"):
        started_from(weights, spec(("U", "V"), RGB), pairs(2, 3), print)
    with pytest.raises(UnderstudyError, match=r"is a small model, this run has large; set --model-size small"):
        started_from(weights, spec(RGB, RGB, "large"), pairs(3, 3), print)


@pytest.mark.parametrize("name", STARTING_WEIGHTS)
def test_what_comes_with_understudy_is_small_and_found_by_name(name: str) -> None:
    model = started_from(Path(name), spec(RGB, RGB), pairs(3, 3), print)
    assert model.leave.weight.dtype == torch.float32
    assert paint(model, torch.rand(1, 3, 32, 32)).abs().max() > 1e-3
    assert (OURS / f"{name}.small.safetensors").stat().st_size < 3e6


def test_what_does_not_come_in_a_size_is_refused() -> None:
    with pytest.raises(UnderstudyError, match=r"denoise: there are none for a large model; set --model-size small"):
        started_from(Path("denoise"), spec(RGB, RGB, "large"), pairs(3, 3), print)
