"""Files dropped onto the panel, as the window system hands them over: to the window, at a place in it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel

from understudy_ui.panel.model.source import SCRIPT, SEQUENCES, TIMELINE, Source
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.window import Panel

NONE, LEFT, COPY = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton, Qt.DropAction.CopyAction


def drop(panel: Panel, onto: QtWidgets.QWidget, paths: Sequence[str]) -> bool:
    """Onto the middle of a widget; whether it was taken."""
    carried, window = QtCore.QMimeData(), panel.windowHandle()
    carried.setUrls([QtCore.QUrl.fromLocalFile(path) for path in paths] or [QtCore.QUrl("https://farm.example/")])
    place = onto.mapTo(panel, onto.rect().center())
    enters = QtGui.QDragEnterEvent(place, COPY, carried, LEFT, NONE)
    moves = QtGui.QDragMoveEvent(place, COPY, carried, LEFT, NONE)
    drops = QtGui.QDropEvent(QtCore.QPointF(place), COPY, carried, LEFT, NONE)
    moves.accept()  # as Qt does where the entering was accepted
    for event in (enters, moves, drops):
        QtCore.QCoreApplication.sendEvent(window, event)
        if not event.isAccepted():
            return False
    return True


@pytest.mark.parametrize(
    ("paths", "kind", "named"),
    [
        (["/show/sh010.nk"], SCRIPT, "/show/sh010.nk"),
        (["/show/pairs.otio"], TIMELINE, "/show/pairs.otio"),
        (["/show/plate.1001.exr", "/show/paint.1001.exr"], SEQUENCES, "/show/plate.####.exr /show/paint.####.exr"),
    ],
)
def test_what_is_dropped_anywhere_is_chosen(
    qtbot: QtBot, open_panel: OpenPanel, paths: list[str], kind: str, named: str
) -> None:
    panel = open_panel()
    for onto in (panel.train_page.pairs, panel.train_page.summary, panel.train_page.knobs):
        panel.training.choose(Source())
        assert drop(panel, onto, paths), onto
        source = panel.training.shot.source
        assert (source.kind, f"{source.key()} {source.target}".strip()) == (kind, named)
        assert panel.train_page.source.kinds[kind].isChecked()
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None, timeout=20000)


def test_a_path_takes_what_is_dropped_onto_it(open_panel: OpenPanel) -> None:
    panel = open_panel()
    assert drop(panel, panel.train_page.source.editors["script"], ["/show/sh020.nk"])
    assert panel.training.shot.source.script == "/show/sh020.nk"
    panel.places.setCurrentWidget(panel.runs_page)
    assert drop(panel, panel.runs_page.folder, ["/show/sh020/runs"])
    assert panel.runs.folder == "/show/sh020/runs"


def test_what_is_no_file_is_not_taken(open_panel: OpenPanel) -> None:
    panel = open_panel()
    before = panel.training.shot.source
    assert not drop(panel, panel.train_page.pairs, [])
    assert panel.training.shot.source == before
