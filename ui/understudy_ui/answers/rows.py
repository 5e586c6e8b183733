"""The list of runs: thousands of them, from records and the ends of files; one that is broken is one broken row."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.report.metrics import NewestStep, newest_step
from understudy.report.run_record import RunRecord, read_record
from understudy.runs import RECORD_SUFFIX, RunFiles, run_of
from understudy.versions import VERSION
from understudy_farm.folder import read_sent
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.condition import OVER, place_of_job, state_of_run
from understudy_ui.answers.remembered import Remembered, Stamp, stamp_of
from understudy_ui.protocol import RunRow


class RunBook:
    """What is known of the runs in data directories."""

    def __init__(self) -> None:
        self.records: Remembered[RunRecord] = Remembered(read_record)
        self._newest: Remembered[NewestStep | None] = Remembered(newest_step)
        self._farms: Remembered[str] = Remembered(lambda sent: read_sent(sent.parent.parent).farm)
        self._names: Remembered[tuple[str, ...]] = Remembered(_names_of_records)
        self._over: dict[Path, tuple[Stamp, RunRow]] = {}
        """Rows of runs that are over: only their records are looked at again."""

    def rows(self, asking: Asking) -> list[RunRow]:
        folder = Path(asking.text("folder"))
        return sorted(map(self.row, self.records_in(folder)), key=_age)

    def records_in(self, folder: Path) -> Iterator[Path]:
        """Of runs that share the folder, and of its versions. Raises UnderstudyError when it cannot be looked into."""
        if not folder.exists():
            return
        try:
            with os.scandir(folder) as entries:
                found = [(entry.name, VERSION.fullmatch(entry.name) and entry.is_dir()) for entry in entries]
        except OSError as error:
            raise UnderstudyError(f"{folder}: cannot be looked into ({error.strerror}); check the path") from error
        for name, is_version in found:
            if name.endswith(RECORD_SUFFIX):
                yield folder / name
            elif is_version:
                yield from (folder / name / record for record in self._records_of(folder / name))

    def row(self, place: Path) -> RunRow:
        """Never fails: what is wrong stands in the row."""
        try:
            stamp = stamp_of(place)
            if (kept := self._over.get(place)) and kept[0] == stamp:
                return kept[1]
            row = self._row_of(place)
        except OSError as error:
            return _broken(place, f"{place}: cannot be read ({error.strerror}); check its permissions")
        except UnderstudyError as error:
            return _broken(place, str(error))
        if row["state"] in OVER and not row["fault"]:
            self._over[place] = stamp, row
        return row

    def newest(self, files: RunFiles) -> NewestStep | None:
        """Raises UnderstudyError when the metrics cannot be read."""
        try:
            return self._newest.of(files.metrics)
        except FileNotFoundError:
            return None

    def _row_of(self, place: Path) -> RunRow:
        files, record = run_of(place), self.records.of(place)
        newest = self.newest(files)
        state = state_of_run(files, record, newest)
        sent = place_of_job(files)
        return {
            "place": str(place),
            "name": files.name,
            "version": _version_of(place),
            "state": state,
            "step": newest.step if newest else 0,
            "total_steps": record.total_steps,
            "minutes": _minutes(record),
            "loss": newest.loss if newest and math.isfinite(newest.loss) else None,
            "started": record.started,
            "seconds_left": _seconds_left(record, newest) if state == "training" and newest else None,
            "farm": self._farms.of(sent) if sent else "",
            "fault": "",
        }

    def _records_of(self, version: Path) -> tuple[str, ...]:
        try:
            return self._names.of(version)
        except OSError:  # it went this moment, or may not be looked into
            return ()


def _names_of_records(folder: Path) -> tuple[str, ...]:
    return tuple(name for path in folder.iterdir() if (name := path.name).endswith(RECORD_SUFFIX))


def _version_of(place: Path) -> str:
    return place.parent.name if VERSION.fullmatch(place.parent.name) else ""


def _seconds_left(record: RunRecord, newest: NewestStep) -> float | None:
    """At the pace of the last lines, or by the clock, whichever comes first."""
    left = []
    if record.total_steps and newest.steps_a_line > 0 and newest.seconds_a_line > 0:
        left.append((record.total_steps - newest.step) * newest.seconds_a_line / newest.steps_a_line)
    if minutes := _minutes(record):
        left.append(minutes * 60 - newest.seconds)
    return max(0.0, min(left)) if left and all(map(math.isfinite, left)) else None


def _minutes(record: RunRecord) -> float:
    """0: only its steps count."""
    minutes = record.settings.get("minutes")
    return max(0.0, float(minutes)) if isinstance(minutes, int | float) else 0.0


def _broken(place: Path, fault: str) -> RunRow:
    return {
        "place": str(place),
        "name": place.name.removesuffix(RECORD_SUFFIX),
        "version": _version_of(place),
        "state": "failed",
        "step": 0,
        "total_steps": 0,
        "minutes": 0.0,
        "loss": None,
        "started": "",
        "seconds_left": None,
        "farm": "",
        "fault": " ".join(fault.split()),
    }


def _age(row: RunRow) -> tuple[float, str]:
    """Newest first; those that do not say when, last."""
    try:
        began = datetime.fromisoformat(row["started"])
        seconds = began.astimezone(timezone.utc).timestamp()
    except (ValueError, OverflowError):
        seconds = 0.0
    return -seconds, re.sub(r"\d+", lambda digits: digits.group().zfill(9), row["place"])
