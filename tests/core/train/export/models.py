"""Models as they are after training: curves fitted, no weight zero, the guess near what stays as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from understudy.frames.kinds import is_colour, is_matte
from understudy.settings import ModelSize
from understudy.train.model_file import ModelCard, save_model
from understudy.train.network import NetworkSpec, Understudy, in_channels_last
from understudy.train.transfer import choose_curve

RGB = ("R", "G", "B")
USUAL = np.array([-3.0, 0.0, 5.0, 40.0], np.float32)
"""Values of a data channel."""
ROUNDING = 5e-5
"""How far two ways through the same float32 network may part: 1.7e-5 was the most of 200, and each CPU sums in an order
of its own. What computes something else parts by a thousandth and more."""


def lively_model(
    inputs: tuple[str, ...] = RGB,
    targets: tuple[str, ...] = RGB,
    size: ModelSize = "small",
    seed: int = 0,
    *,
    liveliness: float = 0.006,
) -> Understudy:
    """`liveliness`: the spread of the last layer's weights; by the usual one answers stay below what half holds."""
    torch.manual_seed(seed)
    model = Understudy(NetworkSpec(input_channels=inputs, target_channels=targets, model_size=size))
    model.input_transfer.set_curves([choose_curve(channel, USUAL) for channel in inputs])
    model.target_transfer.set_curves([choose_curve(channel, USUAL) for channel in targets])
    model.target_transfer.set_ends([2 if is_matte(channel) else int(channel == "G") for channel in targets])
    model.guess_matrix.copy_(torch.eye(len(targets), len(inputs)) * 0.97)
    model.guess_offset.copy_(torch.linspace(-0.01, 0.02, len(targets)))
    with torch.no_grad():
        for parameter in model.unet.parameters():
            if parameter.dim() == 1:
                parameter.normal_(std=0.05)
        model.leave.weight.normal_(std=liveliness)
        assert model.leave.bias is not None
        model.leave.bias.normal_(std=0.01)
        model.set_paint_size(0.25)
    return in_channels_last(model.eval())


def scene_like(model: Understudy, height: int, width: int, brightest: float = 400.0) -> Tensor:
    """1 Cin H W: colour mostly below white, a few highlights, some below black; mattes 0 to 1; data as USUAL."""
    channels = model.spec.input_channels
    noise = torch.rand(1, len(channels), height, width, generator=torch.Generator().manual_seed(height))
    colour = torch.tensor([is_colour(channel) for channel in channels])[:, None, None]
    matte = torch.tensor([is_matte(channel) for channel in channels])[:, None, None]
    light = noise**8 * brightest + noise - 0.05
    return torch.where(colour, light, torch.where(matte, noise, noise * float(USUAL.max())))


def save_lively_model(path: Path, model: Understudy, run_name: str = "comp") -> Path:
    card = ModelCard(
        run_name=run_name,
        step=40,
        total_steps=40,
        loss=0.01,
        validation_psnr=None,
        working_space="lin_rec709_scene",
        input_layer="",
        target_layer="",
        trained_on=("1001: plate.1001.exr -> paint.1001.exr",),
        crop_size=32,
        understudy_version="0.1.0",
    )
    save_model(path, model, card)
    return path
