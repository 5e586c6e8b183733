"""TorchScript files that every torch from 1.6 on reads: what Nuke wants, and the one file that Python users need.

A newer torch writes more into such a file than an older one understands: attributes that modules have gained since, and
source lines for tracebacks, which also name folders of the machine. Neither is part of the model; both are left out.
What is left is held against the words that torch 1.6 and 1.12 were seen to read.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from pathlib import Path

import torch
from torch import nn

from understudy.errors import UnderstudyError
from understudy.files import write_bytes

NEWEST_FORMAT = 4
"""Of the archive, that torch 1.6 reads."""
WORDS = frozenset(
    [
        *(
            "abs",
            "add",
            "append",
            "arange",
            "asinh",
            "cat",
            "chunk",
            "clamp",
            "conv2d",
            "div",
            "eq",
            "floordiv",
            "gt",
            "index_select",
            "le",
            "leaky_relu",
            "leaky_relu_",
            "max",
            "min",
            "mul",
        ),
        *(
            "narrow",
            "neg",
            "pop",
            "relu",
            "relu_",
            "remainder",
            "reshape",
            "sinh",
            "size",
            "sub",
            "tensor",
            "to",
        ),
        *("unsqueeze", "upsample_nearest2d", "where", "zeros_like"),
    ]
)
"""Of `torch`, in the model's code."""
_NEWER_ATTRIBUTES = ("_is_full_backward_hook",)
"""Of every nn.Module, of types that torch 1.6 has no name for."""
_TRACEBACKS = ".debug_pkl"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def save_torchscript(path: Path, module: nn.Module) -> None:
    """Compile the module and write it atomically.

    Raises UnderstudyError where this torch writes what old ones may not read, or the file cannot be written.
    """
    write_bytes(path, _without_novelties(_compiled(module), path))


def _compiled(module: nn.Module) -> bytes:
    for part in module.modules():
        for attribute in _NEWER_ATTRIBUTES:
            vars(part).pop(attribute, None)
    archive = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TorchScript is old, which is why it is wanted
        torch.jit.save(torch.jit.script(module), archive)
    return archive.getvalue()


def _without_novelties(archive: bytes, path: Path) -> bytes:
    lean = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as whole, zipfile.ZipFile(lean, "w", zipfile.ZIP_STORED) as kept:
        for name in whole.namelist():
            content = whole.read(name)
            _refuse_novelties(name, content, path)
            if not name.endswith(_TRACEBACKS):
                kept.writestr(zipfile.ZipInfo(name, _EARLIEST), content)
    return lean.getvalue()


def _refuse_novelties(name: str, content: bytes, path: Path) -> None:
    if name.endswith("/version") and int(content) > NEWEST_FORMAT:
        novelties = [f"format {int(content)}"]
    elif name.endswith(".py"):
        novelties = sorted(set(re.findall(r"(?<![\w.])torch\.(\w+)\(", content.decode())) - WORDS)
    else:
        return
    if novelties:
        raise UnderstudyError(
            f"{path}: torch {torch.__version__} writes {', '.join(novelties)}, which the torch of an older Nuke "
            "may not read; export with torch 2.13"
        )
