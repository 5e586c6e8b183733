"""Weights cast once a step teach what autocast does, to the bit."""

from __future__ import annotations

import torch
from tests.core.train.lessons import first_state, take_steps, weights_of
from torch import Tensor

from understudy.train.device import Machine
from understudy.train.sharing import Alone
from understudy.train.waking import STEPS_APART

BFLOAT16 = Machine(device=torch.device("cpu"), bfloat16=True)


def test_steps_are_those_of_autocast() -> None:
    """One at which units are woken among them."""
    cast, plain, exact = (first_state(torch.float32) for _ in range(3))
    num_steps = STEPS_APART + 2
    take_steps(cast, Alone(cast.model, bfloat16=True), num_steps, bfloat16=True)
    take_steps(plain, Alone(plain.model), num_steps, bfloat16=True)
    take_steps(exact, Alone(exact.model), num_steps)
    assert torch.equal(weights_of(cast), weights_of(plain))
    assert not torch.equal(weights_of(cast), weights_of(exact)), "in float32 they are others"
    assert all(parameter.grad is None for parameter in cast.model.parameters())


def test_units_are_woken_as_the_state_says() -> None:
    def first_gradient(*, is_loud_heard: bool) -> Tensor:
        state = first_state(torch.float32)
        sharing = Alone(state.model, bfloat16=True)
        assert state.waking
        state.waking.is_loud_heard = is_loud_heard
        with torch.no_grad():
            state.model.leave.weight.normal_(generator=torch.Generator().manual_seed(0))
        with BFLOAT16.autocast():
            answer = sharing.answer(torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0)))
        sharing.backward(answer[0, 0, 8, 8], 1)
        gradient = next(state.model.unet.parameters()).grad
        assert gradient is not None
        assert gradient.any()
        return gradient

    assert not torch.equal(first_gradient(is_loud_heard=True), first_gradient(is_loud_heard=False))


def test_weights_that_another_changes_are_those_of_the_next_answer() -> None:
    state = first_state(torch.float32)
    sharing, encoded = Alone(state.model, bfloat16=True), torch.rand(1, 3, 16, 16)
    with torch.no_grad(), BFLOAT16.autocast():
        state.model.leave.weight.normal_()
        before = sharing.answer(encoded)
        for weight in state.model.unet.parameters():
            weight.mul_(1.5)
        after = sharing.answer(encoded)
        assert torch.equal(after, Alone(state.model).answer(encoded))
        assert not torch.equal(after, before)


def test_a_step_that_was_broken_off_leaves_nothing_to_the_next() -> None:
    state = first_state(torch.float32)
    sharing, encoded = Alone(state.model, bfloat16=True), torch.rand(1, 3, 16, 16)
    with torch.no_grad():
        state.model.leave.weight.normal_()

    def loss() -> Tensor:
        with BFLOAT16.autocast():
            return sharing.answer(encoded).square().mean()

    def gradient() -> Tensor:
        sharing.backward(loss(), 1)
        found = next(state.model.parameters()).grad
        assert found is not None
        return found.clone()

    first = gradient()
    loss().backward()  # type: ignore[no-untyped-call]
    state.optimizer.zero_grad()
    assert torch.equal(gradient(), first)
    assert first.any()
