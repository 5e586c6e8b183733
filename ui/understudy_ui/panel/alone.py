"""The panel as a window of its own."""

from __future__ import annotations

import signal
from typing import Mapping, Sequence

from understudy_ui.panel.asking import MILLISECONDS_TO_END
from understudy_ui.panel.host import Alone
from understudy_ui.panel.qt import QShortcut, QtCore, QtGui, QtWidgets, run_application
from understudy_ui.panel.theme import dark_palette
from understudy_ui.panel.window import Panel

SIZE = (1180, 820)
"""Pixels of the window, until somebody draws it otherwise."""


def show(paths: Sequence[str], environment: Mapping[str, str]) -> int:
    """Open the window and stay until it is closed; the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C: Qt's loop gives Python no turn to handle it
    application = QtWidgets.QApplication([])
    dress(application)
    panel = Panel(Alone(environment), environment)
    QShortcut(QtGui.QKeySequence("Ctrl+Q"), panel).activated.connect(panel.close)
    panel.resize(*SIZE)
    panel.open(paths)
    panel.show()
    code = run_application(application)
    wait_for_processes(application)
    return code


def dress(application: QtWidgets.QApplication) -> None:
    """No host lends its colours: dark ones, as compositors have around their pictures."""
    application.setStyle("Fusion")
    application.setPalette(dark_palette())
    application.setApplicationName("understudy")


def wait_for_processes(application: QtCore.QObject) -> None:
    """The answers process was asked to end when the panel was closed; it is not to outlive the window."""
    for process in application.findChildren(QtCore.QProcess):
        if not process.waitForFinished(MILLISECONDS_TO_END):
            process.kill()
            process.waitForFinished()
