"""The arithmetic that was asked for, and a batch for all ranks together."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest
import torch
from tests.core.train.lessons import BATCH_SIZE, crops, first_state, pairs, take_steps

from understudy.report.run_record import FirstSteps
from understudy.settings import Precision, Settings
from understudy.train.batch_plan import BatchPlan
from understudy.train.device import FIRST_STEPS, SLOW_FIRST_STEPS, Machine, choose_batch, choose_machine
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.sharing import Alone


def refuse(line: str) -> None:
    raise AssertionError(line)


@pytest.mark.parametrize(
    ("precision", "bfloat16", "dtype"),
    [("float32", False, torch.float32), ("bfloat16", True, torch.float32), ("float64", False, torch.float64)],
)
def test_precision_is_kept_from_the_pixels_to_the_weights(
    precision: Precision, bfloat16: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    machine = choose_machine(Settings(device="cpu", precision=precision, threads=1), refuse)
    assert (machine.bfloat16, machine.dtype) == (bfloat16, dtype)
    assert str(machine) == f"CPU, {precision}, 1 threads"
    batch = gather(pairs(), crops(), Misses(crops().interest), range(BATCH_SIZE)).to(machine)
    assert batch.valid is not None
    state = first_state(machine.dtype)
    encoded = batch.encoded(state.model, 1)
    assert {encoded.input.dtype, encoded.target.dtype, batch.valid.dtype} == {dtype}
    with machine.autocast():
        answer = Alone(state.model).answer(encoded.input)
    assert answer.dtype == dtype, "the guess and the loss are never rounded to 16 bits"
    take_steps(state, Alone(state.model), 1)
    assert {tensor.dtype for tensor in state.model.state_dict().values()} == {dtype}
    assert {tensor.dtype for tensor in state.averaged.state_dict().values()} == {dtype}
    assert {momentum.dtype for momentum in state.optimizer.momentum.values()} == {dtype}


def test_bfloat16_by_detours_is_not_taken_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": True})
    said: list[str] = []
    machine = choose_machine(Settings(device="cpu", precision="bfloat16", threads=1), said.append)
    assert (machine.bfloat16, machine.dtype) == (False, torch.float32)
    assert said == ["warning: this CPU has no arithmetic in bfloat16; going on in float32"]


@pytest.mark.parametrize(
    ("settings", "world_size", "expected"),
    [
        (Settings(batch_size=6), 1, 6),
        (Settings(batch_size=6), 4, 6),
        (Settings(batch_size=6, scale_batch=True), 4, 24),
        (Settings(), 2, 2),
        (Settings(), 5, 5),
        (Settings(scale_batch=True), 5, 10),
    ],
)
def test_the_batch_is_that_of_all_ranks_unless_it_shall_grow_with_them(
    settings: Settings, world_size: int, expected: int
) -> None:
    machine = Machine(device=torch.device("cpu"), bfloat16=True)
    assert choose_batch(settings, machine, 128 * 128, world_size) == BatchPlan(size=expected)


@pytest.mark.parametrize(
    ("crop_size", "num_crops", "first"),
    [(32, 16, None), (64, 9, 4), (Settings().crop_size, 4, 2), (128, 2, 1), (256, 1, None)],
)
@pytest.mark.parametrize(("bfloat16", "num_steps"), [(True, FIRST_STEPS), (False, SLOW_FIRST_STEPS)])
def test_a_cpu_takes_as_many_crops_as_come_to_the_pixels_of_two_and_later_of_four(
    crop_size: int, num_crops: int, first: int | None, *, bfloat16: bool, num_steps: int
) -> None:
    machine = Machine(device=torch.device("cpu"), bfloat16=bfloat16)
    first_steps = FirstSteps(steps=num_steps, size=first) if first else None
    assert choose_batch(Settings(), machine, crop_size**2, 1) == BatchPlan(size=num_crops, first=first_steps)


def test_ranks_divide_four_crops_from_the_first_step_on_or_two_without_bfloat16() -> None:
    for bfloat16, expected in ((True, 4), (False, 2)):
        machine = Machine(device=torch.device("cpu"), bfloat16=bfloat16)
        assert choose_batch(Settings(), machine, Settings().crop_size ** 2, 2) == BatchPlan(size=expected)


TENSORS_OF_A_STEP = """
import resource
import torch
from understudy.settings import Settings
from understudy.train.device import choose_machine

def take_a_step():
    tensors = [torch.ones(2**21) for _ in range(8)]

def pages_fetched():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

choose_machine(Settings(device="cpu", threads=1), print)
take_a_step()
before = pages_fetched()
for _ in range(10):
    take_a_step()
print(pages_fetched() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators cannot be told")
def test_the_memory_of_a_step_serves_the_next() -> None:
    done = subprocess.run([sys.executable, "-c", TENSORS_OF_A_STEP], capture_output=True, text=True, check=True)
    of_one_step = 8 * 2**21 * 4 // 4096
    assert int(done.stdout) < of_one_step, "of ten steps"
