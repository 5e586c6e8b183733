"""The open script as another process can read it, without the open one changing name or state."""

from __future__ import annotations

import os
import socket
from typing import NamedTuple

import nuke

from .problem import Problem


class Snapshot(NamedTuple):
    """A file that holds the script as it is."""

    path: str
    is_copy: bool
    """Whether it was written for the purpose, and may be removed when it has served."""

    def remove(self) -> None:
        if self.is_copy and os.path.exists(self.path):
            os.remove(self.path)


def script_path() -> str:
    """Of the open script; empty while it was never saved."""
    return str(nuke.root()["name"].value() or "")


def readable_script_path() -> str:
    """Raises Problem when the script has no name, or is of a kind that only Nuke reads."""
    path = script_path()
    if not path:
        raise Problem("the script was never saved; save it first, so that its files can be found from its place")
    if not path.endswith(".nk"):
        raise Problem(f"{path}: Nuke encrypts scripts of this kind; save it from a Nuke that writes .nk")
    return path


def take(purpose: str) -> Snapshot:
    """The script's own file while nothing in it was changed, else a copy beside it, where relative paths still hold.

    A copy takes the place of the last one for the same purpose. Raises Problem when it cannot be written.
    """
    path = readable_script_path()
    if not nuke.root().modified():
        return Snapshot(path, is_copy=False)
    return Snapshot(copy(purpose), is_copy=True)


def copy(purpose: str) -> str:
    """Write the script beside itself. The name tells artists, machines and sessions apart, who may share the folder."""
    folder, name = os.path.split(readable_script_path())
    stem = f".{name[: -len('.nk')]}.understudy.{purpose}.{socket.gethostname()}.{os.getpid()}"
    final, unfinished = (os.path.join(folder, stem + ending).replace("\\", "/") for ending in (".nk", ".new.nk"))
    try:
        nuke.scriptSaveToTemp(unfinished)
        os.replace(unfinished, final)  # whoever reads the last one reads it whole
    except (OSError, RuntimeError) as error:
        raise Problem(f"{folder}: the script cannot be copied there ({error}); make the folder writable") from error
    return final
