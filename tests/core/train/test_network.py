"""The network takes any size and channels, and starts as its guess."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from understudy.settings import ModelSize
from understudy.train.network import WIDTHS, NetworkSpec, Understudy, UNet, in_channels_last, with_squares
from understudy.train.transfer import choose_curve

RGB = ("R", "G", "B")


def network(inputs: tuple[str, ...] = RGB, targets: tuple[str, ...] = RGB) -> Understudy:
    return Understudy(NetworkSpec(input_channels=inputs, target_channels=targets, model_size="small"))


@pytest.mark.parametrize(("height", "width"), [(1, 1), (17, 33), (64, 48), (100, 15)])
@pytest.mark.parametrize("targets", [RGB, ("A",), ("forward.u", "forward.v")])
def test_any_size_and_any_channels(height: int, width: int, targets: tuple[str, ...]) -> None:
    answer = network((*RGB, "A"), targets)(torch.rand(2, 4, height, width))
    assert answer.shape == (2, len(targets), height, width)
    assert answer.dtype == torch.float32


def test_each_channel_is_seen_twice_the_second_time_nearly_as_light() -> None:
    model = network()
    model.input_transfer.set_curves([choose_curve(name, np.empty(0, np.float32)) for name in RGB])
    light = torch.tensor([-1.0, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0]).expand(1, 3, 1, 7)
    once, twice = with_squares(model.input_transfer.encode(light)).chunk(2, dim=1)
    torch.testing.assert_close(once, model.input_transfer.encode(light), rtol=0, atol=0)
    torch.testing.assert_close(twice, light, rtol=0, atol=0.15)
    assert (once - light).abs().max() > 0.3


def test_beyond_a_picture_every_layer_sees_zeros_as_beside_a_crop() -> None:
    """Crops have sides of multiples of 16. An HD frame has not, and its last row must be as good as any other."""
    unet = UNet(3, WIDTHS["small"])
    for module in unet.modules():
        if isinstance(module, nn.Conv2d) and module.bias is not None:
            nn.init.normal_(module.bias)  # or nothing would come out of nothing
    picture = torch.rand(1, 3, 37, 53)
    alone = unet(picture)

    def see_zeros(_: nn.Module, given: tuple[Tensor]) -> Tensor:
        pixels = 48 // given[0].shape[-2]
        seen = torch.zeros_like(given[0])
        rows, columns = slice(-(-37 // pixels)), slice(-(-53 // pixels))
        seen[..., rows, columns] = given[0][..., rows, columns]
        return seen

    for module in unet.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_pre_hook(see_zeros)
    within = unet(functional.pad(picture, (0, 64 - 53, 0, 48 - 37)))
    torch.testing.assert_close(within[..., :37, :53], alone, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 2), (4, 4), (3, 17)])
def test_gradients_of_tiny_pictures_in_bfloat16_are_the_same_each_time(height: int, width: int) -> None:
    """What lay in memory before came out of oneDNN for a stride over one pixel."""
    torch.manual_seed(0)
    model = in_channels_last(network())
    torch.nn.init.normal_(model.leave.weight, std=0.01)
    scene = torch.rand(2, 3, height, width)
    found = []
    for _ in range(5):
        rubbish = [torch.full((count,), torch.nan) for count in (10, 1000, 20_000, 100_000)]
        del rubbish
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            answer = model.encoded_answer(scene)
        (answer - scene).square().mean().backward()  # type: ignore[no-untyped-call]
        found.append([parameter.grad for parameter in model.parameters() if parameter.grad is not None])
    assert all(torch.equal(one, first) for other in found for one, first in zip(other, found[0], strict=True))


def test_it_starts_as_the_guess_and_keeps_bright_values_in_bfloat16() -> None:
    model = network()
    model.guess_matrix.copy_(torch.eye(3))
    scene = torch.rand(1, 3, 32, 32) * 400
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(model(scene), scene, rtol=1e-5, atol=1e-5)


def test_gradients_reach_every_weight_after_the_first_step() -> None:
    model = network()
    torch.nn.init.normal_(model.leave.weight, std=0.01)
    model.encoded_answer(torch.rand(1, 3, 32, 32)).abs().mean().backward()  # type: ignore[no-untyped-call]
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("level", range(4))
def test_a_level_whose_units_are_all_below_zero_still_learns(level: int) -> None:
    """Whole levels of mattes' networks ended so, and with them what lies below."""
    model = network()
    torch.nn.init.normal_(model.leave.weight, std=0.01)
    convolutions = [unit for unit in model.unet.down[level].modules() if isinstance(unit, nn.Conv2d)]
    for unit in convolutions:
        assert unit.bias is not None
        nn.init.constant_(unit.bias, -20)
    model.encoded_answer(torch.rand(1, 3, 32, 32)).abs().mean().backward()  # type: ignore[no-untyped-call]
    assert all(unit.weight.grad is not None and unit.weight.grad.abs().max() > 0 for unit in convolutions)


@pytest.mark.parametrize("size", WIDTHS)
def test_all_units_leak_but_the_last(size: ModelSize) -> None:
    """Also where two levels have as many channels."""
    units = [unit for unit in UNet(3, WIDTHS[size]).modules() if isinstance(unit, nn.ReLU | nn.LeakyReLU)]
    assert [isinstance(unit, nn.LeakyReLU) for unit in units] == [True] * (len(units) - 1) + [False]


def test_sizes_grow() -> None:
    counts = []
    for size in WIDTHS:
        model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size=size))
        counts.append(sum(parameter.numel() for parameter in model.parameters()))
    assert counts == sorted(counts)
    assert counts[1] > 2 * counts[0]
    assert counts[2] > 3 * counts[1]
