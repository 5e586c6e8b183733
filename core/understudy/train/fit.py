"""What can be learnt before the first step: the channels' curves, the linear guess, and where it is wrong."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from understudy.dataset import DecodedPair
from understudy.train.crops import BLOCK, most_interesting
from understudy.train.network import Understudy
from understudy.train.run import Preview
from understudy.train.transfer import choose_curve

SAMPLE_PIXELS = 200_000
"""Pixels, over the whole set, from which curves and guess are fitted."""
REWEIGHTINGS = 15
"""Rounds that turn least squares into least absolute error."""

Pixels = NDArray[np.float32]


def fit_model(model: Understudy, pairs: tuple[DecodedPair, ...]) -> None:
    """Set the transfer curves and the guess of `model` from a sample of the training pixels."""
    inputs, targets = _sample(pairs)
    curves_in = [choose_curve(name, inputs[:, c]) for c, name in enumerate(model.spec.input_channels)]
    curves_out = [choose_curve(name, targets[:, c]) for c, name in enumerate(model.spec.target_channels)]
    model.input_transfer.set_curves(curves_in)
    model.target_transfer.set_curves(curves_out)
    encoded_in = model.input_transfer.encode(torch.from_numpy(inputs.T[:, :, None]))[..., 0].numpy().T
    encoded_out = model.target_transfer.encode(torch.from_numpy(targets.T[:, :, None]))[..., 0].numpy().T
    matrix, offset = fit_guess(encoded_in, encoded_out)
    model.guess_matrix.copy_(torch.from_numpy(matrix))
    model.guess_offset.copy_(torch.from_numpy(offset))


def fit_guess(inputs: Pixels, targets: Pixels) -> tuple[Pixels, Pixels]:
    """The matrix (Cout x Cin) and offset (Cout) with the least absolute error over pixels (P x C).

    Least absolute, not least squares: where most pixels are to stay as they are the guess is then exactly that,
    however different the painted ones are.
    """
    design = np.concatenate([inputs, np.ones_like(inputs[:, :1])], axis=1).astype(np.float64)  # P Cin+1
    columns = [_least_absolute(design, target) for target in targets.T.astype(np.float64)]
    solution = np.stack(columns)  # Cout Cin+1
    return solution[:, :-1].astype(np.float32), solution[:, -1].astype(np.float32)


def _least_absolute(design: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Iteratively reweighted least squares; a trace of ridge keeps constant channels out of the answer."""
    weight = np.ones(len(target))
    ridge = 1e-9 * len(target) * np.eye(design.shape[1])
    solution = np.zeros(design.shape[1])
    for _ in range(REWEIGHTINGS):
        weighted = design * weight[:, None]
        solution = np.linalg.solve(weighted.T @ design + ridge, weighted.T @ target)
        weight = 1 / np.maximum(np.abs(design @ solution - target), 1e-4)
        weight /= weight.mean()
    return _snapped(solution)


def _snapped(solution: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients within a hair of 0 or 1 are meant to be that: what is to stay then stays to the last bit."""
    nearest = np.round(solution)
    return np.where((np.abs(solution - nearest) < 1e-3) & (np.abs(nearest) <= 1), nearest, solution)


def interest_of(model: Understudy, pair: DecodedPair) -> NDArray[np.float32]:
    """Mean absolute error of the guess in each BLOCK x BLOCK square: rows x columns."""
    height, width = pair.window.height, pair.window.width
    blocks = np.zeros((-(-height // BLOCK), -(-width // BLOCK)), np.float32)
    for row in range(blocks.shape[0]):  # a band at a time: the pair may be large and on disk
        band = slice(row * BLOCK, (row + 1) * BLOCK)
        error = _guess_error(model, pair.input[band], pair.target[band])  # h W
        if pair.valid is not None:
            error = error * pair.valid[band]
        starts = np.arange(0, width, BLOCK)
        blocks[row] = np.add.reduceat(error.sum(axis=0), starts) / BLOCK**2
    return blocks


def preview_of(model: Understudy, pair: DecodedPair, crop_size: int) -> Preview:
    """The crop of a validation pair with the most to learn."""
    height, width = min(crop_size, pair.window.height), min(crop_size, pair.window.width)
    y, x = most_interesting(interest_of(model, pair), pair, height, width)
    place = (slice(y, y + height), slice(x, x + width))
    inputs, targets = pair.input[place].astype(np.float32), pair.target[place].astype(np.float32)
    return Preview(name=pair.pair.input.media.path.name, input=inputs, target=targets)


def _guess_error(model: Understudy, inputs: NDArray[np.floating], targets: NDArray[np.floating]) -> Pixels:
    def as_tensor(pixels: NDArray[np.floating]) -> torch.Tensor:
        return torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]  # 1 C h W

    encoded = model.input_transfer.encode(as_tensor(inputs))
    guess = torch.nn.functional.conv2d(encoded, model.guess_matrix[:, :, None, None], model.guess_offset)
    error = (guess - model.target_transfer.encode(as_tensor(targets))).abs().mean(dim=(0, 1))
    result: Pixels = error.numpy()
    return result


def _sample(pairs: tuple[DecodedPair, ...]) -> tuple[Pixels, Pixels]:
    """Evenly spread valid pixels of every pair: P x Cin and P x Cout, the same on every machine."""
    inputs, targets = [], []
    for pair in pairs:
        num_pixels = pair.window.width * pair.window.height
        chosen = np.unique(np.linspace(0, num_pixels - 1, max(1, SAMPLE_PIXELS // len(pairs))).astype(np.int64))
        if pair.valid is not None:
            chosen = chosen[pair.valid.reshape(-1)[chosen]]
        rows, columns = np.divmod(chosen, pair.window.width)
        inputs.append(pair.input[rows, columns].astype(np.float32))
        targets.append(pair.target[rows, columns].astype(np.float32))
    return np.concatenate(inputs), np.concatenate(targets)
