"""Inside Blender's window: shows the compositor with the sidebar, tells what the session does, quits when told.

`SCRIPT -- SHOT FIRST LAST FOLDER COMMAND STEPS`: a look is a line of JSON in FOLDER/told.jsonl; FOLDER/quit ends it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.plugin.blender import comp

SHOT, FIRST, LAST, FOLDER, COMMAND, STEPS = sys.argv[sys.argv.index("--") + 1 :]
looks = 0


def prepare() -> None:
    """What an artist has done before the panel is opened: all but pressing its buttons."""
    tree = comp.ready(bpy.context.scene, Path(SHOT) / f"plate.{FIRST}.exr", int(FIRST), int(LAST))
    comp.enable()
    bpy.context.preferences.addons["understudy_blender"].preferences.command = COMMAND
    chosen = bpy.context.scene.understudy
    chosen.plate_node, chosen.truth_node, chosen.truth_socket = "Plate", "Roto", "Matte"
    chosen.painted = comp.painted(int(FIRST), int(LAST))
    chosen.data_directory = str(Path(FOLDER) / "data")
    comp.choose_small(chosen, int(STEPS))
    bpy.ops.understudy.add_node()
    for node in tree.nodes:
        node.select = False
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(FOLDER) / "hero_roto.blend"))


def look() -> float | None:
    global looks
    looks += 1
    window = bpy.context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    if looks == 1:
        show_compositor(area)
        with bpy.context.temp_override(window=window, area=area):
            bpy.ops.screen.screen_full_area()
    elif looks == 2:
        area.spaces.active.backdrop_zoom = 2.1
        canvas = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=canvas):
            bpy.ops.node.view_all()
    else:
        tell()
    if (Path(FOLDER) / "quit").exists():
        bpy.ops.wm.quit_blender()
        return None
    return 0.3


def show_compositor(area: bpy.types.Area) -> None:
    area.type = "NODE_EDITOR"
    area.ui_type = "CompositorNodeTree"
    area.spaces.active.show_region_ui = area.spaces.active.show_backdrop = True


def tell() -> None:
    from understudy_blender.host import SESSION

    tree = comp.tree_of(bpy.context.scene)
    told = {
        "stage": SESSION.stage,
        "problem": SESSION.problem,
        "step": SESSION.report.step if SESSION.report else 0,
        "state": SESSION.report.state if SESSION.report else "",
        "sheet": SESSION.sheet,
        "run": bpy.context.scene.understudy.run_directory,
        "links": [[link.from_node.name, link.from_socket.name, link.to_node.name] for link in tree.links],
    }
    with (Path(FOLDER) / "told.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(told) + "\n")


prepare()
bpy.app.timers.register(look, first_interval=1.5)
