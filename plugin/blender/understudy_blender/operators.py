"""The buttons. Each looks at the scene, sets out on a journey and comes back at once; faults go to the panel."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Context, Operator, Scene

from . import frames, host, journeys, knobs, nodes, plan, problems, session
from .host import SESSION
from .problems import Problem


def guarded(act: Callable[[Any, Context], object]) -> Callable[[Any, Context], set[str]]:
    """An operator's `execute` that never raises: what went wrong is shown once, in the panel."""

    def execute(self: Any, context: Context) -> set[str]:  # noqa: ANN401  any operator
        try:
            act(self, context)
        except Problem as problem:
            SESSION.fail(problem)
        except Exception:
            SESSION.fail(problems.of_fault(traceback.format_exc()))
        else:
            return {"FINISHED"}
        host.redraw()
        return {"CANCELLED"}

    return execute


class UNDERSTUDY_OT_add_node(Operator):
    """Add a node with CopyCat's inputs, Input and Ground Truth, linked to what is chosen here"""

    bl_idname, bl_label, bl_options = "understudy.add_node", "Make Understudy Node", {"REGISTER", "UNDO"}
    execute = guarded(lambda _, context: nodes.add_understudy(context))


class UNDERSTUDY_OT_add_frame(Operator):
    """Add the current frame to the painted ones"""

    bl_idname, bl_label, bl_options = "understudy.add_frame", "Add Current Frame", {"REGISTER", "UNDO"}

    @guarded
    def execute(self, context: Context) -> None:
        chosen = context.scene.understudy
        chosen.painted = frames.written([*frames.parse(chosen.painted), context.scene.frame_current])


class UNDERSTUDY_OT_dry_run(Operator):
    """Check everything and show in a text block what the farm would be sent; send nothing"""

    bl_idname, bl_label = "understudy.dry_run", "Dry Run"

    @classmethod
    def poll(cls, context: Context) -> bool:
        del context
        return not SESSION.is_busy

    @guarded
    def execute(self, context: Context) -> None:
        request = request_of(context.scene)
        host.begin(context.scene, journeys.dry_run(SESSION, request), host.run_of(context.scene))


class UNDERSTUDY_OT_train(Operator):
    """Send the training to the farm and show how it fares"""

    bl_idname, bl_label = "understudy.train", "Train"

    @classmethod
    def poll(cls, context: Context) -> bool:
        del context
        return not SESSION.is_busy

    @guarded
    def execute(self, context: Context) -> None:
        host.begin(context.scene, journeys.train(SESSION, request_of(context.scene)))


class UNDERSTUDY_OT_stop(Operator):
    """End what is going on; ranks that train write a checkpoint first"""

    bl_idname, bl_label = "understudy.stop", "Stop"

    @classmethod
    def poll(cls, context: Context) -> bool:
        del context
        return SESSION.is_busy and SESSION.stage != session.STOPPING and not SESSION.is_stopping

    @guarded
    def execute(self, context: Context) -> None:
        if SESSION.stage == session.TRAINING:
            host.begin(context.scene, journeys.stop(SESSION), SESSION.run_directory)
        elif SESSION.stage == session.SUBMITTING:
            SESSION.is_stopping = True  # a job may be half-way to the farm: it is cancelled when it is there
        else:
            SESSION.leave()


class UNDERSTUDY_OT_resume(Operator):
    """Requeue the job's ranks; training goes on from the newest checkpoint"""

    bl_idname, bl_label = "understudy.resume", "Resume"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return not SESSION.is_busy and bool(host.run_of(context.scene))

    @guarded
    def execute(self, context: Context) -> None:
        host.begin(context.scene, journeys.resume(SESSION), host.run_of(context.scene))


class UNDERSTUDY_OT_follow(Operator):
    """Show how the job that was sent last fares"""

    bl_idname, bl_label = "understudy.follow", "Show Progress"

    poll = UNDERSTUDY_OT_resume.poll

    @guarded
    def execute(self, context: Context) -> None:
        host.begin(context.scene, journeys.follow(SESSION), host.run_of(context.scene))


class UNDERSTUDY_OT_apply(Operator):
    """Make every frame of the scene's range with the newest model, and wire the result into the compositor"""

    bl_idname, bl_label = "understudy.apply", "Apply"

    poll = UNDERSTUDY_OT_resume.poll

    @guarded
    def execute(self, context: Context) -> None:
        scene, run_directory = context.scene, host.run_of(context.scene)
        plate, truth = nodes.sources(scene)
        shot = tuple(range(scene.frame_start, scene.frame_end + 1))
        work = plan.applying(plate, shot, run_directory)
        result = plan.result(plate, truth, shot, run_directory)
        host.begin(scene, journeys.apply(SESSION, work, result), run_directory)


class UNDERSTUDY_OT_show_sheet(Operator):
    """Show the newest contact sheet in an image editor: one that is open, or a new window"""

    bl_idname, bl_label = "understudy.show_sheet", "Open Contact Sheet"

    @classmethod
    def poll(cls, context: Context) -> bool:
        del context
        return host.SHEET in bpy.data.images

    @guarded
    def execute(self, context: Context) -> None:
        manager = context.window_manager
        areas = [area for window in manager.windows for area in window.screen.areas if area.type == "IMAGE_EDITOR"]
        if not areas and not bpy.ops.wm.window_new.poll():
            raise Problem("Contact sheet: no window can be opened from a maximised area; leave it with Ctrl-Space")
        if not areas:
            bpy.ops.wm.window_new()
            areas = [manager.windows[-1].screen.areas[0]]
            areas[0].type = "IMAGE_EDITOR"
        areas[0].spaces.active.image = bpy.data.images[host.SHEET]


class UNDERSTUDY_OT_wait(Operator):
    """For scripts without a window: come back when what is going on has ended"""

    bl_idname, bl_label = "understudy.wait", "Wait"

    @classmethod
    def poll(cls, context: Context) -> bool:
        del context
        return bpy.app.background

    @guarded
    def execute(self, context: Context) -> None:
        del context
        while host.tick() is not None:
            time.sleep(host.SECONDS_BETWEEN_TICKS)
        if SESSION.problem:
            raise Problem(SESSION.problem)


def request_of(scene: Scene) -> plan.Request:
    """Raises Problem for what is missing in the scene."""
    chosen = scene.understudy
    plate, truth = nodes.sources(scene)
    return plan.Request(
        plate=plate,
        truth=truth,
        painted=frames.parse(chosen.painted),
        values={knob.name: getattr(chosen, knob.name) for knob in (*knobs.TRAINING, *knobs.FARM)},
        data_directory=plan.data_directory(chosen.data_directory, bpy.data.filepath),
        scene=Path(bpy.data.filepath or scene.name).stem,
    )


@bpy.app.handlers.persistent
def follow_again(*_words: object) -> None:
    """Another file was opened: what it was last waiting for is what the panel shows."""
    SESSION.forget()
    scene = bpy.context.scene
    if scene.understudy.run_directory and not bpy.app.background:
        bpy.ops.understudy.follow()


CLASSES = (
    *(UNDERSTUDY_OT_add_node, UNDERSTUDY_OT_add_frame, UNDERSTUDY_OT_dry_run, UNDERSTUDY_OT_train),
    *(UNDERSTUDY_OT_stop, UNDERSTUDY_OT_resume, UNDERSTUDY_OT_follow, UNDERSTUDY_OT_apply),
    *(UNDERSTUDY_OT_show_sheet, UNDERSTUDY_OT_wait),
)


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.app.handlers.load_post.append(follow_again)


def unregister() -> None:
    bpy.app.handlers.load_post.remove(follow_again)
    host.leave()
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
