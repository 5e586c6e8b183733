"""Where a run computes, with what arithmetic, and how many crops a step: chosen once, said aloud."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import torch

from understudy.allocator import keep_blocks_of_a_step
from understudy.cores import cores_given
from understudy.errors import UnderstudyError
from understudy.report.run_record import FirstSteps
from understudy.settings import Settings
from understudy.train.batch_plan import BatchPlan
from understudy.train.network import WIDTHS, NetworkSpec

STEP_PIXELS = 4 * 96 * 96
"""Of a step without CUDA: more steps of fewer pixels learn sooner, down to where the steps themselves cost the time.

Four crops of 96, not two of 128: as many pixels, of twice as many places, more of them where something is to be learnt.
"""
FEWER_STEP_PIXELS = 2 * 96 * 96
"""The same of the first steps on a CPU: early on most is learnt by most steps, later few crops leave more to chance.

And of ranks without bfloat16, to which pixels cost more and the steps themselves do not.
"""
FIRST_STEPS, SLOW_FIRST_STEPS = 400, 1200
"""That are so small; and without bfloat16."""
LARGEST_AUTO_BATCH = 16
_BYTES_PER_PIXEL_AND_WIDTH = 64
"""Of a training step's memory per full-resolution pixel and channel there, all levels together: an estimate."""
_ANSWER_NUMBERS = 3
"""That an answer holds at once per full-resolution pixel and channel there: a skip, and a layer's two sides."""
_ANSWER_NUMBERS_FLOAT64 = 11
"""The same without oneDNN's kernels, which know no float64: every convolution unfolds what it is given."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The place of computation."""

    device: torch.device
    bfloat16: bool
    """Convolutions run in bfloat16; transfer, guess and loss stay float32."""
    dtype: torch.dtype = torch.float32
    """Of weights and pixels."""
    half: bool = False
    """Convolutions run in half (float16) instead; answering only: training would lose small gradients."""
    leaves_cores: bool = False
    """Threads become fewer while other programs keep cores busy (elbow_room.py)."""

    def autocast(self) -> AbstractContextManager[object]:
        small = torch.float16 if self.half else torch.bfloat16
        return torch.autocast(self.device.type, small, enabled=self.half or self.bfloat16)

    def __str__(self) -> str:
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else self.device.type.upper()
        threads = f", {torch.get_num_threads()} threads" if self.device.type == "cpu" else ""
        small = "half" if self.half else "bfloat16" if self.bfloat16 else ""
        arithmetic = small or str(self.dtype).removeprefix("torch.")
        return f"{name}, {arithmetic}{threads}"


def choose_machine(settings: Settings, warn: Callable[[str], None]) -> Machine:
    """The machine that `settings` asks for; a GPU that is not there is said and the CPU taken, as Nuke does.

    A device that has bfloat16 by slow detours only (nine times as slow as float32 on a CPU with AVX2) keeps float32 and
    says so.
    Raises UnderstudyError when the CUDA number does not exist or the device has no float64.
    """
    torch.set_num_threads(settings.threads or cores_given())
    device = _device(settings, warn)
    if device.type == "cpu":
        keep_blocks_of_a_step()
    if settings.precision == "float64" and device.type == "mps":
        raise UnderstudyError("precision: float64 is not available on Apple's GPU; use --precision float32")
    able = _bfloat16_pays(device)
    if settings.precision == "bfloat16" and not able:
        kind = "CPU" if device.type == "cpu" else "GPU"
        warn(f"warning: this {kind} has no arithmetic in bfloat16; going on in float32")
    return Machine(
        device=device,
        bfloat16=able and settings.precision in ("auto", "bfloat16"),
        dtype=torch.float64 if settings.precision == "float64" else torch.float32,
        leaves_cores=device.type == "cpu" and not settings.threads,
    )


def in_half(machine: Machine, warn: Callable[[str], None]) -> Machine:
    """The same machine with convolutions in half; one that computes half by slow detours keeps float32 and says so."""
    abilities = torch.cpu.get_capabilities()
    if machine.device.type == "cpu" and not (abilities.get("avx512_fp16") or abilities.get("amx_fp16")):
        warn("warning: this CPU has no arithmetic in half; going on in float32")
        return machine
    return replace(machine, half=True)


def answer_bytes(spec: NetworkSpec, machine: Machine) -> int:
    """Memory that the network needs for every pixel that it is given at once, to answer (not to learn)."""
    width, num_ends = WIDTHS[spec.model_size][0], len(spec.input_channels) + len(spec.target_channels)
    if machine.dtype == torch.float64:
        return 8 * (_ANSWER_NUMBERS_FLOAT64 * width + 3 * num_ends)
    small = 2 if machine.half or machine.bfloat16 else 4
    return small * _ANSWER_NUMBERS * width + 4 * 3 * num_ends


def free_bytes(machine: Machine) -> int:
    """Of a GPU's memory."""
    if machine.device.type == "cuda":
        return torch.cuda.mem_get_info(machine.device)[0]
    return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()


def choose_batch(settings: Settings, machine: Machine, crop_pixels: int, world_size: int) -> BatchPlan:
    """What the settings ask for, or else what suits rank 0's device; it is recorded.

    A batch chosen here has at least one crop for every rank. Of one rank it grows; several divide it already.
    """
    scale = world_size if settings.scale_batch else 1
    if settings.batch_size:
        return BatchPlan(size=settings.batch_size * scale)
    size, first_size = _fitting_sizes(settings, machine, crop_pixels)
    is_slow = machine.device.type == "cpu" and not machine.bfloat16
    if world_size == 1 and first_size < size:
        steps = SLOW_FIRST_STEPS if is_slow else FIRST_STEPS
        return BatchPlan(size=size, first=FirstSteps(steps=steps, size=first_size))
    return BatchPlan(size=max(world_size, (first_size if is_slow else size) * scale))


def _fitting_sizes(settings: Settings, machine: Machine, crop_pixels: int) -> tuple[int, int]:
    """Crops of a step, and of one of the first."""
    if machine.device.type != "cuda":
        size, fewer = (
            max(1, min(LARGEST_AUTO_BATCH, pixels // crop_pixels)) for pixels in (STEP_PIXELS, FEWER_STEP_PIXELS)
        )
        return size, fewer if machine.device.type == "cpu" else size
    free_bytes = torch.cuda.mem_get_info(machine.device)[0]
    crop_bytes = crop_pixels * WIDTHS[settings.model_size][0] * _BYTES_PER_PIXEL_AND_WIDTH
    size = max(1, min(LARGEST_AUTO_BATCH, free_bytes // 2 // crop_bytes))
    return size, size


def _device(settings: Settings, warn: Callable[[str], None]) -> torch.device:
    wanted = settings.device
    if wanted in ("auto", "gpu", "cuda") and torch.cuda.is_available():
        if settings.gpu >= torch.cuda.device_count():
            raise UnderstudyError(
                f"gpu: there is no CUDA device {settings.gpu}; this machine has {torch.cuda.device_count()}"
            )
        return torch.device("cuda", settings.gpu)
    if wanted in ("auto", "gpu", "mps") and torch.backends.mps.is_available():
        return torch.device("mps")
    if wanted in ("gpu", "cuda", "mps"):
        warn(f"warning: no {wanted.upper()} can be used here; going on on the CPU")
    return torch.device("cpu")


def _bfloat16_pays(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        abilities = torch.cpu.get_capabilities()
        return bool(abilities.get("avx512_bf16") or abilities.get("amx_bf16"))
    return False
