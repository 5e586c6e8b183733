"""What only Nuke evaluates, rendered to EXR by a second Nuke without a window, so that understudy can train on it.

The open script is left alone: understudy writes a copy beside it that has two Writes, and a script that reads their
files. The copy is rendered by a Nuke here, or by one on the farm.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Callable, NamedTuple

import nuke

from . import background, snapshot, studio
from .graph import common_frames, data_directory_of
from .problem import Problem


class LaidOut(NamedTuple):
    """A bake that Nuke can render."""

    baked: str
    """The script to train from when that is done."""
    node: str
    """The training node's name there."""
    render: tuple[str, ...]
    """What follows `nuke`; the last word is the copy."""

    def words(self, program: Sequence[str]) -> list[str]:
        return [*program, *self.render]


def render(training: nuke.Node, then: Callable[[LaidOut], None]) -> None:
    """Bake on this machine, beside Nuke. Raises Problem when it cannot begin."""
    _begin(training, then, renders=True)


def lay_out(training: nuke.Node, then: Callable[[LaidOut], None]) -> None:
    """For a Nuke on the farm. Raises Problem when it cannot begin."""
    _begin(training, then, renders=False)


def _begin(training: nuke.Node, then: Callable[[LaidOut], None], *, renders: bool) -> None:
    name, data_directory = training.fullName(), data_directory_of(training)
    frames = _asked_for(training)
    if frames is None:
        return
    folder = f"{data_directory}/bake/{name}_{time.strftime('%y%m%d_%H%M%S')}"
    script = snapshot.take(f"bake.{name}")

    def run(task: background.Task) -> LaidOut:
        task.say(f"frames {frames} to {folder}")
        try:
            words = ["bake", "--json", "-X", name, "-F", frames, "--folder", folder, script.path]
            ending = task.run(studio.understudy_words(*words), studio.environment())
        finally:
            script.remove()
        studio.raise_if_failed(ending, "the studio's Python", f"if it is not the right one, see {studio.CHOOSE}")
        laid = _laid_out(name, studio.json_of(ending))
        if renders:
            _render(task, laid)
        return laid

    background.start(f"Bake {name}", run, then)


def _render(task: background.Task, laid: LaidOut) -> None:
    try:
        # It is a Nuke, so it gets all that this one has.
        ending = task.run(laid.words([nuke.EXE_PATH]), os.environ)
    finally:
        snapshot.Snapshot(laid.render[-1], is_copy=True).remove()
    studio.raise_if_failed(ending, "the second Nuke", f"try it in a terminal: {nuke.EXE_PATH} -x")


def _asked_for(training: nuke.Node) -> str | None:
    """FIRST-LAST; None when the artist thinks better of it."""
    first, last = common_frames(training)
    panel = nuke.Panel(f"Bake Input and Ground Truth of {training.fullName()}")
    panel.addSingleLineInput("First frame", str(first))
    panel.addSingleLineInput("Last frame", str(last))
    if not panel.show():
        return None
    try:
        return f"{int(panel.value('First frame'))}-{int(panel.value('Last frame'))}"
    except ValueError as error:
        raise Problem(
            f"{training.fullName()}: the frames to bake are no whole numbers ({error}); give numbers"
        ) from error


def _laid_out(node: str, answer: Mapping[str, object]) -> LaidOut:
    render = answer["nuke"]
    assert isinstance(render, list)
    return LaidOut(str(answer["baked"]), node.rpartition(".")[2], tuple(map(str, render)))
