"""ONNX files: one tensor in, one out, any height and width, in words that runtimes of 2023 already know.

onnx, onnxscript and onnxruntime come with the extra `export`; this is the one place that needs them.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import nn

from understudy.errors import UnderstudyError
from understudy.files import write_bytes

if TYPE_CHECKING:
    import onnx

PLATE, RESULT = "plate", "result"
"""Names of the tensors."""
OPSET, IR_VERSION = 18, 8
"""Of ONNX 1.13 and onnxruntime 1.14, both of early 2023: what a host brings may be old."""
_SAMPLE = (2, 37, 53)
"""Batch, height and width with which the model is looked at; a 1 or a multiple of 16 would be taken for a rule."""
_PACKAGES = ("onnx", "onnxscript", "onnxruntime")


def require_onnx() -> None:
    """Raises UnderstudyError when the packages are not there."""
    try:
        for package in _PACKAGES:
            __import__(package)
    except ImportError as error:
        raise UnderstudyError(
            f"export: ONNX needs {', '.join(_PACKAGES)} ({error}); install them: pip install 'understudy[export]'"
        ) from error


def save_onnx(path: Path, module: nn.Module, num_inputs: int, *, batches: bool, about: Mapping[str, str]) -> None:
    """Write the module atomically; `batches`: any number of pictures at once, else one. `about` goes into the metadata.

    Raises UnderstudyError when the file cannot be written.
    """
    model = _converted(module, num_inputs, batches=batches)
    _tidy(model, ("batch" if batches else 1, "height", "width"))
    for key, value in about.items():
        model.metadata_props.add(key=key, value=value)
    import onnx

    onnx.checker.check_model(model, full_check=True)
    write_bytes(path, model.SerializeToString())


def _converted(module: nn.Module, num_inputs: int, *, batches: bool) -> onnx.ModelProto:
    batch, height, width = _SAMPLE
    free = torch.export.Dim.AUTO
    sample = torch.rand(batch if batches else 1, num_inputs, height, width)  # N Cin H W
    dynamic = {2: free, 3: free, **({0: free} if batches else {})}
    with _quietly():
        program = torch.onnx.export(
            module.eval(),
            (sample,),
            dynamo=True,
            dynamic_shapes=(dynamic,),
            input_names=[PLATE],
            output_names=[RESULT],
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    assert program is not None
    return program.model_proto


def _tidy(model: onnx.ModelProto, sizes: tuple[str | int, str, str]) -> None:
    """Leave out notes of the conversion, which name folders of this machine, and give the axes names."""
    model.ir_version = IR_VERSION
    model.producer_name, model.producer_version = "understudy", ""
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        del value.metadata_props[:]
    del model.graph.metadata_props[:], model.graph.value_info[:], model.metadata_props[:]
    for value in (*model.graph.input, *model.graph.output):
        dimensions = value.type.tensor_type.shape.dim
        for place, size in zip((0, 2, 3), sizes, strict=True):
            dimensions[place].Clear()
            if isinstance(size, int):
                dimensions[place].dim_value = size
            else:
                dimensions[place].dim_param = size


@contextmanager
def _quietly() -> Iterator[None]:
    """The converter talks about packages that it does without."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
