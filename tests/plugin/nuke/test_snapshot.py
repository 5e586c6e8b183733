"""A snapshot is the script as it is, and the open script neither notices nor changes."""

from __future__ import annotations

from pathlib import Path

import nuke
import pytest
from tests.plugin.nuke.scenes import scene

from understudy.sources.script import ScriptSource
from understudy_nuke import snapshot
from understudy_nuke.problem import Problem


def test_a_saved_script_is_its_own_snapshot(tmp_path: Path) -> None:
    scene(tmp_path)
    taken = snapshot.take("panel")
    assert taken == ((tmp_path / "shot.nk").as_posix(), False)
    taken.remove()
    assert (tmp_path / "shot.nk").exists()


def test_a_changed_script_is_copied_beside_itself_and_keeps_name_and_state(tmp_path: Path) -> None:
    training = scene(tmp_path)
    before = (tmp_path / "shot.nk").read_text()
    training["epochs"].setValue(5)
    taken = snapshot.take("panel")
    assert Path(taken.path).parent == tmp_path
    assert taken.path.endswith(".nk")
    assert nuke.root().modified()
    assert nuke.root().name() == (tmp_path / "shot.nk").as_posix()
    assert (tmp_path / "shot.nk").read_text() == before
    source = ScriptSource(script=Path(taken.path))
    assert source.knob_overrides()["epochs"] == 5
    assert source.pairs()[0].input.media.path == tmp_path / "plate" / "plate.1001.exr"
    training["epochs"].setValue(6)
    assert snapshot.take("panel").path == taken.path
    assert ScriptSource(script=Path(taken.path)).knob_overrides()["epochs"] == 6
    taken.remove()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paint", "plate", "shot.nk"]


def test_a_script_without_a_name_and_an_encrypted_one_are_refused() -> None:
    with pytest.raises(Problem, match="the script was never saved; save it first"):
        snapshot.take("panel")
    nuke.root()["name"].setValue("/shots/shot.nknc")
    with pytest.raises(Problem, match=r"/shots/shot\.nknc: Nuke encrypts scripts of this kind"):
        snapshot.take("panel")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    scene(tmp_path)["epochs"].setValue(5)
    nuke.root()["name"].setValue((tmp_path / "gone" / "shot.nk").as_posix())
    with pytest.raises(Problem, match=r"gone: the script cannot be copied there .*; make the folder writable"):
        snapshot.take("panel")
