"""The one door to Qt: PySide6, or PySide2 5.15 in older hosts. What differs between the two is settled here."""

from __future__ import annotations

from typing import Union

try:
    from PySide6 import QtCore, QtGui, QtWidgets
    from PySide6.QtGui import QShortcut
except ImportError:
    from PySide2 import QtCore, QtGui, QtWidgets  # type: ignore[no-redef]
    from PySide2.QtWidgets import QShortcut  # type: ignore[no-redef]

__all__ = ["QShortcut", "Qt", "QtCore", "QtGui", "QtWidgets", "place_of", "run_application"]

Qt = QtCore.Qt


def place_of(event: Union[QtGui.QMouseEvent, QtGui.QWheelEvent]) -> QtCore.QPointF:
    """Where in its widget the mouse was."""
    return QtCore.QPointF(event.position() if hasattr(event, "position") else event.localPos())  # type: ignore[union-attr]


def run_application(application: QtWidgets.QApplication) -> int:
    run = application.exec if hasattr(application, "exec") else application.exec_
    return int(run())
