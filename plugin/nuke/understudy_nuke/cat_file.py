"""A model's .cat file, which alone Nuke's Inference reads: that of its export, else one that a second NukeX makes."""

from __future__ import annotations

import glob
import json
import os
from typing import Callable

import nuke

from . import background, studio
from .problem import Problem

CAT_ENDINGS = (".cat", ".catnc")
MODEL_ENDING = ".safetensors"


def bring(model: str, then: Callable[[str], None]) -> None:
    """`then` gets the .cat file: at once where there is one, else when the studio's Python and NukeX have made it.

    Raises Problem for a file of another kind, and for a model whose channels Inference does not know.
    """
    if model.endswith(CAT_ENDINGS):
        then(model)
        return
    if not model.endswith(MODEL_ENDING):
        raise Problem(f"{model}: is no model; choose a {MODEL_ENDING} or .cat file")
    folder = f"{model[: -len(MODEL_ENDING)]}.nuke"
    there = _in_export(folder)
    if there:
        then(there)
        return
    background.start(f"Export {os.path.basename(model)}", lambda task: _made(task, model, folder), then)


def _made(task: background.Task, model: str, folder: str) -> str:
    words = ["export", model, "--to", "nuke", "--folder", folder, "--make-cat", "--nukex", nuke.EXE_PATH]
    ending = task.run(studio.understudy_words(*words), studio.environment())
    studio.raise_if_failed(ending, "the studio's Python", f"if it is not the right one, see {studio.CHOOSE}")
    made = _in_export(folder)
    if not made:
        raise Problem(f"{folder}: the export has no .cat file; install plugin and understudy of one version")
    return made


def _in_export(folder: str) -> str:
    """Empty when there is none. Raises Problem when an Inference node with it would be given other channels."""
    found = sorted(path for ending in CAT_ENDINGS for path in glob.glob(f"{glob.escape(folder)}/*/*{ending}"))
    if not found:
        return ""
    borrowed = _borrowed_channels(f"{folder}/export.json")
    if borrowed:
        gizmo = os.path.dirname(found[0]).replace("\\", "/")
        raise Problem(
            f"{gizmo}: Inference does not know {', '.join(borrowed)}; copy this folder into a Cattery on NUKE_PATH, "
            f"and create {os.path.basename(gizmo)} from its menu"
        )
    return found[0].replace("\\", "/")


def _borrowed_channels(record: str) -> list[str]:
    """Raises Problem when the export's record cannot be read."""
    try:
        with open(record, encoding="utf-8") as file:
            return [str(name) for name in json.load(file)["borrowed_channels"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"{record}: cannot be read ({error!r}); remove the folder, and export again") from error
