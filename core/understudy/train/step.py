"""One training step: forward, backward, optimizer. No waiting for the device, no file, no print.

What is done with the other ranks, if there are any, is `sharing`'s to know.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from understudy.train.device import Machine
from understudy.train.drawn import Drawn
from understudy.train.grain import Grain
from understudy.train.loss import LossAndError
from understudy.train.misses import block_errors
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState

Learn = Callable[[Drawn, StepPlan], tuple[Tensor, Tensor]]
"""All of a step that is the device's. Gives the loss, a scalar, and the `block_errors`; both still on the device."""


def learn(
    state: TrainingState,
    machine: Machine,
    sharing: Sharing,
    loss_and_error: LossAndError,
    grain: Grain | None,
    drawn: Drawn,
    plan: StepPlan,
) -> tuple[Tensor, Tensor]:
    """As `Learn`, one operation after the other."""
    batch = drawn.to(machine).encoded(state.model, plan.reduction)
    if grain and batch.grain is not None:
        batch = grain.over(batch, plan.reduction)
    with machine.autocast():
        answer = sharing.answer(batch.input)
    loss, error = loss_and_error(answer, batch.target, batch.valid)
    errors = block_errors(error, plan.reduction, state.misses.power)
    sharing.backward(loss, state.step + 1)
    if sharing.is_update():
        state.optimizer.step()
        state.optimizer.zero_grad()
    return loss.detach(), errors


def train_step(state: TrainingState, drawn: Drawn, plan: StepPlan, sharing: Sharing, learn: Learn) -> Tensor:
    """Learn from one batch; gives its loss as a scalar still on the device.

    Raises GroupBroken or GenerationOver when another rank is gone; the state is then that of the last whole step.
    """
    step = state.step + 1
    if state.waking:
        state.waking.begin_step(step)
    state.optimizer.learning_rate = plan.learning_rate
    loss, errors = learn(drawn, plan)
    state.step = step
    sharing.settle(state)
    state.misses.note(drawn.crops, drawn.width, errors)
    return loss
