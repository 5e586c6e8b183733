"""NukeX is found where it was said, or is installed, and makes the .cat file with the script of the export."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.core.train.export.models import RGB, lively_model, save_lively_model
from tests.core.train.export.nukex import StandIn, stand_in_nukex

from understudy.errors import UnderstudyError
from understudy.train.export import nuke_cat
from understudy.train.export.deliver import Delivery, ExportOrder, deliver
from understudy.train.export.nuke_cat import NUKEX, find_nukex, make_cat

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line that names Python")


@pytest.fixture
def nukex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return stand_in_nukex(tmp_path, monkeypatch)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_lively_model(tmp_path / "comp.40.safetensors", lively_model(RGB, ("A",)))


def _delivered(model: Path, nukex: str) -> Delivery:
    return deliver(ExportOrder(model=model, to="nuke", make_cat=True, nukex=nukex), lambda _: None)


def test_nukex_makes_the_cat_file_and_the_record_asks_for_its_version(model: Path, nukex: StandIn) -> None:
    folder = _delivered(model, str(nukex.program)).folder
    assert (folder / "comp" / "comp.cat").read_bytes() == b"cat" + (folder / "comp.pt").read_bytes()
    assert json.loads((folder / "comp" / "cat.json").read_text())["minimum_nuke_version_required"] == 15.1
    *flags, program, script = nukex.words
    assert flags == ["--nukex", "-i", "-t"]
    assert (Path(program).name, Path(script).name) == ("make_cat.py", "comp.nk")
    assert "comp/comp.cat" in json.loads((folder / "export.json").read_text())["files"]
    shutil.move(folder, folder.with_name("elsewhere"))  # what another machine does by hand
    (folder.with_name("elsewhere") / "comp" / "comp.cat").unlink()
    elsewhere = folder.with_name("elsewhere")
    make_cat(nukex.program, elsewhere / "comp.nk", elsewhere / "comp" / "comp.cat")
    assert (elsewhere / "comp" / "comp.cat").stat().st_size > 1000


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("licence", "has no CatFileCreator1; this Nuke may have no licence of NukeX"),
        ("nothing", "comp.cat: was not made by CatFileCreator1"),
    ],
)
def test_when_nukex_makes_none_its_last_words_are_told_and_nothing_is_left(
    model: Path, nukex: StandIn, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    monkeypatch.setenv("STAND_IN_FAULT", fault)
    before = sorted(model.parent.iterdir())
    with pytest.raises(UnderstudyError) as told:
        _delivered(model, str(nukex.program))
    assert f"{nukex.program}: made no .cat file (" in str(told.value)
    assert said in str(told.value)
    assert sorted(model.parent.iterdir()) == sorted([*before, nukex.notes])


def test_nukex_is_looked_for(tmp_path: Path, nukex: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(nuke_cat, "_PLACES", (str(tmp_path / "installed" / "Nuke*" / "Nuke*"),))
    with pytest.raises(UnderstudyError, match=r"--make-cat: no NukeX was found; name its executable with --nukex"):
        find_nukex("")
    for version in ("9.0v1", "13.2v8", "16.0v1"):
        installed = tmp_path / "installed" / f"Nuke{version}" / f"Nuke{version.partition('v')[0]}"
        installed.parent.mkdir(parents=True)
        shutil.copy(nukex.program, installed)
    assert find_nukex("").name == "Nuke16.0"
    shutil.copy(nukex.program, tmp_path / "NukeX")
    assert find_nukex("") == tmp_path / "NukeX"
    monkeypatch.setenv(NUKEX, str(nukex.program))
    assert find_nukex("") == nukex.program
    with pytest.raises(UnderstudyError, match=r"^/nowhere/NukeX: is no program; name NukeX's executable"):
        find_nukex("/nowhere/NukeX")
