"""Timeline files, looked through before OpenTimelineIO sees them: some that are none would end the whole process."""

from __future__ import annotations

import json
from pathlib import Path

import opentimelineio as otio

from understudy.errors import UnderstudyError
from understudy.frames.sequence import is_missing

_OTIO_SUFFIX = ".otio"
_DEEPEST = 300
"""Tables and lists within each other. The library reads each level on the stack of its thread."""
_ABORTING_SCHEMA = "UnknownSchema"


def read_timeline(path: Path) -> otio.schema.Timeline:
    """Raises UnderstudyError naming the file when it is missing, or holds no timeline."""
    if is_missing(path):
        raise UnderstudyError(f"{path}: no such timeline; correct the path")
    try:
        timeline = _read(path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, otio.exceptions.OTIOError) as error:
        reason = " ".join(str(error).split())[:160]
        raise UnderstudyError(f"{path}: is not a timeline that can be read ({reason}); export it again") from error
    if not isinstance(timeline, otio.schema.Timeline):
        raise UnderstudyError(f"{path}: holds no timeline at its top; export the timeline itself")
    return timeline


def _read(path: Path) -> object:
    if path.suffix.lower() != _OTIO_SUFFIX:
        return otio.adapters.read_from_file(str(path))
    content = json.loads(path.read_text(encoding="utf-8"))
    _refuse_what_crashes(content)
    return otio.adapters.read_from_string(json.dumps(content), "otio_json")


def _refuse_what_crashes(content: object) -> None:
    """Raises ValueError."""
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"it is nested deeper than {_DEEPEST} levels")
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                if str(value.get("OTIO_SCHEMA")).startswith(_ABORTING_SCHEMA):
                    raise ValueError(f"it has a part of the schema {_ABORTING_SCHEMA}")
                below += value.values()
            elif isinstance(value, list):
                below += value
        level = below
