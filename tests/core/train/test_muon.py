"""What the optimizer makes of a layer's gradient, against a decomposition by LAPACK."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from understudy.train.muon import ADAMS_SIZE, KEPT_SHARE, LARGEST_NORM, TURN, WEIGHT_DECAY, Muon, equalise, hold


def spread(rows: int, columns: int, *, smallest: float) -> Tensor:
    """A matrix whose singular values lie between 1 and `smallest`, evenly in their logarithm."""
    torch.manual_seed(0)
    least = min(rows, columns)
    left, right = (torch.linalg.qr(torch.randn(side, least)).Q for side in (rows, columns))
    made: Tensor = left @ torch.diag(torch.logspace(0, torch.tensor(smallest).log10(), least)) @ right.mT
    return made


def equalised(stack: Tensor) -> Tensor:
    """L rows columns."""
    answer = torch.full_like(stack, torch.nan)
    equalise([stack], [answer])
    return answer


@pytest.mark.parametrize(("rows", "columns"), [(6, 144), (96, 864), (144, 16), (1, 24), (24, 24)])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_directions_stay_and_lengths_become_the_same(rows: int, columns: int, size: float) -> None:
    matrix = spread(rows, columns, smallest=0.03)
    answer = equalised(matrix[None] * size)[0]
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    turned = left.mT @ answer @ right.mT  # in the matrix's own directions
    lengths = turned.diagonal()
    assert lengths.min() > 0.85
    assert lengths.max() < 1.15
    assert torch.allclose(turned, torch.diag(lengths), atol=2e-3)


def test_what_is_small_counts_too_and_nothing_stays_nothing() -> None:
    small = torch.linalg.svdvals(equalised(spread(32, 288, smallest=1e-3)[None])[0])
    assert small.min() > 0.5
    assert torch.equal(equalised(torch.zeros(2, 8, 72)), torch.zeros(2, 8, 72))


@pytest.mark.parametrize("num_inputs", [3, 16, 128])
def test_a_layer_lies_as_before_and_is_turned_by_the_same_share_whatever_its_inputs(num_inputs: int) -> None:
    drawn = nn.Conv2d(num_inputs, 16, 3)
    nn.init.orthogonal_(drawn.weight, gain=2**0.5)
    conv = drawn.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    before, bias = conv.weight.detach().clone(), conv.bias.detach().clone()
    conv.weight.grad = torch.randn_like(conv.weight)
    conv.bias.grad = torch.zeros_like(conv.bias)
    optimizer = Muon(conv.parameters(), learning_rate=1e-3)
    optimizer.step()
    moved = conv.weight.detach() - before
    assert conv.weight.stride() == before.stride() == optimizer.momentum[conv.weight].stride()
    assert torch.linalg.svdvals(before.reshape(16, -1)).numpy() == pytest.approx(2**0.5, rel=1e-3)
    assert torch.linalg.svdvals(moved.reshape(16, -1)).numpy() == pytest.approx(TURN * 1e-3, rel=0.15)
    assert torch.equal(conv.bias.detach(), bias * (1 - 1e-3 * WEIGHT_DECAY)), "of no length it goes nowhere"


def test_a_gradient_that_is_missing_is_a_fault_and_no_other_weight_s() -> None:
    conv = nn.Conv2d(8, 16, 3)
    before = [weight.detach().clone() for weight in conv.parameters()]
    conv.weight.grad = torch.ones_like(conv.weight)
    with pytest.raises(RuntimeError):
        Muon(conv.parameters(), learning_rate=1e-3).step()
    assert all(map(torch.equal, before, conv.parameters()))


def test_steps_are_adamws_in_layers_of_32_channels_and_in_biases() -> None:
    for weights in (torch.zeros(32, 32, 3, 3), torch.zeros(24)):
        parameter = nn.Parameter(weights)
        parameter.grad = torch.randn_like(weights)
        Muon([parameter], learning_rate=1e-3).step()
        assert parameter.detach().square().mean().sqrt() == pytest.approx(ADAMS_SIZE * 1e-3, rel=0.15)


def test_a_convolution_grows_no_larger_than_it_was_drawn_however_long_it_is_pulled() -> None:
    torch.manual_seed(2)
    conv = nn.Conv2d(32, 16, 3)
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    drawn = conv.weight.norm().item()
    pull, optimizer = torch.randn_like(conv.weight), Muon(conv.parameters(), learning_rate=1e-2)
    assert conv.bias is not None
    for _ in range(300):
        conv.weight.grad = pull + 1e-3 * torch.randn_like(pull)
        conv.bias.grad = torch.ones_like(conv.bias)
        optimizer.step()
    assert conv.weight.norm().item() == pytest.approx(LARGEST_NORM * 16**0.5)
    assert conv.weight.norm().item() == pytest.approx(1.1 * drawn, rel=0.05)
    assert conv.bias.abs().min() > 0.4, "biases go where they must"


@pytest.mark.parametrize("may_look", [True, False])
def test_what_is_too_long_is_shortened_and_nothing_else(may_look: bool) -> None:
    torch.manual_seed(4)
    short, long = torch.randn(16, 32, 3, 3), torch.randn(32, 16, 3, 3)
    short *= 0.9 * LARGEST_NORM * 16**0.5 / short.norm()
    held = [short.clone(), long.clone()]
    hold(held, may_look=may_look)
    assert torch.equal(held[0], short)
    torch.testing.assert_close(held[1], long * (LARGEST_NORM * 32**0.5 / long.norm()))


def test_layers_together_are_equalised_as_each_by_itself() -> None:
    torch.manual_seed(5)
    shapes = ((3, 16, 144), (2, 32, 16), (1, 16, 27), (4, 1, 24), (1, 96, 864), (1, 1, 6), (1, 6, 1), (2, 48, 32))
    stacks = [torch.randn(*shape) for shape in shapes]
    answers = [torch.full_like(stack, torch.nan) for stack in stacks]
    equalise(stacks, answers)
    for stack, answer in zip(stacks, answers, strict=True):
        for one, found in zip(stack, answer, strict=True):
            torch.testing.assert_close(found, equalised(one[None])[0], rtol=1e-4, atol=1e-5)


def test_to_momentum_the_gradients_of_all_steps_are_alike_long() -> None:
    """As wild as a step may be: else it would be nearly all of the momentum for dozens of others."""
    torch.manual_seed(3)
    layers = [nn.Parameter(torch.zeros(16, 32, 1, 1)), nn.Parameter(torch.zeros(8, 16, 3, 3))]
    optimizer, expected = Muon(layers, learning_rate=1e-4), torch.zeros(16 * 32 + 8 * 16 * 9)
    for length in (1.0, 1e-9, 1e15, 1e-3, 40.0):
        gradient = torch.nn.functional.normalize(torch.randn_like(expected), dim=0)
        expected.lerp_(gradient, 1 - KEPT_SHARE)
        for layer, part in zip(layers, torch.split(length * gradient, [16 * 32, 8 * 16 * 9]), strict=True):
            layer.grad = part.view_as(layer).clone()
        optimizer.step()
    held = torch.cat([optimizer.momentum[layer].flatten() for layer in layers])
    torch.testing.assert_close(held, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("length", [0.0, 1e30])
def test_a_step_without_a_length_leaves_momentum_and_weights_sound(length: float) -> None:
    """Nothing to learn in any crop of it, or so much that its square has no number: nothing of it is heard."""
    weight = nn.Parameter(torch.zeros(8, 16, 3, 3))
    optimizer = Muon([weight], learning_rate=1e-4)
    for gradient in (torch.randn_like(weight), length * torch.ones_like(weight)):
        before = optimizer.momentum[weight].clone()
        weight.grad = gradient
        optimizer.step()
    torch.testing.assert_close(optimizer.momentum[weight], before * KEPT_SHARE)
    assert weight.isfinite().all()


def test_contiguous_weights_move_as_those_that_lie_channels_last() -> None:
    torch.manual_seed(1)
    weight, gradient = torch.randn(8, 4, 3, 3), torch.randn(8, 4, 3, 3)
    moved = []
    for layout in (torch.contiguous_format, torch.channels_last):
        parameter = nn.Parameter(weight.clone(memory_format=layout))
        parameter.grad = gradient.contiguous(memory_format=layout)
        Muon([parameter], learning_rate=0.1).step()
        moved.append(parameter.detach())
    assert torch.allclose(moved[0], moved[1], atol=1e-5)


def test_momentum_outlives_a_step() -> None:
    bias = nn.Parameter(torch.zeros(4))
    optimizer = Muon([bias], learning_rate=0.01)
    for gradient in (torch.tensor([1.0, 0, 0, 0]), torch.tensor([0.0, 1, 0, 0])):
        bias.grad = gradient
        optimizer.step()
    share = 1 - KEPT_SHARE
    assert torch.allclose(optimizer.momentum[bias], share * torch.tensor([KEPT_SHARE, 1.0, 0, 0]))
    assert bias[0] < bias[1] < 0, "it still moves where the first gradient pointed"


def test_a_rate_that_lies_on_the_device_is_one_like_any_other() -> None:
    moved = []
    for rate in (3e-3, torch.tensor(3e-3)):
        conv = nn.Conv2d(8, 16, 3)
        for number, parameter in enumerate(conv.parameters()):
            random = torch.Generator().manual_seed(number)
            parameter.data.copy_(torch.rand(parameter.shape, generator=random))
            parameter.grad = torch.rand(parameter.shape, generator=random) - 0.5
        optimizer = Muon(conv.parameters())
        optimizer.learning_rate = rate
        optimizer.step()
        moved.append(conv.weight.detach())
    torch.testing.assert_close(*moved)
