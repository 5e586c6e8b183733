"""The panel as Nuke docks it. The only module that brings Qt along, and imported only when the panel is opened."""

from __future__ import annotations

from understudy_ui.panel import window

from .host import NukeHost


class Panel(window.Panel):
    """Nuke makes it without a word."""

    def __init__(self) -> None:
        super().__init__(NukeHost())
