"""Pairs from two file sequences (or two layers of one): plate and painted frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy.errors import ProblemList, UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.read import read_image
from understudy.frames.sequence import Sequence as FileSequence
from understudy.frames.sequence import format_frames, is_missing, parse_frames
from understudy.pairs import Media, Pair
from understudy.remap import Remap
from understudy.runs import RunFiles
from understudy.sources.uses import with_validation


@dataclass(frozen=True, kw_only=True)
class FileFrame:
    """One layer of one image file: a FrameSource."""

    path: Path
    frame: int
    """The file's number in its sequence; 0 for a still."""
    layer: str = ""
    view: str = ""
    colorspace: str = ""
    colour: ColourRules = field(default_factory=ColourRules)

    @property
    def label(self) -> str:
        wanted = ", ".join(name for name in (self.layer, self.view) if name)
        return f"{self.path} ({wanted})" if wanted else str(self.path)

    @property
    def media(self) -> Media:
        return Media(path=self.path, frame=self.frame, layer=self.layer)

    def read(self) -> Image:
        """The layer's pixels in the working space; raises UnderstudyError as `read_image` does."""
        return read_image(self.path, layer=self.layer, view=self.view, colorspace=self.colorspace, colour=self.colour)


@dataclass(frozen=True, kw_only=True)
class SequenceSource:
    """Pairs of equal frame numbers in two patterns. A pattern without a number is a still, paired with every frame."""

    input: str
    """Pattern of the plate: `plate.####.exr`, also %04d, @@@@ and $F4."""
    target: str
    """Pattern of the painted frames; may be the same files with another layer."""
    frames: tuple[int, ...] = ()
    """Empty: those for which a target exists on disk."""
    input_layer: str = ""
    target_layer: str = ""
    view: str = ""
    input_colorspace: str = ""
    target_colorspace: str = ""
    validation_frames: tuple[int, ...] = ()
    colour: ColourRules = field(default_factory=ColourRules)

    def pairs(self, *, are_to_come: bool = False) -> tuple[Pair, ...]:
        """The pairs in frame order.

        Raises Problems naming every missing file, a pattern that matches nothing, or a fault in the colour rules.
        """
        frames = self._frames()
        problems = ProblemList()
        with problems.collecting():
            self.colour.check()
        for side, pattern in () if are_to_come else (("input", self.input), ("target", self.target)):
            for line in _missing(side, FileSequence(pattern), frames):
                problems.add(line)
        pairs = [Pair(frame=frame, input=self.input_frame(frame), target=self._target(frame)) for frame in frames]
        with problems.collecting():
            pairs = list(with_validation(pairs, self.validation_frames))
        problems.raise_if_any()
        return tuple(pairs)

    def kept_beside(self, _files: RunFiles) -> SequenceSource:
        """Itself: `record` holds the frames as they are now."""
        return self

    def record(self) -> dict[str, object]:
        """Plain data, with the frames as they are now: targets painted later do not change a resumed run."""
        values = dataclasses.asdict(self)
        paths = {side: str(Path(values[side]).absolute()) for side in ("input", "target")}
        frames = {"frames": format_frames(self._frames()), "validation_frames": format_frames(self.validation_frames)}
        return {"kind": "sequences", **values, **paths, **frames}

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> SequenceSource:
        texts = ("input", "target", "input_layer", "target_layer", "view", "input_colorspace", "target_colorspace")
        return cls(
            **{name: str(record[name]) for name in texts},
            frames=frames_of_record(record, "frames"),
            validation_frames=frames_of_record(record, "validation_frames"),
            colour=colour_of_record(record),
        )

    def _frames(self) -> tuple[int, ...]:
        if self.frames:
            return tuple(sorted(set(self.frames)))
        plate, paint = FileSequence(self.input), FileSequence(self.target)
        if not paint.is_still:
            return _those_found(paint, "target")
        if plate.is_still:
            return (0,)
        raise UnderstudyError(f"{self.target}: is one file for a whole sequence of inputs; say for which --frames")

    def input_frame(self, frame: int) -> FileFrame:
        """Of the whole shot, whether it was painted or not."""
        return self._file_frame(self.input, frame, self.input_layer, self.input_colorspace)

    def _target(self, frame: int) -> FileFrame:
        return self._file_frame(self.target, frame, self.target_layer, self.target_colorspace)

    def _file_frame(self, pattern: str, frame: int, layer: str, colorspace: str) -> FileFrame:
        sequence = FileSequence(pattern)
        return FileFrame(
            path=sequence.path(frame),
            frame=0 if sequence.is_still else frame,
            layer=layer,
            view=self.view,
            colorspace=colorspace,
            colour=self.colour,
        )


def frames_of_record(record: Mapping[str, object], name: str) -> tuple[int, ...]:
    """A list of frames as `record` wrote it; empty when there is none."""
    text = str(record.get(name, ""))
    return parse_frames(text) if text else ()


def colour_of_record(record: Mapping[str, object]) -> ColourRules:
    """The colour rules as `record` wrote them. Raises UnderstudyError for those that this version does not know."""
    rules = record.get("colour")
    stated = {str(name): str(value) for name, value in rules.items()} if isinstance(rules, Mapping) else {}
    unknown = sorted(set(stated) - {field.name for field in dataclasses.fields(ColourRules)})
    if unknown:
        raise UnderstudyError(f"colour rules {', '.join(unknown)} are unknown to this version")
    return ColourRules(**stated)


def remap_of_record(record: Mapping[str, object]) -> Remap:
    """Beginnings of paths and what replaces them; empty when there are none. Raises UnderstudyError for no list."""
    listed = record.get("remap", ())
    if not isinstance(listed, list | tuple):
        raise UnderstudyError("remap is no list")
    if any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in listed):
        raise UnderstudyError("remap is no list of pairs of paths")
    return tuple((str(before), str(after)) for before, after in listed)


def _those_found(sequence: FileSequence, side: str) -> tuple[int, ...]:
    frames = sequence.frames_on_disk()
    if not frames:
        raise UnderstudyError(f"{_nothing_matches(side, sequence)}; frames still to be made are named with --frames")
    return frames


def _missing(side: str, sequence: FileSequence, frames: Sequence[int]) -> list[str]:
    absent = [frame for frame in frames if is_missing(sequence.path(frame))]
    if not absent:
        return []
    if sequence.is_still:
        return [f"{sequence.pattern}: no such {side} file; correct the path"]
    if not sequence.frames_on_disk():
        return [_nothing_matches(side, sequence)]
    return [f"{sequence.pattern}: {side} frames {format_frames(absent)} are missing; render them or leave them out"]


def _nothing_matches(side: str, sequence: FileSequence) -> str:
    return f"{sequence.pattern}: no file matches this {side} pattern; correct the path or the number of #"
