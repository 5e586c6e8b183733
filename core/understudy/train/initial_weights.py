"""Another run's weights as a start, or those that come with understudy, fitted to the channels of this run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from understudy.dataset import DecodedPair
from understudy.errors import UnderstudyError
from understudy.runs import MODEL_SUFFIX, find_model
from understudy.settings import STARTING_WEIGHTS, ModelSize
from understudy.train.fit import fit_ends, fit_model
from understudy.train.model_file import load_model
from understudy.train.network import NetworkSpec, Understudy

FIRST = "unet.enter.0.0.weight"
"""The weights that know the input channels: W0 2Cin 3 3, all as they are encoded, then all squares."""
LAST = ("leave.weight", "leave.bias")
"""Those that know the target channels: all gates, then all paints."""

OURS = Path(__file__).with_name("starting_weights")
"""Folder of NAME.SIZE.safetensors, made by `python -m benchmarks.starting_weights.make`."""

Origins = tuple[int | None, ...]
"""For each channel its number in the other model; None: that one has no such channel."""


def started_from(
    path: Path,
    wanted: NetworkSpec,
    pairs: tuple[DecodedPair, ...],
    say: Callable[[str], None],
    *,
    is_matte: bool = False,
) -> Understudy:
    """The model of a file, of a run its newest, or of a name in STARTING_WEIGHTS, ready to train on these pairs.

    With the same channels it goes on as it is, but for their ends, which are those of these pairs. With others the
    features are kept, every channel takes what a channel of its name had learnt, a new input counts for nothing yet, a
    new target starts as the guess fitted to the pairs.
    Raises UnderstudyError when the file is missing, damaged or of another model size.
    """
    path = starting_weights(str(path), wanted.model_size) if str(path) in STARTING_WEIGHTS else find_model(path)
    other = load_model(path).model
    if other.spec.model_size != wanted.model_size:
        raise UnderstudyError(
            f"{path}: is a {other.spec.model_size} model, this run has {wanted.model_size}; "
            f"set --model-size {other.spec.model_size} or choose other initial weights"
        )
    if other.spec == wanted:
        fit_ends(other, pairs, is_matte=is_matte)
        return other
    inputs = _origins(wanted.input_channels, other.spec.input_channels)
    targets = _origins(wanted.target_channels, other.spec.target_channels)
    if not any(origin is not None for origin in inputs):
        raise UnderstudyError(
            f"{path}: saw {','.join(other.spec.input_channels)}, this run has {','.join(wanted.input_channels)}: "
            "not one input channel in common; choose other initial weights"
        )
    for what, channels, origins in (
        ("Input", wanted.input_channels, inputs),
        ("Target", wanted.target_channels, targets),
    ):
        say(f"Initial weights, {what}: {_told(channels, origins)}")
    model = _adapted(other, wanted, inputs, targets)
    fit_model(model, pairs, is_matte=is_matte)  # curves and guess follow from these pairs
    return model


def starting_weights(name: str, size: ModelSize) -> Path:
    """The file that comes with understudy. Raises UnderstudyError when there is none for models of this size."""
    path = OURS / f"{name}.{size}{MODEL_SUFFIX}"
    if not path.is_file():
        sizes = sorted(one.name.split(".")[1] for one in OURS.glob(f"{name}.*{MODEL_SUFFIX}"))
        raise UnderstudyError(
            f"initial weights {name}: there are none for a {size} model; "
            f"set --model-size {' or '.join(sizes)}, or leave --initial-weights out"
        )
    return path


def _adapted(other: Understudy, wanted: NetworkSpec, inputs: Origins, targets: Origins) -> Understudy:
    model = Understudy(wanted)
    weights = other.state_dict()
    own = {name: tensor for name, tensor in weights.items() if name.startswith("unet.")}
    own["paint_size"] = weights["paint_size"]
    own[FIRST] = _picked(weights[FIRST], _twice(inputs, len(other.spec.input_channels)), dim=1)
    for name in LAST:
        own[name] = _picked(weights[name], _twice(targets, len(other.spec.target_channels)), dim=0)
    model.load_state_dict(own, strict=False)
    return model


def _twice(origins: Origins, num_others: int) -> Origins:
    """Of channels that come twice, one after the other all that there are."""
    return (*origins, *(None if origin is None else origin + num_others for origin in origins))


def _picked(weights: Tensor, origins: Origins, *, dim: int) -> Tensor:
    """The slices of `weights` that the origins name; zeros where there is none."""
    slices = [
        torch.zeros_like(weights.select(dim, 0)) if origin is None else weights.select(dim, origin)
        for origin in origins
    ]
    return torch.stack(slices, dim=dim)


def _origins(channels: tuple[str, ...], others: tuple[str, ...]) -> Origins:
    """By the whole name, else by its last part, so that beauty.red finds R."""
    ends = [_end(other) for other in others]
    return tuple(
        others.index(channel) if channel in others else ends.index(_end(channel)) if _end(channel) in ends else None
        for channel in channels
    )


def _end(channel: str) -> str:
    end = channel.rpartition(".")[2].lower()
    return end[0] if end in ("red", "green", "blue", "alpha") else end


def _told(channels: tuple[str, ...], origins: Origins) -> str:
    """Which channels go on and which begin."""
    known = [channel for channel, origin in zip(channels, origins, strict=True) if origin is not None]
    new = [channel for channel, origin in zip(channels, origins, strict=True) if origin is None]
    parts = [f"{','.join(known)} as learnt"] if known else []
    parts += [f"{','.join(new)} begins anew"] if new else []
    return "; ".join(parts)
