"""metrics.jsonl: one JSON object per line for steps, validations and events; panels, graphs and tests read it."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.files import naming_the_file, write_bytes

Steps = NDArray[np.int64]
Values = NDArray[np.float64]
JsonLine = Mapping[str, object]

_BYTES_OF_NEWEST = 65536
_LINES_OF_PACE = 50
_LARGEST_STEP = 1 << 53
"""Exact as a float, too."""


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """A run's history in columns. Values that were not finite are nan."""

    steps: Steps
    """Finished training steps, 1 and up; shape N."""
    losses: Values
    """Shape N."""
    learning_rates: Values
    """Shape N."""
    scales: Values
    """Resolution of the crops: 1, 0.5 or 0.25 of the frames'; shape N."""
    seconds: Values
    """Training time since the run began; shape N."""
    validation_steps: Steps
    """Shape V."""
    validation_psnrs: Values
    """Decibels; shape V."""
    events: tuple[JsonLine, ...]
    """What happened, in order: objects with `event` and, as a rule, `step`."""


class MetricsLog:
    """Appends to metrics.jsonl; every line is on its way to disk when the call returns."""

    def __init__(self, path: Path) -> None:
        """Open `path`, dropping a last line that a killed process left half-written.

        Raises UnderstudyError naming the file if it cannot be written.
        """
        self._path = path
        with naming_the_file(path):
            _drop_half_line(path)
            self._file = path.open("a", encoding="utf-8", newline="\n")

    def step(
        self, step: int, *, loss: float, learning_rate: float, scale: float, seconds: float, **more: float
    ) -> None:
        """Record a finished training step; fields as in Metrics."""
        self._append(
            {"step": step, "loss": loss, "learning_rate": learning_rate, "scale": scale, "seconds": seconds, **more}
        )

    def validation(self, step: int, *, psnr: float, **more: float | str) -> None:
        """Record validation PSNR in decibels after `step`, and `on` what it was measured: frames or squares."""
        self._append({"step": step, "validation_psnr": psnr, **more})

    def event(self, event: str, *, step: int, **facts: float | str) -> None:
        """Record that something happened after `step`: `resumed`, `stopped` ..."""
        self._append({"event": event, "step": step, **facts})

    def close(self) -> None:
        with naming_the_file(self._path):
            self._file.close()

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, line: Mapping[str, float | str]) -> None:
        finite = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in line.items()
        }
        with naming_the_file(self._path):
            self._file.write(json.dumps(finite, allow_nan=False) + "\n")
            self._file.flush()


def read_metrics(path: Path) -> Metrics:
    """The history so far; a last line that is still being written is left out.

    Raises UnderstudyError if the file is missing, or a line other than the last is damaged.
    """
    history = History()
    for _, line in _whole_lines(path):
        history.add(line)
    return history.metrics()


class History:
    """Lines of metrics.jsonl become columns, one after the other."""

    def __init__(self) -> None:
        self._steps = {name: array("d") for name in ("step", "loss", "learning_rate", "scale", "seconds")}
        self._validations = {name: array("d") for name in ("step", "validation_psnr")}
        self._events: list[JsonLine] = []

    def add(self, line: JsonLine) -> None:
        if "event" in line:
            self._events.append(line)
        elif "loss" in line:
            _put(line, self._steps)
        if "validation_psnr" in line:
            _put(line, self._validations)

    def metrics(self) -> Metrics:
        """So far; what is added later does not change it."""
        return Metrics(
            steps=np.array(self._steps["step"]).astype(np.int64),
            losses=np.array(self._steps["loss"]),
            learning_rates=np.array(self._steps["learning_rate"]),
            scales=np.array(self._steps["scale"]),
            seconds=np.array(self._steps["seconds"]),
            validation_steps=np.array(self._validations["step"]).astype(np.int64),
            validation_psnrs=np.array(self._validations["validation_psnr"]),
            events=tuple(self._events),
        )


@dataclass(frozen=True, kw_only=True)
class NewestStep:
    """The last step that was recorded."""

    step: int
    loss: float
    """nan when it was not finite."""
    seconds: float
    """Training time since the run began."""
    steps_a_line: float
    """On average of the last lines; 0 when there is one only."""
    seconds_a_line: float
    """Likewise. Ranks agree on the time now and then, so that it stands still between two lines."""


def newest_step(path: Path) -> NewestStep | None:
    """None when there is none yet. Reads the end of the file only, and survives damaged lines.

    Raises UnderstudyError if the file is missing.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _BYTES_OF_NEWEST))
            *lines, _half_written = file.read().split(b"\n")
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); give a run that has trained") from error
    last = next(_steps_of(reversed(lines)), None)
    if last is None:
        return None
    recent = lines[-_LINES_OF_PACE:]
    before = next(_steps_of(iter(recent)), last)
    return NewestStep(
        step=int(_number(last, "step")),
        loss=_number(last, "loss"),
        seconds=_number(last, "seconds"),
        steps_a_line=(_number(last, "step") - _number(before, "step")) / len(recent),
        seconds_a_line=(_number(last, "seconds") - _number(before, "seconds")) / len(recent),
    )


def _steps_of(lines: Iterator[bytes]) -> Iterator[JsonLine]:
    for raw in lines:
        with suppress(UnderstudyError):  # the first may be cut
            line = parsed_line(raw)
            if "loss" in line and "event" not in line:
                yield line


def truncate_after(path: Path, step: int) -> None:
    """Forget everything after `step`, the step of the checkpoint that a resumed run goes on from; atomic.

    A missing file is left missing. Raises UnderstudyError if the file is damaged or cannot be written.
    """
    if path.exists():
        kept = [raw for raw, line in _whole_lines(path) if _number(line, "step") <= step]
        write_bytes(path, b"".join(raw + b"\n" for raw in kept))


def _whole_lines(path: Path) -> list[tuple[bytes, JsonLine]]:
    try:
        *raw_lines, _half_written = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); give a run that has trained") from error
    found = []
    for number, raw in enumerate(raw_lines, 1):
        try:
            found.append((raw, parsed_line(raw)))
        except UnderstudyError as error:
            raise UnderstudyError(f"{path}: line {number} {error}; delete that line") from error
    return found


def parsed_line(raw: bytes) -> JsonLine:
    """Raises UnderstudyError when it is damaged."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or not _says_when(line):
        raise UnderstudyError("is damaged")
    return line


def _says_when(line: JsonLine) -> bool:
    """Whether the step is one; an event may have happened outside any."""
    may_be_silent = "event" in line and "validation_psnr" not in line
    step = line.get("step", 0 if may_be_silent else None)
    return type(step) is int and abs(step) <= _LARGEST_STEP


def _drop_half_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        write_bytes(path, content[: content.rfind(b"\n") + 1])


def _put(line: JsonLine, columns: Mapping[str, array[float]]) -> None:
    for name, column in columns.items():
        column.append(_number(line, name))


def _number(line: JsonLine, name: str) -> float:
    value = line.get(name)
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.nan
