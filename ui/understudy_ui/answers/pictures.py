"""Frames as people look at them: thumbnails of pairs before training, and input, target and result of a run."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.psnr import PooledPsnr
from understudy.frames.sequence import Sequence as FileSequence
from understudy.orders import Order, remembered
from understudy.pairs import FrameSource, Pair
from understudy.report.pictures import SmallPicture, as_displayed, difference_of, small_picture
from understudy.report.run_record import read_record
from understudy.runs import run_of
from understudy.sources.sequences import FileFrame, SequenceSource
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.gallery import Gallery
from understudy_ui.answers.remembered import Remembered, Stamp, stamp_of
from understudy_ui.answers.training import Chosen, chosen_by
from understudy_ui.protocol import SheetShown, Thumbnail, ViewShown

MOST_FRAMES = 9
"""Held at the size at which they are looked at, so that exposure and gamma follow the mouse: 25 MiB each."""
WIDTH, HEIGHT = 1920, 1080
"""Of a view, where the panel does not say how large it is."""


@dataclass(frozen=True, kw_only=True)
class Shot:
    """What a run was trained on."""

    order: Order
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The pictures of one frame; None: there is no such."""

    input: FrameSource | None
    target: FrameSource | None
    result: FileFrame | None


class Pictures:
    """Decodes, and remembers what it decoded until its file changes."""

    def __init__(self, folder: Path) -> None:
        self._gallery = Gallery(folder)
        self._small: OrderedDict[Hashable, SmallPicture] = OrderedDict()
        self._psnrs: dict[Hashable, float | None] = {}
        self._channels: dict[Hashable, tuple[str, ...]] = {}
        """Of targets."""
        self._lock = threading.Lock()
        self._shots: Remembered[Shot] = Remembered(_shot_of)

    def thumbnail(self, asking: Asking) -> Thumbnail:
        """Raises UnderstudyError when the side cannot be read, or there is no pair of that frame."""
        chosen = chosen_by(asking.words())
        side = _side_of(chosen, asking.whole("frame"), asking.text("side"))
        size = asking.whole("width", 160), asking.whole("height", 90)
        colour = chosen.named.colour
        key = (*asking.words(), side.label, _stamps(side, chosen), size)

        shown = self._gallery.of(key, lambda: as_displayed(small_picture(side.read(), *size), colour))
        return {"path": shown.path, "width": shown.width, "height": shown.height}

    def view(self, asking: Asking) -> ViewShown:
        """Raises UnderstudyError when one of the pictures that there are cannot be read."""
        shot = self._shot_of(Path(asking.text("place")))
        frame, plate = asking.whole("frame"), asking.text("input")
        sides = self._sides_of(shot, frame, FileSequence(plate), FileSequence(asking.text("result")))
        size = asking.whole("width", WIDTH), asking.whole("height", HEIGHT)
        exposure, gamma = asking.number("exposure"), asking.number("gamma", 1.0)
        if gamma <= 0 or abs(exposure) > 100:
            raise UnderstudyError(f"exposure {exposure:g}, gamma {gamma:g}: give a gamma above 0 and 100 stops at most")
        psnr = self._compared(sides, size)
        colour = shot.order.colour
        look = colour, exposure, gamma

        def displayed(side: FrameSource | None) -> str:
            if side is None:
                return ""
            small = partial(self._looked_at, side, size)
            key = _key(side), size, look
            return self._gallery.of(key, lambda: as_displayed(small(), colour, exposure=exposure, gamma=gamma)).path

        return {
            "input": displayed(sides.input),
            "target": displayed(sides.target),
            "result": displayed(sides.result),
            "difference": self._difference(sides, size, colour),
            "psnr": psnr,
        }

    def _shot_of(self, place: Path) -> Shot:
        try:
            return self._shots.of(place)
        except OSError as error:
            raise UnderstudyError(f"{place}: cannot be read ({error.strerror}); look at the list of runs") from error

    def _sides_of(self, shot: Shot, frame: int, plate: FileSequence, applied: FileSequence) -> Sides:
        pair = _pair_of(shot, frame, plate)
        shown: FrameSource | None = pair.input if pair else _plate_frame(shot, frame, plate)
        result = None
        if (path := applied.path(frame)).is_file():
            layer = ",".join(self._channels_of(pair.target)) if pair else ""
            result = FileFrame(path=path, frame=frame, layer=layer, colour=shot.order.colour)
        return Sides(input=shown, target=pair.target if pair else None, result=result)

    def _channels_of(self, target: FrameSource) -> tuple[str, ...]:
        key = _key(target)
        if key not in self._channels:
            self._channels[key] = target.read().channels
        return self._channels[key]

    def _difference(self, sides: Sides, size: tuple[int, int], colour: ColourRules) -> str:
        """Empty for pictures that cannot be compared."""
        if sides.target is None or sides.result is None:
            return ""
        one, other = (self._looked_at(side, size) for side in (sides.target, sides.result))
        if one.pixels.shape != other.pixels.shape:
            return ""
        other = replace(other, span=one.span)
        key = (_key(sides.target), _key(sides.result), size, colour, "difference")
        return self._gallery.of(key, lambda: difference_of(as_displayed(one, colour), as_displayed(other, colour))).path

    def _compared(self, sides: Sides, size: tuple[int, int]) -> float | None:
        """Decibels at full size; reads both only once."""
        if sides.target is None or sides.result is None:
            return None
        key = _key(sides.target), _key(sides.result)
        if key not in self._psnrs:
            target, result = sides.target.read(), sides.result.read()
            self._keep((_key(sides.target), size), small_picture(target, *size))
            self._keep((_key(sides.result), size), small_picture(result, *size))
            self._psnrs[key] = _psnr(target, result)
        return self._psnrs[key]

    def _looked_at(self, side: FrameSource, size: tuple[int, int]) -> SmallPicture:
        key = _key(side), size
        with self._lock:
            kept = self._small.get(key)
        if kept is None:
            kept = small_picture(side.read(), *size)
            self._keep(key, kept)
        return kept

    def _keep(self, key: Hashable, small: SmallPicture) -> None:
        with self._lock:
            self._small[key] = small
            self._small.move_to_end(key)
            while len(self._small) > MOST_FRAMES:
                self._small.popitem(last=False)


def sheet(asking: Asking) -> SheetShown:
    files, step = run_of(Path(asking.text("place"))), asking.whole("step")
    path = files.contact_sheet(step)
    if not path.is_file():
        raise UnderstudyError(f"{path}: no such contact sheet; look at the run again")
    return {"path": str(path)}


def _shot_of(place: Path) -> Shot:
    order = remembered(read_record(place), run_of(place), {})
    return Shot(order=order, pairs=order.source.pairs())


def _pair_of(shot: Shot, frame: int, plate: FileSequence) -> Pair | None:
    """By the name of its input's file, where the plate is known: a script may number its pairs otherwise."""
    name = plate.path(frame).name
    is_known = not plate.is_still
    return next(
        (pair for pair in shot.pairs if (pair.input.media.path.name == name if is_known else pair.frame == frame)), None
    )


def _plate_frame(shot: Shot, frame: int, plate: FileSequence) -> FrameSource | None:
    """An unpainted frame; None where nobody knows of which sequence, or there is no such file."""
    source = shot.order.source
    if isinstance(source, SequenceSource):
        found = source.input_frame(frame)
    else:
        layer = shot.pairs[0].input.media.layer if shot.pairs else ""
        found = FileFrame(path=plate.path(frame), frame=frame, layer=layer, colour=shot.order.colour)
    return found if found.path.is_file() else None


def _side_of(chosen: Chosen, frame: int, side: str) -> FrameSource:
    for pair in chosen.named.source.pairs():
        if pair.frame == frame:
            return pair.input if side == "input" else pair.target
    raise UnderstudyError(f"frame {frame}: is no pair of this training; look at the source again")


def _key(side: FrameSource) -> Hashable:
    return side.label, _stamp(side.media.path)


def _stamps(side: FrameSource, chosen: Chosen) -> Hashable:
    """Of the file, and of the script through which it is seen."""
    script = chosen.named.source.record().get("script")
    return _stamp(side.media.path), _stamp(Path(script)) if isinstance(script, str) else None


def _stamp(path: Path) -> Stamp | None:
    with suppress(OSError):
        return stamp_of(path)
    return None


def _psnr(target: Image, result: Image) -> float | None:
    """Over the target's format; None for pictures of other channels."""
    if len(target.channels) != len(result.channels):
        return None
    pooled = PooledPsnr(target.channels)
    pooled.add(result.over(target.display_window), target.over(target.display_window))
    return pooled.decibels()
