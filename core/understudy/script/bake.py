"""A bake laid out without Nuke: a copy of a script with two Writes to render, and a script that reads their files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder, write_bytes
from understudy.script.copycat import find_copycat, training_inputs
from understudy.script.graph import GROUP_CLASSES, Node, parse_script
from understudy.script.nodes.base import Span
from understudy.script.paths import PathRules
from understudy.script.tokens import Command, read_commands
from understudy.script.writing import Knobs, node, quoted

WRITES = ("UnderstudyInput", "UnderstudyTarget")
FILES = ("input.####.exr", "target.####.exr")
BAKED = "baked.nk"

_PATH_KNOBS = ("dataDirectory", "checkpointFile")


@dataclass(frozen=True, kw_only=True)
class Bake:
    """What Nuke has to render, and what can be trained on then."""

    script: Path
    """Beside the original, so that relative paths in it hold."""
    writes: tuple[str, ...]
    """Full names."""
    frames: Span
    baked: Path
    """Has the training node alone, over two Reads of the files."""

    def words(self) -> list[str]:
        """What follows `nuke`."""
        return ["-F", str(self.frames), "-X", ",".join(self.writes), str(self.script)]


def lay_out(path: Path, name: str, frames: Span, folder: Path) -> Bake:
    """Write both scripts: for the training node called `name` (empty: the only one), whose inputs go into the folder.

    Raises UnderstudyError naming the script, node or knob at fault, or what cannot be written.
    """
    folder, path = folder.absolute(), path.absolute()
    text = _Text(path)
    training = find_copycat(text.script, name)
    patterns = [f"{folder.as_posix()}/{file}" for file in FILES]
    taken = {node.name for node in text.script.nodes if node.parent == training.parent}
    writes = [_free(name, taken) for name in WRITES]
    script = path.with_name(f".{path.stem.lstrip('.')}.{folder.name}.nk")
    baked = _baked(text, training, patterns, frames)
    make_folder(folder)
    text.write(script, _insertions(text, training, dict(zip(writes, patterns, strict=True))))
    write_bytes(folder / BAKED, baked.encode("utf-8", "surrogateescape"))
    group = training.path.removesuffix(training.name)
    return Bake(script=script, writes=tuple(group + name for name in writes), frames=frames, baked=folder / BAKED)


class _Text:
    """A script's text, and where its nodes begin and end. What is no UTF-8 in it stays as it is."""

    def __init__(self, path: Path) -> None:
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); correct the path") from error
        self.script = parse_script(text, path)
        self._lines = text.rstrip().split("\n")
        self._commands = list(read_commands(text, str(path)))
        owners = (self.script.nodes[node.parent] for node in self.script.nodes if node.parent is not None)
        groups = (node for node in self.script.nodes if node.class_name in GROUP_CLASSES)
        self._group_lines = {node.line for node in (*owners, *groups)}

    def command(self, node: Node) -> Command:
        return self._commands[self._first(node)]

    def whole(self, node: Node, more_knobs: str) -> str:
        """The node with all that is in it, and with more lines at the end of its knobs."""
        inside = self._line(self._first(node) + 1) - 1
        body, brace, rest = "\n".join(self._lines[node.line - 1 : inside]).rpartition("}")
        return "\n".join([body.rstrip(), more_knobs + brace + rest, *self._lines[inside : self.after(node) - 1], ""])

    def after(self, node: Node) -> int:
        """The line before which what follows the node belongs."""
        return self._line(self._last(node) + 1)

    def end_of(self, group: Node | None) -> int:
        """The line before which a last node of the group belongs; None: of the script."""
        return self._line(len(self._commands) if group is None else self._last(group))

    def write(self, path: Path, insertions: Sequence[tuple[int, str]]) -> None:
        """The text with more before some lines."""
        lines = list(self._lines)
        for line, more in sorted(insertions, key=lambda insertion: insertion[0], reverse=True):
            lines[line - 1 : line - 1] = [more]
        write_bytes(path, "\n".join([*lines, ""]).encode("utf-8", "surrogateescape"))

    def _first(self, node: Node) -> int:
        return next(place for place, command in enumerate(self._commands) if command.line == node.line)

    def _last(self, node: Node) -> int:
        """The node's own command, or its end_group."""
        begin, depth = self._first(node), 0
        for place, command in enumerate(islice(self._commands, begin, None), begin):
            depth += (command.line in self._group_lines) - (command.words[0].text == "end_group")
            if depth == 0:
                return place
        raise AssertionError("the parser lets no group open")

    def _line(self, place: int) -> int:
        return self._commands[place].line if place < len(self._commands) else len(self._lines) + 1


def _free(name: str, taken: Collection[str]) -> str:
    """Nuke would give a number to a name that is taken, and nobody would render that node."""
    return next(free for number in count() if (free := f"{name}{number or ''}") not in taken)


def _insertions(text: _Text, training: Node, writes: Mapping[str, str]) -> list[tuple[int, str]]:
    """Each side is kept by a name as soon as it is on the stack; the Writes come last, where no node follows them."""
    sides = training_inputs(text.script, training)
    group = None if training.parent is None else text.script.nodes[training.parent]
    kept = [(text.after(side), f"set {name} [stack 0]") for name, side in zip(writes, sides, strict=True)]
    nodes = [f"push ${name}\n{node('Write', _write_knobs(name, pattern))}" for name, pattern in writes.items()]
    return [*kept, (text.end_of(group), "".join(nodes).rstrip("\n"))]


def _write_knobs(name: str, pattern: str) -> Knobs:
    """Numbers as they are, of every channel; without autocrop Nuke writes the bounding box as the data window."""
    yield "file", quoted(pattern)
    yield "file_type", "exr"  # only then it has the knobs of EXR
    yield "channels", "all"
    yield "datatype", quoted("32 bit float")
    yield "autocrop", "false"
    yield "raw", "true"
    yield "name", name


def _baked(text: _Text, training: Node, patterns: Sequence[str], frames: Span) -> str:
    """The training node as it was written, over two Reads; its paths are written out, since they lie elsewhere now."""
    if text.command(training).words[0].text != training.class_name:
        raise UnderstudyError(f"{training.label}, line {training.line}: is a clone; declone it, then bake")
    training_inputs(text.script, training)
    paths = PathRules(script=text.script)
    stated = {knob: path for knob in _PATH_KNOBS if (path := paths.path_of(training, knob))}
    pairs = zip(WRITES, patterns, strict=True)
    reads = [node("Read", _read_knobs(f"{name}Baked", pattern, frames)) for name, pattern in pairs]
    return "".join(
        [
            node("Root", [("inputs", "0")]),
            "push 0\n" * (len(training.inputs) - len(reads)),  # a Preview, which plays no part
            *reversed(reads),
            text.whole(training, "".join(f" {knob} {quoted(path)}\n" for knob, path in stated.items())),
        ]
    )


def _read_knobs(name: str, pattern: str, frames: Span) -> Knobs:
    yield "inputs", "0"
    yield "file_type", "exr"
    yield "file", quoted(pattern)
    for knob, frame in (("first", frames.first), ("last", frames.last)):
        yield knob, str(frame)
        yield f"orig{knob}", str(frame)
    yield "raw", "true"
    yield "name", name
