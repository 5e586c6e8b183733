"""The studio's own command after a publishing, by which its asset system learns of the version."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from understudy.errors import UnderstudyError

HOOK = "UNDERSTUDY_PUBLISH_HOOK"
"""Environment variable: the command where none is given."""


def hook_words(command: str) -> tuple[str, ...]:
    """The words of a command, none for an empty one. Raises UnderstudyError for one that could not be started."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UnderstudyError(f"--hook: {command!r} is no command ({error})") from error
    if words and shutil.which(words[0]) is None:
        raise UnderstudyError(f"--hook: {words[0]}: is no program here; correct --hook or {HOOK}")
    return words


def run_hook(words: tuple[str, ...], told: Mapping[str, str], version: Path) -> None:
    """Run it with these variables; what it prints is seen.

    Raises UnderstudyError when it fails: the version stays, since others may have seen it.
    """
    if not words:
        return
    try:
        code = subprocess.run(words, env={**os.environ, **told}, check=False).returncode
    except OSError as error:
        raise _failed(words, told, version, f"cannot be started ({error.strerror})") from error
    if code:
        raise _failed(words, told, version, f"ended with exit code {code}")


def _failed(words: tuple[str, ...], told: Mapping[str, str], version: Path, how: str) -> UnderstudyError:
    again = shlex.join(["env", *(f"{name}={value}" for name, value in told.items()), *words])
    return UnderstudyError(f"{version}: is published, but its hook {words[0]} {how}; mend it, then: {again}")
