"""`understudy publish` as it is typed: what lies in a version, and that a stranger can follow its card."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import tkinter
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import opentimelineio as otio
import pytest
from tests.core.cli.command import Command, files_in
from tests.core.script.tcl_graph import graph_from_tcl
from tests.core.train.shots import SmallShot, make_shot

from understudy.cli.main import main
from understudy.frames.read import read_image
from understudy.publish.hook import HOOK
from understudy.sources.timeline import TimelineSource
from understudy.train.export.proof import OLD_TORCH

LICENCE = "Studio X, this show only | ask"


@pytest.fixture(scope="module")
def shot(tmp_path_factory: pytest.TempPathFactory) -> SmallShot:
    """A run of three pairs, one for validation, with contact sheets, and its result on frames 1001 to 1005."""
    folder = tmp_path_factory.mktemp("published") / "shot"
    shot = make_shot(folder, range(1001, 1006), painted=(1001, 1003, 1005))
    more = ("--run-name", "first", "--contact-sheet-interval", "2", "--validation-frames", "1003")
    assert main(shot.train_words(*more, steps=4)) == 0
    assert main(["apply", str(shot.data), "--input", shot.plate, "--output", result_of(shot)]) == 0
    return shot


@pytest.fixture(scope="module")
def version(shot: SmallShot) -> Path:
    """Published with everything; never changed."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv(OLD_TORCH, raising=False)
        words = ["--name", "comp", "--result", result_of(shot), "--copy-result", "--licence", LICENCE]
        assert main(["publish", str(shot.data), "--to", str(shot.folder / "models"), *words]) == 0
    return shot.folder / "models" / "comp_v001"


@pytest.fixture
def stranger(version: Path, shot: SmallShot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The version carried elsewhere, with somebody's plate in the same folder, which is the one to work in."""
    place = tmp_path / "somewhere else"
    shutil.copytree(version, place)
    for frame in range(1001, 1006):
        shutil.copy(shot.folder / f"plate.{frame}.exr", place)
    monkeypatch.chdir(place)
    return place


def result_of(shot: SmallShot) -> str:
    return str(shot.folder / "result" / "r.####.exr")


def card_of(folder: Path) -> str:
    return (folder / "README.md").read_text(encoding="utf-8")


def section(card: str, title: str) -> str:
    return re.split(r"\n##+ ", card.partition(f"\n### {title}\n")[2])[0]


def snippets(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_everything_is_there_and_named_in_the_manifest(version: Path) -> None:
    about = json.loads((version / "publish.json").read_text())
    assert (about["schema"], about["name"], about["version"], about["folder"]) == (1, "comp", 1, "comp_v001")
    assert about["licence"] == LICENCE
    assert about["model"]["training_frames"] == "1001,1005"
    assert about["model"]["validation_frames"] == "1003"
    assert about["result"]["frames"] == "1001-1005"
    roles = {file["path"]: file["role"] for file in about["files"]}
    whole = {path.relative_to(version).as_posix() for path in version.rglob("*") if path.is_file()}
    assert {*roles, "publish.json"} == whole
    by_role = {role: path for path, role in roles.items() if not path.startswith(("exports/", "result/"))}
    assert by_role == {
        "card": "README.md",
        "model": "comp_v001.safetensors",
        "contact sheet": "contact_sheet.png",
        "graph": "graph.png",
        "thumbnail": "thumbnail.png",
        "pairs": "pairs.otio",
        "timeline": "result.otio",
        "record": "run.json",
    }
    for host in ("nuke", "onnx", "flame", "houdini", "torch"):
        assert roles[f"exports/{host}/export.json"] == f"export to {host}"
    assert [path for path, role in roles.items() if role == "result"] == [
        f"result/r.{n}.exr" for n in range(1001, 1006)
    ]
    for file in about["files"]:
        content = (version / file["path"]).read_bytes()
        assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        assert b".partial" not in content, file
    assert [path.name for path in version.parent.iterdir()] == ["comp_v001"]


def test_the_pictures(version: Path, shot: SmallShot) -> None:
    thumbnail = read_image(version / "thumbnail.png", colorspace="raw")
    assert thumbnail.pixels.shape == (360, 640, 3)
    middle = thumbnail.pixels[:, 50:590]
    assert 0.2 < middle.mean() < 0.8
    assert np.ptp(thumbnail.pixels[:, :40]) < 0.01, "the frame is 3 to 2: a margin on both sides"
    assert (version / "contact_sheet.png").read_bytes() == (shot.data / "first.4.png").read_bytes()
    assert (version / "graph.png").read_bytes() == (shot.data / "first.graph.png").read_bytes()


def test_the_card_tells_a_compositor(version: Path, shot: SmallShot) -> None:
    card = card_of(version)
    assert card.startswith("# comp_v001\n\n![thumbnail](thumbnail.png)\n\nMakes R, G, B from R, G, B, frame by frame.")
    assert "- Training: 2 pairs, frames 1001,1005\n- Validation: 1 pair, frame 1003\n" in card
    assert re.search(r"\| Validation PSNR \| \d+\.\d\d dB, frame 1003, which training never saw \|", card)
    assert re.search(r"\| Training time \| \d+ s on CPU, ", card)
    assert "| Licence | Studio X, this show only \\| ask |" in card
    assert "| Colour space | lin_rec709_scene |" in card
    plain = " ".join(card.split())
    assert f"- Input: `{shot.plate}` 1001-1005x2" in plain
    assert "The run `first` began from nothing, 20" in plain
    assert "frames 1001-1005, 24 a second. A copy of them lies in `result`." in plain


def test_what_the_card_names_is_there(stranger: Path) -> None:
    card = card_of(stranger)
    linked = re.findall(r"\]\(([^)]+)\)", card)
    assert {"thumbnail.png", "contact_sheet.png", "graph.png", "pairs.otio", "result.otio"} == set(linked)
    named = re.findall(r"`(exports/[^`]+)`", card) + re.findall(r'"(exports/[^"]+)"', card)
    assert len(named) > 8
    to_be_made = "exports/nuke/first/first.cat"
    assert to_be_made in named
    assert [name for name in (*linked, *named) if not (stranger / name).exists() and name != to_be_made] == []


def test_the_words_for_understudy_make_the_same_result(stranger: Path, command: Command) -> None:
    (line,) = snippets(section(card_of(stranger), "understudy"), "sh")
    program, *words = shlex.split(line)
    assert program == "understudy"
    ending = command(*words)
    assert ending.code == 0, ending
    for frame in range(1001, 1006):
        made, published = (read_image(stranger / f"{name}.{frame}.exr") for name in ("result", "result/r"))
        assert np.array_equal(made.pixels, published.pixels)


@pytest.mark.filterwarnings("ignore:`torch.jit.load` is:DeprecationWarning")
@pytest.mark.parametrize("host", ["onnxruntime", "torch"])
def test_the_words_for_python_work(stranger: Path, host: str) -> None:
    (snippet,) = snippets(section(card_of(stranger), host), "python")
    names: dict[str, object] = {}
    exec(snippet, names)
    assert np.isfinite(np.asarray(names["result"])).all()


def test_the_words_for_nuke_are_those_of_the_script(stranger: Path) -> None:
    words = section(card_of(stranger), "Nuke")
    (script,) = re.findall(r"open\s+`([^`]+\.nk)`", words)
    graph = graph_from_tcl((stranger / script).read_text())
    found = {str(knobs["name"]): knobs for node in graph.nodes if isinstance(knobs := node["knobs"], dict)}
    assert "CatFileCreator1 and press its button" in " ".join(words.split())
    tcl = tkinter.Tcl()
    tcl.eval(f"proc value {{knob}} {{ return {{{stranger / script}}} }}")
    named = {
        name: Path(str(tcl.eval(f"subst {{{found['CatFileCreator1'][name]}}}")))
        for name in ("torchScriptFile", "catFile")
    }
    assert named["torchScriptFile"].is_file()
    assert f"It becomes `{named['catFile'].relative_to(stranger)}`" in " ".join(words.split())
    assert found["Dot1"]["label"] == "plate"
    lowest = max(graph.nodes, key=lambda node: int(dict(node["knobs"])["ypos"]) if node["inputs"] else -1000)  # type: ignore[call-overload]
    assert lowest["class"] == "Inference"
    (command_line,) = snippets(words, "sh")
    change, _, make = command_line.partition(" && ")
    folder = stranger / shlex.split(change)[1]
    assert all((folder / word).is_file() for word in shlex.split(make)[-2:])


def test_the_words_for_flame_and_houdini_name_their_files(stranger: Path) -> None:
    card = card_of(stranger)
    (flame,) = re.findall(r"`([^`]+\.onnx)`", section(card, "Flame"))
    assert (stranger / flame).with_suffix(".json").is_file()
    (houdini,) = re.findall(r"`([^`]+\.onnx)`", section(card, "Houdini"))
    assert "1 x 3 x height x width goes in" in " ".join(section(card, "Houdini").split())
    assert (flame, houdini) == ("exports/flame/first.onnx", "exports/houdini/first.onnx")


def test_the_timeline_of_the_result(version: Path, shot: SmallShot) -> None:
    timeline = otio.adapters.read_from_file(str(version / "result.otio"))
    assert (timeline.name, timeline.global_start_time) == ("comp_v001", otio.opentime.RationalTime(1001, 24))
    clips = {track.name: list(track.find_clips()) for track in timeline.video_tracks()}
    assert {name: len(found) for name, found in clips.items()} == {"input": 1, "ground truth": 3, "result": 1}
    (result,) = clips["result"]
    assert result.media_reference.target_url_for_image_number(4) == (version / "result" / "r.1005.exr").as_uri()
    marks = [(mark.marked_range.start_time.to_frames(), mark.color) for mark in result.markers]
    assert marks == [(1001, "GREEN"), (1003, "ORANGE"), (1005, "GREEN")]
    pairs = TimelineSource(timeline=version / "result.otio").pairs()
    assert [(pair.frame, pair.use) for pair in pairs] == [(1001, "train"), (1003, "validation"), (1005, "train")]
    assert pairs == TimelineSource(timeline=shot.data / "first.pairs.otio").pairs()


def test_a_second_one_is_a_version_of_its_own(version: Path, shot: SmallShot, command: Command) -> None:
    before = {path: path.stat().st_mtime_ns for path in version.rglob("*")}
    ending = command("publish", shot.data, "--to", version.parent, "--name", "comp", "--exports", "none")
    assert ending.code == 0, ending
    assert ending.out.endswith(f" [*] Published at {version.parent / 'comp_v002'}\n")
    assert {path: path.stat().st_mtime_ns for path in version.rglob("*")} == before
    card = card_of(version.parent / "comp_v002")
    assert snippets(section(card, "Flame"), "sh") == ["understudy export comp_v002.safetensors --to flame\n"]
    shutil.rmtree(version.parent / "comp_v002")


def test_without_a_result_the_thumbnail_is_of_the_contact_sheet(
    shot: SmallShot, tmp_path: Path, command: Command
) -> None:
    assert command("publish", shot.data, "--to", tmp_path / "m", "--exports", "none").code == 0
    folder = tmp_path / "m" / "first_v001"
    assert files_in(folder) == {
        *("README.md", "publish.json", "first_v001.safetensors", "contact_sheet.png", "graph.png", "thumbnail.png"),
        *("pairs.otio", "run.json"),
    }
    shown, sheet = (oiio.ImageBuf(str(folder / name)) for name in ("thumbnail.png", "contact_sheet.png"))
    assert (shown.spec().width, shown.spec().height) == (640, 360)
    header = [
        shown.getpixel(600, 5)[channel] - sheet.getpixel(sheet.spec().width - 30, 5)[channel] for channel in range(3)
    ]
    assert np.abs(header).max() < 0.02
    assert json.loads((folder / "publish.json").read_text())["result"] is None
    assert "## The result" not in card_of(folder)


@pytest.fixture
def farm(shot: SmallShot, monkeypatch: pytest.MonkeyPatch) -> SmallShot:
    """What a farm's step `publish` is told."""
    monkeypatch.setenv("UNDERSTUDY_RUN", str(shot.data))
    monkeypatch.setenv("UNDERSTUDY_OUTPUT", result_of(shot))
    monkeypatch.setenv("UNDERSTUDY_INPUT", shot.plate)
    return shot


def test_a_farm_says_what_is_published(farm: SmallShot, tmp_path: Path, command: Command) -> None:
    ending = command("publish", "--to", tmp_path, "--exports", "none")
    assert (ending.code, ending.faults) == (0, []), ending
    about = json.loads((tmp_path / "first_v001" / "publish.json").read_text())
    assert (about["run_directory"], about["result"]["pattern"]) == (str(farm.data), result_of(farm))
    assert "result" not in files_in(tmp_path / "first_v001")


def test_the_studios_hook_learns_of_the_version(
    shot: SmallShot, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = 'test -f "$UNDERSTUDY_MANIFEST" && echo "$UNDERSTUDY_PUBLISHED" "$UNDERSTUDY_RUN" > told'
    monkeypatch.setenv(HOOK, shlex.join(["sh", "-c", words]))
    monkeypatch.chdir(tmp_path)
    assert command("publish", shot.data, "--to", "m", "--exports", "none").code == 0
    assert (tmp_path / "told").read_text().split() == [str(tmp_path / "m" / "first_v001"), str(shot.data)]
    assert command("publish", shot.data, "--to", "m", "--exports", "none", "--hook", "").code == 0
    assert str(tmp_path / "m" / "first_v002") not in (tmp_path / "told").read_text()


def test_a_hook_that_fails_is_told_and_can_be_repeated(shot: SmallShot, tmp_path: Path, command: Command) -> None:
    words = shlex.join(["sh", "-c", 'test -f mended && echo "$UNDERSTUDY_MANIFEST" > mended'])
    fault = command.refused("publish", shot.data, "--to", tmp_path, "--exports", "none", "--hook", words)
    folder = tmp_path / "first_v001"
    assert f"{folder}: is published, but its hook sh ended with exit code 1" in fault
    assert (folder / "publish.json").is_file()
    (tmp_path / "mended").touch()
    again = fault.partition("mend it, then: ")[2]
    subprocess.run(shlex.split(again), check=True, cwd=tmp_path)
    assert (tmp_path / "mended").read_text().strip() == str(folder / "publish.json")
