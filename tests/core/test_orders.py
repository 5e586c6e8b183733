"""Submitted runs: laid into a folder by one program, begun by another, whatever happened to the script in between."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tests.core.cli.command import Command, write_script
from tests.core.train.shots import SmallShot, make_shot

from understudy.frames.colour import ColourRules
from understudy.orders import Order, lay_down, remembered
from understudy.report.run_record import read_record, write_record
from understudy.runs import RunFiles, find_run
from understudy.settings import Settings
from understudy.sources.script import ScriptSource
from understudy.sources.sequences import SequenceSource

SMALL = Settings(steps=4, crop_size=32, batch_size=2, model_size="small", device="cpu", threads=1)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    return make_shot(tmp_path / "shot")


def _sequences(shot: SmallShot, settings: Settings = SMALL) -> Order:
    source = SequenceSource(input=shot.plate, target=shot.paint)
    return Order(settings=settings, source=source, colour=ColourRules())


def _submit(order: Order, directory: Path) -> RunFiles:
    files = RunFiles(directory / "v001", "paint")
    write_record(files.record, lay_down(order, order.source.pairs(), files, command="a panel"))
    return files


def test_a_submitted_run_begins_with_resume_and_ends_as_any_other(command: Command, shot: SmallShot) -> None:
    files = _submit(_sequences(shot), shot.data)
    assert read_record(files.record).state == "submitted"
    ending = command("resume", shot.data)
    assert (ending.code, ending.faults) == (0, [])
    assert "Resuming" not in ending.out
    record = read_record(files.record)
    assert (record.state, record.batch_size, record.total_steps, record.command) == ("finished", 2, 4, "a panel")
    assert record.versions["torch"] != "unknown"
    assert command("resume", shot.data).out.splitlines()[-1].startswith("paint is finished at step 4")


def test_a_submitted_run_needs_no_stopping(command: Command, shot: SmallShot) -> None:
    _submit(_sequences(shot), shot.data)
    assert "this run is submitted, not training" in command.refused("stop", shot.data)


def test_a_script_is_kept_as_it_was_with_what_it_read_of_the_environment(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot = make_shot(tmp_path / "shot")
    script = write_script(shot.folder, knobs="")
    named = script.read_text().replace("file plate.####.exr", r'file "\[getenv SHOT_DIR]/plate.####.exr"')
    script.write_text(named)
    monkeypatch.setenv("SHOT_DIR", str(shot.folder))
    source = ScriptSource(script=script)
    settings = dataclasses.replace(SMALL, **source.knob_overrides())  # type: ignore[arg-type]
    files = _submit(Order(settings=settings, source=source, colour=ColourRules()), shot.data)
    monkeypatch.delenv("SHOT_DIR")
    script.unlink()
    assert json.loads(files.record.read_text())["source"]["environment"] == {"SHOT_DIR": str(shot.folder)}
    assert command("resume", files.directory).code == 0


def test_paths_of_another_system_are_found_here(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _submit(_sequences(shot), shot.data)
    place = str(shot.folder)
    files.record.write_text(files.record.read_text().replace(place, "P:/show/sh010"))
    monkeypatch.setenv("UNDERSTUDY_PATH_RULES", f"windows=P:/show/sh010/,linux={place}/,macos={place}/")
    assert command("resume", "P:/show/sh010/data/v001").code == 0
    record = read_record(files.record)
    assert record.settings["data_directory"] == str(files.directory).replace(place, "P:/show/sh010")
    assert record.source["input"] == "P:/show/sh010/plate.####.exr"


def test_changes_go_over_what_was_recorded(shot: SmallShot) -> None:
    files = _submit(_sequences(shot), shot.data)
    order = remembered(read_record(files.record), files, {"steps": 9})
    expected = dataclasses.replace(SMALL, steps=9, run_name="paint", data_directory=files.directory)
    assert order.settings == expected


def test_the_newest_version_of_a_data_directory_is_its_run(shot: SmallShot) -> None:
    _submit(_sequences(shot), shot.data)
    newer = RunFiles(shot.data / "v002", "again")
    write_record(newer.record, lay_down(_sequences(shot), (), newer, command=""))
    assert find_run(shot.data) == newer
