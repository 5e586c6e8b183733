"""Inside Blender: the add-on, and a compositor with the shot's plate and the hero's Cryptomatte."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parents[3] / "plugin" / "blender"))
HERO = "hero"


def enable() -> None:
    """As the preferences do it; the add-on lies on Python's path."""
    import addon_utils

    addon_utils.enable("understudy_blender", default_set=True)


def new_tree(scene: bpy.types.Scene) -> bpy.types.NodeTree:
    """An empty compositor."""
    if hasattr(scene, "compositing_node_group"):  # from 5.0 on
        scene.compositing_node_group = bpy.data.node_groups.new("Comp", "CompositorNodeTree")
    else:
        scene.use_nodes = True
    tree_of(scene).nodes.clear()
    return tree_of(scene)


def tree_of(scene: bpy.types.Scene) -> bpy.types.NodeTree:
    return scene.compositing_node_group if hasattr(scene, "compositing_node_group") else scene.node_tree


def add_plate(tree: bpy.types.NodeTree, first_file: Path, first: int, last: int) -> bpy.types.Node:
    node = tree.nodes.new("CompositorNodeImage")
    node.name = node.label = "Plate"
    _show(node, first_file, first, last)
    return node


def add_matte(tree: bpy.types.NodeTree, first_file: Path, first: int, last: int) -> bpy.types.Node:
    """The hero's matte, out of the plate's Cryptomatte."""
    node = tree.nodes.new("CompositorNodeCryptomatteV2")
    node.name = node.label = "Roto"
    node.location = (0, -560)
    node.source = "IMAGE"
    _show(node, first_file, first, last)
    node.matte_id = HERO
    return node


def _show(node: bpy.types.Node, first_file: Path, first: int, last: int) -> None:
    image = bpy.data.images.load(str(first_file), check_existing=True)
    image.source = "SEQUENCE"
    node.image = image
    node.frame_start, node.frame_duration, node.frame_offset = first, last - first + 1, first - 1


def ready(scene: bpy.types.Scene, first_file: Path, first: int, last: int) -> bpy.types.NodeTree:
    """Plate, matte and Viewer as an artist has them before training."""
    scene.view_settings.view_transform = "Standard"
    scene.frame_start, scene.frame_end, scene.frame_current = first, last, first + 9
    tree = new_tree(scene)
    plate, matte = (add(tree, first_file, first, last) for add in (add_plate, add_matte))
    viewer = tree.nodes.new("CompositorNodeViewer")
    viewer.location = (560, 0)
    tree.links.new(plate.outputs[0], viewer.inputs[0])
    tree.links.new(plate.outputs[0], matte.inputs[0])
    return tree


def painted(first: int, last: int) -> str:
    """Five frames, spread over the shot."""
    return ",".join(str(first + round((last - first) * share / 10)) for share in (1, 3, 5, 7, 9))


def choose_small(chosen: bpy.types.PropertyGroup, steps: int) -> None:
    """A training of seconds on two cores."""
    chosen.model_size, chosen.steps, chosen.batch_size, chosen.crop_size = "small", steps, 4, 96
    chosen.farm, chosen.ranks = "local", 2
