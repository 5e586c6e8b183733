"""Sources from records: what `understudy resume` starts from."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.errors import UnderstudyError, quoted
from understudy.pairs import PairSource


def from_record(record: Mapping[str, object]) -> PairSource:
    """The source whose `record()` this is.

    Raises UnderstudyError when its kind or its fields are not those of this version.
    """
    kind = record.get("kind")
    try:
        return _build(kind, record)
    except (KeyError, TypeError, ValueError) as error:
        raise UnderstudyError(
            f"run record: the {kind} source is incomplete ({error}); it was written by another version"
        ) from error


def _build(kind: object, record: Mapping[str, object]) -> PairSource:
    # one kind at a time: a run from sequences needs neither OpenTimelineIO nor the script room
    if kind == "sequences":
        from understudy.sources.sequences import SequenceSource

        return SequenceSource.from_record(record)
    if kind == "timeline":
        from understudy.sources.timeline import TimelineSource

        return TimelineSource.from_record(record)
    if kind == "script":
        from understudy.sources.script import ScriptSource

        return ScriptSource.from_record(record)
    raise UnderstudyError(
        f"run record: {quoted(kind)} is no kind of source; this version knows sequences, timeline and script"
    )
