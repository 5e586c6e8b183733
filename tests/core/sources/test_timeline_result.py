"""The timeline of a result, read with OpenTimelineIO's own means and by our own source of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import opentimelineio as otio
import pytest
from tests.picture_files import SMALL, ramp, write_plate

from understudy.pairs import Pair
from understudy.sources.sequences import FileFrame
from understudy.sources.timeline import TimelineSource
from understudy.sources.timeline_result import ResultTracks, write_result_timeline


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a blank and a # in its name."""
    folder = tmp_path / "sh #1"
    folder.mkdir()
    return folder


def frames(folder: Path, name: str, numbers: Iterable[int], **more: str) -> dict[int, FileFrame]:
    found = {n: FileFrame(path=folder / f"{name}.{n:04d}.exr", frame=n, **more) for n in numbers}  # type: ignore[arg-type]
    for source in found.values():
        write_plate(source.path, ramp(SMALL, 3))
    return found


def tracks_of(folder: Path, fps: float = 24.0) -> ResultTracks:
    """Plates 995..1012, results 998..1001 and 1004..1006, paint on 998 and 1004, validation on 1008."""
    plate = frames(folder, "plate", range(995, 1013), layer="rgb", colorspace="ACEScg")
    paint = frames(folder, "paint", (998, 1004, 1008))
    pairs = {
        n: Pair(frame=n, input=plate[n], target=paint[n], use="validation" if n == 1008 else "train") for n in paint
    }
    result = frames(folder, "result", (*range(998, 1002), *range(1004, 1007)))
    return ResultTracks(name="comp_v001", plate=plate, result=result, painted=pairs, fps=fps)


def written(folder: Path, tracks: ResultTracks) -> otio.schema.Timeline:
    write_result_timeline(folder / "result.otio", tracks, {"run": "first"})
    timeline = otio.adapters.read_from_file(str(folder / "result.otio"))
    assert isinstance(timeline, otio.schema.Timeline)
    return timeline


def shown(timeline: otio.schema.Timeline, name: str) -> dict[int, str]:
    """Frame number to file name, for every frame of the timeline on which the track shows something."""
    (track,) = (track for track in timeline.video_tracks() if track.name == name)
    start, rate = timeline.global_start_time.to_frames(), timeline.global_start_time.rate
    found = {}
    for offset in range(int(track.duration().value)):
        moment = otio.opentime.RationalTime(offset, rate)
        clip = track.child_at_time(moment)
        if isinstance(clip, otio.schema.Clip):
            reference = clip.media_reference
            number = reference.frame_for_time(track.transformed_time(moment, clip))
            url = reference.target_url_for_image_number(number - reference.start_frame)
            found[start + offset] = url.rpartition("/")[2]
    return found


@pytest.mark.parametrize("fps", [24.0, 25.0, 24000 / 1001])
def test_every_frame_is_shown_at_its_number_and_missing_ones_are_gaps(folder: Path, fps: float) -> None:
    timeline = written(folder, tracks_of(folder, fps))
    assert timeline.global_start_time == otio.opentime.RationalTime(998, fps)
    assert [track.name for track in timeline.video_tracks()] == ["input", "ground truth", "result"]
    assert [track.duration() for track in timeline.video_tracks()] == 3 * [otio.opentime.RationalTime(11, fps)]
    assert shown(timeline, "input") == {n: f"plate.{n:04d}.exr" for n in range(998, 1009)}
    assert shown(timeline, "ground truth") == {n: f"paint.{n:04d}.exr" for n in (998, 1004, 1008)}
    assert shown(timeline, "result") == {n: f"result.{n:04d}.exr" for n in (998, 999, 1000, 1001, 1004, 1005, 1006)}
    assert [len(list(track.find_clips())) for track in timeline.video_tracks()] == [1, 3, 2]
    urls = {clip.media_reference.target_url_base for clip in timeline.find_clips()}
    assert urls == {folder.as_uri() + "/"}


def test_painted_frames_are_marked_on_the_result_in_the_colour_of_their_use(folder: Path) -> None:
    tracks = tracks_of(folder)
    timeline = written(folder, ResultTracks(**{**vars(tracks), "result": frames(folder, "result", range(998, 1012))}))
    (clip,) = timeline.tracks[2].find_clips()
    marks = [(mark.marked_range.start_time.to_frames(), mark.name, mark.color) for mark in clip.markers]
    assert marks == [(998, "train", "GREEN"), (1004, "train", "GREEN"), (1008, "validation", "ORANGE")]
    assert timeline.metadata["understudy"] == {"run": "first"}


def test_the_painted_pairs_are_found_in_it_again(folder: Path) -> None:
    tracks = tracks_of(folder)
    written(folder, tracks)
    assert TimelineSource(timeline=folder / "result.otio").pairs() == tuple(tracks.painted.values())


def test_stills_and_a_change_of_sequence_cut_the_track(folder: Path) -> None:
    tracks = tracks_of(folder)
    still = FileFrame(path=folder / "clean.exr", frame=0)
    plate = {**dict.fromkeys((998, 999), still), **frames(folder, "other", (1000, 1001)), 1002: tracks.plate[1002]}
    timeline = written(folder, ResultTracks(**{**vars(tracks), "plate": plate}))
    clips = [clip.name for clip in timeline.tracks[0].find_clips()]
    assert clips == ["clean.exr", "clean.exr", "other.1000.exr", "plate.1002.exr"]
