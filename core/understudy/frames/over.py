"""Writing a result into a copy of the EXR file that it was made from: everything else in it stays as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.files import write_atomically
from understudy.frames.image import Image
from understudy.frames.layers import Header, Part
from understudy.frames.read import FilePicture, open_image, read_rows, spans_of_rows
from understudy.frames.write import (
    PixelType,
    compression_of,
    fitting_types,
    held_as,
    opened_for_writing,
    put_rows,
    reason_of,
    refuse_other_formats,
    set_types,
    type_of,
)

_OF_THE_ENCODING = ("openexr:lineOrder", "openexr:levelmode", "openexr:roundingmode", "openexr:chunkCount")
"""What a part that is written anew need not keep: rows come from top to bottom."""
_OF_ONE_OF_SEVERAL = ("name", "view", "oiio:subimagename", "oiio:subimages")


@dataclass(frozen=True, kw_only=True)
class _Leaf:
    """A part of the file to be written."""

    index: int
    """Of the source's part from which it comes."""
    spec: oiio.ImageSpec
    kept: tuple[int, ...]
    """Numbers of the source part's channels that stay."""
    added: Image | None
    """The result, in the part that it was made from."""
    is_untouched: bool


def write_over(path: Path, result: Image, found: FilePicture, *, only_result: bool = False) -> None:
    """Write the file in which `found` lies, with `result` in the part from which it was made.

    A channel of the result takes the place, and half or float, of one of its name; others are added, with the type of
    what was found. Channels of these names in other parts of the same view are left out. Windows, header, compression,
    parts and all other channels stay; their numbers are copied, not converted. `only_result`: nothing but the result's
    channels, in one part.
    Raises UnderstudyError naming `path` or the source.
    """
    refuse_other_formats(path)
    source = open_image(found.header.path)
    home = _home(source, result, found, only_result=only_result)
    # the result's part goes first: it is what programs show that know no parts
    leaves = [home] if only_result else [home, *_other_leaves(source, found.header, home)]
    for leaf in leaves if found.is_converted else ():
        leaf.spec.erase_attribute("chromaticities")  # the result's are the working space's
    write_atomically(path, partial(_write, found.header.path, source, leaves))


def _home(source: oiio.ImageInput, result: Image, found: FilePicture, *, only_result: bool) -> _Leaf:
    """The part of the result."""
    part = found.selection.part
    stored = _spec_at(source, part.index)
    kept = () if only_result else _others(part, result)
    whole = [part.channels[place] for place in kept if _is_whole_number(stored, place)]
    if whole:
        raise UnderstudyError(
            f"{found.header.path}: {', '.join(whole)} hold whole numbers beside the picture, which would lose digits; "
            "write the result alone with --only-result"
        )
    new = type_of(stored.get_channelformats()[found.selection.indices[0]])
    types = {name: type_of(one) for name, one in zip(part.channels, stored.get_channelformats(), strict=True)}
    fitting = fitting_types([types.get(name, new) for name in result.channels], result.pixels)
    spec = _rewritten(stored)
    _set_channels(
        spec,
        (*(part.channels[place] for place in kept), *result.channels),
        [*(types[part.channels[place]] for place in kept), *fitting],
    )
    for name in _OF_ONE_OF_SEVERAL if only_result else ():
        spec.erase_attribute(name)
    return _Leaf(index=part.index, spec=spec, kept=kept, added=result, is_untouched=False)


def _other_leaves(source: oiio.ImageInput, header: Header, home: _Leaf) -> Iterator[_Leaf]:
    """All other parts in order; of those that see the same view, without what the result brings."""
    assert home.added is not None
    view = header.parts[home.index].view
    for part in (part for part in header.parts if part.index != home.index):
        everything = tuple(range(len(part.channels)))
        kept = _others(part, home.added) if part.view == view else everything
        stored = _spec_at(source, part.index)
        if kept == everything:
            yield _Leaf(index=part.index, spec=stored, kept=kept, added=None, is_untouched=True)
        elif kept:
            spec = _rewritten(stored)
            formats = stored.get_channelformats()
            _set_channels(spec, tuple(part.channels[n] for n in kept), [type_of(formats[n]) for n in kept])
            yield _Leaf(index=part.index, spec=spec, kept=kept, added=None, is_untouched=False)


def _others(part: Part, result: Image) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(part.channels) if name not in result.channels)


def _spec_at(source: oiio.ImageInput, index: int) -> oiio.ImageSpec:
    source.seek_subimage(index, 0)
    return source.spec().copy()


def _is_whole_number(spec: oiio.ImageSpec, place: int) -> bool:
    return str(spec.get_channelformats()[place]) not in ("half", "float")


def _rewritten(stored: oiio.ImageSpec) -> oiio.ImageSpec:
    """The part's header for rows from top to bottom."""
    spec = stored.copy()
    spec["compression"] = compression_of(stored)
    spec.tile_width = spec.tile_height = spec.tile_depth = 0
    for name in _OF_THE_ENCODING:
        spec.erase_attribute(name)
    return spec


def _set_channels(spec: oiio.ImageSpec, names: tuple[str, ...], types: list[PixelType]) -> None:
    spec.nchannels = len(names)
    spec.channelnames = names
    set_types(spec, types)


def _write(path: Path, source: oiio.ImageInput, leaves: list[_Leaf], aside: Path) -> None:
    output = opened_for_writing(aside, [leaf.spec for leaf in leaves])
    try:
        is_whole = all(
            (number == 0 or output.open(str(aside), leaf.spec, "AppendSubimage")) and _put(output, path, source, leaf)
            for number, leaf in enumerate(leaves)
        )
    finally:
        is_closed = output.close()
    if not (is_whole and is_closed):
        raise reason_of(output, aside)


def _put(output: oiio.ImageOutput, path: Path, source: oiio.ImageInput, leaf: _Leaf) -> bool:
    source.seek_subimage(leaf.index, 0)
    if leaf.is_untouched:
        return output.copy_image(source) or _is_sources_fault(path, source, leaf)
    return put_rows(output, leaf.spec, spans_of_rows(source.spec()), partial(_rows, path, source, leaf))


def _rows(path: Path, source: oiio.ImageInput, leaf: _Leaf, first: int, end: int) -> NDArray[np.floating]:
    """Rows of what is kept and of what is added: rows W C."""
    blocks: list[NDArray[np.floating]] = [_stored_rows(path, source, leaf, first, end)] if leaf.kept else []
    if leaf.added is not None:
        top = leaf.spec.y
        blocks.append(leaf.added.pixels[first - top : end - top])
    with np.errstate(over="ignore"):  # see put_rows
        return np.concatenate(blocks, axis=2, dtype=held_as(leaf.spec), casting="same_kind")


def _stored_rows(path: Path, source: oiio.ImageInput, leaf: _Leaf, first: int, end: int) -> NDArray[np.floating]:
    low, high = min(leaf.kept), max(leaf.kept) + 1
    held = oiio.HALF if held_as(leaf.spec) is np.float16 else oiio.FLOAT
    rows = read_rows(source, path, (first, end), (low, high), held)
    return rows[..., [place - low for place in leaf.kept]]


def _is_sources_fault(path: Path, source: oiio.ImageInput, leaf: _Leaf) -> bool:
    """After a part could not be copied, which may be either side's fault: raises if it cannot be read, else False."""
    for first, end in () if leaf.spec.deep else spans_of_rows(source.spec()):
        read_rows(source, path, (first, end), (0, leaf.spec.nchannels), oiio.FLOAT)
    return False
