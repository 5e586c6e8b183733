"""Runs on disk that nobody trained: a record, and files with the names that a run gives them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from understudy.report.run_record import Host, PairRecord, RunRecord, SideRecord, write_record
from understudy.runs import RunFiles
from understudy.settings import Settings, to_record

RECORD = RunRecord(
    settings=to_record(Settings()),
    source={"kind": "sequences"},
    colour={},
    skip_unreadable=False,
    pairs=tuple(
        PairRecord(
            frame=frame,
            use="train",
            input=SideRecord(label=f"plate.{frame}.exr", path=f"/shot/plate.{frame}.exr", layer=""),
            target=SideRecord(label=f"paint.{frame}.exr", path=f"/shot/paint.{frame}.exr", layer=""),
        )
        for frame in (1001, 1013)
    ),
    versions={},
    host=Host(name="render07", platform="Linux", cpu_count=8),
    command="understudy train shot.nk",
    started="2026-11-21T12:00:00+01:00",
    total_steps=100,
    batch_size=4,
    device="CPU, float32, 8 threads",
    state="finished",
    ended="2026-11-21T13:00:00+01:00",
)


def lay_run(folder: Path, name: str, record: RunRecord = RECORD, *, num_lines: int = 10) -> RunFiles:
    """A record, metrics of so many lines, and a checkpoint and a contact sheet that are no pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    files = RunFiles(folder, name)
    settings = {**record.settings, "data_directory": str(folder), "run_name": name}
    write_record(files.record, dataclasses.replace(record, settings=settings))
    files.metrics.write_text("".join(map(metrics_line, range(1, num_lines + 1))))
    for path in (files.model(10), files.state(10), files.contact_sheet(10)):
        path.write_bytes(path.name.encode())
    return files


def metrics_line(step: int) -> str:
    line = {"step": step, "loss": 1 / step, "learning_rate": 1e-3, "scale": 1.0, "seconds": step / 2}
    return json.dumps(line) + "\n"
