"""Timelines: what is written is read back equal; foreign timelines are understood; bad ones are refused."""

from __future__ import annotations

from pathlib import Path

import opentimelineio as otio
import pytest
from tests.picture_files import SMALL, ramp, write_plate

from understudy.errors import MOST_PROBLEMS, Problems, UnderstudyError
from understudy.pairs import Pair
from understudy.sources.record import from_record
from understudy.sources.sequences import FileFrame
from understudy.sources.timeline import TimelineSource, write_timeline

FPS = 24.0


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """Plates 1001..1010 and paint on 1002, 1005 and 1009, in a folder with a blank and a # in its name."""
    folder = tmp_path / "sh #1 %20"
    folder.mkdir()
    for frame in range(1001, 1011):
        write_plate(folder / f"plate.{frame:04d}.exr", ramp(SMALL, 3))
    for frame in (1002, 1005, 1009):
        write_plate(folder / f"paint.{frame:04d}.exr", ramp(SMALL, 3))
    write_plate(folder / "clean.exr", ramp(SMALL, 3))
    return folder


def still(path: Path, frame: int = 0, **more: str) -> FileFrame:
    return FileFrame(path=path, frame=frame, **more)  # type: ignore[arg-type]


def test_stills_held_frames_layers_views_and_uses_come_back(shot: Path) -> None:
    pairs = (
        Pair(frame=1, input=still(shot / "plate.1002.exr", 1002), target=still(shot / "paint.1002.exr", 1002)),
        Pair(
            frame=2,
            input=still(shot / "plate.1001.exr", 1001, layer="rgb", view="left", colorspace="ACEScg"),
            target=still(shot / "paint.1005.exr", 1005, layer="R"),
            use="validation",
        ),
        Pair(frame=5, input=still(shot / "clean.exr"), target=still(shot / "paint.1009.exr", 1009)),
        Pair(frame=6, input=still(shot / "clean.exr"), target=still(shot / "clean.exr")),
    )
    write_timeline(shot / "pairs.otio", pairs, name="shot", metadata={"run": "Training_1"})
    read_back = TimelineSource(timeline=shot / "pairs.otio")
    assert read_back.pairs() == pairs
    assert from_record(read_back.record()).pairs() == pairs
    assert [path.name for path in shot.glob("*pairs*")] == ["pairs.otio"]


def test_frames_and_validation_frames_can_be_chosen(shot: Path) -> None:
    pairs = [
        Pair(frame=n, input=still(shot / f"plate.{n}.exr", n), target=still(shot / f"paint.{n}.exr", n))
        for n in (1002, 1005, 1009)
    ]
    write_timeline(shot / "pairs.otio", pairs, name="shot")
    chosen = TimelineSource(timeline=shot / "pairs.otio", frames=(1002, 1009), validation_frames=(1009,)).pairs()
    assert [(pair.frame, pair.use) for pair in chosen] == [(1002, "train"), (1009, "validation")]
    with pytest.raises(UnderstudyError, match="no pair for frames 7; it has 1002"):
        TimelineSource(timeline=shot / "pairs.otio", frames=(7,)).pairs()


def sequence(shot: Path, prefix: str, first: int, count: int, url: str | None = None) -> otio.schema.Clip:
    span = otio.opentime.TimeRange(otio.opentime.RationalTime(first, FPS), otio.opentime.RationalTime(count, FPS))
    reference = otio.schema.ImageSequenceReference(
        shot.as_uri() + "/" if url is None else url, prefix, ".exr", first, 1, FPS, 4, available_range=span
    )
    return otio.schema.Clip(prefix, reference, span)


def gap(count: int) -> otio.schema.Gap:
    return otio.schema.Gap(duration=otio.opentime.RationalTime(count, FPS))


def foreign_timeline(path: Path, plate: list[otio.core.Item], paint: list[otio.core.Item], *names: str) -> Path:
    """A timeline without our metadata."""
    timeline = otio.schema.Timeline("edit")
    for name, items in zip(names or ("V1", "V2"), (plate, paint), strict=True):
        track = otio.schema.Track(name, kind=otio.schema.TrackKind.Video)
        track.extend(items)
        timeline.tracks.append(track)
    otio.adapters.write_to_file(timeline, str(path))
    return path


def test_a_foreign_timeline_pairs_what_both_tracks_show(shot: Path) -> None:
    marked = sequence(shot, "paint.", 1005, 1)
    at_1005 = otio.opentime.TimeRange(otio.opentime.RationalTime(1005, FPS), otio.opentime.RationalTime(1, FPS))
    marked.markers.append(otio.schema.Marker("val", at_1005))
    paint = [gap(1), sequence(shot, "paint.", 1002, 1), gap(2), marked]
    path = foreign_timeline(shot / "edit.otio", [sequence(shot, "plate.", 1001, 10, "")], paint)
    pairs = TimelineSource(timeline=path, input_layer="rgb").pairs()
    assert [(pair.frame, pair.use) for pair in pairs] == [(1002, "train"), (1005, "validation")]
    assert [pair.input.media.path.name for pair in pairs] == ["plate.1002.exr", "plate.1005.exr"]
    assert [pair.target.media.path for pair in pairs] == [shot / "paint.1002.exr", shot / "paint.1005.exr"]
    assert pairs[0].input.media.layer == "rgb"


def test_tracks_named_input_and_target_are_taken_in_any_order(shot: Path) -> None:
    plate, paint = [sequence(shot, "plate.", 1001, 10)], [gap(1), sequence(shot, "paint.", 1002, 1)]
    path = foreign_timeline(shot / "edit.otio", paint, plate, "Target", "Input")
    assert TimelineSource(timeline=path).pairs()[0].input.media.path.name == "plate.1002.exr"


def test_every_missing_file_and_bare_moment_is_listed(shot: Path) -> None:
    paint = [
        sequence(shot, "paint.", 1001, 1),
        sequence(shot, "paint.", 1002, 1),
        gap(9),
        sequence(shot, "paint.", 1009, 1),
    ]
    path = foreign_timeline(shot / "edit.otio", [sequence(shot, "plate.", 1001, 10)], paint)
    with pytest.raises(Problems) as refused:
        TimelineSource(timeline=path).pairs()
    absent, bare = refused.value.lines
    assert "paint.1001.exr: no such file" in absent
    assert "shows nothing at frame 11" in bare


def test_a_clip_beyond_its_media_and_one_without_media_are_refused(shot: Path) -> None:
    beyond = sequence(shot, "plate.", 1001, 10)
    beyond.source_range = otio.opentime.TimeRange(
        otio.opentime.RationalTime(1020, FPS), otio.opentime.RationalTime(1, FPS)
    )
    path = foreign_timeline(shot / "beyond.otio", [beyond], [sequence(shot, "paint.", 1002, 1)])
    with pytest.raises(UnderstudyError, match=r"'plate\.' shows frame 1020, which is outside its media"):
        TimelineSource(timeline=path).pairs()
    lost = sequence(shot, "plate.", 1001, 10)
    lost.media_reference = otio.schema.MissingReference()
    path = foreign_timeline(shot / "lost.otio", [lost], [sequence(shot, "paint.", 1002, 1)])
    with pytest.raises(UnderstudyError, match="has no media; relink it"):
        TimelineSource(timeline=path).pairs()


_ABORTING = '{"OTIO_SCHEMA": "Timeline.1", "metadata": {"OTIO_SCHEMA": "UnknownSchema.1"}, "tracks": null}'
_DEEP = '{"OTIO_SCHEMA": "Stack.1", "children": [' * 400 + "]}" * 400


@pytest.mark.parametrize(
    "content",
    ["", "{damaged", "{}", "[]", '{"OTIO_SCHEMA": "Timeline.1"}', "\x00\x01", _ABORTING, _DEEP, "[" * 100_000],
)
def test_what_is_no_timeline_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad.otio").write_text(content)
    with pytest.raises(UnderstudyError) as refused:
        TimelineSource(timeline=tmp_path / "bad.otio").pairs()
    assert "bad.otio" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_absent_empty_and_one_track_timelines_are_refused(shot: Path) -> None:
    with pytest.raises(UnderstudyError, match="no such timeline"):
        TimelineSource(timeline=shot / "none.otio").pairs()
    path = foreign_timeline(shot / "empty.otio", [sequence(shot, "plate.", 1001, 10)], [])
    with pytest.raises(UnderstudyError, match="target track has no clip"):
        TimelineSource(timeline=path).pairs()
    timeline = otio.schema.Timeline("edit")
    otio.adapters.write_to_file(timeline, str(shot / "bare.otio"))
    with pytest.raises(UnderstudyError, match="has 0 video tracks"):
        TimelineSource(timeline=shot / "bare.otio").pairs()


def test_a_clip_without_end_is_told_of_once_for_every_frame_that_a_person_reads(shot: Path) -> None:
    path = foreign_timeline(
        shot / "long.otio", [sequence(shot, "plate.", 1001, 10)], [sequence(shot, "paint.", 1002, 90_000)]
    )
    with pytest.raises(Problems) as several:
        TimelineSource(timeline=path).pairs()
    assert len(several.value.lines) <= MOST_PROBLEMS + 1
