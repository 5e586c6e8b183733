"""A `nuke` that keeps a real graph, writes it as .nk and reads it back. `test_fake.py` holds it against types-nuke.

Nothing here accepts a name that Nuke lacks (NameError), nor a graph that is touched from another thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.plugin.nuke.fake import nk
from tests.plugin.nuke.fake.classes import COMMON, EXR_KNOBS, FILE_KNOBS, KNOBS, NUKEX, SOURCES, Default
from tests.plugin.nuke.fake.desk import DESK, on_main_thread
from tests.plugin.nuke.fake.windows import Menu as Menu
from tests.plugin.nuke.fake.windows import MenuItem as MenuItem
from tests.plugin.nuke.fake.windows import Panel as Panel
from tests.plugin.nuke.fake.windows import ProgressTask as ProgressTask
from tests.plugin.nuke.fake.windows import Undo as Undo

GUI = True
EXE_PATH = "/opt/Nuke16.0v1/Nuke16.0"
STARTLINE = 0x1000
ALWAYS_SAVE = 0x20


class Knob:
    def __init__(self, name: str, label: str = "") -> None:
        self._name, self._label, self._tooltip, self._flags = name, label, "", 0
        self._value: Default = ""
        self._default: Default = ""
        self._node: Node | None = None
        self._expression = ""

    def name(self) -> str:
        return self._name

    def label(self) -> str:
        return self._label

    def tooltip(self) -> str:
        return self._tooltip

    def setTooltip(self, tooltip: str) -> None:
        self._tooltip = tooltip

    def setFlag(self, flag: int) -> None:
        self._flags |= flag

    def getFlag(self, flag: int) -> bool:
        return bool(self._flags & flag)

    def value(self) -> Any:
        on_main_thread()
        return self._value

    def setValue(self, val: Any) -> bool:
        on_main_thread()
        self._value = self._taken(val)
        if self._node is not None:
            self._node._changed(self._name)
        return True

    def isAnimated(self, channel: int = -1) -> bool:
        return False  # the fake has no curves

    def hasExpression(self, index: int = -1) -> bool:
        return bool(self._expression)

    def _taken(self, value: Default) -> Default:
        return str(value)


class Tab_Knob(Knob):
    pass


class String_Knob(Knob):
    pass


class EvalString_Knob(String_Knob):
    pass


class File_Knob(EvalString_Knob):
    def getEvaluatedValue(self) -> str:
        on_main_thread()
        return str(self._value).replace("[file dirname [value root.name]]", Path(_root._path).parent.as_posix())


class Array_Knob(Knob):
    def setExpression(self, expression: str, channel: int = -1, view: Any = None) -> bool:
        self._expression = expression
        return True


class Int_Knob(Array_Knob):
    def __init__(self, name: str, label: str = "") -> None:
        super().__init__(name, label)
        self._value = self._default = 0

    def _taken(self, value: Default) -> Default:
        return int(value)


class Double_Knob(Array_Knob):
    def __init__(self, name: str, label: str = "") -> None:
        super().__init__(name, label)
        self._value = self._default = 0.0

    def _taken(self, value: Default) -> Default:
        return float(value)


class Boolean_Knob(Array_Knob):
    def __init__(self, name: str, label: str = "") -> None:
        super().__init__(name, label)
        self._value = self._default = False

    def _taken(self, value: Default) -> Default:
        return value == "true" if isinstance(value, str) else bool(value)


class Enumeration_Knob(Knob):
    def __init__(self, name: str, label: str, words: list[str]) -> None:
        super().__init__(name, label)
        self._words = words
        self._value = self._default = words[0]

    def values(self) -> list[str]:
        return self._words

    def _taken(self, value: Default) -> Default:
        if str(value) not in self._words:
            raise TypeError(f"{value!r} is none of {self._words}")
        return str(value)


class PyScript_Knob(Knob):
    def __init__(self, name: str, label: str, command: str) -> None:
        super().__init__(name, label)
        self._value = self._default = command

    def execute(self) -> None:
        """Nuke runs the text in a module of its own, with the node at hand."""
        global _this
        assert self._node is not None
        _this = self._node
        exec(str(self._value), {"nuke": __import__("nuke")})


class FrameRange:
    def __init__(self, first: int, last: int, increment: int = 1) -> None:
        self._first, self._last = first, last

    def first(self) -> int:
        return self._first

    def last(self) -> int:
        return self._last


class Node:
    def __init__(self, class_name: str, parent: Group | None) -> None:
        self._class, self._parent = class_name, parent
        self._inputs: dict[int, Node | None] = {}
        self._knobs: dict[str, Knob] = {}
        self._user_knobs: list[str] = []
        for name, default in {**COMMON, **KNOBS[class_name]}.items():
            self._give(name, default)

    def Class(self) -> str:
        return self._class

    def name(self) -> str:
        return str(self["name"].value())

    def fullName(self) -> str:
        above = self.parent().fullName() if self._parent not in (None, _root) else ""
        return f"{above}.{self.name()}".lstrip(".")

    def setName(self, name: str, uncollide: bool = True, updateExpressions: bool = False) -> None:
        assert self._parent is not None
        self["name"].setValue(nk.free_name(name, [other.name() for other in self._parent.nodes() if other is not self]))

    def parent(self) -> Group:
        assert self._parent is not None
        return self._parent

    def knob(self, p: str) -> Knob | None:
        on_main_thread()
        return self._knobs.get(p)

    def knobs(self) -> dict[str, Knob]:
        return dict(self._knobs)

    def addKnob(self, knob: Knob) -> None:
        if not self._user_knobs and not isinstance(knob, Tab_Knob):
            self.addKnob(Tab_Knob("User"))
        knob._node = self
        self._knobs[knob.name()] = knob
        self._user_knobs.append(knob.name())

    def inputs(self) -> int:
        connected = [number for number, node in self._inputs.items() if node is not None]
        return max(connected, default=-1) + 1

    def input(self, index: int) -> Node | None:
        on_main_thread()
        return self._inputs.get(index)

    def setInput(self, i: int, node: Node | None) -> bool:
        on_main_thread()
        if self._class in SOURCES:
            return False
        self._inputs[i] = node
        _root.setModified(True)
        return True

    def frameRange(self) -> FrameRange:
        from tests.plugin.nuke.fake.pictures import span_of

        return FrameRange(*span_of(self))

    def isSelected(self) -> bool:
        return bool(self["selected"].value())

    def setSelected(self, selected: bool) -> None:
        self["selected"].setValue(selected)

    def xpos(self) -> int:
        return int(self["xpos"].value())

    def ypos(self) -> int:
        return int(self["ypos"].value())

    def setXYpos(self, x: int, y: int) -> None:
        self["xpos"].setValue(x)
        self["ypos"].setValue(y)

    def showControlPanel(self) -> None:
        on_main_thread()

    def __getitem__(self, name: str) -> Knob:
        knob = self.knob(name)
        if knob is None:
            raise NameError(f"knob {name} does not exist")
        return knob

    def _give(self, name: str, default: Default) -> None:
        kinds: dict[type, type[Knob]] = {bool: Boolean_Knob, int: Int_Knob, float: Double_Knob, str: String_Knob}
        kind = File_Knob if name in FILE_KNOBS else kinds[type(default)]
        knob = kind(name)
        knob._value = knob._default = default
        knob._node = self
        self._knobs[name] = knob

    def _changed(self, name: str) -> None:
        _root.setModified(True)
        if self._class == "Write" and name == "file_type" and self[name].value() == "exr":
            for knob, default in EXR_KNOBS.items():
                self._give(knob, default)


class Group(Node):
    def __init__(self, class_name: str, parent: Group | None) -> None:
        super().__init__(class_name, parent)
        self._children: list[Node] = []

    def nodes(self) -> list[Node]:
        on_main_thread()
        return list(self._children)

    def node(self, s: str) -> Node | None:
        return next((child for child in self._children if child.name() == s), None)

    def begin(self) -> Group:
        DESK.contexts.append(self)
        return self

    def end(self) -> None:
        DESK.contexts.pop()

    def __enter__(self) -> Group:
        return self.begin()

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()


class Root(Group):
    def __init__(self) -> None:
        self._is_modified = False
        super().__init__("Root", None)

    @property
    def _path(self) -> str:
        return str(self._knobs["name"]._value)

    def fullName(self) -> str:
        return "root"

    def name(self) -> str:
        return self._path or "Root"

    def modified(self) -> bool:
        return self._is_modified

    def setModified(self, modified: bool) -> None:
        self._is_modified = modified

    def firstFrame(self) -> int:
        return int(self["first_frame"].value())

    def lastFrame(self) -> int:
        return int(self["last_frame"].value())


class Nodes:
    def __getattr__(self, item: str) -> Callable[[], Node]:
        return lambda: _made(item)

    @property
    def Group(self) -> Callable[[], Group]:
        def make() -> Group:
            made = _made("Group")
            assert isinstance(made, Group)
            return made

        return make


nodes = Nodes()


def root() -> Root:
    on_main_thread()
    return _root


def allNodes(filter: str = "", group: Group | None = None, recurseGroups: bool = False) -> list[Node]:
    on_main_thread()
    found: list[Node] = []
    for node in (group or _context()).nodes():
        found.append(node)
        if recurseGroups and isinstance(node, Group):
            found += allNodes(filter, node, True)
    return [node for node in found if not filter or node.Class() == filter]


def selectedNodes() -> list[Node]:
    """The last one first."""
    return [node for node in _context().nodes() if node.isSelected()][::-1]


def toNode(s: str) -> Node | None:
    node: Node | None = _root
    for name in s.split("."):
        node = node.node(name) if isinstance(node, Group) else None
    return node


def thisNode() -> Node:
    return _this


def createNode(typ: str, knobs: str = "", inpanel: bool = True) -> Node:
    """Connected below what is selected, and selected itself; the tests build scripts with it."""
    chosen = selectedNodes()
    node = _made(typ)
    if chosen:
        node.setInput(0, chosen[0])
    for other in chosen:
        other.setSelected(False)
    node.setSelected(True)
    return node


def delete(n: Node) -> None:
    n.parent()._children.remove(n)


def message(prompt: str) -> None:
    on_main_thread()
    DESK.messages.append(prompt)


def choice(title: str, prompt: str, options: list[str], default: int = 0) -> int | None:
    on_main_thread()
    DESK.asked.append(prompt)
    return DESK.chosen


def getFilename(message: str, pattern: str = "", default: str = "") -> str | None:
    return DESK.file_chosen or None


def getInput(prompt: str, default: str = "") -> str:
    return DESK.text_typed


def tprint(*args: object) -> None:
    DESK.terminal.append(" ".join(map(str, args)))


def frame(f: int) -> int:
    on_main_thread()
    DESK.frame = f
    return f


def connectViewer(inputNum: int, node: Node) -> None:
    DESK.viewer = node


def getPaneFor(panelName: str) -> object:
    return panelName


def menu(name: str) -> Menu:
    return DESK.menus.setdefault(name, Menu(name))


def executeInMainThread(call: Callable[..., object], args: tuple[object, ...] = (), kwargs: object = None) -> None:
    DESK.pending.put(lambda: call(*args))


def execute(nameOrNode: Node, start: int, end: int, incr: int = 1) -> None:
    from tests.plugin.nuke.fake.pictures import render

    for number in range(start, end + 1, incr):
        render(nameOrNode, number)
        DESK.rendered.append((nameOrNode.fullName(), number))


def scriptSave() -> bool:
    _write(_root._path)
    _root.setModified(False)
    return True


def scriptSaveAs(filename: str = "", overwrite: int = -1) -> None:
    if Path(filename).exists() and not overwrite:
        raise RuntimeError("file exists")
    _root["name"].setValue(filename)
    scriptSave()


def scriptSaveToTemp(str: str) -> str:
    """Nuke's own page says that an existing file is not overwritten."""
    if Path(str).exists():
        raise RuntimeError("file exists")
    _write(str)
    return str


def scriptClear() -> None:
    global _root
    _root = Root()
    DESK.contexts.clear()


def scriptOpen(filename: str) -> None:
    from tests.plugin.nuke.fake.reading import read

    scriptClear()
    read(filename, _root)
    _root["name"].setValue(filename)
    _root.setModified(False)


def _write(path: str) -> None:
    on_main_thread()
    try:
        Path(path).write_text(nk.text_of(_root), encoding="utf-8")
    except OSError as error:
        raise RuntimeError(f"{path}: {error.strerror}") from error


def _made(class_name: str) -> Node:
    on_main_thread()
    if class_name in NUKEX and not DESK.has_nukex:
        raise RuntimeError(f"{class_name}: no licence for nukex was found")
    parent = _context()
    node = Group(class_name, parent) if class_name == "Group" else Node(class_name, parent)
    node.setName(f"{class_name}1")
    parent._children.append(node)
    return node


def _context() -> Group:
    return DESK.contexts[-1] if DESK.contexts else _root


_root = Root()
_this: Node = _root
