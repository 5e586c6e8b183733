from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.frames.image import Image
from understudy.pairs import Media, Pair
from understudy.report.run_record import FirstSteps, RunRecord, now, pair_records, read_record, this_host, write_record
from understudy.report.versions import versions
from understudy.settings import Settings, from_record, to_record


@dataclass(frozen=True)
class Still:
    label: str
    media: Media

    def read(self) -> Image:
        raise AssertionError("records read no pixels")


def pair(frame: int) -> Pair:
    return Pair(
        frame=frame,
        input=Still(f"plate.{frame}.exr", Media(path=Path("/shot") / f"plate.{frame}.exr", frame=frame)),
        target=Still("mätte", Media(path=Path("paint.exr"), frame=0, layer="mask")),
        use="validation" if frame == 1013 else "train",
    )


@pytest.fixture
def record() -> RunRecord:
    return RunRecord(
        settings=to_record(Settings(epochs=7, initial_weights=Path("a.safetensors"))),
        source={"kind": "sequences", "input": "plate.####.exr"},
        colour={"config": "", "working_space": "ACEScg", "display": "", "view": ""},
        skip_unreadable=True,
        pairs=pair_records([pair(1001), pair(1013)]),
        versions=versions("2.13.0"),
        host=this_host(),
        command="understudy train -X CopyCat1 shot.nk",
        started=now(),
        total_steps=22500,
        batch_size=4,
        device="cpu",
    )


def test_comes_back_equal(tmp_path: Path, record: RunRecord) -> None:
    path = tmp_path / "run.run.json"
    write_record(path, record)
    assert read_record(path) == record
    assert from_record(read_record(path).settings).epochs == 7
    assert record.pairs[1].use == "validation"
    assert record.pairs[1].target.layer == "mask"


def test_first_steps_come_back_and_earlier_versions_had_none(tmp_path: Path, record: RunRecord) -> None:
    path = tmp_path / "run.run.json"
    growing = replace(record, first_steps=FirstSteps(steps=400, size=2))
    write_record(path, growing)
    assert read_record(path) == growing
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["first_steps"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert read_record(path) == record


def test_is_replaced_whole(tmp_path: Path, record: RunRecord) -> None:
    path = tmp_path / "run.run.json"
    write_record(path, record)
    write_record(path, replace(record, state="finished", ended=now()))
    assert read_record(path).state == "finished"
    assert [path.name for path in tmp_path.iterdir()] == ["run.run.json"]


def test_says_its_schema_and_times_with_zone(tmp_path: Path, record: RunRecord) -> None:
    path = tmp_path / "run.run.json"
    write_record(path, record)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["schema"] == 1
    assert datetime.fromisoformat(data["started"]).tzinfo is not None
    assert set(data["versions"]) == {"python", "understudy", "torch", "OpenImageIO", "OpenTimelineIO", "numpy"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 1, "settings"', "is damaged"),
        ("[]", "is no run record"),
        ('{"epochs": 1}', "is no run record"),
        ('{"schema": 2}', "newer understudy"),
        ('{"schema": 1}', "is damaged \\(field 'settings' is missing"),
        ("\\udcff", "is damaged"),
    ],
)
def test_damaged_and_foreign_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "run.run.json"
    path.write_text(text)
    with pytest.raises(UnderstudyError, match=rf"run\.run\.json: .*{message}"):
        read_record(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state", "asleep"),
        ("total_steps", "many"),
        ("pairs", [1]),
        ("host", {}),
        ("pairs", [{"frame": 1, "use": "x"}]),
        ("first_steps", 400),
        ("first_steps", {"steps": 400}),
        ("first_steps", {"steps": 400, "size": 0}),
        ("first_steps", {"steps": -1, "size": 2}),
    ],
)
def test_every_field_is_checked(tmp_path: Path, record: RunRecord, name: str, value: object) -> None:
    path = tmp_path / "run.run.json"
    write_record(path, record)
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), name: value}))
    with pytest.raises(UnderstudyError, match=r"run\.run\.json: is damaged"):
        read_record(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match="cannot be read"):
        read_record(tmp_path / "run.run.json")


def test_a_record_that_is_nested_too_deeply_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "run.run.json"
    path.write_text("[" * 100_000)
    with pytest.raises(UnderstudyError, match=r"run\.run\.json: is damaged"):
        read_record(path)


def test_a_record_that_could_be_read_but_not_written_again_is_damaged(tmp_path: Path, record: RunRecord) -> None:
    """Python's reader goes deeper than its writer."""
    path = tmp_path / "run.run.json"
    write_record(path, replace(record, source={"frames": json.loads("[" * 40 + "]" * 40)}))
    with pytest.raises(UnderstudyError, match=r"run\.run\.json: is damaged .*nests deeper"):
        read_record(path)


def test_names_that_are_no_utf8_come_back(tmp_path: Path, record: RunRecord) -> None:
    path, label = tmp_path / "run.run.json", os.fsdecode(b"plate \xff.exr")
    write_record(path, replace(record, command=label))
    assert read_record(path).command == label
