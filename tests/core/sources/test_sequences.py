"""Pairs from sequences: frames found, every missing one named, records that build the same pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.footage import FOOTAGE, needs_footage
from tests.picture_files import SMALL, ramp, write_plate

from understudy.errors import Problems, UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.sources.record import from_record
from understudy.sources.sequences import SequenceSource


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """Plates 1..6, paint on 2, 4 and 6, one clean plate."""
    for frame in range(1, 7):
        write_plate(tmp_path / f"plate.{frame:04d}.exr", ramp(SMALL, 3) + frame)
    for frame in (2, 4, 6):
        write_plate(tmp_path / f"paint.{frame:04d}.exr", ramp(SMALL, 3) - frame)
    write_plate(tmp_path / "clean.exr", ramp(SMALL, 3))
    return tmp_path


def source(shot: Path, input: str = "plate.####.exr", target: str = "paint.####.exr", **more: object) -> SequenceSource:
    return SequenceSource(input=str(shot / input), target=str(shot / target), **more)  # type: ignore[arg-type]


def test_frames_default_to_those_with_a_target(shot: Path) -> None:
    pairs = source(shot, target="paint.%04d.exr", validation_frames=(4,)).pairs()
    assert [(pair.frame, pair.use) for pair in pairs] == [(2, "train"), (4, "validation"), (6, "train")]
    assert [pair.input.media.path.name for pair in pairs] == ["plate.0002.exr", "plate.0004.exr", "plate.0006.exr"]
    np.testing.assert_array_equal(pairs[1].input.read().pixels, ramp(SMALL, 3) + 4)
    np.testing.assert_array_equal(pairs[1].target.read().pixels, ramp(SMALL, 3) - 4)


def test_frames_asked_for_are_taken(shot: Path) -> None:
    assert [pair.frame for pair in source(shot, frames=(6, 2)).pairs()] == [2, 6]


def test_a_still_pairs_with_every_frame_and_two_stills_make_one_pair(shot: Path) -> None:
    pairs = source(shot, input="clean.exr").pairs()
    assert [(pair.frame, pair.input.media.frame) for pair in pairs] == [(2, 0), (4, 0), (6, 0)]
    assert [pair.frame for pair in source(shot, input="clean.exr", target="plate.0001.exr").pairs()] == [0]


def test_all_missing_frames_of_both_sides_are_listed(shot: Path) -> None:
    (shot / "plate.0004.exr").unlink()
    with pytest.raises(Problems) as refused:
        source(shot, frames=(2, 3, 4, 5)).pairs()
    plate, paint = refused.value.lines
    assert "plate.####.exr: input frames 4 are missing" in plate
    assert "paint.####.exr: target frames 3,5 are missing" in paint


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": "pain.####.exr"}, "pain.####.exr: no file matches this target pattern"),
        ({"input": "plat.####.exr"}, "plat.####.exr: no file matches this input pattern"),
        ({"input": "clear.exr"}, "clear.exr: no such input file"),
        ({"target": "clean.exr"}, "clean.exr: is one file for a whole sequence"),
        ({"validation_frames": (3,)}, "validation frames 3 have no pair; choose among 2-6x2"),
        ({"validation_frames": (2, 4, 6)}, "leave at least one to train on"),
        ({"colour": ColourRules(view="nope")}, "'nope'"),
    ],
)
def test_what_makes_no_pairs_is_refused_with_the_reason(shot: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(UnderstudyError) as refused:
        source(shot, **changes).pairs()  # type: ignore[arg-type]
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_record_builds_the_same_pairs_even_when_more_is_painted_later(shot: Path) -> None:
    before = source(shot, validation_frames=(4,), input_layer="rgb", input_colorspace="ACEScg")
    pairs, record = before.pairs(), json.loads(json.dumps(before.record()))
    write_plate(shot / "paint.0005.exr", ramp(SMALL, 3))
    assert from_record(record).pairs() == pairs


@pytest.mark.parametrize("record", [{}, {"kind": "film"}, {"kind": "sequences"}, {"kind": "timeline"}])
def test_a_record_of_another_version_is_refused(record: dict[str, object]) -> None:
    with pytest.raises(UnderstudyError, match="run record"):
        from_record(record)


@needs_footage
def test_two_layers_of_the_same_files_make_pairs() -> None:
    pattern = str(FOOTAGE / "beachball" / "multipart.####.exr")
    both = SequenceSource(
        input=pattern, target=pattern, frames=(1, 4, 8), input_layer="rgba_left", target_layer="whitebarmask_left"
    )
    first = both.pairs()[0]
    assert first.input.read().channels == ("R", "G", "B", "A")
    assert first.target.read().channels == ("whitebarmask.mask",)
    assert "whitebarmask_left" in first.target.label
