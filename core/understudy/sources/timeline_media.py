"""Media references of a timeline: which file a clip shows at a moment, and the reference that says so."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote
from urllib.request import url2pathname

import opentimelineio as otio

from understudy.errors import UnderstudyError
from understudy.frames.sequence import Sequence
from understudy.pairs import Media

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


def reference_to(media: Media, fps: float) -> otio.core.MediaReference:
    """A reference that `file_shown` reads back as the same file and number."""
    path = media.path.absolute()
    place = otio.opentime.TimeRange(otio.opentime.RationalTime(media.frame, fps), otio.opentime.RationalTime(1, fps))
    numbered = _LAST_NUMBER.fullmatch(path.stem)
    if numbered is None or int(numbered.group(2)) != media.frame:
        own = {OUR_KEY: {"frame": media.frame}}
        return otio.schema.ExternalReference(path.as_uri(), available_range=place, metadata=own)
    before, digits, after = numbered.groups()
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
