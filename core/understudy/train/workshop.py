"""How many frames are in hand at once, in what tiles, by how many threads: from the memory and the cores there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from understudy.errors import UnderstudyError
from understudy.train.device import Machine, answer_bytes, free_bytes
from understudy.train.network import Understudy
from understudy.train.tiles import Tiling, tiling_for

PROCESS_BYTES = 700 * 2**20
"""Of a process with its libraries and a model, before it has seen a frame."""
FRAGMENTS = 1.75
"""What the allocator takes for what it is asked: holes that nothing fits, and what convolutions want for themselves."""
SMALLEST_TILE = 256 * 256
"""Pixels: of smaller ones nearly all is surroundings."""
MOST_THREADS = 16
"""That work on one answer: the more there are, the more wait at every layer. Chosen; more than 2 were not measured."""
SHARE_OF_GPU = 0.5
"""Of its free memory: convolutions want some for themselves, and so may other programs."""
MOST_READERS = 8
"""Frames that are read or written while a GPU computes."""


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """Places of work."""

    frames_at_once: int
    """Being read, computed or written."""
    answers_at_once: int
    """Of these, computed."""
    threads: int
    """Of the CPU, for each answer."""
    tiling: Tiling


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is to be done."""

    num_frames: int
    width: int
    height: int
    memory_bytes: int
    """Of the whole process, without a GPU's own."""
    threads: int
    """Cores."""
    passes: int = 1
    """As in Tiling."""


def workshop_for(model: Understudy, machine: Machine, load: Load) -> Workshop:
    """One answer after the other by all cores; several at a time where there are very many and memory for it.

    Raises UnderstudyError when the memory is too small for such frames.
    """
    if machine.device.type != "cpu":
        return _beside_a_gpu(model, machine, load)
    at_most = min(-(-load.threads // MOST_THREADS), load.num_frames)
    shops = (_with_answers(number, model, machine, load) for number in range(at_most, 0, -1))
    fitting = next((shop for shop in shops if shop.tiling.most_pixels >= SMALLEST_TILE), None)
    if fitting is None:
        raise _too_little(
            load, SMALLEST_TILE * FRAGMENTS * answer_bytes(model.spec, machine), _frame_bytes(model, load)
        )
    return fitting


def _with_answers(number: int, model: Understudy, machine: Machine, load: Load) -> Workshop:
    """One frame more is in hand, to be read or written meanwhile."""
    frames_at_once = min(number + 1, load.num_frames)
    left = load.memory_bytes - PROCESS_BYTES - frames_at_once * _frame_bytes(model, load)
    pixels = left / number / FRAGMENTS / answer_bytes(model.spec, machine)
    return Workshop(
        frames_at_once=frames_at_once,
        answers_at_once=number,
        threads=load.threads // number,
        tiling=tiling_for(model, max(1, int(pixels)), load.passes),
    )


def _beside_a_gpu(model: Understudy, machine: Machine, load: Load) -> Workshop:
    room = (load.memory_bytes - PROCESS_BYTES) // _frame_bytes(model, load)
    pixels = SHARE_OF_GPU * free_bytes(machine) / answer_bytes(model.spec, machine)
    if pixels < SMALLEST_TILE:
        raise UnderstudyError(f"{machine}: has too little free memory; end other programs there, or use --device cpu")
    if room < min(2, load.num_frames):
        raise _too_little(load, 0, _frame_bytes(model, load))
    return Workshop(
        frames_at_once=min(room, load.num_frames, 1 + min(MOST_READERS, load.threads)),
        answers_at_once=1,
        threads=load.threads,
        tiling=tiling_for(model, int(pixels), load.passes),
    )


def _frame_bytes(model: Understudy, load: Load) -> int:
    """What the network is given and what it gives, as float32."""
    spec = model.spec
    return 4 * load.width * load.height * (len(spec.input_channels) + len(spec.target_channels))


def _too_little(load: Load, tile_bytes: float, frame_bytes: int) -> UnderstudyError:
    least = (PROCESS_BYTES + tile_bytes + min(2, load.num_frames) * frame_bytes) / 2**30
    return UnderstudyError(
        f"--memory-gib {load.memory_bytes / 2**30:g}: is too little for frames of {load.width}x{load.height}; "
        f"give {math.ceil(10 * least) / 10} or more"
    )
