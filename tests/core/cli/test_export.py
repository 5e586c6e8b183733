"""`understudy export` as it is typed: what is written for each host, what is said, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from tests.core.cli.command import Command, files_in
from tests.core.train.export.models import RGB, lively_model, save_lively_model, scene_like
from tests.core.train.shots import SmallShot

from understudy.train.export.flame import faults_of
from understudy.train.export.nuke_cat import NUKEX
from understudy.train.export.proof import OLD_TORCH, largest_difference

DOCUMENT = Path(__file__).parents[3] / "docs" / "export.md"


@pytest.fixture(autouse=True)
def no_older_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OLD_TORCH, raising=False)
    monkeypatch.delenv(NUKEX, raising=False)


def test_for_nuke_on_the_runs_own_frames(command: Command, trained: SmallShot) -> None:
    ending = command("export", trained.data, "--to", "nuke")
    assert (ending.code, ending.faults) == (0, []), ending
    folder = trained.data / "first.4.nuke"
    assert files_in(folder) == {
        *("first", "first/cat.json", "first/first.gizmo", "first.nk", "first.pt", "make_cat.py", "export.json")
    }
    assert "Held against our model on plate.1001.exr and plate.1003.exr, and 3 made HDR pictures:" in ending.out
    said = re.findall(r"^  torch \S+?(, half)?: largest difference (\S+), in .+$", ending.out, flags=re.MULTILINE)
    assert [half for half, _ in said] == ["", ", half"]
    assert float(said[0][1]) < 1e-4
    assert ending.out.endswith(f" [*] Export saved at {folder}\n")
    record = json.loads((folder / "export.json").read_text())
    assert (record["to"], record["model"], record["step"]) == ("nuke", "first.4.safetensors", 4)
    assert [proof["difference"] < 0.002 for proof in record["proofs"]] == [True, True]
    assert set(record["files"]) == files_in(folder) - {"first", "export.json"}


def test_the_documents_words_for_python_work(
    command: Command, trained: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained.folder)
    assert command("export", "data/first.4.safetensors", "--to", "torch", "--folder", "comp").code == 0
    assert files_in(trained.folder / "comp") == {"first.pt", "export.json"}
    (snippet,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, object] = {}
    with pytest.warns(DeprecationWarning, match=r"torch\.jit\.load"):
        exec(snippet, names)
    assert isinstance(names["result"], torch.Tensor)
    assert names["result"].shape == (1, 3, 270, 481)


@torch.no_grad()
def test_for_flame_a_model_of_four_channels_makes_two_files(command: Command, tmp_path: Path) -> None:
    model = lively_model((*RGB, "A"), (*RGB, "A"))
    path = save_lively_model(tmp_path / "comp.40.safetensors", model)
    ending = command("export", path, "--to", "flame")
    assert ending.code == 0, ending
    assert "warning: none of the run's own frames could be tried (" in ending.out
    folder = tmp_path / "comp.40.flame"
    assert files_in(folder) == {"comp.onnx", "comp.json", "comp.matte.onnx", "comp.matte.json", "export.json"}
    scene = scene_like(model, 21, 35)
    ours, theirs = model(scene).numpy(), []
    for name in ("comp", "comp.matte"):
        content = json.loads((folder / f"{name}.json").read_text())
        assert faults_of(content) == []
        session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        description = content["ModelDescription"]
        assert {one["Name"] for one in description["Inputs"]} == {one.name for one in session.get_inputs()}
        assert [one["Name"] for one in description["Outputs"]] == [one.name for one in session.get_outputs()]
        assert [one["Channels"] for one in description["Inputs"]] == ["RGB", "A"]
        assert session.get_inputs()[0].shape == [1, 4, "height", "width"]
        theirs += session.run(None, {"plate": scene.numpy()})
    assert largest_difference(ours, np.concatenate(theirs, axis=1)) < 1e-4


@pytest.mark.parametrize(("host", "batch"), [("onnx", "batch"), ("houdini", 1)])
def test_onnx_for_the_others(command: Command, trained: SmallShot, host: str, batch: object) -> None:
    assert command("export", trained.data, "--to", host).code == 0
    folder = trained.data / f"first.4.{host}"
    assert files_in(folder) == {"first.onnx", "export.json"}
    (plate,) = onnx.load(folder / "first.onnx").graph.input
    assert [axis.dim_param or axis.dim_value for axis in plate.type.tensor_type.shape.dim] == [
        *(batch, 3, "height", "width")
    ]
    assert "  onnxruntime " in command("export", trained.data, "--to", host).out  # over the first one


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "flame", "--make-cat"], "--make-cat: a .cat file is Nuke's, not for --to flame; leave it out"),
        (["--to", "nuke", "--nukex", "NukeX"], "--nukex NukeX: is for --make-cat; give both or none"),
        (["--to", "nuke", "--make-cat", "--nukex", "no/NukeX"], "no/NukeX: is no program; name NukeX's executable"),
        (["--to", "nuke", "--folder", "."], "holds something else than an export; choose another --folder"),
        (["--to", "resolve"], "argument --to: invalid choice: 'resolve'"),
        ([], "the following arguments are required: --to"),
    ],
)
def test_what_is_refused(
    command: Command, trained: SmallShot, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(trained.folder)
    before = files_in(trained.folder)
    assert said in command.refused("export", "data", *words)
    assert files_in(trained.folder) == before


def test_what_a_host_cannot_take_leaves_nothing_behind(command: Command, tmp_path: Path) -> None:
    path = save_lively_model(tmp_path / "comp.40.safetensors", lively_model((*RGB, "Z"), RGB))
    assert "Flame feeds a model RGB" in command.refused("export", path, "--to", "flame")
    assert "comp.41.safetensors: no such model" in command.refused(
        "export", tmp_path / "comp.41.safetensors", "--to", "nuke"
    )
    assert files_in(tmp_path) == {"comp.40.safetensors"}


def test_a_model_that_came_apart_is_not_exported(command: Command, tmp_path: Path) -> None:
    model = lively_model()
    model.leave.weight.data.fill_(float("nan"))
    path = save_lively_model(tmp_path / "comp.40.safetensors", model)
    fault = command.refused("export", path, "--to", "torch")
    assert "the model gives pixels that are no numbers" in fault
    assert "choose another checkpoint" in fault
    assert files_in(tmp_path) == {"comp.40.safetensors"}


def test_without_onnx_it_is_said_what_to_install(
    command: Command, trained: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnxscript", None)
    fault = command.refused("export", trained.data, "--to", "onnx")
    assert "ONNX needs onnx, onnxscript, onnxruntime" in fault
    assert "pip install 'understudy[export]'" in fault
