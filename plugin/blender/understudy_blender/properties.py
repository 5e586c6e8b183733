"""What the panel asks, kept in the scene; and the add-on's preference."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import AddonPreferences, Context, PropertyGroup, Scene

from . import knobs
from .host import SESSION


def _property_of(knob: knobs.Knob) -> object:
    if knob.choices:
        items = [(word, word.capitalize(), "") for word in knob.choices]
        return EnumProperty(name=knob.label, description=knob.tooltip, items=items, default=knob.default)
    if isinstance(knob.default, int):
        return IntProperty(name=knob.label, description=knob.tooltip, default=knob.default, min=knob.low)
    return StringProperty(name=knob.label, description=knob.tooltip, default=knob.default)


def _node(name: str, about: str) -> object:
    return StringProperty(name=name, description=about)


class UnderstudyScene(PropertyGroup):
    """One scene's choices."""

    __annotations__ = {
        "plate_node": _node("Plate", "Node that shows the plate, as it is before the work"),
        "plate_socket": _node("Plate Output", "Which of its outputs. Empty: the first"),
        "truth_node": _node("Ground Truth", "Node that shows the painted frames, or an Understudy node"),
        "truth_socket": _node("Ground Truth Output", "Which of its outputs. Empty: the first"),
        "painted": StringProperty(
            name="Painted Frames",
            description="Frames of the scene that are painted, as 1001,1013-1040x9. Empty: those that lie on disk",
        ),
        "bake_depth": EnumProperty(
            name="Bake Depth",
            description="Numbers in the EXR files that are made of what does not lie on disk",
            items=[
                ("16", "Half", "Enough for pictures and mattes"),
                ("32", "Float", "For depth, or values over 65504"),
            ],
        ),
        knobs.DATA_DIRECTORY.name: StringProperty(
            name=knobs.DATA_DIRECTORY.label,
            description=knobs.DATA_DIRECTORY.tooltip,
            default=str(knobs.DATA_DIRECTORY.default),
            subtype="DIR_PATH",
        ),
        **{knob.name: _property_of(knob) for knob in (*knobs.TRAINING, *knobs.FARM)},
        "share": FloatProperty(
            name="Done", get=lambda _: 100 * SESSION.share, max=100, precision=0, subtype="PERCENTAGE"
        ),
        "run_directory": StringProperty(name="Run", description="Directory of the run that was sent last"),
    }


class UnderstudyPreferences(AddonPreferences):
    """Where understudy is."""

    bl_idname = __package__
    __annotations__ = {
        "command": StringProperty(
            name="understudy, or its Python",
            description="Path of the studio's understudy command, or of a Python that has it. Empty: "
            "$UNDERSTUDY_PYTHON, or understudy on PATH",
            subtype="FILE_PATH",
        )
    }

    def draw(self, context: Context) -> None:
        del context
        self.layout.prop(self, "command")


CLASSES = (UnderstudyScene, UnderstudyPreferences)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    Scene.understudy = PointerProperty(type=UnderstudyScene)


def unregister() -> None:
    del Scene.understudy
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
