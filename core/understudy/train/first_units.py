"""How bright a plate must be for each of a new network's first units to bend: they tell shades apart from the start.

A plate's colours are hardly ever below zero, and mostly rise and fall together. Of units that bend where chance has it,
10 of 16 were on one side of their bend for 99 of 100 pixels of a street: a straight line, each like the others. What
depends on how bright a pixel is was left to a few.
"""

from __future__ import annotations

import numpy as np
import torch

from understudy.dataset import DecodedPair
from understudy.train.fit import sample_pixels
from understudy.train.network import Understudy, with_squares


@torch.no_grad()
def spread_first_units(model: Understudy, pairs: tuple[DecodedPair, ...]) -> None:
    """Set the first layer's biases: of N units the first is off at 1/2N of a sample of the pixels, the next at 3/2N...

    Each pixel counts as a place all of its colour. The channels' curves must have been set (`fit_model`).
    """
    inputs, _ = sample_pixels(pairs)  # P Cin
    weights, biases = (model.get_parameter(f"unet.enter.0.0.{name}") for name in ("weight", "bias"))
    encoded = model.input_transfer.encode(torch.from_numpy(inputs.T[None, :, :, None]))  # 1 Cin P 1
    seen = with_squares(encoded)[0, :, :, 0]  # 2Cin P
    given = (weights.sum(dim=(2, 3)) @ seen).numpy()  # W0 P
    off_shares = (np.arange(len(given)) + 0.5) / len(given)
    bends = [np.quantile(of_unit, share) for of_unit, share in zip(given, off_shares, strict=True)]
    biases.copy_(-torch.tensor(np.array(bends)))
