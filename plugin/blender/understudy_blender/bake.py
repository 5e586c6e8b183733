"""Renders sockets of a compositor to EXR, in a Blender of its own: `blender -b -P bake.py -- ORDER.json`.

The scene comes from a copy of the artist's file, so that nothing has to be put back, nobody has to wait, and a bake can
be ended at any moment.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Node, NodeTree, Scene

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))

from understudy_blender import frames, nodes  # by its folder: Blender runs this file as a script

Bake = Mapping[str, Any]
"""A plan.Bake as JSON has it."""
EXIT_USER = 2


def main(order_path: Path) -> int:
    order = json.loads(order_path.read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=order["blend"], load_ui=False)
    scene = bpy.data.scenes[order["scene"]]
    tree = nodes.tree_of(scene)
    prepare(scene, tree)
    wanted = sorted({frame for bake in order["bakes"] for frame in bake["frames"]})
    for place, frame in enumerate(wanted, 1):
        fault = render(scene, tree, frame, [bake for bake in order["bakes"] if frame in bake["frames"]], order["depth"])
        if fault:
            print(f"understudy: {fault}", file=sys.stderr, flush=True)
            return EXIT_USER
        print(f"Frame {frame} ({place} of {len(wanted)})", flush=True)
    return 0


def prepare(scene: Scene, tree: NodeTree) -> None:
    """Let the compositor, and nothing of the artist's own outputs, have the picture."""
    scene.render.use_compositing, scene.render.use_sequencer = True, False
    for node in [node for node in tree.nodes if node.bl_idname == "CompositorNodeOutputFile"]:
        tree.nodes.remove(node)


def render(scene: Scene, tree: NodeTree, frame: int, bakes: Sequence[Bake], depth: str) -> str:
    """One frame of every socket. What went wrong, or nothing."""
    added: list[Node] = []
    sockets = ", ".join(f"{bake['socket']['node']} > {bake['socket']['name']}" for bake in bakes)
    try:
        folders = [make_folder_beside(bake["files"]["pattern"]) for bake in bakes]
        for bake, folder in zip(bakes, folders):
            added += add_output(tree, bake["socket"], folder.name, depth)
        scene.frame_set(frame)
        bpy.ops.render.render(scene=scene.name)
        for bake, folder in zip(bakes, folders):
            written = next(Path(folder.name).iterdir())
            written.replace(frames.path_of(bake["files"]["pattern"], frame + bake["files"]["shift"]))
            folder.cleanup()
    except OSError as error:
        return f"{error.filename}: cannot be written ({error.strerror}); choose another Data Directory"
    except (StopIteration, RuntimeError) as error:
        return f"{sockets}: frame {frame} was not rendered ({str(error).strip()}); render it in Blender to see why"
    for node in added:
        tree.nodes.remove(node)
    return ""


def make_folder_beside(pattern: str) -> tempfile.TemporaryDirectory[str]:
    """Blender chooses file names by rules of its own, which changed; here it makes one file, which is renamed."""
    folder = Path(pattern).parent
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix="baking_", dir=folder)


def add_output(tree: NodeTree, socket: Mapping[str, Any], folder: str, depth: str) -> list[Node]:
    """A File Output node for one socket; a matte goes into alpha."""
    output = tree.nodes.new("CompositorNodeOutputFile")
    if hasattr(output, "file_output_items"):  # from 5.0 on
        output.directory, output.file_name = folder, "frame"
        output.format.media_type = "IMAGE"
        output.file_output_items.new("RGBA", "Image")
    else:
        output.base_path = folder
    output.format.file_format, output.format.color_mode = "OPEN_EXR", "RGBA"
    output.format.color_depth, output.format.exr_codec = depth, "ZIP"
    source = tree.nodes[socket["node"]].outputs[socket["index"]]
    if not socket["is_value"]:
        tree.links.new(source, output.inputs[0])
        return [output]
    alpha = tree.nodes.new("CompositorNodeSetAlpha")
    tree.links.new(source, alpha.inputs["Alpha"])
    tree.links.new(alpha.outputs[0], output.inputs[0])
    return [output, alpha]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[sys.argv.index("--") + 1])))
