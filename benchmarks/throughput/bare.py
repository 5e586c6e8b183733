"""What PyTorch alone does on a device: the bare training loop, and the fastest matrix product."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.shots.shot import RGB

from understudy.settings import ModelSize
from understudy.train.device import Machine
from understudy.train.muon import Muon
from understudy.train.network import NetworkSpec, Understudy, in_channels_last
from understudy.train.sharing import Alone
from understudy.train.transfer import choose_curve

PRODUCT_SIDE = {"cpu": 2048, "cuda": 8192, "mps": 4096}
PRODUCTS = 8


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Two clocks at once: other programs on the machine disturb that of the CPU less."""

    seconds: float
    cpu_seconds: float
    """Of all threads of this process."""

    def __sub__(self, other: Clock) -> Clock:
        return Clock(seconds=self.seconds - other.seconds, cpu_seconds=self.cpu_seconds - other.cpu_seconds)


def clock(machine: Machine) -> Clock:
    """When the device has done all that it was given."""
    wait_for(machine)
    return Clock(seconds=time.perf_counter(), cpu_seconds=time.process_time())


def wait_for(machine: Machine) -> None:
    if machine.device.type == "cuda":
        torch.cuda.synchronize(machine.device)
    elif machine.device.type == "mps":
        torch.mps.synchronize()


class BareLoop:
    """Forward, mean squared error, backward and Muon on one batch in memory, and nothing else."""

    def __init__(
        self,
        machine: Machine,
        *,
        model_size: ModelSize,
        batch_size: int,
        crop_size: int,
        wanted: tuple[str, ...] = RGB,
        casts_once: bool = False,
    ) -> None:
        """`wanted`: the channels of the answer. `casts_once`: as a run does (cast_once.py), not as autocast does."""
        self._machine = machine
        model = Understudy(NetworkSpec(input_channels=RGB, target_channels=wanted, model_size=model_size))
        for transfer, channels in ((model.input_transfer, RGB), (model.target_transfer, wanted)):
            transfer.set_curves([choose_curve(channel, np.zeros(1, np.float32)) for channel in channels])
        model.guess_matrix.copy_(torch.eye(len(wanted), 3))
        self._model = in_channels_last(model.to(machine.device, machine.dtype))
        self._sharing = Alone(self._model, bfloat16=casts_once)
        self._optimizer = Muon(self._model.parameters(), learning_rate=1e-4)
        shape = (batch_size, 3, crop_size, crop_size)
        encoded = torch.rand(shape, device=machine.device, dtype=machine.dtype)
        self._encoded = encoded.contiguous(memory_format=torch.channels_last)  # in transfer space: no curve is computed
        truth = self._encoded[:, : len(wanted)] * 0.9
        self._truth = truth.contiguous(memory_format=torch.channels_last)

    def steps(self, count: int) -> Clock:
        """What so many take."""
        begin = clock(self._machine)
        for _ in range(count):
            self.step()
        return clock(self._machine) - begin

    def step(self) -> None:
        self.backward()
        self.optimize()

    def backward(self) -> None:
        with self._machine.autocast():
            answer = self._sharing.answer(self._encoded)
        self._sharing.backward((answer - self._truth).square().mean(), 0)

    def optimize(self) -> None:
        self._optimizer.step()
        self._optimizer.zero_grad()


def peak_flops(machine: Machine) -> float:
    """A second, of a matrix product on the machine and in its arithmetic: the fastest of several."""
    side = PRODUCT_SIDE[machine.device.type]
    small = torch.bfloat16 if machine.bfloat16 else machine.dtype
    matrix = torch.rand(side, side, device=machine.device).to(small)
    seconds = quickest(lambda: matrix @ matrix, machine)
    return 2 * side**3 / seconds


def quickest(act: Callable[[], object], machine: Machine) -> float:
    act()
    found = []
    for _ in range(PRODUCTS):
        begin = clock(machine)
        act()
        found.append((clock(machine) - begin).seconds)
    return min(found)


def middle(values: list[float]) -> float:
    return float(statistics.median(values))
