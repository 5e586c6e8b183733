"""The studio's Python, which has understudy: where it is, what it is started with, and what it complained about."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping

import nuke

from .background import Ending
from .problem import Problem

PYTHON_VARIABLE = "UNDERSTUDY_PYTHON"
NUKE_VARIABLE = "UNDERSTUDY_FARM_NUKE"
"""The words that start Nuke on the farm, where they are other ones than here: a path, or `rez env nuke -- nuke`."""
KEEP_VARIABLE = "UNDERSTUDY_KEEP"
"""Names of variables, by commas, that the studio's Python is to get although Nuke, or something for Nuke, set them."""

CHOOSE = "understudy > Studio Python..."
"""Where the preference is set, for messages."""

_OF_NUKE = ("PYTHON", "LD_LIBRARY_PATH", "LD_PRELOAD", "DYLD_", "QT", "OCIO")
"""Beginnings of variables over which another Python would stumble."""
_SAID = "understudy: "
_EXIT_FAULT = 1


def preferences_file() -> str:
    return os.path.join(os.path.expanduser("~"), ".nuke", "understudy.json")


def preferred_python() -> str:
    """What was set by `prefer`; empty if nothing was, or nobody can read it."""
    try:
        with open(preferences_file(), encoding="utf-8") as file:
            return str(json.load(file)["python"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def prefer(python: str) -> None:
    """Raises Problem when the preference cannot be kept."""
    try:
        os.makedirs(os.path.dirname(preferences_file()), exist_ok=True)
        with open(preferences_file(), "w", encoding="utf-8") as file:
            json.dump({"python": python}, file)
    except OSError as error:
        raise Problem(
            f"{preferences_file()}: cannot be written ({error.strerror}); set ${PYTHON_VARIABLE} instead"
        ) from error


def stated_python() -> str:
    """As preferred, else $UNDERSTUDY_PYTHON; empty if nobody said anything."""
    return preferred_python() or os.environ.get(PYTHON_VARIABLE, "")


def python() -> str:
    """The stated one, else the one beside PATH's `understudy`.

    Raises Problem when there is none.
    """
    stated = stated_python()
    if stated:
        found = shutil.which(os.path.expanduser(stated))
        if found is None:
            raise Problem(f"{stated}: is no program; choose the studio's Python in {CHOOSE}, or set ${PYTHON_VARIABLE}")
        return found
    command = shutil.which("understudy") or ""
    beside = shutil.which("python", path=os.path.dirname(command)) if command else None
    if beside is None:
        raise Problem(f"no Python with understudy was found; choose it in {CHOOSE}, or set ${PYTHON_VARIABLE}")
    return beside


def understudy_words(*words: str) -> list[str]:
    """understudy's command line with these words. Raises Problem when there is no Python."""
    return [python(), "-m", "understudy.cli.main", *words]


def nuke_on_farm() -> list[str]:
    """As the studio says, else this Nuke's own program. Raises Problem for words that cannot be told apart."""
    stated = os.environ.get(NUKE_VARIABLE, "")
    try:
        return shlex.split(stated) or [nuke.EXE_PATH]
    except ValueError as error:
        raise Problem(f"${NUKE_VARIABLE} {stated!r} cannot be read ({error}); mind the quotes") from error


def environment() -> dict[str, str]:
    """Nuke's environment without what is for Nuke alone. UTF-8, because Windows' pipes speak another tongue."""
    wanted = [name.strip() for name in os.environ.get(KEEP_VARIABLE, "").split(",")]
    kept = {name: value for name, value in os.environ.items() if name in wanted or not _is_of_nuke(name)}
    return {**kept, "PYTHONUTF8": "1"}


def raise_if_failed(ending: Ending, program: str, advice: str) -> None:
    """Raises Problem with the lines that we wrote for people, or else the last one of the program's errors."""
    if ending.code == 0:
        return
    told = [line[len(_SAID) :] for line in ending.errors.splitlines() if line.startswith(_SAID)]
    if told and ending.code != _EXIT_FAULT:
        raise Problem("\n".join(told))
    last = next((line.strip() for line in reversed(ending.errors.splitlines()) if line.strip()), "it said nothing")
    raise Problem(f"{program} ended with exit code {ending.code} ({last}); {advice}")


def json_of(ending: Ending) -> Mapping[str, object]:
    """What a command with --json printed. Raises Problem when it is something else."""
    try:
        answer = json.loads(ending.output)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise Problem("understudy answers what this plugin cannot read; install both of one version")
    return answer


def _is_of_nuke(name: str) -> bool:
    return name.upper().startswith(_OF_NUKE)
