"""Pairs from a Nuke script: what a CopyCat node would see at Input and Ground Truth."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

from understudy.errors import ProblemList, UnderstudyError
from understudy.files import write_bytes
from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.sequence import MAX_FRAMES, format_frames
from understudy.pairs import FrameSource, Media, Pair
from understudy.remap import Remap
from understudy.runs import RunFiles
from understudy.script.channels import component, is_main
from understudy.script.copycat import INPUT_NAMES, find_copycat, knob_overrides, training_inputs
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node, Script
from understudy.script.library import NUKE_PATH, read_whole
from understudy.script.nodes.base import Reading, Span, node_error
from understudy.script.outline import outline
from understudy.script.paths import PathRules, variables_named
from understudy.sources.sequences import colour_of_record, frames_of_record, remap_of_record
from understudy.sources.uses import with_validation


@dataclass(frozen=True, kw_only=True)
class EvaluatedFrame:
    """A node's picture at one frame: a FrameSource."""

    evaluator: Evaluator
    node: Node
    frame: int
    channels: tuple[str, ...]
    """None of a frame whose files are to come."""
    media: Media
    """The nearest file upstream; the script where no file is."""

    @property
    def label(self) -> str:
        return f"{self.node.path} at frame {self.frame} of {self.evaluator.script.path.name}"

    def read(self) -> Image:
        """Evaluate the tree above the node; raises UnderstudyError naming node, file, frame or knob."""
        return self.evaluator.pull(self.node, self.frame, self.channels)


@dataclass(frozen=True, kw_only=True)
class ScriptSource:
    """Every frame that both inputs of a CopyCat node have."""

    script: Path
    node: str = ""
    """Name or full path of the CopyCat node; empty: the only one."""
    remap: Remap = ()
    """Beginnings of paths in the script and what replaces them."""
    validation_frames: tuple[int, ...] = ()
    view: str = ""
    colour: ColourRules = field(default_factory=ColourRules)
    original: Path | None = None
    """Where the script lived, if `script` is a copy: paths in it are relative to that place."""
    environment: tuple[tuple[str, str], ...] = ()
    """What [getenv NAME] in paths, and the look for gizmos, saw where the run was asked for; over the process's own."""

    def pairs(self, *, are_to_come: bool = False) -> tuple[Pair, ...]:
        """The pairs in frame order.

        Raises Problems naming every node that cannot be evaluated, or else every file that is missing.
        """
        evaluator, copycat, sides = self._evaluated(are_to_come)
        evaluator.check(sides)
        frames = _common_frames(evaluator, copycat, sides)
        inputs, targets = _both_sides(evaluator, sides, frames)
        remarks = evaluator.remarks(sides)
        pairs = [
            Pair(frame=frame, input=plate, target=paint, remarks=remarks)
            for frame, plate, paint in zip(frames, inputs, targets, strict=True)
        ]
        return with_validation(pairs, self.validation_frames)

    def outline(self) -> tuple[str, ...]:
        """The trees that are evaluated for both inputs, as lines of text.

        Raises UnderstudyError where the node or one of its inputs is missing.
        """
        evaluator, _, sides = self._evaluated(are_to_come=False)
        return outline(evaluator, list(zip(INPUT_NAMES, sides, strict=True)))

    def _evaluated(self, are_to_come: bool) -> tuple[Evaluator, Node, tuple[Node, Node]]:
        """The evaluator of the script, the training node, and what is connected to its inputs."""
        self.colour.check()
        script = self._whole
        copycat = find_copycat(script, self.node)
        sides = training_inputs(script, copycat)
        paths = self._path_rules(script)
        reading = Reading(paths=paths, colour=self.colour, view=self.view, files_are_to_come=are_to_come)
        return Evaluator(script, reading), copycat, sides

    def knob_overrides(self) -> dict[str, object]:
        """The Settings fields that the node's knobs set. Raises Problems naming node and knob."""
        script = self._whole
        return knob_overrides(find_copycat(script, self.node), self._path_rules(script))

    def kept_beside(self, files: RunFiles) -> ScriptSource:
        """A copy of the script in the run; its paths are still relative to the original's place."""
        write_bytes(files.script, self.script.read_bytes())
        script = self._whole
        seen = self._path_rules(script).environment
        names = {*variables_named(self.script), *([NUKE_PATH] if any(node.gizmo for node in script.nodes) else [])}
        environment = tuple((name, seen[name]) for name in sorted(names) if name in seen)
        return replace(self, script=files.script, original=self.original or self.script, environment=environment)

    def record(self) -> dict[str, object]:
        """Plain data for `from_record`."""
        return {
            "kind": "script",
            "script": str(self.script.absolute()),
            "original": str((self.original or self.script).absolute()),
            "node": self.node,
            "remap": [list(pair) for pair in self.remap],
            "environment": dict(self.environment),
            "validation_frames": format_frames(self.validation_frames),
            "view": self.view,
            "colour": asdict(self.colour),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> ScriptSource:
        environment = record.get("environment", {})
        if not isinstance(environment, Mapping):
            raise TypeError("environment is no table")
        return cls(
            script=Path(str(record["script"])),
            original=Path(str(record["original"])),
            node=str(record["node"]),
            remap=remap_of_record(record),
            environment=tuple((str(name), str(value)) for name, value in environment.items()),
            validation_frames=frames_of_record(record, "validation_frames"),
            view=str(record["view"]),
            colour=colour_of_record(record),
        )

    def _path_rules(self, script: Script) -> PathRules:
        return PathRules(script=script, remap=self.remap, environment=self._seen())

    def _seen(self) -> dict[str, str]:
        return {**os.environ, **dict(self.environment)}

    @cached_property
    def _whole(self) -> Script:
        """Read once: every question is answered of the same script."""
        return read_whole(self.script, original=self.original, remap=self.remap, environment=self._seen())


def _common_frames(evaluator: Evaluator, copycat: Node, sides: tuple[Node, Node]) -> Span:
    shown, wanted = (evaluator.span(side) for side in sides)
    frames = shown.intersect(wanted)
    if frames and len(frames) <= MAX_FRAMES:
        return frames
    ranges = f"{INPUT_NAMES[0]} ({sides[0].path}) has {shown}, {INPUT_NAMES[1]} ({sides[1].path}) has {wanted}"
    fault = f"over {MAX_FRAMES} frames" if frames else "no frame in common"
    raise node_error(copycat, f"{fault}: {ranges}; set the ranges with FrameRange, TimeOffset or AppendClip")


def _both_sides(evaluator: Evaluator, sides: tuple[Node, Node], frames: Span) -> list[list[FrameSource]]:
    """The frames of each side, none read. Raises Problems naming every missing file of both."""
    problems = ProblemList()
    both: list[list[FrameSource]] = []
    for side in sides:
        with problems.collecting():
            both.append(_side(evaluator, side, frames))
    problems.raise_if_any()
    return both


def _side(evaluator: Evaluator, node: Node, frames: Span) -> list[FrameSource]:
    problems = ProblemList()
    media: list[Media] = []
    for frame in frames:
        if problems.are_enough:
            break
        with problems.collecting():
            media.append(_media(evaluator, node, frame))
    problems.raise_if_any()
    is_known = not evaluator.reading.files_are_to_come
    channels = _trained_channels(evaluator.channels(node), node) if is_known else ()
    return [
        EvaluatedFrame(evaluator=evaluator, node=node, frame=frame, channels=channels, media=file)
        for frame, file in zip(frames, media, strict=True)
    ]


def _media(evaluator: Evaluator, node: Node, frame: int) -> Media:
    files = evaluator.files(node, frame)
    if not files:
        return Media(path=evaluator.script.path, frame=frame)
    return Media(path=files[0].path, frame=files[0].frame)


def _trained_channels(channels: tuple[str, ...], node: Node) -> tuple[str, ...]:
    """What CopyCat takes of them: red, green, blue and alpha, or else whatever there is."""
    main = sorted(filter(is_main, channels), key=lambda channel: component(channel) or 0)
    if not channels:
        raise UnderstudyError(f"{node.label}, line {node.line}: no channel is left here; keep some in the Remove above")
    return tuple(main) or channels
