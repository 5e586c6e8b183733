"""Clips of a timeline and their media: which file one shows at a moment, and the clip that says so."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote
from urllib.request import url2pathname

import opentimelineio as otio

from understudy.errors import UnderstudyError
from understudy.frames.sequence import Sequence
from understudy.pairs import FrameSource, Media, Pair
from understudy.sources.sequences import FileFrame

OUR_KEY = "understudy"
"""The key of our metadata in timelines, tracks, clips, media references and markers."""

_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")


def file_shown(clip: otio.schema.Clip, media_time: otio.opentime.RationalTime, timeline: Path) -> tuple[Path, int]:
    """The file of the clip at that media time, and its number in its sequence (0 for a still).

    Raises UnderstudyError naming timeline and clip when the media is missing or ends before.
    """
    reference = clip.media_reference
    number = int(media_time.to_frames())
    if isinstance(reference, otio.schema.ImageSequenceReference):
        return _numbered_file(reference, media_time, clip, timeline)
    if not isinstance(reference, otio.schema.ExternalReference) or not reference.target_url:
        raise UnderstudyError(f"{timeline}: clip {clip.name!r} has no media; relink it")
    available = reference.available_range
    path = path_of(reference.target_url, timeline.parent)
    sequence = Sequence(str(path))
    if sequence.is_still:
        stated = our_metadata(reference).get("frame")
        return path, stated if isinstance(stated, int) else 0
    if available is not None and not available.contains(media_time):
        raise _out_of_range(clip, number, timeline)
    return sequence.path(number), number


def clip_of(source: FrameSource, pair: Pair, fps: float) -> otio.schema.Clip:
    """One side of a pair, a frame long and marked; our metadata says how it is read."""
    clip = otio.schema.Clip(
        name=source.label,
        media_reference=reference_to(source.media, fps),
        source_range=frame_range(source.media.frame, 1, fps),
        metadata={OUR_KEY: {"frame": pair.frame, "use": pair.use, **_reading(source)}},
    )
    clip.markers.append(marker_of(pair, source.media.frame, fps))
    return clip


def stretch_of(first: FileFrame, count: int, fps: float) -> otio.schema.Clip:
    """So many neighbouring files of a sequence, unmarked."""
    return otio.schema.Clip(
        name=first.path.name,
        media_reference=reference_to(first.media, fps, count),
        source_range=frame_range(first.frame, count, fps),
        metadata={OUR_KEY: _reading(first)},
    )


def _reading(source: FrameSource) -> dict[str, str]:
    about = {"layer": source.media.layer}
    if isinstance(source, FileFrame):
        about |= {"view": source.view, "colorspace": source.colorspace}
    return about


def marker_of(pair: Pair, media_frame: int, fps: float) -> otio.schema.Marker:
    """Green where it was trained on, orange where it was kept for validation."""
    colour = otio.schema.MarkerColor.GREEN if pair.use == "train" else otio.schema.MarkerColor.ORANGE
    return otio.schema.Marker(pair.use, frame_range(media_frame, 1, fps), color=colour)


def frame_range(start: int, count: int, fps: float) -> otio.opentime.TimeRange:
    return otio.opentime.TimeRange(otio.opentime.RationalTime(start, fps), otio.opentime.RationalTime(count, fps))


def reference_to(media: Media, fps: float, count: int = 1) -> otio.core.MediaReference:
    """A reference that `file_shown` reads back as the same file and number, or so many of a sequence from there."""
    path = media.path.absolute()
    place = frame_range(media.frame, count, fps)
    numbered = _numbering(media)
    if numbered is None:
        own = {OUR_KEY: {"frame": media.frame}}
        return otio.schema.ExternalReference(path.as_uri(), available_range=place, metadata=own)
    before, digits, after = numbered
    return otio.schema.ImageSequenceReference(
        target_url_base=path.parent.as_uri() + "/",
        name_prefix=quote(before),
        name_suffix=quote(after + path.suffix),
        start_frame=media.frame,
        frame_step=1,
        rate=fps,
        frame_zero_padding=len(digits),
        available_range=place,
    )


def file_after(media: Media) -> Path | None:
    """The next of its sequence; None for a file that has no number in its name."""
    numbered = _numbering(media)
    if numbered is None:
        return None
    before, digits, after = numbered
    return media.path.with_name(before + str(media.frame + 1).zfill(len(digits)) + after + media.path.suffix)


def _numbering(media: Media) -> tuple[str, str, str] | None:
    """The file's name without its ending, about its frame number."""
    match = _LAST_NUMBER.fullmatch(media.path.stem)
    if match is None or int(match.group(2)) != media.frame:
        return None
    return match.group(1), match.group(2), match.group(3)


def path_of(url: str, folder: Path) -> Path:
    """A file URL or a path, taken relative to `folder`."""
    if not url.startswith("file:"):
        return folder / url
    rest = url.removeprefix("file:")
    host, slash, place = rest.removeprefix("//").partition("/") if rest.startswith("//") else ("", "", rest)
    if slash and host not in ("", "localhost"):
        return Path("//" + unquote(host + slash + place))
    return folder / url2pathname(slash + place)


def our_metadata(thing: otio.core.SerializableObjectWithMetadata) -> dict[str, object]:
    """What we wrote under our key; empty when that is nothing or not a table."""
    try:
        return {str(name): value for name, value in thing.metadata.get(OUR_KEY, {}).items()}
    except AttributeError:
        return {}


def _numbered_file(
    reference: otio.schema.ImageSequenceReference,
    media_time: otio.opentime.RationalTime,
    clip: otio.schema.Clip,
    timeline: Path,
) -> tuple[Path, int]:
    try:
        number = int(reference.frame_for_time(media_time))
        index = (number - reference.start_frame) // reference.frame_step
        url = str(reference.target_url_for_image_number(index))
    except (ValueError, IndexError, ZeroDivisionError) as error:
        raise _out_of_range(clip, int(media_time.to_frames()), timeline) from error
    return path_of(url, timeline.parent), number


def _out_of_range(clip: otio.schema.Clip, number: int, timeline: Path) -> UnderstudyError:
    return UnderstudyError(
        f"{timeline}: clip {clip.name!r} shows frame {number}, which is outside its media; trim the clip or relink it"
    )
