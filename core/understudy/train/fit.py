"""What can be learnt before the first step: the channels' curves, the linear guess, and where it is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from understudy.cores import cores_given
from understudy.dataset import DecodedPair, StoredPixels
from understudy.frames.kinds import is_matte as is_matte_name
from understudy.train.crops import BLOCK, most_interesting
from understudy.train.guess import fit_guess
from understudy.train.network import Understudy
from understudy.train.run import Preview
from understudy.train.transfer import HAIR, STRAIGHT, Transfer, choose_curve

SAMPLE_PIXELS = 200_000
"""Pixels, over the whole set, from which curves and guess are fitted."""
MOST_WHOLE_PIXELS = 2**22
"""Of a frame in which every pixel's error is looked at: more than HD and 2K have."""
THINNED = (0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11)
"""In larger ones, for each row of a block the one column that is looked at: all columns come up once."""
BLACK_SHARE = 0.01
"""Of a channel's pixels, that are black to the last bit where black is its end: what is cut out, or has no light."""
SMALLEST_PAINT = 0.06
"""Unit of what is to be painted, where a sample shows nothing: it may have missed a speck."""
LARGEST_PAINT = 2.0
"""That unit where half of white is to be painted, or more."""
BLOCKS_AT_ONCE = 16
"""Rows of blocks."""

Pixels = NDArray[np.float32]


def fit_model(model: Understudy, pairs: tuple[DecodedPair, ...], *, is_matte: bool = False) -> None:
    """Set curves and ends, the guess and the size of paint of `model` from a sample of the training pixels.

    `is_matte`: the target is coverage and has no curve, whatever its channels' names.
    """
    inputs, targets = sample_pixels(pairs)
    curves_in = [choose_curve(name, inputs[:, c]) for c, name in enumerate(model.spec.input_channels)]
    curves_out = [
        STRAIGHT if is_matte else choose_curve(name, targets[:, c]) for c, name in enumerate(model.spec.target_channels)
    ]
    model.input_transfer.set_curves(curves_in)
    model.target_transfer.set_curves(curves_out)
    encoded_in, encoded_out = _encoded(inputs, model.input_transfer), _encoded(targets, model.target_transfer)
    _set_ends(model, encoded_out, is_matte=is_matte)
    matrix, offset = fit_guess(encoded_in, encoded_out)
    model.guess_matrix.copy_(torch.from_numpy(matrix))
    model.guess_offset.copy_(torch.from_numpy(offset))
    model.set_paint_size(paint_size(encoded_in @ matrix.T + offset - encoded_out))


def fit_ends(model: Understudy, pairs: tuple[DecodedPair, ...], *, is_matte: bool = False) -> None:
    """Of a model that goes on with these pairs, whatever it learnt from before."""
    _, targets = sample_pixels(pairs)
    _set_ends(model, _encoded(targets, model.target_transfer), is_matte=is_matte)


def _set_ends(model: Understudy, targets: Pixels, *, is_matte: bool) -> None:
    """`targets`: P C in transfer space."""
    channels = model.spec.target_channels
    white = _encoded(np.ones((1, len(channels)), np.float32), model.target_transfer)[0]
    may_end = [(is_matte or is_matte_name(name)) and math.isclose(white[c], 1) for c, name in enumerate(channels)]
    model.target_transfer.set_ends([_num_ends(targets[:, c], may_end_at_white=may) for c, may in enumerate(may_end)])


def _num_ends(values: Pixels, *, may_end_at_white: bool) -> int:
    """As of `Transfer.set_ends`. What is scaled by some filters, or painted so, is beyond black and white."""
    if values.min(initial=0.0) < -HAIR:
        return 0
    if may_end_at_white and values.max(initial=0.0) <= 1 + HAIR:
        return 2
    return int(np.count_nonzero(values == 0) >= BLACK_SHARE * max(values.size, 1))


def _encoded(pixels: NDArray[np.floating], transfer: Transfer) -> Pixels:
    """Scene-linear, P C or H W C -> P C in transfer space. Half is quick to encode."""
    picture = pixels if pixels.ndim == 3 else pixels[:, None]
    scene = torch.from_numpy(np.array(picture)).permute(2, 0, 1)[None]  # 1 C H W
    values: Pixels = transfer.encode(scene).movedim(1, -1).flatten(end_dim=-2).numpy()  # P C
    return values


def paint_size(errors: Pixels) -> float:
    """The unit of what is to be painted, by the guess's errors, P C in transfer space: SMALLEST_PAINT to LARGEST_PAINT.

    Four times the mean error, each pixel's weighed by itself: what is rare counts by its size, not by how rare it is.
    """
    sums = np.abs(errors).sum(axis=0, dtype=np.float64)  # C
    squares = np.square(errors).sum(axis=0, dtype=np.float64)
    means = np.divide(squares, sums, out=np.zeros_like(sums), where=sums > 0)
    return float(np.clip(4 * means.max(), SMALLEST_PAINT, LARGEST_PAINT))


def interests_of(model: Understudy, pairs: Sequence[DecodedPair]) -> tuple[NDArray[np.float32], ...]:
    """`interest_of` each pair, on all cores."""
    with ThreadPoolExecutor(cores_given()) as pool:
        return tuple(pool.map(partial(interest_of, model), pairs))


def interest_of(model: Understudy, pair: DecodedPair) -> NDArray[np.float32]:
    """Mean absolute error of the guess in each BLOCK x BLOCK square: rows x columns.

    Of a large frame one pixel in sixteen is looked at, in every row and every column, so that no thin wire is missed.
    """
    height, width = pair.window.height, pair.window.width
    blocks = np.zeros((-(-height // BLOCK), -(-width // BLOCK)), np.float32)
    offsets = THINNED if height * width > MOST_WHOLE_PIXELS else (0,)
    apart = len(offsets)
    rows_at_once = apart * BLOCKS_AT_ONCE * BLOCK
    for top in range(0, height, rows_at_once):  # a band at a time: the pair may be large and on disk
        bottom = min(top + rows_at_once, height)
        for down, right in enumerate(offsets[: bottom - top]):
            place = slice(top + down, bottom, apart), slice(right, None, apart)
            error = _guess_error(model, pair.input[place], pair.target[place])  # h w
            if pair.valid is not None:
                error = error * pair.valid[place]
            sums = _sums(error, BLOCK // apart)
            first = top // BLOCK
            blocks[first : first + sums.shape[0], : sums.shape[1]] += sums * (apart / BLOCK**2)
    return blocks


def _sums(values: Pixels, side: int) -> Pixels:
    """Of squares of `side` x `side` neighbours."""
    if side == 1:
        return values
    for axis, size in enumerate(values.shape):
        values = np.add.reduceat(values, np.arange(0, size, side), axis=axis)
    return values


def preview_of(model: Understudy, pair: DecodedPair, crop_size: int) -> Preview:
    """The crop of a validation pair with the most to learn."""
    height, width = min(crop_size, pair.window.height), min(crop_size, pair.window.width)
    y, x = most_interesting(interest_of(model, pair), pair, height, width)
    place = (slice(y, y + height), slice(x, x + width))
    inputs, targets = pair.input[place].astype(np.float32), pair.target[place].astype(np.float32)
    return Preview(name=pair.pair.input.media.path.name, input=inputs, target=targets)


def _guess_error(model: Understudy, inputs: NDArray[np.floating], targets: NDArray[np.floating]) -> Pixels:
    """H W, the mean over channels."""

    matrix, offset = model.guess_matrix.numpy(), model.guess_offset.numpy()[:, None]
    error = matrix @ _encoded(inputs, model.input_transfer).T  # C P: a few long rows are quicker than many short ones
    error += offset
    error -= _encoded(targets, model.target_transfer).T
    np.abs(error, out=error)
    mean: Pixels = np.full(len(error), 1 / len(error), np.float32) @ error  # of few numbers, quicker than mean
    return mean.reshape(inputs.shape[:2])


def sample_pixels(pairs: tuple[DecodedPair, ...]) -> tuple[Pixels, Pixels]:
    """Evenly spread valid pixels of every pair: P x Cin and P x Cout, the same on every machine."""
    inputs, targets = [], []
    for pair in pairs:
        num_pixels = pair.window.width * pair.window.height
        count = max(1, min(SAMPLE_PIXELS // len(pairs), num_pixels))
        chosen = np.linspace(0, num_pixels - 1, count).astype(np.int64)
        if pair.valid is not None:
            chosen = chosen[pair.valid.reshape(-1)[chosen]]
        inputs.append(_pixels_at(chosen, pair.input))
        targets.append(_pixels_at(chosen, pair.target))
    return np.concatenate(inputs), np.concatenate(targets)


def _pixels_at(places: NDArray[np.int64], frame: StoredPixels) -> Pixels:
    """P C; places are counted along the rows."""
    return np.asarray(frame.reshape(-1, frame.shape[2])[places], np.float32)
