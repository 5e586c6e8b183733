"""One training step: forward, backward, optimizer. No waiting for the device, no file, no print."""

from __future__ import annotations

import torch
from torch import Tensor

from understudy.train.batches import Batch
from understudy.train.device import Machine
from understudy.train.loss import image_loss, reduce_pixels, reduce_valid
from understudy.train.schedule import StepPlan
from understudy.train.state import TrainingState, update_average

LARGEST_GRADIENT_NORM = 1.0


def train_step(state: TrainingState, batch: Batch, plan: StepPlan, machine: Machine) -> Tensor:
    """Learn from one batch already on the device; gives the loss as a scalar still on the device."""
    scene = reduce_pixels(batch.input, plan.reduction)  # N Cin h w
    truth = reduce_pixels(batch.target, plan.reduction)  # N Cout h w
    valid = None if batch.valid is None else reduce_valid(batch.valid, plan.reduction)  # N 1 h w
    model = state.model
    with machine.autocast():
        answer = model.encoded_answer(model.input_transfer.encode(scene))
    loss = image_loss(answer, model.target_transfer.encode(truth), valid)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), LARGEST_GRADIENT_NORM)
    for group in state.optimizer.param_groups:
        group["lr"] = plan.learning_rate
    state.optimizer.step()
    state.optimizer.zero_grad(set_to_none=True)
    state.step += 1
    update_average(state.averaged, model, state.step)
    return loss.detach()
