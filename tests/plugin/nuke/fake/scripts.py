"""The fake's `nukescripts`: panels by the text of their class, which is evaluated later and elsewhere."""

from __future__ import annotations

from types import SimpleNamespace


class PythonPanel:
    """What Nuke makes around a widget."""

    def __init__(self, widget: str) -> None:
        self._widget = widget

    def addToPane(self, pane: object) -> None:
        SHOWN.append((eval(self._widget, {}), pane))


SHOWN: list[tuple[object, object]] = []
"""The classes of panels that were opened, and in which pane."""
REGISTERED: dict[str, tuple[str, str]] = {}
"""Class and title by id."""


def registerWidgetAsPanel(widget: str, name: str, id: str, create: bool = False) -> PythonPanel:
    assert id not in REGISTERED, "the id of a panel is unique"
    REGISTERED[id] = (widget, name)
    return PythonPanel(widget)


panels = SimpleNamespace(registerWidgetAsPanel=registerWidgetAsPanel)
