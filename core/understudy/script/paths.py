"""File-path expressions in common use, understood without Tcl or Python; every other bracket is an error."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath

from understudy.errors import UnderstudyError
from understudy.remap import Remap, remapped
from understudy.script.graph import Node, Script
from understudy.script.tokens import read_commands
from understudy.script.values.fault import Unreadable
from understudy.script.values.links import Links

_GETENV = re.compile(r"\[\s*getenv\s+(\w+)\s*\]")
_KNOB = re.compile(r"\w+(\.\w+)*")
_MAX_NESTING = 16
_SCRIPT_FOLDER_PYTHON = ("nuke.script_directory()", "os.path.dirname(nuke.root().name())")
_SCRIPT_NAME_PYTHON = ("nuke.root().name()", "nuke.root()['name'].value()", "nuke.root()['name'].getValue()")


class _NotUnderstood(Exception):
    """Says which part of an expression is not understood."""


@dataclass(frozen=True, kw_only=True)
class PathRules:
    """How the file knobs of one script become paths."""

    script: Script
    remap: Remap = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """What [getenv NAME] sees."""

    def path_of(self, node: Node, knob: str) -> str:
        """The knob's value as an absolute path with `/`, frame and view patterns left in; empty for an empty knob.

        Raises UnderstudyError naming node and knob for an expression that is not understood.
        """
        try:
            text = self._expanded(node.knobs.get(knob, ""), 0, node).strip()
            return remapped(self._absolute(text), self.remap) if text else ""
        except _NotUnderstood as fault:
            raise UnderstudyError(
                f"{node.label}, line {node.line}: knob {knob} holds {fault}; write the path out in the script"
            ) from None

    def _absolute(self, text: str) -> str:
        path = text.replace("\\", "/")
        if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
            return path
        return f"{self._project_folder().rstrip('/')}/{path.removeprefix('./')}"

    def _project_folder(self) -> str:
        stated = self._expanded(self.script.root.get("project_directory", ""), 1, None).strip().replace("\\", "/")
        if stated and not (PurePosixPath(stated).is_absolute() or PureWindowsPath(stated).is_absolute()):
            return f"{self._script_folder()}/{stated}"
        return stated or self._script_folder()

    def _expanded(self, text: str, nesting: int, node: Node | None) -> str:
        """The text with each `[...]` replaced by what it stands for; the node says it, or the root does."""
        if nesting > _MAX_NESTING:
            raise _NotUnderstood("brackets nested too deeply")
        parts = []
        at = 0
        while (opening := text.find("[", at)) >= 0:
            closing = _closing_bracket(text, opening)
            parts += [text[at:opening], self._value_of(text[opening + 1 : closing], nesting + 1, node)]
            at = closing + 1
        return "".join(parts) + text[at:]

    def _value_of(self, inside: str, nesting: int, node: Node | None) -> str:
        words = _words(inside)
        match words:
            case ["value" | "knob", "root.name"]:
                return self.script.path.absolute().as_posix()
            case ["value" | "knob", "root.project_directory"]:
                return self._expanded(self.script.root.get("project_directory", ""), nesting, None)
            case ["value" | "knob", name] if node is not None and _KNOB.fullmatch(name):
                return self._text_of(node, name, nesting)
            case ["getenv", name]:
                return self._environment_value(name)
            case ["file", verb, argument]:
                return self._file(verb, self._expanded(argument, nesting, node), inside)
            case ["file", "join", *arguments]:
                return PurePosixPath(*(self._expanded(argument, nesting, node) for argument in arguments)).as_posix()
            case ["python", *code]:
                return self._python("".join(code), inside)
        raise _unknown(inside)

    @cached_property
    def _links(self) -> Links:
        return Links(script=self.script)

    def _text_of(self, node: Node, name: str, nesting: int) -> str:
        """What another knob says, or one of the node's own."""
        try:
            target = self._links.target(node, name.split("."))
        except Unreadable as fault:
            raise _NotUnderstood(f"[value {name}], which {fault}") from None
        if target.raw is None or target.node is None:
            raise _NotUnderstood(f"[value {name}], which the script leaves out")
        return self._expanded(target.raw, nesting, target.node)

    def _environment_value(self, name: str) -> str:
        if name not in self.environment:
            raise _NotUnderstood(f"[getenv {name}], and the environment variable {name} is not set")
        return self.environment[name]

    def _file(self, verb: str, argument: str, inside: str) -> str:
        folder, _, name = argument.rpartition("/")
        dot, extension = name.rpartition(".")[1:]
        if verb == "dirname":
            return folder or ("/" if argument.startswith("/") else ".")
        if verb == "tail":
            return name
        if verb == "rootname":
            return argument.removesuffix(dot + extension) if dot else argument
        if verb == "extension":
            return dot + extension if dot else ""
        raise _unknown(inside)

    def _python(self, code: str, inside: str) -> str:
        """The few lines of Python that studios write in paths, known by their text; none is run."""
        plain = code.replace(" ", "").replace('"', "'")
        if plain in _SCRIPT_FOLDER_PYTHON:
            return self._script_folder()
        if plain in _SCRIPT_NAME_PYTHON:
            return self.script.path.absolute().as_posix()
        raise _unknown(inside)

    def _script_folder(self) -> str:
        return self.script.path.absolute().parent.as_posix()


def variables_named(path: Path) -> tuple[str, ...]:
    """Names of the environment variables that the script's paths ask for, sorted."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return tuple(sorted(set(_GETENV.findall(text))))


def _words(inside: str) -> Sequence[str]:
    try:
        commands = list(read_commands(inside, "expression"))
    except UnderstudyError:
        raise _unknown(inside) from None
    if len(commands) != 1:
        raise _unknown(inside)
    return [word.text for word in commands[0].words]


def _closing_bracket(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "[") - (text[at] == "]")
        if depth == 0:
            return at
    raise _NotUnderstood("a [ that is never closed")


def _unknown(inside: str) -> _NotUnderstood:
    text = " ".join(inside.split())
    return _NotUnderstood(f"the expression [{text if len(text) <= 80 else text[:77] + '...'}], which is not evaluated")
