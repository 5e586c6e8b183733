"""NukeX on this machine, asked to make the .cat file, which no other program can write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from understudy.errors import UnderstudyError

NUKEX = "UNDERSTUDY_NUKEX"
"""Environment variable: NukeX's executable."""
MAKER = Path(__file__).with_name("make_cat.py")
"""Copied into the export, so that it can be run on another machine."""
MINUTES = 15
"""For NukeX to start, find its licence and make the file."""
_PLACES = (
    "/usr/local/Nuke*/Nuke*",
    "/opt/Nuke*/Nuke*",
    "/Applications/Nuke*/Nuke*.app/Contents/MacOS/Nuke*",
    "C:/Program Files/Nuke*/Nuke*.exe",
)
_EXECUTABLE = re.compile(r"Nuke(X)?(\d+)\.(\d+)(\.exe)?")


def find_nukex(asked: str) -> Path:
    """`asked`, else what the environment names, else NukeX on PATH, else the newest Nuke where Nukes are installed.

    Raises UnderstudyError when there is none.
    """
    named = asked or os.environ.get(NUKEX, "")
    if named:
        found = shutil.which(named)
        if found is None:
            raise UnderstudyError(f"{named}: is no program; name NukeX's executable with --nukex or {NUKEX}")
        return Path(found)
    on_path = shutil.which("NukeX")
    if on_path:
        return Path(on_path)
    installed = _installed()
    if not installed:
        raise UnderstudyError(
            f"--make-cat: no NukeX was found; name its executable with --nukex or {NUKEX}, or press the button "
            "of CatFileCreator1 in the script that export writes without --make-cat"
        )
    return max(installed, key=_version_of)


def make_cat(nukex: Path, script: Path, cat_file: Path) -> None:
    """Let NukeX open the script and make its .cat file. Raises UnderstudyError, with its last words, when it does not.

    It takes an interactive licence (-i): a render licence has no CatFileCreator.
    """
    command = [str(nukex), "--nukex", "-i", "-t", str(script.parent / MAKER.name), str(script)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=60 * MINUTES,
            cwd=script.parent,
        )
    except subprocess.TimeoutExpired as error:
        raise UnderstudyError(f"{nukex}: made no .cat file within {MINUTES} minutes; nothing was written") from error
    except OSError as error:
        raise UnderstudyError(f"{nukex}: cannot be started ({error.strerror}); nothing was written") from error
    if done.returncode or not cat_file.is_file():
        raise UnderstudyError(f"{nukex}: made no .cat file ({_last_words(done)}); nothing was written")


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    said = [line.strip() for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()]
    return said[-1] if said else f"exit code {done.returncode}"


def _installed() -> list[Path]:
    return [path for path in _matching(_PLACES) if _EXECUTABLE.fullmatch(path.name) and os.access(path, os.X_OK)]


def _matching(patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        root = Path(pattern).anchor
        if root and Path(root).is_dir():
            yield from Path(root).glob(pattern[len(root) :])


def _version_of(executable: Path) -> tuple[int, int]:
    match = _EXECUTABLE.fullmatch(executable.name)
    return (int(match[2]), int(match[3])) if match else (0, 0)
