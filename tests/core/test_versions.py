"""Numbered folders: each whole or absent, each number given once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.versions import newest_version, whole_version


def made(folder: Path, word: str, prefix: str = "comp_") -> Path:
    """A version that holds the word."""
    with whole_version(folder, prefix) as version:
        assert not version.place.exists()
        (version.aside / "word").write_text(word)
        (version.aside / "name").write_text(version.place.name)
    return version.place


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_numbers_rise_by_name(tmp_path: Path) -> None:
    for other in ("comp_v041", "comp_v12", "comp_v043b", "comp_v002_v050", "v099", "other_v070"):
        (tmp_path / other).mkdir()
    assert newest_version(tmp_path, "comp_") == 41
    assert made(tmp_path, "a").name == "comp_v042"
    assert made(tmp_path / "new" / "place", "b").name == "comp_v001"


def test_several_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as several:
        places = list(several.map(lambda number: made(tmp_path, str(number)), range(64)))
    assert len(set(places)) == 64
    assert names(tmp_path) == sorted(place.name for place in places)
    for number, place in enumerate(places):
        assert ((place / "word").read_text(), (place / "name").read_text()) == (str(number), place.name)


def fail_in(folder: Path) -> None:
    with whole_version(folder, "comp_") as version:
        (version.aside / "exports").mkdir()
        (version.aside / "exports" / "x").touch()
        raise KeyboardInterrupt


def test_what_fails_leaves_nothing_and_its_number_is_free(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for folder in (tmp_path / "kept", tmp_path / "new" / "place"):
        with pytest.raises(KeyboardInterrupt):
            fail_in(folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]
    assert made(tmp_path / "kept", "a").name == "comp_v001"


def test_the_number_of_one_that_was_killed_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".comp_v001.partial").mkdir()
    assert made(tmp_path, "a").name == "comp_v002"
    assert (tmp_path / ".comp_v001.partial").is_dir()


def test_a_stranger_who_takes_the_name_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"comp_v001: was made by another program"):  # noqa: SIM117
        with whole_version(tmp_path, "comp_") as version:
            version.place.mkdir()
    assert names(tmp_path) == ["comp_v001"]
    (tmp_path / "file").touch()
    with pytest.raises(UnderstudyError, match="a file is in the way of this folder"):
        made(tmp_path / "file", "a")
