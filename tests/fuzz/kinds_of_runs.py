"""What a run leaves behind: read as resume, info and the panel read it."""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.core.records import RECORD, lay_run
from tests.fuzz.kind import Kind
from tests.fuzz.kinds_of_sources import SCRIPTS
from tests.fuzz.trees import damaged_json

from understudy.orders import remembered
from understudy.pairs import Pair
from understudy.report.curves import loss_curve, stages
from understudy.report.growing_metrics import GrowingMetrics
from understudy.report.metrics import newest_step, read_metrics, truncate_after
from understudy.report.run_record import read_record, write_record
from understudy.runs import run_of
from understudy.sources.sequences import FileFrame, SequenceSource
from understudy.sources.timeline import write_timeline


def _records() -> Sequence[Path]:
    source = SequenceSource(input="plate.####.exr", target="paint.####.exr", frames=(1001, 1013)).record()
    sources: dict[str, dict[str, object]] = {
        "sequences": {**source, "input": "plate.####.exr", "target": "paint.####.exr"},
        "script": {
            **{"kind": "script", "script": "shot.nk", "original": "shot.nk", "node": "", "remap": [["/a", "/b"]]},
            **{"environment": {"SHOT": "x"}, "validation_frames": "4", "view": "", "colour": {"config": ""}},
        },
        "timeline": {
            **{"kind": "timeline", "timeline": "pairs.otio", "input_layer": "", "target_layer": "rgb", "view": ""},
            **{"input_colorspace": "", "target_colorspace": "", "frames": "1", "validation_frames": "", "remap": []},
            "colour": {},
        },
    }
    shutil.copyfile(SCRIPTS / "plain.nk", "script.nk")
    pair = Pair(frame=1, input=FileFrame(path=Path("a.exr"), frame=0), target=FileFrame(path=Path("b.exr"), frame=0))
    write_timeline(Path("timeline.pairs.otio"), [pair], name="shot")
    files = []
    for kind, about in sources.items():
        path = Path(f"{kind}.run.json")
        lay_run(Path(), kind, dataclasses.replace(RECORD, source=about, colour={"view": ""}, versions={"torch": "2"}))
        files.append(path)
    return files


def _read_record(path: Path) -> None:
    record = read_record(path)
    order = remembered(record, run_of(path), {})
    order.source.pairs(are_to_come=True)
    write_record(Path("again.run.json"), dataclasses.replace(record, state="training"))


def _metrics() -> Sequence[Path]:
    files = lay_run(Path(), "run", num_lines=40)
    path = files.metrics
    with path.open("a", encoding="utf-8") as file:
        file.write('{"step": 40, "validation_psnr": 31.5}\n{"event": "resumed", "step": 40}\n')
        file.write('{"event": "ranks", "step": 40, "ranks": "0 1", "why": "1 joined"}\n')
    return [path]


def _read_metrics(path: Path) -> None:
    newest_step(path)
    seen, _ = GrowingMetrics(path).look()
    loss_curve(seen, 0.6)
    stages(seen.steps, seen.scales)
    found = read_metrics(path)
    loss_curve(found, 0.6, 10)
    truncate_after(path, 20)


def _damage(_: Path, content: bytes, chance: random.Random) -> bytes:
    return damaged_json(content, chance)


def _damage_lines(_: Path, content: bytes, chance: random.Random) -> bytes:
    """One or more of the lines, each a JSON of its own."""
    lines = content.splitlines()
    for at in chance.sample(range(len(lines)), chance.choice((1, 1, 3))):
        lines[at] = damaged_json(lines[at], chance)
    return b"\n".join([*lines, b""])


RUN_KINDS = (
    Kind(
        name="record",
        cases=1500,
        lay_out=_records,
        damage=_damage,
        read=_read_record,
        names=("shot.nk", "frames ", "colour space", "OCIO config"),
    ),
    Kind(name="metrics", cases=1000, lay_out=_metrics, damage=_damage_lines, read=_read_metrics),
)
