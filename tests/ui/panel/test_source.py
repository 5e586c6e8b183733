"""What is chosen to train on, and the words that say it."""

from __future__ import annotations

import pytest

from understudy_ui.panel.model.source import (
    SEQUENCES,
    TIMELINE,
    Source,
    as_pattern,
    from_dropped,
    from_record,
)


def test_words_of_each_kind() -> None:
    assert Source(script="shot.nk", node="CopyCat1").words() == ["-X", "CopyCat1", "shot.nk"]
    sequences = Source(kind=SEQUENCES, input="p.####.exr", target="t.####.exr", frames="1-3", validation_frames="2")
    said = "--input p.####.exr --target t.####.exr --frames 1-3 --validation-frames 2"
    assert sequences.words() == said.split()
    assert Source(kind=TIMELINE, timeline="pairs.otio", view="left").words() == [
        "--timeline",
        "pairs.otio",
        "--view",
        "left",
    ]


def test_what_is_typed_for_another_kind_is_not_said() -> None:
    assert Source(script="shot.nk", input="p.####.exr").words() == ["shot.nk"]


def test_what_is_missing_is_said() -> None:
    assert "script" in Source().missing()
    assert "Ground Truth" in Source(kind=SEQUENCES, input="p.####.exr").missing()
    assert Source(script="shot.nk").missing() == ""


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/s/plate.1001.exr", "/s/plate.####.exr"),
        ("/s/sh010_plate_v02.0001.exr", "/s/sh010_plate_v02.####.exr"),
        ("/s/plate.####.exr", "/s/plate.####.exr"),
        ("/s/still.exr", "/s/still.exr"),
        ("/s/no_ending", "/s/no_ending"),
        ("plate.%04d.exr", "plate.%04d.exr"),
    ],
)
def test_a_frame_becomes_its_sequence(path: str, pattern: str) -> None:
    assert as_pattern(path) == pattern


def test_dropped_files_choose_the_kind() -> None:
    assert from_dropped(["/s/shot.nk"], Source()) == Source(script="/s/shot.nk")
    assert from_dropped(["/s/pairs.otio"], Source()) == Source(kind=TIMELINE, timeline="/s/pairs.otio")
    first = from_dropped(["/s/plate.1001.exr", "/s/plate.1002.exr"], Source())
    assert (first.input, first.target) == ("/s/plate.####.exr", "")
    second = from_dropped(["/s/paint.1001.exr"], first)
    assert (second.input, second.target) == ("/s/plate.####.exr", "/s/paint.####.exr")


def test_a_record_comes_back_and_a_broken_one_is_the_default() -> None:
    source = Source(kind=SEQUENCES, input="p.####.exr")
    assert from_record(source.to_record()) == source
    assert from_record({"kind": "nonsense", "input": 3}) == Source()
