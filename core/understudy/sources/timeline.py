"""Pairs from an OpenTimelineIO timeline, and the timeline of the pairs that a run used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import opentimelineio as otio

from understudy.errors import ProblemList, UnderstudyError
from understudy.files import write_text
from understudy.frames.colour import ColourRules
from understudy.frames.sequence import MAX_FRAMES, format_frames, is_missing
from understudy.pairs import Pair, PairUse
from understudy.remap import Remap, remapped
from understudy.runs import RunFiles
from understudy.sources.sequences import FileFrame, colour_of_record, frames_of_record, remap_of_record
from understudy.sources.timeline_file import read_timeline
from understudy.sources.timeline_media import OUR_KEY, clip_of, file_shown, frame_range, our_metadata
from understudy.sources.uses import with_validation

Side = Literal["input", "target"]


@dataclass(frozen=True, kw_only=True)
class TimelineSource:
    """Every frame of the target track, paired with what the input track shows at that moment.

    The tracks are those with our metadata `role`, else those named input and target, else the first two video tracks.
    Layer, view and colour space come from the fields here, else from our metadata on the clip, else on its track.
    """

    timeline: Path
    input_layer: str = ""
    target_layer: str = ""
    view: str = ""
    input_colorspace: str = ""
    target_colorspace: str = ""
    frames: tuple[int, ...] = ()
    """Empty: every frame of the target track."""
    validation_frames: tuple[int, ...] = ()
    """Empty: as the timeline's metadata and markers say."""
    remap: Remap = ()
    """Beginnings of the media's paths and what replaces them."""
    colour: ColourRules = field(default_factory=ColourRules)

    def pairs(self, *, are_to_come: bool = False) -> tuple[Pair, ...]:
        """The pairs in frame order.

        Raises UnderstudyError naming the timeline, track, clip or missing file, all faults at once.
        """
        timeline = read_timeline(self.timeline)
        tracks = _tracks_of(timeline, self.timeline)
        problems = ProblemList()
        with problems.collecting():
            self.colour.check()
        pairs: list[Pair] = []
        for moment in _moments_of(tracks["target"], self.timeline):
            if problems.are_enough:
                break
            with problems.collecting():
                pairs.append(self._pair_at(moment, tracks))
                if not are_to_come:
                    _refuse_missing(pairs[-1], self.timeline)
        problems.raise_if_any()
        return with_validation(self._chosen(pairs), self.validation_frames)

    def kept_beside(self, files: RunFiles) -> TimelineSource:
        """The run's own timeline: it says everything about the pairs that this one does."""
        return TimelineSource(timeline=files.timeline, colour=self.colour)  # its media are remapped already

    def record(self) -> dict[str, object]:
        """Plain data for `from_record`."""
        values = {**asdict(self), "timeline": str(self.timeline.absolute())}
        frames = {name: format_frames(getattr(self, name)) for name in ("frames", "validation_frames")}
        return {"kind": "timeline", **values, **frames}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> TimelineSource:
        texts = ("input_layer", "target_layer", "view", "input_colorspace", "target_colorspace")
        return cls(
            timeline=Path(str(record["timeline"])),
            **{name: str(record[name]) for name in texts},
            frames=frames_of_record(record, "frames"),
            validation_frames=frames_of_record(record, "validation_frames"),
            remap=remap_of_record(record),
            colour=colour_of_record(record),
        )

    def _chosen(self, pairs: Sequence[Pair]) -> list[Pair]:
        if not pairs:
            raise UnderstudyError(f"{self.timeline}: the target track has no clip; put the painted frames on it")
        strangers = set(self.frames) - {pair.frame for pair in pairs}
        if strangers:
            has = format_frames(pair.frame for pair in pairs)
            raise UnderstudyError(f"{self.timeline}: has no pair for frames {format_frames(strangers)}; it has {has}")
        return [pair for pair in pairs if not self.frames or pair.frame in self.frames]

    def _pair_at(self, moment: otio.opentime.RationalTime, tracks: Mapping[Side, otio.schema.Track]) -> Pair:
        plate, paint = _shown_at(moment, tracks["input"]), _shown_at(moment, tracks["target"])
        timeline_frame = int(moment.to_frames())
        if plate is None or paint is None:
            raise UnderstudyError(
                f"{self.timeline}: the input track shows nothing at frame {timeline_frame} of the timeline; add a clip"
            )
        source = self._frame_source("input", plate)
        stated = our_metadata(paint.clip).get("frame")
        return Pair(
            frame=stated if isinstance(stated, int) else source.frame or timeline_frame,
            input=source,
            target=self._frame_source("target", paint),
            use="train" if self.validation_frames else _use_of(paint, plate),
        )

    def _frame_source(self, side: Side, shown: _Shown) -> FileFrame:
        named, number = file_shown(shown.clip, shown.media_time, self.timeline)
        path = Path(remapped(str(named), self.remap))
        layer, colorspace = (
            (self.input_layer, self.input_colorspace)
            if side == "input"
            else (self.target_layer, self.target_colorspace)
        )
        return FileFrame(
            path=path,
            frame=number,
            layer=layer or shown.stated("layer"),
            view=self.view or shown.stated("view"),
            colorspace=colorspace or shown.stated("colorspace"),
            colour=self.colour,
        )


def _refuse_missing(pair: Pair, timeline: Path) -> None:
    for side, source in (("input", pair.input), ("target", pair.target)):
        if is_missing(path := source.media.path):
            raise UnderstudyError(f"{path}: no such file ({side} track of {timeline}); render it or relink the clip")


@dataclass(frozen=True)
class _Shown:
    """What a track shows at a moment."""

    clip: otio.schema.Clip
    media_time: otio.opentime.RationalTime
    track: otio.schema.Track

    def stated(self, name: str) -> str:
        """Our metadata of that name on the clip, else on its track; empty when there is none."""
        return str(our_metadata(self.clip).get(name) or our_metadata(self.track).get(name) or "")


def write_timeline(
    path: Path,
    pairs: Sequence[Pair],
    *,
    name: str,
    fps: float = 24.0,
    metadata: Mapping[str, object] | None = None,
) -> None:
    """Write the pairs as one-frame clips on an input and a target track, each at its frame number.

    TimelineSource reads equal media, layers, frames and uses back. `metadata` (plain JSON data) goes under our key.
    Raises UnderstudyError naming `path` when it cannot be written.
    """
    ordered = sorted(pairs, key=lambda pair: pair.frame)
    start = otio.opentime.RationalTime(ordered[0].frame if ordered else 0, fps)
    timeline = otio.schema.Timeline(name, global_start_time=start, metadata={OUR_KEY: dict(metadata or {})})
    for side in ("input", "target"):
        track = otio.schema.Track(side, kind=otio.schema.TrackKind.Video, metadata={OUR_KEY: {"role": side}})
        cursor = int(start.value)
        for pair in ordered:
            if pair.frame > cursor:
                track.append(otio.schema.Gap(source_range=frame_range(0, pair.frame - cursor, fps)))
            track.append(clip_of(pair.input if side == "input" else pair.target, pair, fps))
            cursor = max(cursor, pair.frame) + 1
        timeline.tracks.append(track)
    write_text(path, otio.adapters.write_to_string(timeline, "otio_json"))


def _tracks_of(timeline: otio.schema.Timeline, path: Path) -> dict[Side, otio.schema.Track]:
    tracks = list(timeline.video_tracks())
    for name_of in (lambda track: our_metadata(track).get("role"), lambda track: track.name.lower()):
        named = {name_of(track): track for track in reversed(tracks)}
        if "input" in named and "target" in named:
            return {"input": named["input"], "target": named["target"]}
    if len(tracks) < 2:
        raise UnderstudyError(f"{path}: has {len(tracks)} video tracks; give it a track input and a track target")
    return {"input": tracks[0], "target": tracks[1]}


def _moments_of(track: otio.schema.Track, path: Path) -> Iterator[otio.opentime.RationalTime]:
    """Every frame on which the track shows a clip, in the track's own time."""
    for clip in track.find_clips():
        span = clip.range_in_parent()
        rate = span.start_time.rate
        if span.duration.to_frames() > MAX_FRAMES:
            raise UnderstudyError(f"{path}: clip {clip.name!r} is longer than {MAX_FRAMES} frames; trim it")
        for index in range(int(span.duration.to_frames())):
            yield span.start_time + otio.opentime.RationalTime(index, rate)


def _shown_at(moment: otio.opentime.RationalTime, track: otio.schema.Track) -> _Shown | None:
    child = track.child_at_time(moment)
    if not isinstance(child, otio.schema.Clip):
        return None
    return _Shown(child, track.transformed_time(moment, child), track)


def _use_of(paint: _Shown, plate: _Shown) -> PairUse:
    """Validation if our metadata on the clip or a marker at that frame says so."""
    stated = str(our_metadata(paint.clip).get("use", ""))
    words = [stated, *_marker_words(paint), *_marker_words(plate)]
    return "validation" if any(word.lower().startswith("val") for word in words) else "train"


def _marker_words(shown: _Shown) -> list[str]:
    here = [marker for marker in shown.clip.markers if marker.marked_range.contains(shown.media_time)]
    return [str(our_metadata(marker).get("use") or marker.name) for marker in here]
