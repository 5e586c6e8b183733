"""The model file: weights in safetensors, and in its metadata all that using them needs. Nothing is unpickled."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from understudy.errors import UnderstudyError, quoted
from understudy.files import write_bytes
from understudy.train.network import WIDTHS, NetworkSpec, Understudy, in_channels_last

SCHEMA = 8
"""Raised when older programs would read what newer ones write otherwise, or not at all.

2: units that leak. 3: mattes that end at black and white. 4: the size of paint.
5: skips added at full resolution. 6: channels seen twice. 7: fewer layers. 8: pictures that end at black.
"""
METADATA_KEY = "understudy"

_DIGEST_KEY = "digest"
_CHANNELS = ("input_channels", "target_channels")
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "ModelSize": (str,),
    "int": (int,),
    "float": (float, int),
    "float | None": (float, int, type(None)),
    "tuple[str, ...]": (list,),
}
"""How JSON writes the fields' types."""
MEND = "restore it, or delete it to use the checkpoint before"
"""What helps against a damaged file of a run."""


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Where a model comes from and how its pixels are meant."""

    run_name: str
    step: int
    """Steps trained."""
    total_steps: int
    """Steps the run was planned for; 0 when it ran by the clock."""
    loss: float
    """Training loss around that step, in transfer space."""
    validation_psnr: float | None
    """dB over the validation frames or, without them, over validation squares, display-encoded; None without both."""
    working_space: str
    """Colour space of the pixels it takes and gives."""
    input_layer: str
    """Part or layer of the input files; empty for the main picture."""
    target_layer: str
    trained_on: tuple[str, ...]
    """What each training pair was: 'frame: input -> target'."""
    crop_size: int
    """Side of the largest crops it saw, full-resolution pixels."""
    understudy_version: str


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    """A model file's content, ready to use."""

    model: Understudy
    card: ModelCard


def save_model(path: Path, model: Understudy, card: ModelCard) -> None:
    """Write the file atomically. Raises UnderstudyError when the disk is full or not writable."""
    tensors = plain_tensors(model.state_dict())
    about = {"schema": SCHEMA, "network": dataclasses.asdict(model.spec), "card": dataclasses.asdict(card)}
    save_tensors(path, tensors, {METADATA_KEY: json.dumps(about)})


def load_model(path: Path) -> SavedModel:
    """Read a model file onto the CPU.

    Raises UnderstudyError when it is missing, damaged, not understudy's, or of a newer version.
    """
    tensors, metadata = load_tensors(path)
    try:
        spec, card = _parse_about(metadata[METADATA_KEY])
        model = Understudy(spec)
        if not all(tensor.is_floating_point() for tensor in tensors.values()):
            raise ValueError("weights that are no floating-point numbers")
        model.load_state_dict(tensors)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UnderstudyError(f"{path}: not a model of this version ({reason}); train it again") from error
    return SavedModel(model=in_channels_last(model), card=card)


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: Mapping[str, str]) -> None:
    """safetensors, written atomically, with a digest by which damage is told."""
    sealed = {**metadata, _DIGEST_KEY: _digest(tensors, metadata)}
    write_bytes(path, save(tensors, sealed))  # not save_file: it makes files that only their owner may read


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a file by `save_tensors`. Raises UnderstudyError when it is missing or damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
            metadata = dict(file.metadata() or {})
    except FileNotFoundError as error:
        raise UnderstudyError(f"{path}: no such file; correct the path") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise UnderstudyError(f"{path}: damaged or not a model file ({error}); {MEND}") from error
    if metadata.pop(_DIGEST_KEY, "") != _digest(tensors, metadata):
        raise UnderstudyError(f"{path}: is damaged (its content does not match its digest); {MEND}")
    return tensors, metadata


def plain_tensors(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous copies on the CPU: safetensors refuses channels-last."""
    return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}


def _digest(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}\n".encode())
        digest.update(tensors[name].reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _parse_about(text: str) -> tuple[NetworkSpec, ModelCard]:
    about = json.loads(text)
    if about["schema"] != SCHEMA:
        other = "a newer" if about["schema"] > SCHEMA else "an older"
        raise ValueError(f"schema {about['schema']}, this program reads {SCHEMA}: use {other} understudy")
    network, card = about["network"], about["card"]
    _check_kinds(NetworkSpec, network)
    _check_kinds(ModelCard, card)
    if network["model_size"] not in WIDTHS:
        raise ValueError(f"model_size {quoted(network['model_size'])}")
    spec = NetworkSpec(**{**network, **{name: tuple(network[name]) for name in _CHANNELS}})
    return spec, ModelCard(**{**card, "trained_on": tuple(card["trained_on"])})


def _check_kinds(table: type, values: Mapping[str, object]) -> None:
    """Raises ValueError for a field that is missing, unknown, or of another kind than the table says."""
    kinds = {field.name: str(field.type) for field in dataclasses.fields(table)}
    for name in {*kinds, *values}:
        if name not in kinds or name not in values:
            raise ValueError(f"field {quoted(name)} is {'unknown' if name in values else 'missing'}")
        value = values[name]
        if type(value) not in _KINDS[kinds[name]] or (name in _CHANNELS and not value):
            raise ValueError(f"{name} {quoted(value)}")
        if isinstance(value, list) and not all(isinstance(item, str) and item for item in value):
            raise ValueError(f"{name} {quoted(value)}")
