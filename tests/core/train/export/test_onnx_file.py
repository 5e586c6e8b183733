"""The ONNX file gives our pixels in onnxruntime, whatever the size, and speaks an ONNX that older hosts know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from tests.core.train.export.models import RGB, lively_model, scene_like

from understudy.train.export import onnx_file
from understudy.train.export.onnx_file import save_onnx
from understudy.train.export.portable import PortableUnderstudy
from understudy.train.export.proof import largest_difference
from understudy.train.network import Understudy


@pytest.fixture(scope="module")
def model() -> Understudy:
    return lively_model((*RGB, "Z"), RGB)


@pytest.fixture(scope="module")
def file(model: Understudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("onnx") / "comp.onnx"
    save_onnx(path, PortableUnderstudy(model), 4, batches=True, about={"run": "comp"})
    return path


@pytest.fixture(scope="module")
def session(file: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("height", "width"), [(37, 53), (101, 17), (65, 129), (1, 1), (64, 48), (15, 160)])
@torch.no_grad()
def test_odd_sizes_and_even_ones(
    session: onnxruntime.InferenceSession, model: Understudy, height: int, width: int
) -> None:
    scene = scene_like(model, height, width, brightest=20000.0)
    (answer,) = session.run(None, {"plate": scene.numpy()})
    assert largest_difference(model(scene).numpy(), answer) < 1e-4


@torch.no_grad()
def test_several_pictures_at_once_and_pixels_that_are_no_numbers(
    session: onnxruntime.InferenceSession, model: Understudy
) -> None:
    scene = scene_like(model, 33, 47).repeat(3, 1, 1, 1) * torch.tensor([1.0, 0.3, 4.0]).reshape(3, 1, 1, 1)
    spoilt = scene.clone()
    spoilt[1, :, 5, 5], spoilt[2, :, 9, 9] = np.nan, np.inf
    scene[1, :, 5, 5], scene[2, :, 9, 9] = 0.0, 0.0
    (answer,) = session.run(None, {"plate": spoilt.numpy()})
    assert largest_difference(model(scene).numpy(), answer) < 1e-4


def test_form_and_metadata(file: Path) -> None:
    content = onnx.load(file)
    assert [(opset.domain, opset.version) for opset in content.opset_import] == [("", 18)]
    assert content.ir_version == 8
    assert not content.functions
    assert {prop.key: prop.value for prop in content.metadata_props} == {"run": "comp"}
    axes = [
        (value.name, [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim])
        for value in (*content.graph.input, *content.graph.output)
    ]
    assert axes == [("plate", ["batch", 4, "height", "width"]), ("result", ["batch", 3, "height", "width"])]
    assert str(Path(onnx_file.__file__).parents[4]).encode() not in file.read_bytes()
    assert b"stack_trace" not in file.read_bytes()
