"""The newest state, to every rank: what it takes to go on as if nobody had come or gone."""

from __future__ import annotations

import torch
from torch import Tensor

from understudy.train.group import Group
from understudy.train.state import TrainingState


@torch.no_grad()
def hand_over(state: TrainingState, group: Group, donor_index: int) -> None:
    """Make every member's `state` that of member `donor_index`, to the bit; the best validation stays rank 0's.

    Raises GroupBroken.
    """
    facts = torch.tensor([state.step, state.elapsed_seconds], dtype=torch.float64)
    group.broadcast(facts, donor_index)
    tensors = _tensors(state)
    flat = torch.cat([tensor.detach().flatten().cpu() for tensor in tensors])
    group.broadcast(flat, donor_index)
    for tensor, part in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(part.view(tensor.shape))
    misses = state.misses.tensors()
    for tensor in misses.values():
        group.broadcast(tensor, donor_index)
    state.misses.restore(misses)
    state.step, state.elapsed_seconds = int(facts[0]), float(facts[1])  # last: a broken handover leaves no false step


def _tensors(state: TrainingState) -> list[Tensor]:
    """All tensors of the state, in an order that every rank shares."""
    weights = [*state.model.state_dict().values(), *state.averaged.state_dict().values()]
    return [*weights, *state.optimizer.momentum.values()]
