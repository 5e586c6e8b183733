"""What cannot be published: every fault told by name at once, and nothing left behind."""

from __future__ import annotations

import json
import os
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command, end_of, files_in, start
from tests.core.train.export.models import RGB, lively_model, save_lively_model
from tests.core.train.shots import HEIGHT, WIDTH, SmallShot, write_picture

from understudy.publish.plan import PublishOrder
from understudy.publish.publishing import publish
from understudy.train.export.nuke_cat import NUKEX
from understudy.train.export.proof import OLD_TORCH

SIZES_LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""
"""As on a disk that is full after so many bytes."""


@pytest.fixture(autouse=True)
def _here(trained: SmallShot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a run in `data` and two frames of a result."""
    monkeypatch.delenv(OLD_TORCH, raising=False)
    monkeypatch.delenv(NUKEX, raising=False)
    monkeypatch.chdir(trained.folder)
    for frame in (1001, 1002):
        noise = np.random.default_rng(frame).random((HEIGHT, WIDTH, 3), np.float32)
        write_picture(Path(f"result.{frame}.exr"), noise)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--name", "a/b"], ["--name a/b: cannot begin a folder's name"]),
        (["--name", ".."], ["--name ..: cannot begin a folder's name"]),
        (["--name", "x" * 151], ["cannot begin a folder's name"]),
        (["--result", "res.####.exr"], ["--result res.####.exr: no frame found"]),
        (["--result", "result.1001.exr"], ["--result result.1001.exr: is one file"]),
        (["--result", "result.####.exr", "--frames", "1002-1004"], ["frames 1003-1004 are missing; apply the model"]),
        (["--result", "result.####.exr", "--input", "p.####.exr"], ["--input p.####.exr: no frame found"]),
        (["--result", "result.####.exr", "--fps", "-1"], ["--fps -1: must be above 0"]),
        (["--copy-result", "--frames", "1001"], ["--frames, --copy-result: speak of a result; give --result too"]),
        (["--exports", "nuke,resolve"], ["--exports nuke,resolve: 'resolve' is none of nuke, onnx,"]),
        (["--exports", "onnx", "--make-cat"], ["--make-cat: is for the export to nuke, which is not made"]),
        (["--nukex", "NukeX"], ["--nukex NukeX: is for --make-cat; give both or none"]),
        (["--hook", "no/such --thing"], ["--hook: no/such: is no program here"]),
        (["--hook", "sh 'x"], ["is no command (No closing quotation)"]),
        (
            ["--name", "a:b", "--hook", "no-such", "--result", "r.####.exr"],
            ["--name a:b: cannot", "--hook: no-such: is no", "--result r.####.exr: no frame"],
        ),
    ],
)
def test_what_is_refused(command: Command, trained: SmallShot, words: list[str], said: list[str]) -> None:
    before = files_in(trained.folder)
    fault = command.refused("publish", "data", "--to", "new/models", *words, lines=len(said))
    assert all(line in fault for line in said), fault
    assert files_in(trained.folder) == before


def test_no_model(command: Command, trained: SmallShot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNDERSTUDY_RUN", raising=False)
    assert "publish: give MODEL, a model file or a run" in command.refused("publish", "--to", "m")
    assert "holds no run" in command.refused("publish", ".", "--to", "m")
    for step in (2, 4):
        (trained.data / f"first.{step}.ost").unlink()
    assert "the run first has written no checkpoint yet" in command.refused("publish", "data", "--to", "m")
    (trained.data / "first.4.safetensors").write_bytes(b"")
    fault = command.refused("publish", "data/first.4.safetensors", "--to", "m")
    assert "first.4.safetensors: damaged or not a model file" in fault
    assert not Path("m").exists()


def test_a_damaged_record_or_metrics_are_named(command: Command, trained: SmallShot) -> None:
    metrics, record = trained.data / "first.metrics.jsonl", trained.data / "first.run.json"
    content = metrics.read_text()
    metrics.write_text("{\n" + content)
    assert "first.metrics.jsonl" in command.refused("publish", "data", "--to", "m")
    metrics.write_text(content)
    record.write_text(record.read_text()[:100])
    assert "first.run.json: is damaged" in command.refused("publish", "data", "--to", "m")
    assert "first.run.json: is damaged" in command.refused("card", "data")
    assert not Path("m").exists()


def test_a_result_that_cannot_be_read_is_named(command: Command, trained: SmallShot) -> None:
    before = files_in(trained.folder)
    Path("result.1002.exr").write_bytes(Path("result.1002.exr").read_bytes()[:-400])
    fault = command.refused("publish", "data", "--to", "m", "--exports", "none", "--result", "result.####.exr")
    assert "result.1002.exr: is damaged or incomplete" in fault
    assert files_in(trained.folder) == before


def test_a_plate_that_cannot_be_read_is_told_and_the_exports_are_made(
    command: Command, trained: SmallShot, finished_run: Path
) -> None:
    record = trained.data / "first.run.json"
    record.write_text(record.read_text().replace(str(finished_run), str(trained.folder)))
    Path("plate.1001.exr").write_bytes(b"no picture")
    ending = command("publish", "data", "--to", "m", "--exports", "torch")
    assert ending.code == 0, ending
    assert "warning: none of the run's own frames could be tried with the exports (" in ending.out
    assert "plate.1001.exr: is not an image" in ending.out


def test_exports_that_fail_are_all_told_and_nothing_is_published(command: Command, tmp_path: Path) -> None:
    model = lively_model()
    model.leave.weight.data.fill_(float("nan"))
    (tmp_path / "bad").mkdir()
    path = save_lively_model(tmp_path / "bad" / "comp.40.safetensors", model)
    before = files_in(tmp_path)
    fault = command.refused("publish", path, "--to", tmp_path / "m", "--exports", "torch,nuke")
    assert "the model gives pixels that are no numbers" in fault
    depth = save_lively_model(tmp_path / "bad" / "comp.40.safetensors", lively_model((*RGB, "Z"), RGB))
    words = ["--exports", "flame,nuke", "--make-cat", "--nukex", "no/NukeX"]
    fault = command.refused("publish", depth, "--to", tmp_path / "m", *words, lines=2)
    assert "--to flame: the model sees R, G, B, Z" in fault
    assert "no/NukeX: is no program" in fault
    assert files_in(tmp_path) == before


def test_what_cannot_be_made_here_is_left_out_unless_it_was_asked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    path = save_lively_model(tmp_path / "comp.40.safetensors", lively_model())
    ending = command("publish", path, "--to", tmp_path / "m")
    assert ending.code == 0, ending
    version = tmp_path / "m" / "comp_v001"
    assert {place.name for place in (version / "exports").iterdir()} == {"nuke", "torch"}
    left_out = json.loads((version / "publish.json").read_text())["exports_left_out"]
    assert left_out.keys() == {"flame", "houdini", "onnx"}
    for host, why in left_out.items():
        assert why.startswith("ONNX needs onnx, onnxscript, onnxruntime (")
        assert f"warning: no export to {host}: {why}" in ending.out
    assert (version / "README.md").read_text().count("Not made: ONNX needs onnx, onnxscript, onnxruntime (") == 3
    assert "ONNX needs" in command.refused("publish", path, "--to", tmp_path / "m", "--exports", "onnx")
    assert [place.name for place in version.parent.iterdir()] == ["comp_v001"]


@pytest.mark.skipif(os.name == "nt", reason="Windows limits no file's size")
def test_a_full_disk(trained: SmallShot) -> None:
    before = files_in(trained.folder)
    ending = end_of(start("publish", "data", "--to", "m", "--exports", "none", python=SIZES_LIMITED))
    assert ending.code == 2, ending
    assert "first_v001.safetensors: cannot be written (File too large); free space" in ending.faults[-1]
    assert files_in(trained.folder) == before


def test_places_that_cannot_be_written(command: Command, trained: SmallShot) -> None:
    Path("file").touch()
    before = files_in(trained.folder)
    for place in ("file", "file/models"):
        assert "a file is in the way of this folder" in command.refused("publish", "data", "--to", place)
    if os.name == "posix":
        assert "cannot be written" in command.refused("publish", "data", "--to", "/proc/models")
    assert files_in(trained.folder) == before


def test_two_at_once_are_two_versions(trained: SmallShot) -> None:
    order = PublishOrder(model=trained.data, to=Path("m"), name="comp", exports=())
    with ThreadPoolExecutor(4) as several:
        places = list(several.map(lambda _: publish(order, lambda _line: None), range(4)))
    assert sorted(place.name for place in places) == [f"comp_v00{number}" for number in range(1, 5)]
    assert sorted(path.name for path in Path("m").iterdir()) == sorted(place.name for place in places)
    for place in places:
        assert (place / "README.md").read_text().startswith(f"# {place.name}\n")
        assert (place / f"{place.name}.safetensors").is_file()


def test_one_that_was_killed_is_told_and_its_number_left_out(command: Command) -> None:
    Path("m/.first_v001.partial").mkdir(parents=True)
    ending = command("publish", "data", "--to", "m", "--exports", "none")
    assert ending.code == 0, ending
    assert ".first_v001.partial: a publishing that still goes on, or was killed; its number is left out" in ending.out
    assert Path("m/first_v002/publish.json").is_file()


def test_a_model_away_from_its_run_can_be_published(command: Command, tmp_path: Path, trained: SmallShot) -> None:
    (tmp_path / "alone").mkdir()
    path = (trained.data / "first.4.safetensors").rename(tmp_path / "alone" / "other.safetensors")
    words = [
        "--exports",
        "none",
        "--hook",
        shlex.join([sys.executable, "-c", "import os; os.environ['UNDERSTUDY_RUN']"]),
    ]
    assert command("publish", path, "--to", tmp_path / "m", *words).code == 0
    folder = tmp_path / "m" / "first_v001"
    assert files_in(folder) == {"README.md", "publish.json", "first_v001.safetensors"}
    assert "The run's record did not lie beside the model" in (folder / "README.md").read_text()
