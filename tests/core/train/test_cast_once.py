"""Weights cast once a step teach what autocast does, to the bit."""

from __future__ import annotations

import torch
from tests.core.train.lessons import BATCH_SIZE, LEARNING_RATE, crops, first_state, pairs, weights_of
from torch import Tensor

from understudy.train.batch_plan import BatchPlan
from understudy.train.device import Machine
from understudy.train.gather import gather
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Alone
from understudy.train.state import TrainingState
from understudy.train.step import learn, train_step
from understudy.train.waking import STEPS_APART

BFLOAT16 = Machine(device=torch.device("cpu"), bfloat16=True)


def take_steps(state: TrainingState, sharing: Alone, num_steps: int) -> list[float]:
    """Gives the losses."""
    losses = []
    for step in range(state.step + 1, state.step + 1 + num_steps):
        batch = gather(pairs(), crops(), state.misses, BatchPlan(size=BATCH_SIZE).samples(step))
        plan = StepPlan(learning_rate=LEARNING_RATE, reduction=1)
        losses.append(
            train_step(
                state,
                batch,
                plan,
                sharing,
                lambda drawn, plan: learn(state, BFLOAT16, sharing, "squared", drawn, plan),
            ).item()
        )
    return losses


def test_steps_are_those_of_autocast() -> None:
    """One at which units are woken among them."""
    cast, plain = first_state(torch.float32), first_state(torch.float32)
    num_steps = STEPS_APART + 2
    losses = take_steps(cast, Alone(cast.model, bfloat16=True), num_steps)
    assert losses == take_steps(plain, Alone(plain.model), num_steps)
    assert torch.equal(weights_of(cast), weights_of(plain))
    assert len(set(losses)) == num_steps
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
