"""`understudy panel`, and a file that says what is on view in it, where on the screen, and in which state.

    python telling_panel.py FILE WORDS...: as `understudy panel WORDS...`

It only looks. Who reads the file clicks and types as a person would.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from understudy.cli.main import main
from understudy_ui.panel.qt import Qt, QtCore, QtWidgets, run_application
from understudy_ui.panel.widgets.loss_graph import LossGraph
from understudy_ui.panel.widgets.picture_view import PictureView

MILLISECONDS_BETWEEN_LOOKS = 100
MAX_ROWS = 200

Told = dict[str, object]


class Teller:
    """Looks again and again while the panel's event loop runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._timer = QtCore.QTimer()
        self._timer.timeout.connect(self._tell)

    def run(self, application: QtWidgets.QApplication) -> int:
        self._timer.start(MILLISECONDS_BETWEEN_LOOKS)
        code = run_application(application)
        self._timer.stop()
        return code

    def _tell(self) -> None:
        told = {"at": time.monotonic(), "seen": [*_everything()]}
        aside = self._path.with_suffix(f".{os.getpid()}")
        aside.write_text(json.dumps(told), encoding="utf-8")
        aside.replace(self._path)


def _everything() -> Iterator[Told]:
    for window in QtWidgets.QApplication.topLevelWidgets():
        if window.isVisible():
            inside = [window, *window.findChildren(QtWidgets.QWidget)]
            labels = _labels(inside)
            for widget in inside:
                if widget.isVisible() and widget.window() is window:
                    yield _told(widget, labels.get(widget, ""))
                    yield from _parts(widget)


def _labels(widgets: list[QtWidgets.QWidget]) -> dict[QtWidgets.QWidget, str]:
    """By what stands beside them: of an editor, what takes its focus."""
    labels: dict[QtWidgets.QWidget, str] = {}
    for label in widgets:
        if isinstance(label, QtWidgets.QLabel) and label.isVisible() and label.buddy() is not None:
            widget = label.buddy()
            while (proxy := widget.focusProxy()) is not None:
                widget = proxy
            labels[widget] = label.text()
    return labels


def _told(widget: QtWidgets.QWidget, label: str) -> Told:
    region = widget.visibleRegion().boundingRect()
    return {
        "kind": type(widget).__name__,
        "name": label or widget.accessibleName(),
        "text": _text(widget),
        "is_on": widget.isEnabled(),
        "has_focus": widget.hasFocus(),
        "place": _on_screen(widget, region),
        "is_whole": region.height() == widget.height(),
        "facts": _facts(widget),
    }


def _part(widget: QtWidgets.QWidget, kind: str, text: str, rectangle: QtCore.QRect, is_current: bool) -> Told:
    """Something to click at that is no widget of its own."""
    visible = rectangle & widget.visibleRegion().boundingRect()
    has_focus, is_whole = is_current and widget.hasFocus(), visible.height() == rectangle.height()
    own = {"kind": kind, "text": text, "place": _on_screen(widget, visible), "facts": {}}
    return {**_told(widget, ""), **own, "has_focus": has_focus, "is_whole": is_whole}


def _parts(widget: QtWidgets.QWidget) -> Iterator[Told]:
    if isinstance(widget, QtWidgets.QTabBar):
        for number in range(widget.count()):
            is_current = number == widget.currentIndex()
            yield _part(widget, "Tab", widget.tabText(number), widget.tabRect(number), is_current)
    if isinstance(widget, QtWidgets.QAbstractItemView):
        for index in _indexes(widget):
            rectangle = widget.visualRect(index)
            if rectangle.intersects(widget.viewport().rect()):
                text, is_current = str(index.data(int(Qt.ItemDataRole.DisplayRole))), index == widget.currentIndex()
                yield _part(widget.viewport(), "Item", text, rectangle, is_current)


def _indexes(view: QtWidgets.QAbstractItemView) -> Iterator[QtCore.QModelIndex]:
    model, top = view.model(), QtCore.QModelIndex()
    is_table = isinstance(view, QtWidgets.QTableView | QtWidgets.QTreeView)
    for row in range(min(MAX_ROWS, model.rowCount(top))):
        for column in range(model.columnCount(top) if is_table else 1):
            yield model.index(row, column, top)


def _text(widget: QtWidgets.QWidget) -> str:
    if isinstance(widget, QtWidgets.QComboBox):
        return widget.currentText()
    if isinstance(widget, QtWidgets.QPlainTextEdit):
        return widget.toPlainText()
    if isinstance(widget, QtWidgets.QAbstractButton | QtWidgets.QLabel | QtWidgets.QLineEdit):
        return widget.text()
    return ""


def _facts(widget: QtWidgets.QWidget) -> dict[str, object]:
    """Of what is painted, what it was painted from."""
    if isinstance(widget, LossGraph):
        return {"steps": [curve["steps"][-1] for curve in widget.curves.values() if curve["steps"]]}
    if isinstance(widget, PictureView):
        return {name: [picture.width(), picture.height()] for name, picture in widget._pictures}
    return {}


def _on_screen(widget: QtWidgets.QWidget, rectangle: QtCore.QRect) -> list[int]:
    """x, y, width, height in the screen's own pixels; no width: not on view."""
    ratio, corner = widget.devicePixelRatioF(), widget.mapToGlobal(rectangle.topLeft())
    return [round(value * ratio) for value in (corner.x(), corner.y(), rectangle.width(), rectangle.height())]


if __name__ == "__main__":
    with mock.patch("understudy_ui.panel.alone.run_application", Teller(Path(sys.argv[1])).run):
        sys.exit(main(["panel", *sys.argv[2:]]))
