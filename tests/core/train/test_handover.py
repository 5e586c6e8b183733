"""After a handover every rank is the donor, to the bit: whoever was new, ahead or behind."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import average_of, first_state, take_steps, weights_of
from tests.core.train.together import together
from torch import Tensor

from understudy.train.group import Group
from understudy.train.handover import hand_over
from understudy.train.sharing import Alone
from understudy.train.state import TrainingState

Everything = dict[str, Tensor | float]


@pytest.mark.parametrize("donor", [0, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_all_become_the_donor(tmp_path: Path, donor: int, dtype: torch.dtype) -> None:
    """Members have made 0, 3 and 6 steps, of different first weights."""
    ended = together(tmp_path, 3, hand_over_after_steps, donor, dtype)
    given = ended[donor].result[0]
    assert given["step"] == 3 * donor
    momenta = [one for name, one in given.items() if name.startswith("momentum") and isinstance(one, Tensor)]
    assert momenta
    assert any(bool(one.any()) for one in momenta) == bool(donor)
    for one in ended:
        before, after = one.result[1:]
        assert_same(before, given)
        assert_same(after, ended[donor].result[2])
        assert float(after["step"]) == 3 * donor + 2


def hand_over_after_steps(group: Group, donor: int, dtype: torch.dtype) -> tuple[Everything, Everything, Everything]:
    """The state before the handover, after it, and two steps later."""
    state = first_state(dtype, seed=group.index)
    state.model.input_transfer.scale.add_(group.index)  # the curves belong to the weights
    state.elapsed_seconds = 10.0 * group.index + 0.1
    take_steps(state, Alone(state.model), 3 * group.index)
    before = everything_of(state)
    hand_over(state, group, donor)
    after = everything_of(state)
    group.close()
    take_steps(state, Alone(state.model), 2)
    return before, after, everything_of(state)


def everything_of(state: TrainingState) -> Everything:
    found: Everything = {"step": float(state.step), "elapsed_seconds": state.elapsed_seconds}
    found |= {f"model.{name}": tensor.clone() for name, tensor in state.model.state_dict().items()}
    found |= {f"averaged.{name}": tensor.clone() for name, tensor in state.averaged.state_dict().items()}
    for number, parameter in enumerate(state.model.parameters()):
        found[f"momentum.{number}"] = state.optimizer.momentum[parameter].clone()
    return found


def assert_same(one: Everything, other: Everything) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        counterpart = other[name]
        if isinstance(value, Tensor) and isinstance(counterpart, Tensor):
            assert value.dtype == counterpart.dtype, name
            assert torch.equal(value, counterpart), name
        else:
            assert value == counterpart, name


def test_momentum_is_laid_out_as_its_weights(tmp_path: Path) -> None:
    """Else every step of a late comer would be slower than the donor's."""
    for ended in together(tmp_path, 2, layouts_after_handover):
        assert ended.result == []


def layouts_after_handover(group: Group) -> list[str]:
    state = first_state(torch.float32)
    if group.index == 0:
        take_steps(state, Alone(state.model), 1)
    hand_over(state, group, 0)
    group.close()
    return [
        name
        for name, parameter in state.model.named_parameters()
        if state.optimizer.momentum[parameter].stride() != parameter.stride()
    ]


def test_what_the_donor_averaged_is_handed_over_apart_from_its_weights(tmp_path: Path) -> None:
    for ended in together(tmp_path, 2, weights_and_average):
        weights, average = ended.result
        assert not torch.equal(weights, average)


def weights_and_average(group: Group) -> tuple[Tensor, Tensor]:
    state = first_state(seed=group.index)
    if group.index == 1:
        take_steps(state, Alone(state.model), 4)
    hand_over(state, group, 1)
    group.close()
    return weights_of(state), average_of(state)
