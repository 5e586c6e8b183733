"""Where the frames come from that a model is applied to, and how its answers go back beside everything else in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels, Image
from understudy.frames.layers import names_in_layer
from understudy.frames.over import write_over
from understudy.frames.read import FilePicture, read_header, read_image
from understudy.frames.sequence import MAX_FRAMES, Sequence
from understudy.frames.write import write_image
from understudy.runs import MODEL_SUFFIX
from understudy.script.inference import Inference
from understudy.train.export.folder import RECORD
from understudy.train.model_file import SavedModel
from understudy.train.plate import PlateRules, find_plate


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A frame as the model is to see it."""

    image: Image
    """With the model's input channels, in its order."""
    write: Callable[[Path, FloatPixels], None]
    """Put the model's answer, H W Cout over the image's data window, into an EXR file."""


@dataclass(frozen=True, kw_only=True)
class Placing:
    """What is written beside the answer, and under which names it goes there."""

    layer: str = ""
    """Part of the channels' names; empty: the model's own names."""
    only_result: bool = False
    """Leave the source's other channels out."""


class Shot(Protocol):
    """Frames that can be asked for by number, on several threads at once."""

    @property
    def saved(self) -> SavedModel:
        """The model that they are for."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def check(self) -> None:
        """Raises UnderstudyError for what is wrong with all of them."""

    def remarks(self) -> tuple[str, ...]:
        """What is worth knowing of how all of them are made."""

    def frames(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those that there are, and those missing before, between and after them; ascending."""

    def file(self, frame: int) -> Path | None:
        """The file of the frame, or the nearest one behind it; raises UnderstudyError when it is missing."""

    def size(self, frame: int) -> tuple[int, int]:
        """Width and height of its pixels, not smaller than what will be shown."""

    def show(self, frame: int) -> Shown:
        """Read the frame. Raises UnderstudyError naming file, node or knob."""


@dataclass(frozen=True, kw_only=True)
class SequenceShot:
    """A sequence of files."""

    pattern: str
    rules: PlateRules
    saved: SavedModel
    placing: Placing

    @property
    def name(self) -> str:
        return self.pattern

    def check(self) -> None:
        self._layered()

    def remarks(self) -> tuple[str, ...]:
        return ()

    def frames(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        sequence = Sequence(self.pattern)
        there = sequence.frames_on_disk() or ((0,) if sequence.is_still else ())
        return there, tuple(sorted({*range(there[0], there[-1] + 1)} - {*there})) if there else ()

    def file(self, frame: int) -> Path:
        path = Sequence(self.pattern).path(frame)
        if not path.exists():
            raise UnderstudyError(f"{path}: missing; render it or leave it out of --frames")
        return path

    def size(self, frame: int) -> tuple[int, int]:
        windows = [part.data_window for part in read_header(self.file(frame)).parts]
        return max(window.width for window in windows), max(window.height for window in windows)

    def show(self, frame: int) -> Shown:
        found = find_plate(Sequence(self.pattern).path(frame), self.saved, self.rules)
        names = self._names(found)
        if found.header.format_name == "openexr":
            write = partial(_write_over, found, names, self.placing.only_result)
        else:
            write = partial(_write_beside, self._kept(found), found.image, names, found.header.path)
        return Shown(image=found.image, write=write)

    def _kept(self, found: FilePicture) -> Image | None:
        """All channels of a file that is no EXR; colour in the working space, as it is expected in one."""
        if self.placing.only_result:
            return None
        everything = found.selection.part.channels
        if set(everything) <= set(found.image.channels):
            return found.image
        rules = self.rules
        return read_image(found.header.path, channels=everything, colorspace=rules.colorspace, colour=rules.colour)

    def _names(self, found: FilePicture) -> tuple[str, ...]:
        names, views = self._layered(), found.header.views
        if self.rules.view in views[1:] and not any(name.startswith(f"{self.rules.view}.") for name in names):
            return tuple(f"{self.rules.view}.{name}" for name in names)  # one part holds all views: by their names
        return names

    def _layered(self) -> tuple[str, ...]:
        targets = self.saved.model.spec.target_channels
        return names_in_layer(self.placing.layer, targets) if self.placing.layer else targets


@dataclass(frozen=True, kw_only=True)
class ScriptShot:
    """What comes to an Inference node of a Nuke script."""

    inference: Inference
    saved: SavedModel
    placing: Placing

    @property
    def name(self) -> str:
        return f"{self.inference.node.path} of {self.inference.evaluator.script.path}"

    def check(self) -> None:
        self.inference.taken(self.saved.model.spec.input_channels)
        self._given()

    def remarks(self) -> tuple[str, ...]:
        return self.inference.evaluator.remarks([self.inference.shown])

    def frames(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        wanted = self.inference.frames()
        if len(wanted) > MAX_FRAMES:
            raise UnderstudyError(f"{self.name}: has the range {wanted}; choose --frames")
        there = tuple(frame for frame in wanted if self._is_there(frame))
        return there, tuple(sorted({*wanted} - {*there}))

    def file(self, frame: int) -> Path | None:
        return self.inference.file(frame)

    def _is_there(self, frame: int) -> bool:
        try:
            self.file(frame)
        except UnderstudyError:
            return False
        return True

    def size(self, frame: int) -> tuple[int, int]:
        window = self.inference.read(frame).data_window
        return window.width, window.height

    def show(self, frame: int) -> Shown:
        everything = self.inference.read(frame)
        taken = self.inference.taken(self.saved.model.spec.input_channels)
        places = [everything.channels.index(channel) for channel in taken]
        image = replace(everything, pixels=everything.pixels[..., places], channels=taken)  # H W Cin
        kept = None if self.placing.only_result else everything
        return Shown(image=image, write=partial(_write_beside, kept, image, self._given(), self.inference.file(frame)))

    def _given(self) -> tuple[str, ...]:
        layer, targets = self.placing.layer, self.saved.model.spec.target_channels
        return names_in_layer(layer, targets) if layer else self.inference.given(targets)


def _write_over(found: FilePicture, names: tuple[str, ...], only_result: bool, path: Path, answer: FloatPixels) -> None:
    """The answer in a copy of the file."""
    result = replace(found.image, pixels=answer, channels=names)
    write_over(path, result, found, only_result=only_result)


def _write_beside(
    kept: Image | None, seen: Image, names: tuple[str, ...], like: Path | None, path: Path, answer: FloatPixels
) -> None:
    """The answer and what is kept, in one part, with the header fields of `like`."""
    result = replace(seen, pixels=answer, channels=names)
    write_image(path, kept.with_result(result) if kept else result, like=like)


def model_behind(named: Path) -> Path:
    """Our model for what an Inference node names: itself, or that of which it is an export, or one beside it.

    Raises UnderstudyError when there is none.
    """
    if named.suffix == MODEL_SUFFIX or named.is_dir():
        return named
    for folder in list(named.parents)[:2]:  # an export's .pt lies in its folder, its .cat in a folder within
        with suppress(OSError, ValueError, KeyError, TypeError):
            model = folder.parent / str(json.loads((folder / RECORD).read_text(encoding="utf-8"))["model"])
            if model.is_file():
                return model
    beside = named.with_suffix(MODEL_SUFFIX)
    if beside.is_file():
        return beside
    raise UnderstudyError(
        f"{named}: can only be run by Nuke, and the {MODEL_SUFFIX} model that it was made of is not beside it; "
        "give that model on the command line: understudy apply MODEL --script ..."
    )
