"""Menus, dialogs, the progress window and undo of the fake `nuke`."""

from __future__ import annotations

from typing import Callable

from tests.plugin.nuke.fake.desk import DESK, on_main_thread


class MenuItem:
    def __init__(self, name: str, command: Callable[[], object] | None) -> None:
        self._name, self._command = name, command

    def name(self) -> str:
        return self._name

    def invoke(self) -> None:
        assert self._command is not None
        self._command()


class Menu(MenuItem):
    def __init__(self, name: str) -> None:
        super().__init__(name, None)
        self._items: dict[str, MenuItem] = {}

    def items(self) -> list[MenuItem]:
        return list(self._items.values())

    def findItem(self, name: str) -> Menu | None:
        found = self._items.get(name)
        return found if isinstance(found, Menu) else None

    def addMenu(self, name: str) -> Menu:
        menu = self.findItem(name) or Menu(name)
        self._items[name] = menu
        return menu

    def addCommand(self, name: str, command: Callable[[], object]) -> MenuItem:
        self._items[name] = MenuItem(name, command)
        return self._items[name]

    def addSeparator(self) -> None:
        pass


class Panel:
    def __init__(self, title: str) -> None:
        self._values: dict[str, str] = {}

    def addSingleLineInput(self, label: str, value: str) -> bool:
        self._values[label] = value
        return True

    def show(self) -> bool:
        on_main_thread()
        if DESK.fields is None:
            return False
        self._values.update({name: text for name, text in DESK.fields.items() if name in self._values})
        return True

    def value(self, label: str) -> str:
        return self._values[label]


class ProgressTask:
    """The one part of Nuke that threads may use."""

    def __init__(self, title: str) -> None:
        pass

    def setMessage(self, message: str) -> None:
        pass

    def isCancelled(self) -> bool:
        return DESK.cancels


class Undo:
    def begin(self, name: str) -> None:
        DESK.undone.append(name)

    def end(self) -> None:
        on_main_thread()
