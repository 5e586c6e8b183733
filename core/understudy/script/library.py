"""What a script leaves to other files: gizmos, live groups and precomps become groups of the nodes in those files.

Of Python nothing is run. What an init.py adds to the folders in which gizmos lie is read from its text.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.remap import Remap, remapped
from understudy.script.copycat import TRAINING_CLASSES
from understudy.script.graph import FILE_INFO, GROUP_CLASSES, Node, Script, parse_script, read_script
from understudy.script.nodes import BY_NAME
from understudy.script.paths import PathRules
from understudy.script.user_knobs import user_knobs
from understudy.script.values.fault import shortened

NUKE_PATH = "NUKE_PATH"

_BY_FILE_KNOB = ("LiveGroup", "Precomp")
_SUFFIX = ".gizmo"
_LARGEST_BYTES = 64 << 20
_MOST_NODES = 200_000
_DEEPEST = 40
"""Files within one another."""
_MOST_FOLDERS = 1000
_ELSEWHERE = re.compile(r"\{.*[A-Za-z_]\w*\.[A-Za-z_]", re.DOTALL)
"""An expression that names a knob of some node."""
_ADDS_FOLDERS = ("pluginAddPath", "pluginAppendPath")


def read_whole(path: Path, *, original: Path | None, remap: Remap, environment: Mapping[str, str]) -> Script:
    """The script at `path` (which lived at `original` if it is a copy), with what it leaves to other files.

    A node whose file is not there, or cannot be used, says so in its `fault`. Raises UnderstudyError for a script that
    cannot be read.
    """
    script = read_script(path, original=original)
    library = _Library(paths=PathRules(script=script, remap=remap, environment=environment))
    return library.filled(script)


@dataclass(frozen=True, kw_only=True)
class _Content:
    """What a file holds for the node that stands for it."""

    script: Script
    header: Node | None
    """What says more of the node itself: the gizmo, or a live group's info."""

    @cached_property
    def within(self) -> list[Node]:
        """The nodes for the group, in file order."""
        if self.header is None or self.header.class_name == FILE_INFO:
            return [node for node in self.script.nodes if node is not self.header]
        return [node for node in self.script.nodes if node.index > self.header.index]


@dataclass(kw_only=True)
class _Library:
    """Finds and reads files, each once."""

    paths: PathRules
    _contents: dict[Path, _Content | str] = field(default_factory=dict)
    """A text: why there is none."""
    _by_class: dict[str, Path | None] = field(default_factory=dict)
    _nodes: list[Node] = field(default_factory=list)

    def filled(self, script: Script) -> Script:
        """Every node in its place, with those from files behind the nodes that they belong to."""
        if not any(map(self._is_left_to_a_file, script.nodes)):
            return script
        has_nodes = {node.parent for node in script.nodes}
        whole = _Copy(library=self, nodes=self._nodes)
        whole.add([(node, node.index in has_nodes) for node in script.nodes], group=None, files=())
        return replace(script, nodes=tuple(self._nodes))

    def _is_left_to_a_file(self, node: Node) -> bool:
        return node.class_name in _BY_FILE_KNOB or self.may_be_gizmo(node)

    def may_be_gizmo(self, node: Node) -> bool:
        is_known = node.class_name in BY_NAME or node.class_name in GROUP_CLASSES or node.class_name in TRAINING_CLASSES
        return not is_known and self.gizmo_file(node.class_name) is not None

    def file_of(self, node: Node) -> Path | None:
        """Where the nodes of this one are to be found; None where it is no group of a file.

        Raises UnderstudyError for a path that is not understood.
        """
        if node.class_name in _BY_FILE_KNOB:
            stated = self.paths.path_of(node, "file")
            return Path(stated) if stated else None
        return self.gizmo_file(node.class_name) if self.may_be_gizmo(node) else None

    def gizmo_file(self, class_name: str) -> Path | None:
        if class_name not in self._by_class:
            self._by_class[class_name] = next(self._gizmo_files(class_name), None)
        return self._by_class[class_name]

    def content(self, path: Path) -> _Content | str:
        """What the file holds, or why it cannot be used."""
        if path not in self._contents:
            try:
                self._contents[path] = _content(_read(path))
            except UnderstudyError as fault:
                self._contents[path] = str(fault)
        return self._contents[path]

    def _gizmo_files(self, class_name: str) -> Iterator[Path]:
        if "/" in class_name:
            named = [Path(remapped(class_name, self.paths.remap))]
        else:
            file = class_name.removesuffix(_SUFFIX) + _SUFFIX
            named = [folder / file for folder in self._folders]
        yield from filter(_is_file, named)

    @cached_property
    def _folders(self) -> list[Path]:
        """The script's own, then those of $NUKE_PATH with what their init.py adds."""
        stated = self.paths.environment.get(NUKE_PATH, "")
        waiting = [Path(remapped(folder, self.paths.remap)) for folder in stated.split(os.pathsep) if folder]
        found = dict.fromkeys([self.paths.script.path.absolute().parent])
        while waiting and len(found) < _MOST_FOLDERS:
            folder = waiting.pop(0)
            if folder not in found:
                found[folder] = None
                waiting[:0] = _added_folders(folder)
        return list(found)


@dataclass(kw_only=True)
class _Copy:
    """Nodes of one script or file on their way into the whole."""

    library: _Library
    nodes: list[Node]
    """The whole so far."""

    def add(self, nodes: Sequence[tuple[Node, bool]], group: Node | None, files: tuple[Path, ...]) -> None:
        """Nodes, each with whether its own nodes follow it, into the group; `files`: those that lead here."""
        places: dict[int, int] = {}
        for node, has_nodes in nodes:
            parent = self.nodes[places[node.parent]] if node.parent in places else group
            placed = replace(
                node,
                index=len(self.nodes),
                path=f"{parent.path}.{node.name}" if parent else node.name,
                inputs=tuple(None if place is None else places[place] for place in node.inputs),
                parent=parent.index if parent else None,
                line=group.line if group else node.line,  # a line of the script that people have
                is_from_file=group is not None,
            )
            places[node.index] = placed.index
            self.nodes.append(placed)
            if not has_nodes:
                self._fill(placed, files)

    def _fill(self, node: Node, files: tuple[Path, ...]) -> None:
        """The nodes from its file behind a node that is a group of one."""
        try:
            path = self.library.file_of(node)
            if path is None:
                return
            content = self._content(path, files)
            within = _overridden(content, node)
        except UnderstudyError as fault:
            what = str(fault).removeprefix(f"{node.label}, line {node.line}: ")
            self.nodes[node.index] = replace(node, fault=what)
            return
        filled = _with_header(node, content.header)
        self.nodes[node.index] = filled
        self.add(within, filled, (*files, path))

    def _content(self, path: Path, files: tuple[Path, ...]) -> _Content:
        if path in files:
            raise UnderstudyError(f"lies within itself ({path}); break the circle")
        if len(files) >= _DEEPEST:
            raise UnderstudyError(f"lies within over {_DEEPEST} files ({path})")
        content = self.library.content(path)
        if isinstance(content, str):
            raise UnderstudyError(content)
        if len(self.nodes) + len(content.within) > _MOST_NODES:
            raise UnderstudyError(f"would make over {_MOST_NODES} nodes in all ({path})")
        return content


def _is_file(path: Path) -> bool:
    with suppress(OSError, ValueError):  # a name that no file can have, or a folder that is not ours
        return path.is_file()
    return False


def _read(path: Path) -> Script:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UnderstudyError(f"{path}: is over {_LARGEST_BYTES >> 20} MiB, which no group is; correct the path")
        text = path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        what = f"its file cannot be read ({why}): {path}"
        raise UnderstudyError(f"{what}; correct the path, or add it with --remap") from error
    return parse_script(text, path)


def _content(script: Script) -> _Content:
    outer = [node for node in script.nodes if node.parent is None]
    info = next((node for node in outer if node.class_name == FILE_INFO), None)
    is_one_group = len(outer) == 1 and outer[0].class_name in (*GROUP_CLASSES, "LiveGroup") and len(script.nodes) > 1
    return _Content(script=script, header=outer[0] if is_one_group else info)


def _with_header(node: Node, header: Node | None) -> Node:
    """The node as a group with the knobs that the file gives it, under its own."""
    is_gizmo = node.class_name not in _BY_FILE_KNOB
    given = dict(header.knobs) if header else {}
    for name in ("inputs", "name"):
        given.pop(name, None)
    return replace(
        node,
        class_name="Gizmo" if is_gizmo else node.class_name,
        gizmo=node.class_name.removesuffix(_SUFFIX) if is_gizmo else "",
        knobs={**given, **node.knobs},
        user_knobs=(header.user_knobs if header else ()) + node.user_knobs,
    )


def _overridden(content: _Content, node: Node) -> list[tuple[Node, bool]]:
    """The nodes within, each with whether its own follow it; with what the node's link knobs say of them."""
    has_nodes = {within.parent for within in content.script.nodes}
    within = {place.index: place for place in content.within}
    links = user_knobs(content.header) if content.header else {}
    for name in sorted(node.knobs.keys() & links.keys()):
        if links[name].leads_to:
            place, knob = _led_to(content, name, links[name].leads_to)
            if _ELSEWHERE.match(node.knobs[name]):
                what = f"knob {name} is a link to {shortened(node.knobs[name])}, which within it may mean another node"
                raise UnderstudyError(f"{what}; bake it")
            within[place] = replace(within[place], knobs={**within[place].knobs, knob: node.knobs[name]})
    return [(place, place.index in has_nodes) for place in within.values()]


def _led_to(content: _Content, name: str, words: tuple[str, ...]) -> tuple[int, str]:
    """The place of the node, and its knob, to which a link knob of the header leads, through those of groups."""
    header = content.header
    parent = header.index if header is not None and header.class_name != FILE_INFO else None
    for _ in range(_DEEPEST):
        *names, knob = (word for word in words if word != "this")
        found = None
        for step in names:
            here = (node for node in content.within if (node.parent, node.name) == (parent, step))
            found = next(here, None)
            parent = found.index if found else -1
        if found is None:
            break
        further = user_knobs(found).get(knob)
        if further is None or not further.leads_to or not any(node.parent == parent for node in content.within):
            return found.index, knob
        words = further.leads_to
    raise UnderstudyError(
        f"knob {name} leads to {shortened('.'.join(words))}, which its file does not have; mend the file"
    )


def _added_folders(folder: Path) -> list[Path]:
    """Folders that the init.py in this one adds to Nuke's, where it names them as plain texts."""
    try:
        tree = ast.parse((folder / "init.py").read_text(encoding="utf-8", errors="replace"))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = (call for call in ast.walk(tree) if isinstance(call, ast.Call) and _adds_folders(call.func))
    stated = (word.value for call in calls for word in call.args if isinstance(word, ast.Constant))
    return [folder / word for word in stated if isinstance(word, str) and "\0" not in word]


def _adds_folders(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _ADDS_FOLDERS
