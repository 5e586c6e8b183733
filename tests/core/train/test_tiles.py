"""Tiles: what a part of a frame needs of its surroundings, and that nothing shows where parts meet."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.train.export.models import lively_model
from torch import Tensor

from understudy.frames.image import FloatPixels
from understudy.settings import ModelSize
from understudy.train.device import Machine
from understudy.train.ends import BEYOND
from understudy.train.infer import answer_for
from understudy.train.network import WIDTHS, Understudy
from understudy.train.tiles import MOVE, Tiling, reach_of, tiling_for

CPU = Machine(device=torch.device("cpu"), bfloat16=False)
MULTIPLE = 16


def hdr_frame(height: int, width: int, seed: int = 0) -> FloatPixels:
    """Scene-linear noise from 0.001 to some hundreds."""
    return np.exp(np.random.default_rng(seed).normal(-1.0, 2.0, (height, width, 3))).astype(np.float32)


def largest_relative(answer: FloatPixels, wanted: FloatPixels) -> float:
    return float((np.abs(answer - wanted) / np.maximum(np.abs(wanted), 1e-2)).max())


def sees_everything(model: Understudy) -> Understudy:
    """Weights by which every pixel that an answer can depend on makes a difference to it."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.01 if parameter.dim() == 4 else 0.0)
    return model


def dependence(model: Understudy, size: int, first: int, end: int) -> tuple[int, int]:
    """First and last column on which the answer in columns `first` to before `end` depends: by its gradient."""
    picture = torch.ones(1, 3, 32, size, dtype=torch.float64, requires_grad=True)
    model.double().encoded_answer(picture)[..., first:end].sum().backward()  # type: ignore[no-untyped-call]
    assert picture.grad is not None
    columns = torch.nonzero(picture.grad.abs().sum(dim=(0, 1, 2)))
    return int(columns[0]), int(columns[-1])


def test_reach_is_what_the_gradient_says() -> None:
    model, first = sees_everything(lively_model()), 10 * MULTIPLE
    low, high = dependence(model, 20 * MULTIPLE, first, first + MULTIPLE)
    assert max(first - low, high - (first + MULTIPLE - 1)) == reach_of(model)


@pytest.mark.parametrize("model_size", WIDTHS)
def test_a_pixel_beyond_the_halo_changes_nothing(model_size: ModelSize) -> None:
    """Perturbed by a lot, just outside and just inside of what a tile is given."""
    model, frame = lively_model(size=model_size), hdr_frame(32, 384)
    tiling = tiling_for(model, 0)
    first, end = 160, 224
    before = answer_for(model, frame, CPU)
    for place, must_differ in ((first - tiling.halo - 1, False), (end + tiling.halo, False), (first - 8, True)):
        changed = frame.copy()
        changed[:, place] += 500.0
        differs = not np.array_equal(answer_for(model, changed, CPU)[:, first:end], before[:, first:end])
        assert differs == must_differ, place


@pytest.mark.parametrize("model_size", WIDTHS)
def test_tiles_give_the_whole_frames_answer(model_size: ModelSize) -> None:
    """HDR, odd sizes that no grid divides, tiles in both directions."""
    model, frame = lively_model(size=model_size), hdr_frame(331, 431)
    whole = answer_for(model, frame, CPU)
    for most_pixels in (80_000, 60_000):
        tiling = tiling_for(model, most_pixels)
        assert len(tiling.parts(431, 331)) > 3
        assert largest_relative(answer_for(model, frame, CPU, tiling), whole) < 1e-4, most_pixels
    assert whole.max() > 100


@pytest.mark.parametrize(("height", "width"), [(1, 1), (3, 700), (700, 3), (15, 17), (161, 33)])
def test_frames_below_the_reach(height: int, width: int) -> None:
    model, frame = lively_model(), hdr_frame(height, width)
    tiled = answer_for(model, frame, CPU, tiling_for(model, 40_000))
    assert largest_relative(tiled, answer_for(model, frame, CPU)) < 1e-4


@pytest.mark.parametrize(("height", "width"), [(1, 1), (5, 70), (33, 40)])
def test_a_frame_goes_on_past_its_ends_as_its_mirror_image(height: int, width: int) -> None:
    model, frame = lively_model(), hdr_frame(height, width)

    def scene_of(pixels: FloatPixels) -> Tensor:
        return torch.from_numpy(pixels).permute(2, 0, 1)[None]  # 1 3 H W

    def given(pixels: FloatPixels) -> Tensor:
        return model.target_transfer.decode(model.encoded_answer(model.input_transfer.encode(scene_of(pixels))))

    with torch.inference_mode():
        over = given(np.pad(frame, ((BEYOND, BEYOND), (BEYOND, BEYOND), (0, 0)), "symmetric"))
        wanted = over[..., BEYOND:-BEYOND, BEYOND:-BEYOND][0].permute(1, 2, 0).numpy()
        for answer, is_it in ((model(scene_of(frame)), True), (given(frame), False)):
            assert (largest_relative(answer[0].permute(1, 2, 0).numpy(), wanted) < 1e-4) == is_it
    assert largest_relative(answer_for(model, frame, CPU), wanted) < 1e-4


def test_too_small_a_halo_would_show() -> None:
    """That the tests above can fail."""
    model, frame = lively_model(), hdr_frame(256, 256)
    tiling = Tiling(multiple=MULTIPLE, halo=MULTIPLE, most_pixels=30_000)
    assert largest_relative(answer_for(model, frame, CPU, tiling), answer_for(model, frame, CPU)) > 1e-3


@pytest.mark.parametrize("most_pixels", [0, 60_000])
def test_several_passes_are_the_mean_of_answers_with_the_grid_at_other_places(most_pixels: int) -> None:
    """In transfer space. The grid begins with what the network is given: less of it before the frame moves it."""
    model, frame = lively_model(), hdr_frame(150, 331)

    def moved(pixels: int) -> Tensor:
        before = BEYOND - pixels
        over = np.pad(frame, ((before, BEYOND), (before, BEYOND), (0, 0)), "symmetric")
        scene = torch.from_numpy(over).permute(2, 0, 1)[None]  # 1 3 H W
        answer = model.encoded_answer(model.input_transfer.encode(scene))
        return answer[..., before : before + 150, before : before + 331]

    with torch.inference_mode():
        mean = torch.stack([moved(pixels) for pixels in (0, 5, 10, 15)]).mean(dim=0)
        wanted = model.target_transfer.decode(mean)[0].permute(1, 2, 0).numpy()
    answer = answer_for(model, frame, CPU, tiling_for(model, most_pixels, passes=4))
    assert largest_relative(answer, wanted) < 1e-4
    assert largest_relative(answer, answer_for(model, frame, CPU)) > 1e-3


def test_what_is_not_finite_is_black_and_what_is_given_stays_as_it_is() -> None:
    model, frame = lively_model(), hdr_frame(40, 40)
    frame[10, 10], frame[20, 20], frame[30, 30] = np.nan, np.inf, -np.inf
    given_frame = frame.copy()
    frame.flags.writeable = False
    answer = answer_for(model, frame, CPU)
    np.testing.assert_array_equal(frame, given_frame)
    black = np.where(np.isfinite(given_frame), given_frame, 0)
    np.testing.assert_array_equal(answer, answer_for(model, black, CPU))


@given(
    width=st.integers(1, 2000),
    height=st.integers(1, 2000),
    most_pixels=st.integers(1, 500_000),
    passes=st.sampled_from((1, 4)),
)
@settings(max_examples=100)
def test_parts_cover_the_frame_once_and_stay_small(width: int, height: int, most_pixels: int, passes: int) -> None:
    tiling = Tiling(multiple=MULTIPLE, halo=5 * MULTIPLE, most_pixels=most_pixels, passes=passes)
    parts = tiling.parts(width, height)
    assert sum(part.width * part.height for part in parts) == width * height
    assert len({(part.x0, part.y0) for part in parts}) == len(parts)
    seen = {part: [tiling.seen(part, width, height, number) for number in range(passes)] for part in parts}
    for (part, windows), number in itertools.product(seen.items(), range(passes)):
        window = windows[number]
        assert window.contains(part)
        assert window.x0 % MULTIPLE == window.y0 % MULTIPLE == number * MOVE
        assert window.x0 == number * MOVE - BEYOND or 0 <= part.x0 - tiling.halo - window.x0 < MULTIPLE
        assert window.x1 == width + BEYOND or window.x1 >= part.x1 + tiling.halo
    most = [max(one.width for one in windows) * max(one.height for one in windows) for windows in seen.values()]
    smallest = (11 if passes == 1 else 12) * MULTIPLE
    if most_pixels >= smallest * smallest:
        assert max(most) <= most_pixels
    assert tiling.work(width, height) == pytest.approx(sum(most) / (width * height))
