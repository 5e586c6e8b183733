"""A kind of file whose reading goes wrong in every way there is, to see that each is noticed."""

from __future__ import annotations

import ctypes
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.fuzz.kind import Kind

from understudy.errors import Problems, UnderstudyError
from understudy.frames.window import Window

DEEDS = ("whole", "refuse", "crash", "burst", "bug", "mumble", "shout", "hang", "grow")
"""In the order in which the cases draw each, and only one of them hangs: that is waited for."""


def _lay_out() -> Sequence[Path]:
    for deed in DEEDS:
        Path(deed).write_text("whole", encoding="ascii")
    return [Path(deed) for deed in DEEDS]


def _damage(path: Path, _content: bytes, _chance: random.Random) -> bytes:
    return path.name.encode()


def _read(path: Path) -> None:
    deed = path.read_text(encoding="ascii")
    if deed == "refuse":
        raise UnderstudyError(f"{path}: cannot be read; write it again")
    if deed == "crash":
        ctypes.string_at(0)
    if deed == "hang":
        time.sleep(3600)
    if deed == "bug":
        Window(0, 0, 1, 1).union(None)  # type: ignore[arg-type]
    if deed == "mumble":
        raise UnderstudyError("something is wrong")
    if deed == "shout":
        raise Problems([f"{path}: {'very ' * 1000}wrong"])
    if deed == "grow":
        np.ones(1 << 27)  # 1 GiB
    if deed == "burst":
        np.ones(1 << 40)


MISBEHAVING = Kind(name="misbehaving", cases=20, lay_out=_lay_out, damage=_damage, read=_read)
