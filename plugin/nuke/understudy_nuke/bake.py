"""What only Nuke evaluates, rendered to EXR by a second Nuke without a window, so that understudy can train on it.

The open script is left alone: a copy beside it gets two Write nodes, which that Nuke renders, or a farm does.
"""

from __future__ import annotations

import os
import time
from typing import Callable, NamedTuple

import nuke

from . import background, snapshot, studio
from .bake_terminal import BAKED, RENDER, WRITES
from .graph import common_frames, data_directory_of
from .problem import Problem


class Bake(NamedTuple):
    """One bake: from which script, of which node and frames, and where to."""

    script: str
    """A copy of the open script."""
    node: str
    folder: str
    first: int
    last: int

    @property
    def baked_script(self) -> str:
        """The same script with Reads of the EXR files above the training node."""
        return f"{self.folder}/{BAKED}"

    def words(self, *verb: str) -> list[str]:
        """The second Nuke's command line. With -t it takes a render licence."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bake_terminal.py")
        numbers = [str(self.first), str(self.last)]
        return [nuke.EXE_PATH, "-t", program, self.script, self.node, self.folder, *numbers, *verb]


def render(training: nuke.Node, then: Callable[[str], None]) -> None:
    """Bake on this machine, beside Nuke; `then` gets the baked script. Raises Problem when it cannot begin."""
    bake = _of(training)
    if bake is not None:
        _start(f"Bake {bake.node}", bake, (RENDER,), then, keeps_copy=False)


def prepare(training: nuke.Node) -> None:
    """Leave a copy with two Writes for the studio's own render submitter, and say how to go on."""
    bake = _of(training)
    if bake is None:
        return

    def said(baked: str) -> None:
        writes = ",".join(f"{bake.node.rpartition('.')[0]}.{name}".lstrip(".") for name in WRITES)
        nuke.message(
            f"Render frames {bake.first}-{bake.last} of {writes} in {bake.script} on the farm "
            f"(nuke -F {bake.first}-{bake.last} -X {writes} {bake.script}); when that is done, train from {baked}"
        )

    _start(f"Prepare bake of {bake.node}", bake, (), said, keeps_copy=True)


def _of(training: nuke.Node) -> Bake | None:
    """None when the artist thinks better of it."""
    data_directory = data_directory_of(training)
    first, last = common_frames(training)
    panel = nuke.Panel(f"Bake Input and Ground Truth of {training.fullName()}")
    panel.addSingleLineInput("First frame", str(first))
    panel.addSingleLineInput("Last frame", str(last))
    if not panel.show():
        return None
    name = training.fullName()
    folder = f"{data_directory}/bake/{name}_{time.strftime('%y%m%d_%H%M%S')}"
    try:
        first, last = int(panel.value("First frame")), int(panel.value("Last frame"))
    except ValueError as error:
        raise Problem(f"{name}: the frames to bake are no whole numbers ({error}); give numbers") from error
    return Bake(snapshot.copy(f"bake.{name}"), name, folder, first, last)


def _start(title: str, bake: Bake, verb: tuple[str, ...], then: Callable[[str], None], *, keeps_copy: bool) -> None:
    def work(task: background.Task) -> str:
        task.say(f"frames {bake.first}-{bake.last} to {bake.folder}")
        try:
            # It is a Nuke, so it gets all that this one has.
            ending = task.run(bake.words(*verb), os.environ)
        finally:
            if not keeps_copy:
                snapshot.Snapshot(bake.script, is_copy=True).remove()
        studio.raise_if_failed(ending, "the second Nuke", f"try it in a terminal: {nuke.EXE_PATH} -t")
        return bake.baked_script

    background.start(title, work, then)
