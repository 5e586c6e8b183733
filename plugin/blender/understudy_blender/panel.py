"""The tab "Understudy" in the compositor's sidebar."""

from __future__ import annotations

import bpy
from bpy.types import Context, NodeTree, Panel, PropertyGroup, Scene, UILayout

from . import host, job, knobs, nodes, problems
from .host import SESSION
from .problems import Problem

SHEET_SCALE = 10.0


class _Tab:
    bl_space_type, bl_region_type, bl_category = "NODE_EDITOR", "UI", "Understudy"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bool(context.space_data.tree_type == "CompositorNodeTree")


class UNDERSTUDY_PT_source(_Tab, Panel):
    """Plate, ground truth, painted frames."""

    bl_idname, bl_label = "UNDERSTUDY_PT_source", "Plate and Ground Truth"

    def draw(self, context: Context) -> None:
        layout, scene = self.layout, context.scene
        try:
            tree = nodes.tree_of(scene)
        except Problem as problem:
            draw_lines(context, layout, problem.lines, "INFO")
            return
        draw_sources(context, layout, scene, tree)
        row = draw_field(layout, scene.understudy, "painted").row(align=True)
        row.prop(scene.understudy, "painted", text="")
        row.operator("understudy.add_frame", text="", icon="ADD")


class UNDERSTUDY_PT_knobs(_Tab, Panel):
    """CopyCat's knobs and the farm's."""

    bl_idname, bl_label = "UNDERSTUDY_PT_knobs", "Training"

    def draw(self, context: Context) -> None:
        layout, chosen = self.layout, context.scene.understudy
        draw_field(layout, chosen, knobs.DATA_DIRECTORY.name).prop(chosen, knobs.DATA_DIRECTORY.name, text="")
        layout.use_property_split, layout.use_property_decorate = True, False
        for group in (knobs.TRAINING, knobs.FARM):
            column = layout.column(align=True)
            for knob in group:
                column.prop(chosen, knob.name)
        layout.prop(chosen, "bake_depth")


class UNDERSTUDY_PT_run(_Tab, Panel):
    """Buttons, progress, contact sheet, problems."""

    bl_idname, bl_label = "UNDERSTUDY_PT_run", "Run"

    def draw(self, context: Context) -> None:
        layout = self.layout
        row = layout.row(align=True)
        row.operator("understudy.dry_run")
        row.operator("understudy.train", icon="PLAY")
        row = layout.row(align=True)
        row.operator("understudy.stop")
        row.operator("understudy.resume")
        row.operator("understudy.apply")
        draw_lines(context, layout, SESSION.problem, "ERROR")
        draw_progress(context, layout)
        draw_sheet(layout)


def draw_sources(context: Context, layout: UILayout, scene: Scene, tree: NodeTree) -> None:
    chosen = scene.understudy
    is_group = nodes.is_understudy(tree.nodes.get(chosen.truth_node))
    for side in ("truth",) if is_group else ("plate", "truth"):
        column = draw_field(layout, chosen, f"{side}_node")
        column.prop_search(chosen, f"{side}_node", tree, "nodes", text="", icon="NODE")
        node = tree.nodes.get(getattr(chosen, f"{side}_node"))
        if node is not None and not is_group:
            column.prop_search(chosen, f"{side}_socket", node, "outputs", text="", icon="NODE_SEL")
    if is_group:
        draw_lines(context, layout, nodes.described(scene), "NONE")
    else:
        layout.operator("understudy.add_node", icon="NODETREE")


def draw_field(layout: UILayout, chosen: PropertyGroup, name: str) -> UILayout:
    """A column under the property's label: beside a field, a sidebar has no room for words."""
    column = layout.column(align=True)
    column.label(text=chosen.bl_rna.properties[name].name)
    return column


def draw_progress(context: Context, layout: UILayout) -> None:
    run_directory = host.run_of(context.scene)
    if SESSION.stage:
        layout.prop(context.scene.understudy, "share", text=SESSION.stage, slider=True)
    elif run_directory and SESSION.report is None:
        layout.operator("understudy.follow")
    told = job.lines(SESSION.report, SESSION.seconds_left) if SESSION.report else []
    draw_lines(context, layout, told, "NONE")
    draw_lines(context, layout, [SESSION.warning] if SESSION.warning and SESSION.stage else [], "INFO")
    draw_lines(context, layout, [run_directory] if run_directory else [], "FILE_FOLDER")


def draw_sheet(layout: UILayout) -> None:
    image = bpy.data.images.get(host.SHEET)
    if image is not None and image.preview is not None:
        layout.template_icon(icon_value=image.preview.icon_id, scale=SHEET_SCALE)
        layout.operator("understudy.show_sheet", icon="IMAGE_DATA")


def draw_lines(context: Context, layout: UILayout, lines: object, icon: str) -> None:
    """Each line as wide as the panel, its icon before the first part."""
    assert isinstance(lines, (tuple, list))
    width = context.region.width / context.preferences.system.ui_scale - 60
    for line in lines:
        column = layout.column(align=True)
        column.scale_y = 0.8
        for place, part in enumerate(problems.wrapped(line, width)):
            column.label(text=part, icon=icon if place == 0 else "BLANK1" if icon != "NONE" else "NONE")


CLASSES = (UNDERSTUDY_PT_source, UNDERSTUDY_PT_knobs, UNDERSTUDY_PT_run)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)


def unregister() -> None:
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
