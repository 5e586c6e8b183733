"""The timeline of a result: plate, ground truth and result above each other, every frame at its own number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import opentimelineio as otio

from understudy.files import write_text
from understudy.pairs import Pair
from understudy.sources.sequences import FileFrame
from understudy.sources.timeline_media import OUR_KEY, clip_of, file_after, frame_range, marker_of, stretch_of

Shown = Mapping[int, FileFrame]
"""Frame of the timeline to what is shown there."""


@dataclass(frozen=True, kw_only=True)
class ResultTracks:
    """What lies on the tracks. Frames that are missing become gaps."""

    name: str
    plate: Shown
    result: Shown
    painted: Mapping[int, Pair]
    """Of these the targets are shown, and the frames are marked."""
    fps: float

    @property
    def frames(self) -> range:
        numbers = [*self.result, *self.painted]
        return range(min(numbers), max(numbers) + 1)


def write_result_timeline(path: Path, tracks: ResultTracks, metadata: Mapping[str, object]) -> None:
    """Write the tracks, the result on top, from the first frame of result or paint to the last.

    TimelineSource finds the painted pairs in it. `metadata` (plain JSON data) goes under our key.
    Raises UnderstudyError naming `path` when it cannot be written.
    """
    frames, fps = tracks.frames, tracks.fps
    timeline = otio.schema.Timeline(
        tracks.name,
        global_start_time=otio.opentime.RationalTime(frames.start, fps),
        metadata={OUR_KEY: dict(metadata)},
    )
    plate = {frame: source for frame, source in tracks.plate.items() if frame in frames}
    paint = {frame: _painted(pair, fps) for frame, pair in tracks.painted.items()}
    result = _clips(tracks.result, fps)
    for frame, clip in result.items():
        _mark(clip, frame, tracks)
    timeline.tracks.append(_track("input", "input", _clips(plate, fps), frames, fps))
    timeline.tracks.append(_track("ground truth", "target", paint, frames, fps))
    timeline.tracks.append(_track("result", "result", result, frames, fps))
    write_text(path, otio.adapters.write_to_string(timeline, "otio_json"))


def _track(name: str, role: str, clips: Mapping[int, otio.schema.Clip], frames: range, fps: float) -> otio.schema.Track:
    """The clips at their frames, with gaps between them and up to the end."""
    track = otio.schema.Track(name, kind=otio.schema.TrackKind.Video, metadata={OUR_KEY: {"role": role}})
    cursor = frames.start
    for frame in sorted(clips):
        if frame > cursor:
            track.append(otio.schema.Gap(source_range=frame_range(0, frame - cursor, fps)))
        track.append(clips[frame])
        cursor = frame + int(clips[frame].source_range.duration.value)
    if cursor < frames.stop:
        track.append(otio.schema.Gap(source_range=frame_range(0, frames.stop - cursor, fps)))
    return track


def _clips(shown: Shown, fps: float) -> dict[int, otio.schema.Clip]:
    """One for each unbroken stretch of a sequence, by its first frame."""
    counts: dict[int, int] = {}
    first = before = 0
    for frame in sorted(shown):
        if not (counts and frame == before + 1 and file_after(shown[before].media) == shown[frame].path):
            first, counts[frame] = frame, 0
        counts[first] += 1
        before = frame
    return {first: stretch_of(shown[first], count, fps) for first, count in counts.items()}


def _painted(pair: Pair, fps: float) -> otio.schema.Clip:
    clip = clip_of(pair.target, pair, fps)
    clip.name = pair.target.media.path.name  # a viewer has no room for a whole path
    return clip


def _mark(clip: otio.schema.Clip, first: int, tracks: ResultTracks) -> None:
    """Put a marker on every painted frame that the clip shows."""
    span = clip.source_range
    for offset in range(int(span.duration.value)):
        if pair := tracks.painted.get(first + offset):
            clip.markers.append(marker_of(pair, int(span.start_time.value) + offset, tracks.fps))
