"""run.json: every setting, pair, version and host of a run, kept up to date while it trains."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar, get_args

from understudy.errors import UnderstudyError, quoted
from understudy.files import write_text
from understudy.pairs import Media, Pair, PairUse

SCHEMA = 1
"""Raised whenever an older version could misread what a newer one writes."""

_DEEPEST = 16
"""Lists and tables within one another; no run needs half as many, and Python writes fewer than it reads."""

_MEND = "restore it from a backup, or start a new run"

JsonObject = Mapping[str, object]
Value = TypeVar("Value")
Word = TypeVar("Word")

RunState = Literal["submitted", "training", "finished", "stopped", "failed"]


@dataclass(frozen=True, kw_only=True)
class SideRecord:
    """Where one side of a pair came from."""

    label: str
    path: str
    layer: str
    """Part or layer; empty for the file's main picture."""


@dataclass(frozen=True, kw_only=True)
class PairRecord:
    """One pair as it was trained on."""

    frame: int
    use: PairUse
    input: SideRecord
    target: SideRecord


@dataclass(frozen=True, kw_only=True)
class Host:
    """The machine that rank 0 ran on."""

    name: str
    platform: str
    cpu_count: int
    """Logical processors."""


@dataclass(frozen=True, kw_only=True)
class FirstSteps:
    """Those of a run that have fewer crops than the others."""

    steps: int
    """How many they are."""
    size: int
    """Crops a step."""


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """Everything that is needed to know, repeat or resume a run."""

    settings: Mapping[str, object]
    """From settings.to_record."""
    source: Mapping[str, object]
    """From the pair source's `record`."""
    colour: Mapping[str, str]
    """The fields of ColourRules."""
    skip_unreadable: bool
    """Pairs that could not be read were left out."""
    pairs: tuple[PairRecord, ...]
    versions: Mapping[str, str]
    """Package to version."""
    host: Host
    command: str
    """The command line as it was typed."""
    started: str
    """ISO 8601 with zone."""
    total_steps: int
    """0 until the run has begun."""
    batch_size: int
    """Crops a step, over all ranks; chosen when the setting says auto. 0 until the run has begun."""
    device: str
    """Rank 0's; empty until the run has begun."""
    state: RunState = "training"
    ended: str = ""
    """ISO 8601 with zone; empty while training."""
    first_steps: FirstSteps | None = None
    """Of a batch that grows."""


def write_record(path: Path, record: RunRecord) -> None:
    """Write or replace run.json, atomically. Raises UnderstudyError naming it if that fails."""
    write_text(path, json.dumps({"schema": SCHEMA, **asdict(record)}, indent=2, ensure_ascii=False) + "\n")


def read_record(path: Path) -> RunRecord:
    """The record in `path`. Raises UnderstudyError when it is missing, damaged or written by a newer version."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); give a run's data directory") from error
    except (ValueError, RecursionError) as error:
        raise UnderstudyError(f"{path}: is damaged ({error}); {_MEND}") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        raise UnderstudyError(f"{path}: was written by a newer understudy (schema {schema}); update understudy")
    if schema != SCHEMA:
        raise UnderstudyError(f"{path}: is no run record of understudy; {_MEND}")
    try:
        if _nests_deeper(data, _DEEPEST):
            raise ValueError(f"it nests deeper than {_DEEPEST} lists")
        return _record_of(data)
    except ValueError as error:
        raise UnderstudyError(f"{path}: is damaged ({error}); {_MEND}") from error


def pair_records(pairs: Sequence[Pair]) -> tuple[PairRecord, ...]:
    return tuple(
        PairRecord(
            frame=pair.frame,
            use=pair.use,
            input=_side(pair.input.label, pair.input.media),
            target=_side(pair.target.label, pair.target.media),
        )
        for pair in pairs
    )


def this_host() -> Host:
    return Host(name=platform.node(), platform=platform.platform(), cpu_count=os.cpu_count() or 1)


def now() -> str:
    """This moment as the record writes it."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _nests_deeper(value: object, levels: int) -> bool:
    """Whether more than `levels` lists and tables are within one another, `value` counted."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inner) and (levels == 0 or any(_nests_deeper(one, levels - 1) for one in inner))


def _side(label: str, media: Media) -> SideRecord:
    return SideRecord(label=label, path=str(media.path), layer=media.layer)


def _record_of(data: JsonObject) -> RunRecord:
    return RunRecord(
        settings=_field(data, "settings", dict),
        source=_field(data, "source", dict),
        colour=_words(data, "colour"),
        skip_unreadable=_field(data, "skip_unreadable", bool),
        pairs=tuple(_pair_of(pair) for pair in _field(data, "pairs", list)),
        versions=_words(data, "versions"),
        host=_host_of(_field(data, "host", dict)),
        command=_field(data, "command", str),
        started=_field(data, "started", str),
        total_steps=_field(data, "total_steps", int),
        batch_size=_field(data, "batch_size", int),
        device=_field(data, "device", str),
        state=_word(data, "state", get_args(RunState)),
        ended=_field(data, "ended", str),
        first_steps=_first_steps_of(data),
    )


def _first_steps_of(record: JsonObject) -> FirstSteps | None:
    """Earlier versions' batches did not grow."""
    if record.get("first_steps") is None:
        return None
    data = _field(record, "first_steps", dict)
    found = FirstSteps(steps=_field(data, "steps", int), size=_field(data, "size", int))
    if min(found.size, found.steps) < 1:
        raise ValueError(f"field 'first_steps' has {found.steps} steps of {found.size} crops")
    return found


def _pair_of(data: JsonObject) -> PairRecord:
    return PairRecord(
        frame=_field(data, "frame", int),
        use=_word(data, "use", get_args(PairUse)),
        input=_side_of(_field(data, "input", dict)),
        target=_side_of(_field(data, "target", dict)),
    )


def _side_of(data: JsonObject) -> SideRecord:
    return SideRecord(
        label=_field(data, "label", str), path=_field(data, "path", str), layer=_field(data, "layer", str)
    )  # fmt: skip


def _host_of(data: JsonObject) -> Host:
    return Host(
        name=_field(data, "name", str),
        platform=_field(data, "platform", str),
        cpu_count=_field(data, "cpu_count", int),
    )


def _field(data: JsonObject, name: str, kind: type[Value]) -> Value:
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, kind):
        raise ValueError(f"field {name!r} is missing or not of type {kind.__name__}")
    return value


def _words(data: JsonObject, name: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in _field(data, name, dict).items()}


def _word(data: JsonObject, name: str, words: tuple[Word, ...]) -> Word:
    for word in words:
        if data.get(name) == word:
            return word
    raise ValueError(f"field {name!r} is {quoted(data.get(name))}, not one of {', '.join(map(str, words))}")
