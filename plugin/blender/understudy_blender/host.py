"""Blender as a session sees it, and the session as Blender's timer does."""

from __future__ import annotations

import atexit
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy

from . import nodes, session
from .plan import Bake, Result

SHEET = "Understudy contact sheet"
SECONDS_BETWEEN_TICKS = 0.3


class BlenderHost:
    """Acts on the scene from which the job was sent."""

    def __init__(self) -> None:
        self.scene_name = ""

    def preference(self) -> str:
        addon = bpy.context.preferences.addons.get(__package__)
        return str(addon.preferences.command) if addon else ""

    def baking(self, bakes: Sequence[Bake], folder: str) -> Sequence[str]:
        scene = bpy.data.scenes[self.scene_name]
        blend, order = str(Path(folder, "scene.blend")), Path(folder, "order.json")
        bpy.ops.wm.save_as_mainfile(filepath=blend, copy=True, compress=False)
        words = {
            "blend": blend,
            "scene": scene.name,
            "depth": scene.understudy.bake_depth,
            "bakes": [dataclasses.asdict(bake) for bake in bakes],
        }
        order.write_text(json.dumps(words), encoding="utf-8")
        script = str(Path(__file__).with_name("bake.py"))
        is_module = getattr(bpy.app, "module", False)
        blender = [sys.executable, script] if is_module else [bpy.app.binary_path, "-b", "-P", script]
        return [*blender, "--", str(order)]

    def show_text(self, name: str, text: str) -> None:
        block = bpy.data.texts.get(name) or bpy.data.texts.new(name)
        block.clear()
        block.write(text)
        block.cursor_set(0)

    def show_sheet(self, path: str) -> None:
        image = bpy.data.images.get(SHEET)
        if image is None:
            image = bpy.data.images.load(path)
            image.name = SHEET
        image.filepath = path
        image.reload()
        image.preview_ensure().reload()

    def remember(self, run_directory: str) -> None:
        bpy.data.scenes[self.scene_name].understudy.run_directory = run_directory
        _push_undo("Understudy: Train")

    def place(self, result: Result) -> None:
        nodes.place(bpy.data.scenes[self.scene_name], result)
        _push_undo("Understudy: Apply")


HOST = BlenderHost()
SESSION = session.Session(HOST)


def begin(scene: bpy.types.Scene, journey: session.Journey, run_directory: str = "") -> None:
    """Set out for this scene; a timer goes on with it. Not a modal operator: Blender does not save by itself while
    one runs."""
    HOST.scene_name = scene.name
    SESSION.begin(journey, run_directory)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=SECONDS_BETWEEN_TICKS, persistent=True)
    redraw()


def run_of(scene: bpy.types.Scene) -> str:
    """Directory of the run that was sent last; the scene's own memory of it may have been undone. Empty: none."""
    told = str(scene.understudy.run_directory)
    return told or (SESSION.run_directory if HOST.scene_name == scene.name else "")


def tick() -> float | None:
    """Called by Blender's timer; in background, where none runs, by whoever waits."""
    SESSION.tick()
    redraw()
    return SECONDS_BETWEEN_TICKS if SESSION.is_busy else None


def redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("NODE_EDITOR", "IMAGE_EDITOR"):
                area.tag_redraw()


def leave() -> None:
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    SESSION.leave()


def _push_undo(message: str) -> None:
    """What a timer changes would else be undone with the artist's step before it."""
    if not bpy.app.background:
        bpy.ops.ed.undo_push(message=message)


atexit.register(SESSION.leave)
