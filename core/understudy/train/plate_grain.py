"""How grainy the plates are: how strong their grain is in shade and light, how soft, how alike in all channels.

It is looked at in small squares drawn at random, in the flattest of those that are as bright: what varies there is
grain and little else. Where hardly a square is flat texture counts as grain; where some have none, as of a rendering,
there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from understudy.dataset import Dataset, DecodedPair, StoredPixels
from understudy.frames.kinds import is_colour
from understudy.train.crops import FIELD_SIDE
from understudy.train.fit import sample_pixels
from understudy.train.grain import Grain
from understudy.train.transfer import Transfer

STRONGEST_OVER_MATTES, STRONGEST_OVER_PICTURES = 3.5, 2.0
"""Deviation of what is laid over a crop, in that of the plates' own as it is measured. Of pictures, which are to keep
it, blemishes are learnt later with 3.5, and come no further."""
SIDE = 12
"""Pixels of a square."""
MOST_SQUARES = 10_000
"""Of all pairs together."""
SQUARES_AT_ONCE = 1000
"""As many as are no large piece of memory, of which every page is cleared first when it is asked for."""
FEWEST_SQUARES = 100
LEAST_SHARE = 0.01
"""Of the squares, that may have less grain than the plates are said to. With a tenth a rendering had some in its
shadows, which taught a matte to waver in black; that of grainy plates comes out at 0.85 of what it is."""
FLAT_SHARE = 0.1
"""Of the squares, by which it is known what grain looks like."""
NUM_BRIGHTNESSES = 8
"""Groups of as many squares each."""
GREY = 0.18
LEAST_GRAIN = 0.0005
"""Deviation at GREY, of each colour; less is none, and costs a step none of its time."""
REACH = 3
"""Pixels as far apart as which grain may be alike."""
KEPT_DEVIATION, MOST = 0.25, 0.5
"""Of the grain, that a target may differ by from its plate where it keeps it; and of the pixels, that must."""

EVEN, STEPS = np.ones(SIDE), np.arange(SIDE) - (SIDE - 1) / 2
PLANES = np.stack([np.outer(*both).ravel() for both in ((EVEN, EVEN), (EVEN, STEPS), (STEPS, EVEN))])
PLANES /= np.linalg.norm(PLANES, axis=1, keepdims=True)
"""3 x SIDE SIDE: even, rising across and rising down, each of length 1 and at right angles to the others."""

Numbers = NDArray[np.float64]
Pixels = NDArray[np.float32]


def grain_of(dataset: Dataset, transfer: Transfer, crop_size: int, *, is_matte: bool) -> Grain | None:
    """That of the colours of the training plates; None where they have none, or are too small to tell.

    None, too, for pictures that do not keep their plate's grain: what becomes of more of it, nobody knows.
    `transfer`: of plates, and of the colours of targets. `crop_size`: pixels a side of the largest crops that it is
    laid over.
    """
    colours = [number for number, name in enumerate(dataset.input_channels) if is_colour(name)]
    squares = _squares(dataset.training, colours)
    if len(squares) < FEWEST_SQUARES:
        return None
    means, variances = _means_and_variances(squares)
    lines = np.array([_least_line(*both) for both in zip(means.T, variances.T, strict=True)])  # C 2
    at_grey = np.sqrt(lines[:, 0] + lines[:, 1] * GREY)  # C
    if at_grey.min() < LEAST_GRAIN or not (is_matte or _is_kept(dataset, colours, lines)):
        return None
    looks = _flattest(squares, means, variances, lines)
    if not len(looks):
        return None
    strongest = STRONGEST_OVER_MATTES if is_matte else STRONGEST_OVER_PICTURES
    field = _field(looks)
    whole, inverse_scale, floor, slope = _encoded(field, strongest**2 * lines, colours, transfer)
    names = dataset.input_channels
    origins = tuple(names.index(name) if name in names else None for name in dataset.target_channels)
    return Grain(
        field=torch.from_numpy(np.pad(whole, ((0, crop_size), (0, crop_size), (0, 0)), mode="wrap")),
        inverse_scale=torch.from_numpy(inverse_scale),
        floor=torch.from_numpy(floor),
        slope=torch.from_numpy(slope),
        origins=None if is_matte else origins,
        at_grey=float(at_grey.mean()),
        strongest=strongest,
    )


def _is_kept(dataset: Dataset, colours: Sequence[int], lines: Numbers) -> bool:
    """Whether most pixels are in the target as they are in the plate, grain and all. `lines`: of the colours."""
    names = dataset.input_channels
    painted = [(place, name) for place, name in enumerate(dataset.target_channels) if is_colour(name)]
    if not painted or not all(name in names for _, name in painted):
        return False
    inputs, targets = sample_pixels(dataset.training)
    are_kept = np.ones(len(inputs), np.bool_)
    for place, name in painted:
        plate = inputs[:, names.index(name)]
        floor, slope = lines[colours.index(names.index(name))]
        deviations = np.sqrt(floor + slope * np.maximum(plate, 0))
        are_kept &= np.abs(targets[:, place] - plate) <= KEPT_DEVIATION * deviations
    return bool(are_kept.mean() >= MOST)


def _squares(pairs: Sequence[DecodedPair], channels: Sequence[int]) -> StoredPixels:
    """S C SIDE SIDE, scene-linear. None in which a channel is one value throughout, as of what is clipped."""
    rng = np.random.default_rng(0)
    found: list[StoredPixels] = [np.empty((0, len(channels), SIDE, SIDE), np.float16)]
    for pair in pairs:
        rows, columns = pair.window.height - SIDE + 1, pair.window.width - SIDE + 1
        if not channels or min(rows, columns) < 1:
            continue
        count = min(MOST_SQUARES // len(pairs) + 1, rows * columns)
        y, x = rng.integers(rows, size=count), rng.integers(columns, size=count)
        if pair.valid is not None:
            counts = sliding_window_view(pair.valid, (SIDE, SIDE))[y, x].all(axis=(1, 2))
            y, x = y[counts], x[counts]
        cut = sliding_window_view(pair.input, (SIDE, SIDE), axis=(0, 1))[y, x][:, channels]
        found.append(cut[(cut != cut[..., :1, :1]).any(axis=(2, 3)).all(axis=1)])
    return np.concatenate(found)


def _means_and_variances(squares: StoredPixels) -> tuple[Numbers, Numbers]:
    """S C each, the variances of what `_levelled` leaves."""
    means, variances = [], []
    for first in range(0, len(squares), SQUARES_AT_ONCE):
        mean, rest = _levelled(squares[first : first + SQUARES_AT_ONCE])
        means.append(mean)
        variances.append(np.square(rest, out=rest).sum(axis=(2, 3)) / (SIDE**2 - len(PLANES)))
    return np.concatenate(means), np.concatenate(variances)


def _levelled(squares: StoredPixels) -> tuple[Numbers, Numbers]:
    """Means, S C, and what is left of the squares when a plane has been taken from each."""
    rest = squares.reshape(*squares.shape[:2], SIDE**2).astype(np.float64)
    means = rest.mean(axis=2)
    rest -= rest @ PLANES.T @ PLANES
    return means, rest.reshape(squares.shape)


def _least_line(means: Numbers, variances: Numbers) -> tuple[float, float]:
    """Floor and slope, by light, of the variance that even the flattest squares have, S each: read noise and counted
    light, or film's grain. Of all lines that lie above none of the groups, the highest."""
    groups = np.array_split(np.argsort(means), NUM_BRIGHTNESSES)
    points = [
        (max(0.0, float(np.median(means[some]))), float(np.quantile(variances[some], LEAST_SHARE))) for some in groups
    ]
    level = (min(variance for _, variance in points), 0.0)
    through_black = [(0.0, variance / light) for light, variance in points if light > 0]
    through_two = [
        (low - light * (high - low) / (more - light), (high - low) / (more - light))
        for light, low in points
        for more, high in points
        if more > light
    ]
    fitting = [
        (floor, slope)
        for floor, slope in (*through_black, *through_two)
        if min(floor, slope) >= 0 and all(floor + slope * light <= 1.000001 * variance for light, variance in points)
    ]
    tiny = np.finfo(np.float64).tiny
    return max((level, *fitting), key=lambda line: sum(np.log(line[0] + line[1] * light + tiny) for light, _ in points))


def _flattest(squares: StoredPixels, means: Numbers, variances: Numbers, lines: Numbers) -> Numbers:
    """FLAT_SHARE of the squares, levelled, each over its grain's deviation: 1 is that of grain alone.

    None of where a colour has no grain.
    """
    expected = lines[:, 0] + lines[:, 1] * np.maximum(means, 0)  # S C
    grainy = np.flatnonzero((expected > 0).all(axis=1))
    flatness = (variances[grainy] / expected[grainy]).mean(axis=1)
    flattest = grainy[np.argsort(flatness)[: round(FLAT_SHARE * len(grainy))]]
    _, rest = _levelled(squares[flattest])
    return rest / np.sqrt(expected[flattest])[..., None, None]


def _field(looks: Numbers) -> Pixels:
    """FIELD_SIDE FIELD_SIDE C of deviation 1, without a seam: as soft as these squares, and channels as alike."""
    alike = np.zeros((FIELD_SIDE, FIELD_SIDE))  # by how far apart; what is before the first is at the end
    inner = slice(REACH, SIDE - REACH)
    for down, across in product(range(-REACH, REACH + 1), repeat=2):
        moved = looks[..., REACH + down : SIDE - REACH + down, REACH + across : SIDE - REACH + across]
        alike[down, across] = (looks[..., inner, inner] * moved).mean()
    spectrum = np.maximum(np.fft.fft2(alike).real, 0)
    num_channels = looks.shape[1]
    white = np.random.default_rng(1).standard_normal((num_channels, FIELD_SIDE, FIELD_SIDE))
    soft = np.fft.ifft2(np.fft.fft2(white) * np.sqrt(spectrum)).real
    between = np.corrcoef(looks.swapaxes(0, 1).reshape(num_channels, -1)).reshape(num_channels, num_channels)
    mixing = np.linalg.cholesky(between + 1e-6 * np.eye(num_channels))  # channels may be the same
    mixed = np.einsum("ab,bhw->hwa", mixing, soft)
    field: Pixels = (mixed / mixed.std(axis=(0, 1))).astype(np.float32)
    return field


def _encoded(field: Pixels, lines: Numbers, colours: Sequence[int], transfer: Transfer) -> tuple[Pixels, ...]:
    """As `Grain` has them for all channels of the plate: field, inverse scale, floor, slope."""
    gain, scale = (part.double().cpu().numpy() for part in (transfer.gain, transfer.scale))
    whole = np.zeros((*field.shape[:2], len(gain)), np.float32)
    inverse_scale, floor, slope = np.zeros((3, len(gain)), np.float32)
    steepest = (gain[colours] * scale[colours]) ** 2
    whole[..., colours] = field
    inverse_scale[colours] = 1 / scale[colours]
    floor[colours] = steepest * lines[:, 0]
    slope[colours] = steepest * lines[:, 1] / gain[colours]
    return whole, inverse_scale, floor, slope
