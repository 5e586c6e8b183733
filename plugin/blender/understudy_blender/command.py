"""How the studio's understudy is found and called. It runs beside Blender, never inside."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from .problems import Problem

PYTHON_VARIABLE = "UNDERSTUDY_PYTHON"
KEEP_VARIABLE = "UNDERSTUDY_KEEP"
"""Names, by commas, of variables that are understudy's own all the same, as where rez finds it by PYTHONPATH."""
_OF_BLENDER = ("PYTHON", "OCIO")
"""Beginnings of variables that Blender, or a studio for Blender, sets; another Python would stumble over them."""


def found(preference: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The words that begin every call: what the preference names, else $UNDERSTUDY_PYTHON, else PATH's understudy.

    Raises Problem when there is none.
    """
    preferred = str(Path(preference).expanduser()) if preference else ""
    stated = preferred or environment.get(PYTHON_VARIABLE, "") or "understudy"
    command = shutil.which(stated, path=environment.get("PATH"))
    if command is None:
        raise Problem(
            f"{stated}: was not found; set the path of understudy, or of its Python, in Edit > Preferences > Add-ons > "
            f"Understudy, or in ${PYTHON_VARIABLE}"
        )
    return (command, "-m", "understudy.cli.main") if _is_python(command) else (command,)


def environment_of_child(environment: Mapping[str, str]) -> dict[str, str]:
    """What understudy starts with. UTF-8, because Windows would let a pipe speak another tongue."""
    wanted = environment.get(KEEP_VARIABLE, "").split(",")
    kept = {
        name: value for name, value in environment.items() if name in wanted or not name.upper().startswith(_OF_BLENDER)
    }
    return {**kept, "PYTHONUTF8": "1"}


def status(run_directory: str) -> Sequence[str]:
    return ("status", run_directory, "--watch", "--json")


def log(run_directory: str, step: str, number: int) -> Sequence[str]:
    return ("logs", run_directory, "--step", step, "--task", str(number), "--json")


def cancel(run_directory: str) -> Sequence[str]:
    return ("cancel", run_directory, "--json")


def requeue(run_directory: str) -> Sequence[str]:
    return ("requeue", run_directory, "--json")


def _is_python(path: str) -> bool:
    return Path(path).name.lower().startswith(("python", "py.exe"))
