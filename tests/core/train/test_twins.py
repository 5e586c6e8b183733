"""A thing is found again in another frame, wherever it has moved to; what is shown once is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.core.train.decoded import decoded
from torch.nn import functional

from understudy.dataset import DecodedPair
from understudy.frames.window import Window
from understudy.train.twins import SEARCHES, Place, Twins

Pixels = NDArray[np.float32]
SIZE, MOVE = 256, 52
"""Of a frame, and from one to the next: pixels. The move is no whole number of cells."""
SIDES = pytest.mark.parametrize("side", [16, 32, 48, 64])


def wall(seed: int = 0) -> Pixels:
    """Three frames beside each other, uneven as walls are."""
    generator = torch.Generator().manual_seed(seed)
    knots = torch.rand((1, 3, SIZE // 8, (SIZE + 2 * MOVE) // 8), generator=generator)
    uneven = functional.interpolate(knots, size=(SIZE, SIZE + 2 * MOVE), mode="bicubic")[0]
    pixels: Pixels = uneven.permute(1, 2, 0).numpy()
    return pixels


def frames_of(pixels: Pixels) -> list[Pixels]:
    return [pixels[:, number * MOVE : number * MOVE + SIZE].copy() for number in range(3)]


def pairs_of(plates: Sequence[Pixels], paints: Sequence[Pixels]) -> tuple[DecodedPair, ...]:
    return tuple(decoded(plate, paint) for plate, paint in zip(plates, paints, strict=True))


def place(pair: int, y: int, x: int, side: int) -> Place:
    return pair, Window.of_size(side, side, x, y)


@SIDES
def test_what_moves_through_the_frames_is_found_where_it_went(side: int) -> None:
    plates = frames_of(wall())
    twins = Twins(pairs_of(plates, [0.5 * plate for plate in plates]))
    found = twins.twin(place(1, 96, 112, side), [])
    assert found is not None
    other, window = found
    assert (window.width, window.height) == (side, side)
    assert other in (0, 2)
    assert abs(window.y0 - 96) <= 8
    assert abs(window.x0 - (112 - MOVE * (other - 1))) <= 8


@SIDES
def test_what_comes_in_at_the_end_of_the_last_frame_has_no_twin(side: int) -> None:
    plates = frames_of(wall())
    twins = Twins(pairs_of(plates, [0.5 * plate for plate in plates]))
    assert twins.twin(place(2, 96, 192, side), []) is None


def test_what_is_painted_in_one_frame_alone_has_no_twin() -> None:
    """The plate is the same in each."""
    plates = frames_of(wall())
    mattes = [np.zeros((SIZE, SIZE, 1), np.float32) for _ in plates]
    mattes[1][96:128, 112:128] = 1
    twins = Twins(pairs_of(plates, mattes))
    assert twins.twin(place(1, 96, 112, 32), []) is None
    assert twins.twin(place(1, 0, 112, 32), []) is not None


def test_grain_hides_no_twin() -> None:
    random = np.random.default_rng(0)
    plates = [plate + random.normal(0, 0.02, plate.shape).astype(np.float32) for plate in frames_of(wall())]
    assert Twins(pairs_of(plates, plates)).twin(place(1, 96, 112, 32), [])


def test_even_places_have_their_like() -> None:
    random = np.random.default_rng(0)
    plates = [random.normal(0.2, 0.01, (SIZE, SIZE, 3)).astype(np.float32) for _ in range(2)]
    assert Twins(pairs_of(plates, plates)).twin(place(0, 96, 112, 32), [])


@pytest.mark.parametrize(("dy", "dx"), [(0, 0), (16, 16), (-16, -16), (-16, 16)])
def test_a_twin_that_is_withheld_is_none(dy: int, dx: int) -> None:
    plates = frames_of(wall())
    twins = Twins(pairs_of(plates[1:], plates[1:]))
    found = twins.twin(place(0, 96, 112, 32), [])
    assert found is not None
    other, window = found
    assert twins.twin(place(0, 96, 112, 32), [(other, window.moved(dx, dy))]) is None
    assert twins.twin(place(0, 96, 112, 32), [(0, window), (other, window.moved(64, 64))]) == found


def test_frames_have_any_sizes() -> None:
    whole, _, _ = frames_of(wall())
    twins = Twins(pairs_of([whole, whole[:24], whole[80:160, 100:190]], [whole, whole[:24], whole[80:160, 100:190]]))
    assert twins.twin(place(0, 96, 112, 32), []) == place(2, 16, 12, 32)
    assert twins.twin(place(0, 0, 0, 32), []) is None, "24 rows hold no place of 32"


def test_photographs_of_different_things_are_given_up() -> None:
    pictures = [wall(seed)[:, :SIZE] for seed in range(4)]
    twins = Twins(pairs_of(pictures, pictures))
    for number in range(SEARCHES):
        assert not twins.are_hopeless
        assert twins.twin(place(number % 4, 32 * (number // 4), 64, 32), []) is None
    assert twins.are_hopeless
