"""What is in hand at once: as many answers as there are cores, where tiles do not eat up what that saves."""

from __future__ import annotations

import pytest
import torch
from tests.core.train.export.models import lively_model
from tests.core.train.test_tiles import CPU
from torch.profiler import ProfilerActivity, profile

from understudy.errors import UnderstudyError
from understudy.settings import ModelSize, Precision, Settings
from understudy.train.device import answer_bytes, choose_machine
from understudy.train.ends import BEYOND
from understudy.train.network import WIDTHS, NetworkSpec, Understudy, in_channels_last
from understudy.train.workshop import SMALLEST_TILE, Load, Workshop, workshop_for

HD = (1920, 1080)
SIX_K = (6144, 3160)


def shop(
    model_size: ModelSize, size: tuple[int, int], *, gib: float = 4.0, threads: int = 2, num_frames: int = 50
) -> Workshop:
    load = Load(num_frames=num_frames, width=size[0], height=size[1], memory_bytes=int(gib * 2**30), threads=threads)
    return workshop_for(lively_model(size=model_size), CPU, load)


def num_tiles(workshop: Workshop, size: tuple[int, int]) -> int:
    return len(workshop.tiling.parts(*size))


def test_hd_is_whole_and_all_cores_work_on_it() -> None:
    small = shop("small", HD)
    assert (small.answers_at_once, small.threads, small.frames_at_once, num_tiles(small, HD)) == (1, 2, 2, 1)


def test_very_many_cores_work_on_several_frames_where_memory_is_enough() -> None:
    large = shop("large", HD, gib=32.0, threads=64)
    assert (large.answers_at_once, large.threads, num_tiles(large, HD)) == (4, 16, 1)
    assert shop("large", HD, gib=1.0, threads=64).answers_at_once < 4


def test_one_frame_has_all_cores() -> None:
    still = shop("medium", HD, threads=6, num_frames=1)
    assert (still.answers_at_once, still.threads, still.frames_at_once) == (1, 6, 1)


@pytest.mark.parametrize("model_size", WIDTHS)
def test_six_k_goes_in_tiles_and_not_many(model_size: ModelSize) -> None:
    workshop = shop(model_size, SIX_K)
    assert 1 < num_tiles(workshop, SIX_K) < 30
    assert workshop.tiling.work(*SIX_K) < 1.35


@pytest.mark.parametrize("threads", [1, 3, 8, 64])
def test_cores_are_shared_out_evenly_and_memory_is_kept(threads: int) -> None:
    workshop = shop("medium", HD, threads=threads)
    assert workshop.answers_at_once * workshop.threads == threads
    width, height = HD
    tile = max(
        window.width * window.height
        for window in (workshop.tiling.seen(part, *HD) for part in workshop.tiling.parts(*HD))
    )
    used = workshop.answers_at_once * tile * answer_bytes(lively_model(size="medium").spec, CPU)
    assert used + workshop.frames_at_once * 24 * width * height < 4 * 2**30


def test_too_little_memory_says_how_much_is_enough() -> None:
    with pytest.raises(
        UnderstudyError, match=r"--memory-gib 1: is too little for frames of 6144x3160; give 1\.\d"
    ) as it:
        shop("small", SIX_K, gib=1.0)
    enough = float(str(it.value).split("give ")[1].split()[0])
    assert shop("small", SIX_K, gib=enough).tiling.most_pixels >= SMALLEST_TILE


@pytest.mark.parametrize(
    ("model_size", "num_inputs", "precision"),
    [
        *((size, 3, "float32") for size in WIDTHS),
        ("small", 12, "float32"),
        ("small", 1, "float32"),
        ("medium", 3, "bfloat16"),
        ("small", 3, "float64"),
    ],
)
def test_an_answer_takes_no_more_than_is_reckoned(model_size: ModelSize, num_inputs: int, precision: Precision) -> None:
    """Bytes that tensors held at once, as PyTorch's own profiler counts them."""
    machine = choose_machine(Settings(device="cpu", precision=precision, threads=1), print)
    channels = tuple(f"c{number}" for number in range(num_inputs))
    spec = NetworkSpec(input_channels=channels, target_channels=("R", "G", "B"), model_size=model_size)
    model, side = in_channels_last(Understudy(spec).to(machine.dtype)), 256
    scene = torch.rand(1, side, side, num_inputs, dtype=machine.dtype).permute(0, 3, 1, 2)  # as files have it
    with torch.inference_mode(), machine.autocast():
        model(scene)
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
            model(scene)
    given_pixels = (side + 2 * BEYOND) ** 2
    assert 0.5 < peak_bytes(watched) / (given_pixels * answer_bytes(spec, machine)) <= 1.0


def peak_bytes(watched: profile) -> int:
    held = most = 0
    results = watched.profiler.kineto_results if watched.profiler else None
    assert results is not None
    for event in sorted(results.events(), key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            held += event.nbytes()  # type: ignore[attr-defined]
            most = max(most, held)
    return most
