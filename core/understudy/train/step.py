"""One training step: forward, backward, optimizer. No waiting for the device, no file, no print.

What is done with the other ranks, if there are any, is `sharing`'s to know.
"""

from __future__ import annotations

from torch import Tensor

from understudy.train.batches import Batch
from understudy.train.device import Machine
from understudy.train.loss import ErrorMeasure, loss_and_error, reduce_pixels, reduce_valid
from understudy.train.misses import block_errors
from understudy.train.schedule import StepPlan
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState


def train_step(
    state: TrainingState,
    batch: Batch,
    plan: StepPlan,
    machine: Machine,
    sharing: Sharing,
    measure: ErrorMeasure = "squared",
) -> Tensor:
    """Learn from one batch already on the device; gives its loss as a scalar still on the device.

    Raises GroupBroken or GenerationOver when another rank is gone; the state is then that of the last whole step.
    """
    scene = reduce_pixels(batch.input, plan.reduction)  # N Cin h w
    truth = reduce_pixels(batch.target, plan.reduction)  # N Cout h w
    valid = None if batch.valid is None else reduce_valid(batch.valid, plan.reduction)  # N 1 h w
    model, step = state.model, state.step + 1
    if state.waking:
        state.waking.begin_step(step)
    with machine.autocast():
        answer = sharing.answer(scene)
    encoded = model.target_transfer.encode(truth)
    loss, error = loss_and_error(answer, encoded, valid, measure)
    errors = block_errors(error, plan.reduction, state.misses.power)
    sharing.backward(loss, step)
    if sharing.is_update():
        state.optimizer.learning_rate = plan.learning_rate
        state.optimizer.step()
        state.optimizer.zero_grad()
    state.step = step
    sharing.settle(state)
    state.misses.note(batch.crops, batch.input.shape[-1], errors)
    return loss.detach()
