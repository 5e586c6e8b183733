"""A program called NukeX, which is a stand-in."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from understudy.train.export.nuke_cat import NUKEX
from understudy.train.export.proof import OLD_TORCH


@dataclass(frozen=True)
class StandIn:
    program: Path
    notes: Path

    @property
    def words(self) -> list[str]:
        """It was called with."""
        return [str(word) for word in json.loads(self.notes.read_text())["words"]]


def stand_in_nukex(folder: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    (folder / "bin").mkdir()
    program = folder / "bin" / "NukeX15.1"
    program.write_text(f"#!{sys.executable}\n" + Path(__file__).with_name("stand_in_nukex.py").read_text())
    program.chmod(0o755)
    monkeypatch.setenv("STAND_IN_NOTES", str(folder / "notes.json"))
    monkeypatch.setenv("STAND_IN_FAULT", "")
    monkeypatch.delenv(NUKEX, raising=False)
    monkeypatch.delenv(OLD_TORCH, raising=False)
    return StandIn(program, folder / "notes.json")
