"""Runs in a peer's Python: whole frames through its own network, loaded by its own code.

python peer_answers.py tunet|few-shot CHECKOUT MODEL FRAMES.npy ANSWERS.npy
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

MULTIPLE = 16
"""Pixels: the networks halve their picture up to four times."""


def main() -> None:
    name, checkout, model, given, found = sys.argv[1:]
    sys.path[0] = checkout
    network = {"tunet": _tunet, "few-shot": _few_shot}[name](Path(model)).eval()
    with torch.no_grad():
        np.save(found, np.stack([_answer(network, torch.from_numpy(frame)) for frame in np.load(given)]))


def _tunet(checkpoint: Path) -> torch.nn.Module:
    """As it exports it to hosts: from the plate's values to the answer's."""
    load = importlib.import_module("inference").load_model_and_config
    wrapper = importlib.import_module("models.normalized").NormalizedUNet
    network, _, _, loss, color_space, is_residual = load(str(checkpoint), torch.device("cpu"))
    whole: torch.nn.Module = wrapper(network, loss == "bce+dice", color_space, is_residual)
    return whole


def _few_shot(model: Path) -> torch.nn.Module:
    """It lives in -1..1 on both sides."""
    return _Centred(torch.load(model, map_location="cpu", weights_only=False))


class _Centred(torch.nn.Module):
    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.network(2 * pixels - 1)
        return answer / 2 + 0.5


def _answer(network: torch.nn.Module, pixels: torch.Tensor) -> NDArray[np.float32]:
    """H W 3 -> H W 3; borders are repeated up to the multiple that the network takes."""
    height, width, _ = pixels.shape
    padding = (0, -width % MULTIPLE, 0, -height % MULTIPLE)
    batch = pixels.permute(2, 0, 1)[None]  # 1 3 H W
    answer: torch.Tensor = network(torch.nn.functional.pad(batch, padding, mode="replicate"))
    return answer[0, :, :height, :width].permute(1, 2, 0).numpy()


if __name__ == "__main__":
    main()
