"""The last values of each shot."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy_ui.panel.model.remembered import MAX_SHOTS, Remembered, remembered_in


def test_values_come_back(tmp_path: Path) -> None:
    path = remembered_in({"UNDERSTUDY_HOME": str(tmp_path / "home")})
    Remembered(path).note("shot.nk", {"form": {"epochs": 5}})
    assert Remembered(path).of("shot.nk") == {"form": {"epochs": 5}}
    assert Remembered(path).newest() == {"form": {"epochs": 5}}


def test_old_shots_are_forgotten(tmp_path: Path) -> None:
    remembered = Remembered(tmp_path / "panel.json")
    for number in range(MAX_SHOTS + 1):
        remembered.note(str(number), {})
    assert remembered.of("0") == {}
    assert list(Remembered(tmp_path / "panel.json").newest()) == []


@pytest.mark.parametrize("content", ["{", "[]", "[" * 100_000])
def test_a_broken_file_is_said_and_replaced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "panel.json"
    path.write_text(content, encoding="utf-8")
    remembered = Remembered(path)
    assert str(path) in remembered.faults[0]
    remembered.note("shot.nk", {"form": {}})
    assert Remembered(path).faults == []


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    remembered = Remembered(tmp_path / "home" / "panel.json")
    remembered.note("shot.nk", {})
    assert "cannot be remembered" in remembered.faults[0]
