"""Inside Blender: renders a small shot with Cryptomatte, `SCRIPT -- FOLDER FIRST LAST`.

A copper monkey turns among blocks on a grey floor; its matte is the paint that the network has to learn.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import bpy

WIDTH, HEIGHT = 240, 135
HERO = "hero"
COPPER = (0.8, 0.2, 0.05)
COLOURS = ((0.1, 0.3, 0.8), (0.1, 0.6, 0.2), (0.6, 0.6, 0.1), (0.4, 0.1, 0.5))


def main(folder: Path, first: int, last: int) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    add_floor_and_blocks()
    add_hero(first, last)
    add_light_and_camera(scene)
    scene.frame_start, scene.frame_end = first, last
    choose_output(scene, folder)
    bpy.ops.render.render(animation=True)


def add_floor_and_blocks() -> None:
    bpy.ops.mesh.primitive_plane_add(size=20)
    paint(bpy.context.object, (0.3, 0.3, 0.3))
    for place, colour in enumerate(COLOURS):
        angle = math.pi / 2 * place + 0.4
        bpy.ops.mesh.primitive_cube_add(size=0.6, location=(math.cos(angle) * 2.2, math.sin(angle) * 2.2, 0.3))
        paint(bpy.context.object, colour)


def add_hero(first: int, last: int) -> None:
    bpy.ops.mesh.primitive_monkey_add(location=(-0.8, 0, 0.8))
    hero = bpy.context.object
    hero.name = HERO
    bpy.ops.object.shade_smooth()
    hero.modifiers.new("smooth", "SUBSURF").render_levels = 2
    paint(hero, COPPER)
    for frame, angle, place in ((first, -0.6, -0.8), (last, 1.2, 0.8)):
        hero.rotation_euler.z, hero.location.x = angle, place
        hero.keyframe_insert("rotation_euler", frame=frame)
        hero.keyframe_insert("location", frame=frame)


def add_light_and_camera(scene: bpy.types.Scene) -> None:
    bpy.ops.object.light_add(type="SUN", rotation=(0.6, 0.3, 0.2))
    bpy.context.object.data.energy = 4
    bpy.ops.object.camera_add(location=(0, -7.5, 3.4), rotation=(1.22, 0, 0))
    scene.camera = bpy.context.object
    scene.world = bpy.data.worlds.new("sky")
    scene.world.color = (0.2, 0.2, 0.25)


def paint(thing: bpy.types.Object, colour: tuple[float, float, float]) -> None:
    material = bpy.data.materials.new(thing.name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs[0].default_value = (*colour, 1)
    thing.data.materials.append(material)


def choose_output(scene: bpy.types.Scene, folder: Path) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 8, False
    scene.render.threads_mode, scene.render.threads = "FIXED", 2
    scene.view_layers[0].use_pass_cryptomatte_object = True
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    image = scene.render.image_settings
    if hasattr(image, "media_type"):  # from 5.0 on
        image.media_type = "MULTI_LAYER_IMAGE"
    image.file_format, image.color_depth, image.exr_codec = "OPEN_EXR_MULTILAYER", "16", "ZIP"
    scene.render.filepath = str(folder / "plate.####.exr")


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1 :]
    main(Path(words[0]), int(words[1]), int(words[2]))
