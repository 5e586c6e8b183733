"""A fault that no last unit sees is learnt all the same, and nothing else is."""

from __future__ import annotations

import pytest
import torch
from tests.core.train.lessons import first_state, take_steps
from torch import Tensor, nn

from understudy.train.muon import Muon
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.sharing import Alone
from understudy.train.waking import HEARD_SHARE, LOUD, STEPS_APART, WakingReLU, wake_last_units

RGB = ("R", "G", "B")
FAULT = (slice(None), slice(None), slice(8, 12), slice(20, 24))


def asleep() -> Understudy:
    """A network whose last units are off everywhere, and a guess that is the plate."""
    torch.manual_seed(0)
    model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size="small"))
    model.guess_matrix.copy_(torch.eye(3))
    nn.init.normal_(model.leave.weight, std=0.05)
    nn.init.constant_(last_conv(model).bias, -1.0)  # type: ignore[arg-type]
    return model


def last_conv(model: Understudy) -> nn.Conv2d:
    return [unit for unit in model.unet.modules() if isinstance(unit, nn.Conv2d)][-1]


def test_a_fault_at_which_all_units_are_off_is_learnt() -> None:
    model = asleep()
    plate = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(0)) * 0.2
    truth = plate.clone()
    truth[FAULT] += 0.3

    def error() -> Tensor:
        return (model.encoded_answer(plate) - truth).square()

    assert torch.equal(model.encoded_answer(plate), plate), "all units are off"
    error().mean().backward()  # type: ignore[no-untyped-call]
    assert all(weight.grad is not None and not weight.grad.any() for weight in model.unet.parameters()), "none learns"

    wake_last_units(model)
    optimizer = Muon(model.parameters(), learning_rate=0.002)
    for _ in range(40):
        optimizer.zero_grad()
        error().mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert error()[FAULT].mean() < 0.01, "of 0.09"


def test_answers_are_those_of_before() -> None:
    model = asleep()
    nn.init.zeros_(last_conv(model).bias)  # type: ignore[arg-type]
    picture = torch.rand(1, 3, 33, 47)
    before, names = model(picture), list(model.state_dict())
    assert (before != picture).any()
    wake_last_units(model)
    assert torch.equal(model(picture), before)
    assert list(model.state_dict()) == names


def test_a_unit_that_is_off_hears_what_is_loud_and_would_switch_it_on() -> None:
    given = torch.full((1, 1, 10, 10), -1.0, requires_grad=True)
    slopes = torch.full((1, 1, 10, 10), -0.01)
    slopes[0, 0, 0, :3] = torch.tensor([-1.0, 1.0, -0.1])
    WakingReLU()(given * 1.0).backward(slopes)
    heard = given.grad
    assert heard is not None
    beyond = LOUD * slopes.square().mean().sqrt().item() - 1.0
    assert -1.0 < beyond < -0.1
    expected = [HEARD_SHARE * beyond, 0.0, 0.0]
    assert heard[0, 0, 0, :3].tolist() == pytest.approx(expected), "loud; loud, but switching off; quiet"
    assert heard.count_nonzero() == 1


def test_what_is_loud_is_heard_now_and_then_by_the_number_of_the_step() -> None:
    state = first_state()
    sharing = Alone(state.model)
    slopes = torch.full((1, 1, 10, 10), -0.01)
    slopes[0, 0, 0, 0] = -1.0
    heard = []
    for _ in range(2 * STEPS_APART):
        take_steps(state, sharing, 1)
        given = torch.full((1, 1, 10, 10), -1.0, requires_grad=True)
        assert state.waking
        state.waking(given * 1.0).backward(slopes)
        assert given.grad is not None
        heard.append(state.step if given.grad.any() else 0)
    assert heard == [0, 0, 0, STEPS_APART, 0, 0, 0, 2 * STEPS_APART]


def test_a_unit_that_is_on_hears_everything() -> None:
    given = torch.full((2, 3, 4, 4), 0.5, requires_grad=True)
    slopes = torch.randn(2, 3, 4, 4)
    WakingReLU()(given * 1.0).backward(slopes)
    assert given.grad is not None
    assert torch.equal(given.grad, slopes)


def test_what_is_loud_in_a_crop_is_a_matter_of_that_crop_alone() -> None:
    """Ranks have other crops beside it, and a batch of another size other gradients."""
    random = torch.Generator().manual_seed(0)
    values, slopes = torch.randn(2, 3, 8, 8, generator=random), torch.randn(2, 3, 8, 8, generator=random)
    slopes[1] *= 100

    def heard(crops: slice, size: float) -> Tensor:
        given = values[crops].clone().requires_grad_()
        WakingReLU()(given * 1.0).backward(size * slopes[crops])
        assert given.grad is not None
        return given.grad / size

    together = heard(slice(0, 2), 1.0)
    assert torch.equal(heard(slice(0, 1), 0.5), together[:1])
    assert torch.equal(heard(slice(1, 2), 0.5), together[1:])
    assert (together[values < 0] != 0).any()


def test_what_a_run_shows_and_saves_has_plain_units() -> None:
    state = first_state()
    woken = [any(isinstance(unit, WakingReLU) for unit in model.modules()) for model in (state.model, state.averaged)]
    assert woken == [True, False]
    state.averaged.load_state_dict(state.model.state_dict())
