"""The newest state, to every rank: what it takes to go on as if nobody had come or gone."""

from __future__ import annotations

import torch
from torch import Tensor

from understudy.train.group import Group
from understudy.train.state import MOMENTS, TrainingState


@torch.no_grad()
def hand_over(state: TrainingState, group: Group, donor_index: int) -> None:
    """Make every member's `state` that of member `donor_index`, to the bit; the best validation stays rank 0's.

    Raises GroupBroken.
    """
    facts = torch.tensor([state.step, state.elapsed_seconds, bool(state.optimizer.state)], dtype=torch.float64)
    group.broadcast(facts, donor_index)
    if facts[2]:  # the optimizer has moments yet
        _make_moments(state)
    else:
        state.optimizer.state.clear()
    tensors = _tensors(state)
    flat = torch.cat([tensor.detach().flatten().cpu() for tensor in tensors])
    group.broadcast(flat, donor_index)
    for tensor, part in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
        tensor.copy_(part.view(tensor.shape))
    state.step, state.elapsed_seconds = int(facts[0]), float(facts[1])  # last: a broken handover leaves no false step


def _tensors(state: TrainingState) -> list[Tensor]:
    """All tensors of the state, in an order that every rank shares."""
    moments = [
        state.optimizer.state[parameter][name]
        for parameter in state.model.parameters()
        for name in MOMENTS
        if state.optimizer.state
    ]
    return [*state.model.state_dict().values(), *state.averaged.state_dict().values(), *moments]


def _make_moments(state: TrainingState) -> None:
    """Room for the donor's, where this rank's optimizer has none."""
    for parameter in state.model.parameters():
        if not state.optimizer.state[parameter]:
            state.optimizer.state[parameter] = {
                "step": torch.zeros((), device=parameter.device if state.optimizer.defaults["fused"] else "cpu"),
                **{name: torch.zeros_like(parameter) for name in MOMENTS if name != "step"},
            }
