"""What bounds a step is counted operation by operation: what each computes, what it moves, and how many there are."""

from __future__ import annotations

import pytest
import torch
from benchmarks.throughput.bare import BareLoop
from benchmarks.throughput.bound import Speeds, least_seconds, measured_speeds, operations_of
from torch.utils.flop_counter import FlopCounterMode

from understudy.train.device import Machine

CPU = Machine(device=torch.device("cpu"), bfloat16=False)


def test_a_product_and_a_sum_are_counted_and_views_are_not() -> None:
    square, row = torch.rand(64, 64), torch.rand(64)
    product, total = operations_of(lambda: (square.mT @ square).add_(row))
    assert (product.flops, product.bytes_moved) == (2 * 64**3, 3 * 64**2 * 4)
    # in place: what it is given and what it gives are one tensor that is read and written
    assert (total.flops, total.bytes_moved) == (0, (2 * 64**2 + 64) * 4)


def test_each_operation_takes_the_longer_of_computing_and_moving() -> None:
    square, row = torch.rand(64, 64), torch.rand(64)
    operations = operations_of(lambda: (square @ square) + row)
    slow_memory = Speeds(flops=1e30, bytes_moved=1e6, launch_seconds=0.0)
    slow_arithmetic = Speeds(flops=1e6, bytes_moved=1e30, launch_seconds=0.0)
    assert least_seconds(operations, slow_memory) == pytest.approx((5 * 64**2 + 64) * 4 / 1e6)
    assert least_seconds(operations, slow_arithmetic) == pytest.approx(2 * 64**3 / 1e6)


def test_of_a_training_step_all_arithmetic_is_counted_backward_too() -> None:
    bare = BareLoop(CPU, model_size="small", batch_size=1, crop_size=32)
    with FlopCounterMode(display=False) as counter:
        bare.backward()
    assert sum(operation.flops for operation in operations_of(bare.backward)) == counter.get_total_flops() > 0


def test_speeds_of_this_machine_are_measured() -> None:
    speeds = measured_speeds(CPU, 1e9)
    assert speeds.flops == 1e9
    assert 1e8 < speeds.bytes_moved < 1e13
    assert 0 < speeds.launch_seconds < 1e-2
