"""A small model exported by the child that the answers process starts."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import cast

import pytest
from tests.core.records import RECORD, lay_run
from tests.core.train.export.models import lively_model, save_lively_model
from tests.core.train.shots import SmallShot
from tests.ui.answers.panel import Panel

from understudy.errors import UnderstudyError
from understudy.report.run_record import pair_records
from understudy.runs import RunFiles
from understudy_ui.answers import results
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.training import chosen_by
from understudy_ui.protocol import ExportedShown


@pytest.fixture
def run(shot: SmallShot) -> RunFiles:
    source = chosen_by(shot.train_words()[1:]).named.source
    record = dataclasses.replace(RECORD, source=source.record(), pairs=pair_records(source.pairs()))
    files = lay_run(shot.data, "run", record)
    save_lively_model(files.model(10), lively_model())
    return files


def test_a_model_is_exported_by_a_real_child(panel: Panel, run: RunFiles) -> None:
    number = panel.ask("export", place=str(run.record), checkpoint=10, to="torch", folder="")
    outcome = panel.outcome(number)
    assert "answer" in outcome, (outcome, panel.complaints)
    shown = cast(ExportedShown, outcome["answer"])
    folder = run.model(10).with_name(f"{run.model(10).stem}.torch")
    assert Path(shown["folder"]) == folder
    assert shown["said"] == f"{run.model(10).name} was exported for torch: {folder}"
    assert (shown["files"], shown["remarks"]) == (["comp.pt"], [])
    assert (folder / "comp.pt").is_file()
    assert {"plate.1001.exr", "plate.1003.exr"} <= set(shown["samples"])
    here, half, *_ = shown["proofs"]  # and by older torches, where they are installed
    assert half["by"] == f"{here['by']}, half"
    assert 0 <= here["difference"] <= 1e-4
    assert panel.told(number)[0] == f"Exporting {run.model(10)} to torch"


def test_a_place_that_is_taken_is_told_as_the_command_tells_it(panel: Panel, run: RunFiles) -> None:
    taken = run.directory.parent
    assert panel.faults("export", place=str(run.record), checkpoint=10, to="torch", folder=str(taken)) == [
        f"{taken}: holds something else than an export; choose another --folder"
    ]


def test_an_export_without_a_record_is_told_of(run: RunFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy_ui.answers.children.PROGRAM", ("echo",))
    asking = Asking({"place": str(run.record), "checkpoint": 10, "to": "torch", "folder": ""})
    with pytest.raises(UnderstudyError, match=r"left no export\.json"):
        results.export(asking)


def test_what_a_person_should_know_of_it_comes_with_it(
    run: RunFiles, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "export.json").write_text('{"files": [], "samples": [], "proofs": []}')
    said = f"warning: no frame could be tried\n [*] Export saved at {tmp_path}"
    monkeypatch.setattr("understudy_ui.answers.children.PROGRAM", (sys.executable, "-c", f"print({said!r})"))
    asking = Asking({"place": str(run.record), "checkpoint": 10, "to": "torch", "folder": "elsewhere"})
    shown = results.export(asking)
    assert (shown["folder"], shown["remarks"]) == (str(tmp_path), ["no frame could be tried"])
