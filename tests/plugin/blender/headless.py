"""Inside Blender without a window: the add-on's operators as a script calls them, `SCRIPT -- WHAT ORDER.json`.

What was seen goes to the file that the order names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.plugin.blender import comp

Seen = dict[str, object]


def journey(order: dict[str, str]) -> Seen:
    """Train, stop on the way, resume, apply."""
    scene, folder = bpy.context.scene, Path(order["folder"])
    comp.enable()
    comp.ready(scene, Path(order["shot"]) / "plate.1001.exr", 1001, 1024)
    chosen = scene.understudy
    chosen.plate_node, chosen.truth_node, chosen.truth_socket = "Plate", "Roto", "Matte"
    chosen.painted, chosen.data_directory = comp.painted(1001, 1024), str(folder / "data")
    comp.choose_small(chosen, int(order["steps"]))
    bpy.ops.understudy.add_node()
    before = state_of(scene)
    seen: Seen = {"dry run": call("dry_run"), "payload": bpy.data.texts["Understudy dry run"].as_string()}
    seen["stopped"] = train_and_stop()
    seen |= {"resumed": call("resume"), "is as it was": state_of(scene) == before, "run": chosen.run_directory}
    seen |= {"applied": call("apply"), "applied again": call("apply"), "links": links(scene)}
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "comp.blend"))
    return seen


def train_and_stop() -> list[str]:
    from understudy_blender import host

    bpy.ops.understudy.train()
    while host.tick() is not None and not (host.SESSION.report and host.SESSION.report.step >= 20):
        time.sleep(0.1)
    bpy.ops.understudy.stop()
    return call("wait")


def problems(order: dict[str, str]) -> Seen:
    """Everything that an artist or a studio gets wrong, one after the other."""
    bpy.ops.preferences.addon_install(filepath=order["zip"])
    bpy.ops.preferences.addon_enable(module="understudy_blender")
    scene, folder = bpy.context.scene, Path(order["folder"])
    chosen = scene.understudy
    seen: Seen = {"no nodes": call("train")}
    tree = comp.ready(scene, Path(order["shot"]) / "plate.1001.exr", 1001, 1024)
    seen["nothing chosen"] = call("train")
    chosen.plate_node, chosen.truth_node, chosen.painted = "Plate", "Gone", "1001,1005"
    chosen.data_directory = str(folder / "data")
    seen["node gone"] = call("train")
    chosen.truth_node = ""
    bpy.ops.understudy.add_node()
    seen["not connected"] = call("train")
    tree.links.new(tree.nodes["Roto"].outputs["Matte"], tree.nodes["Understudy"].inputs["Ground Truth"])
    chosen.data_directory = "//understudy"
    seen["not saved"] = call("train")
    chosen.data_directory = str(folder / "a file" / "data")
    (folder / "a file").touch()
    seen["no place to write"] = call("train")
    chosen.data_directory, chosen.farm = str(folder / "data"), "moon"
    seen["no such farm"] = call("dry_run")
    chosen.run_directory = str(folder / "gone")
    seen["run gone"] = call("follow")
    bpy.context.preferences.addons["understudy_blender"].preferences.command = "/nowhere/understudy"
    seen["no command"] = call("follow")
    bpy.ops.preferences.addon_disable(module="understudy_blender")
    return seen


def call(name: str) -> list[str]:
    """What the panel shows when the button's work has ended: its problem, else the job's state."""
    from understudy_blender.host import SESSION

    getattr(bpy.ops.understudy, name)()
    bpy.ops.understudy.wait()
    return [*SESSION.problem] or ["" if SESSION.report is None else SESSION.report.state]


def state_of(scene: bpy.types.Scene) -> object:
    """What a bake must leave alone."""
    tree = comp.tree_of(scene)
    nodes = [(node.name, node.bl_idname, node.mute, node.select, tuple(node.location)) for node in tree.nodes]
    render = (scene.render.filepath, scene.render.use_compositing, scene.render.use_sequencer, scene.frame_current)
    return nodes, links(scene), render, bpy.data.filepath


def links(scene: bpy.types.Scene) -> list[list[str]]:
    return [[link.from_node.name, link.from_socket.name, link.to_node.name] for link in comp.tree_of(scene).links]


if __name__ == "__main__":
    what, order_path = sys.argv[sys.argv.index("--") + 1 :]
    order = json.loads(Path(order_path).read_text(encoding="utf-8"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scenario: Callable[[dict[str, str]], Seen] = {"journey": journey, "problems": problems}[what]
    Path(order["seen"]).write_text(json.dumps(scenario(order)), encoding="utf-8")
