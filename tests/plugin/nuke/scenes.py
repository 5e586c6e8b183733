"""Scripts as artists leave them open in Nuke, built with the fake, on a small shot on disk."""

from __future__ import annotations

from pathlib import Path

import nuke
from tests.core.script.fixtures import numbered_shot

from understudy_nuke import node

FRAMES = range(1001, 1004)


def shot(folder: Path) -> None:
    """Plate and paint, three frames of 64 x 48."""
    for name in ("plate", "paint"):
        numbered_shot(folder / name, FRAMES, 64, 48)


def read(name: str, folder: str) -> nuke.Node:
    made = nuke.nodes.Read()
    made.setName(name)
    made["file"].setValue(f"{folder}/plate.####.exr")
    made["first"].setValue(FRAMES[0])
    made["last"].setValue(FRAMES[-1])
    return made


def scene(folder: Path, training_class: str = "CopyCat", *, upstream: str = "", saved: bool = True) -> nuke.Node:
    """Two Reads relative to the script, `upstream` on the plate if named, and a training node; the node."""
    shot(folder)
    plate = read("Plate", "[file dirname [value root.name]]/plate")
    paint = read("Paint", "[file dirname [value root.name]]/paint")
    if upstream:
        above = getattr(nuke.nodes, upstream)()
        above.setInput(0, plate)
        plate = above
    training = nuke.nodes.CopyCat() if training_class == "CopyCat" else node.create()
    training.setInput(0, plate)
    training.setInput(1, paint)
    training["dataDirectory"].setValue((folder / "runs").as_posix())
    if saved:
        nuke.scriptSaveAs((folder / "shot.nk").as_posix())
    return training
