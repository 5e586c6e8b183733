"""The stack machine of a Nuke script: commands in, a frozen graph out. Classes and knobs need not be known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from understudy.errors import UnderstudyError, quoted
from understudy.script.tokens import Command, Word, read_commands, read_list

NO_INPUT_CLASSES = frozenset(
    [
        *("Read", "DeepRead", "Constant", "CheckerBoard2", "ColorBars", "ColorWheel"),
        *("Input", "Root", "LiveGroupInfo", "BackdropNode", "StickyNote"),
    ]
)
"""Classes that take nothing from the stack unless they say `inputs`; every other class takes one."""
FILE_INFO = "LiveGroupInfo"
"""What stands in Root's place in the file of a live group: the knobs of the node itself."""
OFF_STACK_CLASSES = frozenset(("Root", FILE_INFO, "Viewer"))
"""Classes without an output, to which nothing can be connected."""
GROUP_CLASSES = frozenset(("Group", "Gizmo", "VariableGroup"))
"""Classes followed by their inner nodes and `end_group`. LiveGroup is one only when its nodes are written out."""

_IGNORED_COMMANDS = frozenset(("version", "define_window_layout_xml", "add_format", "load", "knobDefault"))
_CLASS_NAME = re.compile(r"[A-Za-z_][\w.:|-]*|[^\s{}]*/[\w.-]+\.gizmo")
"""A gizmo that was loaded by its path is called by it."""
_STACK_WORD = re.compile(r"\[\s*stack\s+(\d{1,6})\s*\]")
_INPUT_COUNT = re.compile(r"\d{1,4}(\+\d{1,4})*")
_MAX_INPUTS = 1000
_DEEPEST_GROUP = 500
_LONGEST_LABEL = 200


@dataclass(frozen=True, kw_only=True)
class Node:
    """One node as the script states it."""

    index: int
    """Its place in `Script.nodes`; inputs always lie at smaller places."""
    class_name: str
    name: str
    """The knob `name`, or the class and a number where the script gives none."""
    path: str
    """Name from the root: Group1.Grade1."""
    knobs: Mapping[str, str]
    """Raw values by knob name, outermost braces or quotes taken off."""
    inputs: tuple[int | None, ...]
    """Places of the connected nodes; None where nothing is connected."""
    parent: int | None
    """Place of the group around it; None at the root."""
    line: int
    user_knobs: tuple[str, ...] = ()
    """Raw texts of `addUserKnob`."""
    gizmo: str = ""
    """What the script calls the class, of a Group whose nodes are found in a file."""
    is_from_file: bool = False
    """Whether it lies within such a group: the script itself does not have it."""
    fault: str = ""
    """Why the nodes within, which should be found in a file, are not here."""

    @property
    def label(self) -> str:
        """How messages call it."""
        shown = self.path if len(self.path) <= _LONGEST_LABEL else f"...{self.path[-_LONGEST_LABEL:]}"
        return f"{shown} ({self.kind})"

    @property
    def kind(self) -> str:
        """The class as people call it."""
        return (self.gizmo or self.class_name).rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Script:
    """A whole script, or a pasted snippet of one."""

    path: Path
    """Where it lives: the value of root.name, from which relative paths are found."""
    root: Mapping[str, str]
    """Root's raw knobs; empty for a snippet."""
    nodes: tuple[Node, ...]
    """In file order, Root left out."""
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The channels of each layer that the script states (`add_layer`), by Nuke's names, in its order."""

    def input_of(self, node: Node, number: int) -> Node | None:
        """The node connected to input `number`, from 0; None where nothing is."""
        place = node.inputs[number] if number < len(node.inputs) else None
        return None if place is None else self.nodes[place]

    def children(self, group: Node) -> Iterator[Node]:
        """The nodes directly within `group`, in file order."""
        for node in islice(self.nodes, group.index + 1, None):
            if node.parent is None or node.parent < group.index:
                return
            if node.parent == group.index:
                yield node


def read_script(path: Path, *, original: Path | None = None) -> Script:
    """Parse the `.nk` file at `path`, which lived at `original` if this is a copy.

    Raises UnderstudyError naming file, line and what is wrong there.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); correct the path of the script") from error
    return parse_script(text, original or path, str(path))


def parse_script(text: str, path: Path, file: str = "") -> Script:
    """Parse the text of a script that lives at `path`; messages call it `file`."""
    machine = _StackMachine(file or str(path))
    for command in read_commands(text, machine.file):
        machine.run(command)
    machine.finish()
    return Script(path=path, root=machine.root, nodes=tuple(machine.nodes), layers=machine.layers)


@dataclass(kw_only=True)
class _Scope:
    """The root's or a group's own stack while its nodes are read."""

    group: Node | None
    stack: list[int | None] = field(default_factory=list)
    num_of_class: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, kw_only=True)
class _Body:
    """What stands between a node's braces."""

    knobs: dict[str, str]
    user_knobs: tuple[str, ...]


class _StackMachine:
    def __init__(self, file: str) -> None:
        self.file = file
        self.root: dict[str, str] = {}
        self.nodes: list[Node] = []
        self.layers: dict[str, tuple[str, ...]] = {}
        self._scopes = [_Scope(group=None)]
        self._variables: dict[str, int | None] = {"cut_paste_input": None}
        self._clones: dict[str, int] = {}
        self._open_live_group: Command | None = None

    def run(self, command: Command) -> None:
        self._open_written_out_live_group(command)
        name, arguments = command.words[0].text, command.words[1:]
        if name == "set" and len(arguments) == 2:
            self._variables[arguments[0].text] = self._stack_word(arguments[1].text)
        elif name == "push" and len(arguments) == 1:
            self._scopes[-1].stack.append(self._pushed(arguments[0]))
        elif name == "end_group":
            self._end_group(command)
        elif name == "clone" and len(arguments) in (2, 3):
            self._clone(command)
        elif name == "add_layer" and len(arguments) == 1:
            self._add_layer(arguments[0])
        elif name in _IGNORED_COMMANDS:
            return
        elif len(arguments) == 1 and _CLASS_NAME.fullmatch(name):
            self._node(name, self._body(arguments[0]), command)
        else:
            raise self._error(command.line, f"{_short(command)} is not a line that Nuke writes")

    def finish(self) -> None:
        group = self._scopes[-1].group
        if group is not None:
            raise self._error(group.line, f"{group.label} has no end_group")

    def _node(self, class_name: str, body: _Body, command: Command) -> Node | None:
        if class_name == "Root":
            self.root.update(body.knobs)
            return None
        scope = self._scopes[-1]
        scope.num_of_class[class_name] += 1
        name = body.knobs.get("name") or f"{class_name}{scope.num_of_class[class_name]}"
        node = Node(
            index=len(self.nodes),
            class_name=class_name,
            name=name,
            path=f"{scope.group.path}.{name}" if scope.group else name,
            knobs=body.knobs,
            inputs=self._popped(self._num_inputs(class_name, body.knobs, command.line)),
            parent=scope.group.index if scope.group else None,
            line=command.line,
            user_knobs=body.user_knobs,
        )
        self.nodes.append(node)
        if class_name not in OFF_STACK_CLASSES:
            scope.stack.append(node.index)
        if class_name in GROUP_CLASSES:
            self._open_group(node)
        elif class_name == "LiveGroup":
            self._open_live_group = command
        return node

    def _clone(self, command: Command) -> None:
        """`clone $N {..}` repeats a node; `clone id|Class|pid Class {..}` states one that is repeated later."""
        source, body = command.words[1], self._body(command.words[-1])
        if len(command.words) == 4:
            node = self._node(command.words[2].text, body, command)
            if node is not None:
                self._clones[source.text] = node.index
            return
        place = self._pushed(source) if source.text.startswith("$") else self._clones.get(source.text)
        if place is None:
            raise self._error(command.line, f"clone {source.text} repeats a node that is not stated above it")
        original = self.nodes[place]
        shared = {knob: value for knob, value in original.knobs.items() if knob != "inputs"}
        body = _Body(knobs={**shared, **body.knobs}, user_knobs=original.user_knobs + body.user_knobs)
        self._node(original.class_name, body, command)

    def _add_layer(self, word: Word) -> None:
        layer, *channels = [element.text for element in read_list(word.text, self.file, word.line)] or [""]
        self.layers[layer] = tuple(dict.fromkeys((*self.layers.get(layer, ()), *channels)))

    def _open_written_out_live_group(self, following: Command) -> None:
        """The nodes of a LiveGroup, if written out, are indented below it."""
        header, self._open_live_group = self._open_live_group, None
        if header is not None and following.indent > header.indent:
            self._open_group(self.nodes[-1])

    def _open_group(self, node: Node) -> None:
        if len(self._scopes) > _DEEPEST_GROUP:
            raise self._error(node.line, f"{node.label} lies within over {_DEEPEST_GROUP} groups")
        self._scopes.append(_Scope(group=node))

    def _end_group(self, command: Command) -> None:
        if len(self._scopes) == 1:
            raise self._error(command.line, "end_group closes a group that was never opened")
        self._scopes.pop()

    def _num_inputs(self, class_name: str, knobs: Mapping[str, str], line: int) -> int:
        stated = knobs.get("inputs", "0" if class_name in NO_INPUT_CLASSES else "1").replace(" ", "")
        count = sum(map(int, stated.split("+"))) if _INPUT_COUNT.fullmatch(stated) else _MAX_INPUTS + 1
        if count > _MAX_INPUTS:
            raise self._error(line, f"{class_name} has inputs {quoted(stated)}, which is not a number of inputs")
        return count

    def _popped(self, num_inputs: int) -> tuple[int | None, ...]:
        stack = self._scopes[-1].stack
        return tuple(stack.pop() if stack else None for _ in range(num_inputs))

    def _pushed(self, word: Word) -> int | None:
        if word.text == "0":
            return None
        if word.text.startswith("["):
            return self._stack_word(word.text)
        name = word.text.removeprefix("$")
        if name == word.text or name not in self._variables:
            raise self._error(word.line, f"push {word.text} names a node that is not set above it")
        return self._variables[name]

    def _stack_word(self, text: str) -> int | None:
        found = _STACK_WORD.fullmatch(text)
        stack = self._scopes[-1].stack
        depth = int(found.group(1)) if found else len(stack)
        return stack[-1 - depth] if depth < len(stack) else None

    def _body(self, word: Word) -> _Body:
        elements = read_list(word.text, self.file, word.line)
        if len(elements) % 2:
            raise self._error(elements[-1].line, f"knob {elements[-1].text[:40]!r} has no value")
        pairs = list(zip(elements[::2], elements[1::2], strict=True))
        return _Body(
            knobs={knob.text: value.text for knob, value in pairs if knob.text != "addUserKnob"},
            user_knobs=tuple(value.text for knob, value in pairs if knob.text == "addUserKnob"),
        )

    def _error(self, line: int, what: str) -> UnderstudyError:
        return UnderstudyError(f"{self.file}, line {line}: {what}; mend the script or save it again from Nuke")


def _short(command: Command) -> str:
    text = " ".join(word.text for word in command.words)
    return repr(text if len(text) <= 60 else text[:57] + "...")
