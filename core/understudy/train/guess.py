"""The linear guess from which the network starts: the matrix and offset that are wrong by least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

REWEIGHTINGS = 15
"""Rounds that turn least squares into least absolute error."""
PIXELS_AT_ONCE = 2**13
"""Of a round: they stay in the processor's cache, and are too few for BLAS to wake its threads."""

Pixels = NDArray[np.float32]


def fit_guess(inputs: Pixels, targets: Pixels) -> tuple[Pixels, Pixels]:
    """The matrix (Cout x Cin) and offset (Cout) with the least absolute error over pixels (P x C).

    Least absolute, not least squares: where most pixels are to stay as they are the guess is then exactly that,
    however different the painted ones are.
    """
    design = np.concatenate([inputs.T, np.ones_like(inputs.T[:1])]).astype(np.float64)  # Cin+1 P
    solution = np.stack([_least_absolute(design, target) for target in targets.T.astype(np.float64)])  # Cout Cin+1
    return solution[:, :-1].astype(np.float32), solution[:, -1].astype(np.float32)


def _least_absolute(design: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """Iteratively reweighted least squares; a trace of ridge keeps constant channels out of the answer.

    `design`: Cin+1 x P, the last row all ones.
    """
    pieces = [slice(first, first + PIXELS_AT_ONCE) for first in range(0, len(target), PIXELS_AT_ONCE)]
    weight = np.ones_like(target)
    solution = np.zeros(len(design))
    for _ in range(REWEIGHTINGS):
        products, answers = np.zeros((len(design), len(design))), np.zeros(len(design))
        for piece in pieces:
            weighted = design[:, piece] * weight[piece]
            products += weighted @ design[:, piece].T
            answers += weighted @ target[piece]
        sum_of_weights = products[-1, -1]
        solution = np.linalg.solve(products + 1e-9 * sum_of_weights * np.eye(len(design)), answers)
        for piece in pieces:
            weight[piece] = 1 / np.maximum(np.abs(solution @ design[:, piece] - target[piece]), 1e-4)
    return _snapped(solution)


def _snapped(solution: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients within a hair of 0 or 1 are meant to be that: what is to stay then stays to the last bit."""
    nearest = np.round(solution)
    return np.where((np.abs(solution - nearest) < 1e-3) & (np.abs(nearest) <= 1), nearest, solution)
