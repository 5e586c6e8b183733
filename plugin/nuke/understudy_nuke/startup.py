"""What Nuke learns from us when it starts: where the panel's code lies, menus, and the panel."""

from __future__ import annotations

import importlib
import os
import sys

import nuke

from . import actions

PANEL_ID = "understudy.panel"
PANEL_TITLE = "understudy"
# Nuke evaluates this text when it makes the panel, in a place of which we only know that it has Python's own names.
PANEL_CLASS = "__import__('understudy_nuke.dock', fromlist=['Panel']).Panel"

_UI = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "ui"))
"""The panel's code, in a checkout as in a rez package."""


def begin() -> None:
    """Let Nuke find the panel's code. After all else: what a studio put first stays first."""
    if os.path.isdir(_UI) and _UI not in sys.path:
        sys.path.append(_UI)


def add_menus() -> None:
    bar = nuke.menu("Nuke")
    render = bar.findItem("Render") or bar.addMenu("Render")
    render.addCommand("Train CopyCat on Farm...", actions.train)
    own = bar.addMenu("understudy")
    own.addCommand("Understudy Node", actions.create_node)
    own.addCommand("Train on Farm...", actions.train)
    own.addCommand("Create Inference...", actions.inference)
    own.addSeparator()
    own.addCommand("Bake Inputs Here...", actions.bake_here)
    own.addCommand("Bake on Farm and Train...", actions.bake_on_farm)
    own.addSeparator()
    own.addCommand("Studio Python...", actions.choose_python)
    nuke.menu("Nodes").addMenu("understudy").addCommand("Understudy", actions.create_node)


def add_panel() -> None:
    import nukescripts  # it is for Nukes with a window

    missing = what_the_panel_misses()
    if missing:
        nuke.tprint(f"understudy: no panel: {missing}")
        return
    panel = nukescripts.panels.registerWidgetAsPanel(PANEL_CLASS, PANEL_TITLE, PANEL_ID, True)
    own = nuke.menu("Nuke").addMenu("understudy")
    own.addCommand("Panel", lambda: panel.addToPane(nuke.getPaneFor("Properties.1")))


def what_the_panel_misses() -> str:
    """One line; empty when nothing is missing."""
    try:
        importlib.import_module("understudy_ui.panel.qt")
    except ImportError as error:
        if "understudy_ui" in (error.name or ""):
            return f"understudy_ui is not on Python's path; put the folder ui beside plugin, at {_UI}"
        return f"neither PySide6 nor PySide2 can be imported ({error}); menus and buttons work without"
    return ""
