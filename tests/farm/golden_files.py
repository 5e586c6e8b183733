"""Payloads as a person has looked at them once: a difference is to be looked at again, and then written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).with_name("golden")
WRITE = "UNDERSTUDY_WRITE_GOLDEN"
"""Set to write the files anew instead of comparing."""


def matches_golden(name: str, payload: Mapping[str, str]) -> None:
    """The files of the folder golden/NAME are the payload, no more and no less."""
    folder = FOLDER / name
    if os.environ.get(WRITE):
        for path in folder.rglob("*"):
            if path.is_file():
                path.unlink()
        for file_name, text in payload.items():
            (folder / file_name).parent.mkdir(parents=True, exist_ok=True)
            (folder / file_name).write_text(text, encoding="utf-8", newline="\n")
    found = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert found == dict(payload)
