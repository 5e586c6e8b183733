"""Plays `python -m understudy_ui.answers` in any state that a test or a picture of the panel wants.

    python stand_in_answers.py --state training [--pictures FOLDER] [--num-runs 200] [--num-steps 2000]

States: empty (no runs), problems (pairs that cannot be trained), training (3 ranks, one lost), finished. Questions that
do something change the state, so that a stop is seen as stopped. `--die-at QUESTION` ends the process there.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import random
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from understudy.settings import Settings, as_flag, field_choices
from understudy_farm.choices import Choices
from understudy_ui.protocol import Field, Json, PairShown, RunRow, Side

FRAMES = (1001, 1013, 1025, 1037, 1048)
LABELS = {
    "contact_sheet_interval": "Contact Sheet Interval",
    "multi_resolution": "Use Multi-Resolution Training",
    "initial_weights": "Checkpoint File",
    "graph_log_scale": "Log Scale",
    "graph_smoothness": "Smoothness",
    "graph_show_original": "Show Original Curve",
}
RESULT_FIELDS = (
    "apply_input",
    "apply_colorspace",
    "apply_output",
    "apply_frames",
    "apply_tasks",
    "apply_passes",
    "publish",
)
OWN_OF_SLURM = (("array", "flag", False, "one job for each rank"), ("qos", "text", "", "quality of service"))


def _nobody(_line: str) -> None:
    """Whom nobody listens to."""


class StandIn:
    """Answers like a studio with one data directory."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.state: str = arguments.state
        self.pictures: str = arguments.pictures
        self.num_runs: int = arguments.num_runs
        self.num_steps: int = arguments.num_steps
        self.num_sheets: int = arguments.num_sheets
        self.steps_a_second: float = arguments.steps_a_second
        self.folder: tempfile.TemporaryDirectory[str] | None = None
        self.start = time.monotonic()
        self.states: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.gone: set[str] = set()

    def answer(self, question: str, about: Mapping[str, Json], tell: Callable[[str], None] = _nobody) -> Json:
        answer: Json = getattr(self, "on_" + question.replace(" ", "_"))(dict(about), tell)
        return answer

    def on_fields(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> list[Field]:
        return [*map(_setting, dataclasses.fields(Settings)), *map(_choice, dataclasses.fields(Choices))]

    def on_farms(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> list[dict[str, object]]:
        own = [_field(name, f"-O {name}=", kind, default, doc, "farm") for name, kind, default, doc in OWN_OF_SLURM]
        return [
            {"name": "local", "doc": "processes on this machine", "options": []},
            {"name": "slurm", "doc": "sbatch, one job of all ranks", "options": own},
        ]

    def on_farm_names(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, list[str]]:
        machines = [f"render{number:02d}" for number in range(1, 9)]
        return {"pool": ["gpu", "cpu", "night"], "group": ["comp"], "limits": ["torch"], "machines": machines}

    def on_nodes(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> list[dict[str, str]]:
        return [{"name": "CopyCat1", "kind": "CopyCat"}, {"name": "Understudy1", "kind": "Understudy"}]

    def on_source(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        words = _words(about)
        if "nowhere" in " ".join(words):
            raise ValueError("nowhere.nk: there is no such file; choose another script")
        held = self.state == "finished"
        return {
            "title": "CopyCat1" if "-X" in words else "plate.####.exr",
            "knobs": {"epochs": 2400, "crop_size": 128} if "-X" in words else {},
            "pairs": [_pair(frame, "validation" if held and frame == 1025 else "train") for frame in FRAMES],
            "data_directory": "/show/sh010/comp/runs",
            "frames_of_input": list(range(1001, 1049)),
            "input_pattern": "/show/sh010/plate/plate.####.exr",
        }

    def on_check(self, _about: dict[str, Json], tell: Callable[[str], None]) -> dict[str, object]:
        for number in range(1, 6):
            tell(f"{number} of 5 pairs")
            time.sleep(0.05)
        remarks = ["plate.1048.exr: 12 pixels are not finite; they are left out of the loss"]
        if self.state != "problems":
            return {"problems": [], "remarks": remarks}
        missing = "/show/sh010/paint/paint.1037.exr: cannot be read (file ends early); render it again"
        formats = "frame 1013: input is 480x270, ground truth 482x270; give both the same format"
        problems = [{"frame": 1013, "line": formats}, {"frame": 1037, "line": missing}]
        return {"problems": problems, "remarks": remarks}

    def on_thumbnail(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        side, frame = str(about["side"]), int(str(about["frame"]))
        if self.state == "problems" and (side, frame) == ("target", 1037):
            raise ValueError("paint.1037.exr: cannot be read (file ends early)")
        return {"path": self._picture(side, frame), "width": 160, "height": 90}

    def on_estimate(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        figures = {"total_steps": 12000, "seconds": 5400.0, "memory_gib": 0.4, "disk_mib": 410.0}
        return {"num_pairs": 5, "certainty": "about", **figures}

    def on_preview(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        run_directory = "/show/sh010/comp/runs/v004"
        job = {"name": "CopyCat1 v004", "run_directory": run_directory, "steps": [{"name": "train", "tasks": 3}]}
        script = "#!/bin/bash\n#SBATCH --ntasks=3\n#SBATCH --partition=gpu\nsrun understudy resume " + run_directory
        return {
            "command": " ".join(["understudy", "submit", *_words(about)]),
            "run_directory": run_directory,
            "files": {"job.json": json.dumps(job, indent=2), "train.sbatch": script},
            "remarks": ["The machine that submits is the only one that was asked whether it sees the frames"],
        }

    def on_submit(self, about: dict[str, Json], tell: Callable[[str], None]) -> dict[str, str]:
        tell("Looking at 5 pairs")
        time.sleep(0.1)
        if "slurm" in _words(about):
            raise ValueError("slurm: sbatch does not answer (Unable to contact slurm controller); submit again later")
        return {"run_directory": "/show/sh010/comp/runs/v004", "farm": "local", "link": ""}

    def on_runs(self, about: dict[str, Json], _tell: Callable[[str], None]) -> list[RunRow]:
        if "nowhere" in str(about["folder"]):
            raise ValueError(f"{about['folder']}: there is no such folder; it appears with the first run")
        count = 0 if self.state == "empty" else self.num_runs
        places = [self._place_of(number) for number in range(count)]
        return [self._row(place) for place in places if place not in self.gone]

    def on_run(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        place = self._place(about)
        row = self._row(place)
        checkpoints = [step for step in range(500, self.num_steps + 1, 500) if step <= row["step"]][-10:]
        every = max(1, self.num_steps // self.num_sheets)
        return {
            "row": row,
            "ranks": list(self._ranks(row)),
            "tasks": [{"number": 0, "state": "waiting", "host": "", "note": "apply"}] if _number(place) == 0 else [],
            "link": "https://farm.example/jobs/4711" if row["farm"] not in ("", "local") else "",
            "checkpoints": checkpoints,
            "models": [f"/show/sh010/comp/runs/Training.{step}.safetensors" for step in checkpoints],
            "best_step": 1500 if row["state"] == "finished" else 0,
            "best_psnr": 43.8,
            "is_settled": row["state"] == "finished",
            "good_enough_seconds": 400.0,
            "sheets": [step for step in range(every, self.num_steps + 1, every) if step <= row["step"]],
            "pairs": [_pair(frame, "train") for frame in FRAMES],
            "settings": {"epochs": 2400, "crop_size": 128, "model_size": "medium", "learning_rate": 0.001},
            "command": "understudy submit --farm slurm --ranks 3 -X CopyCat1 /show/sh010/comp/sh010_v012.nk",
        }

    def on_curve(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        place = self._place(about)
        last_step = self._row(place)["step"]
        first, last = int(str(about["first"])) or 1, int(str(about["last"])) or last_step
        count = int(str(about["num_points"]))
        steps = sorted({round(first + (min(last, last_step) - first) * i / max(1, count - 1)) for i in range(count)})
        smooth = [_loss(step, self.num_steps, _number(place)) for step in steps]
        noise = random.Random(3)
        spread = [0.25 + noise.random() * 0.5 for _ in steps]
        stages = [1, self.num_steps // 5, 2 * self.num_steps // 5]
        held = list(range(500, last_step + 1, 500))
        return {
            "steps": steps,
            "lowest": [loss * (1 - wide * 0.6) for loss, wide in zip(smooth, spread, strict=True)],
            "highest": [loss * (1 + wide) for loss, wide in zip(smooth, spread, strict=True)],
            "smooth": smooth,
            "validation_steps": held,
            "validation_psnrs": [44.5 - 14 * math.exp(-step / self.num_steps * 3) - _number(place) for step in held],
            "stages": [step for step in stages if step <= last_step],
            "stage_names": ["1/4", "1/2", "full"][: sum(step <= last_step for step in stages)],
            "events": ["step 812: rank 2 lost"] if _number(place) == 0 and last_step > 812 else [],
            "event_steps": [812] if _number(place) == 0 and last_step > 812 else [],
        }

    def on_log(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        row = self._row(self._place(about))
        lines = [
            f"12:{step // 60 % 60:02d}:{step % 60:02d} [Step:{step}/{self.num_steps}] Loss:{_loss(step, 2000, 0):.6f}"
            for step in range(10, row["step"] + 1, 10)
        ]
        text = "\n".join([f"rank {about['rank']} of 3, NVIDIA RTX A5000", *lines, ""])
        offset = int(str(about["offset"]))
        piece = text[offset : offset + 262144]
        return {"text": piece, "offset": offset + len(piece)}

    def on_sheet(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        return {"path": self._picture("sheet", int(str(about["step"])))}

    def on_view(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, object]:
        frame, has_result = int(str(about["frame"])), bool(about["result"])
        result = self._picture("result", frame) if has_result else ""
        difference = self._picture("difference", frame) if has_result else ""
        psnr = 44.1 if has_result else None
        sides = {"input": self._picture("input", frame), "target": self._picture("target", frame)}
        return {**sides, "result": result, "difference": difference, "psnr": psnr}

    def on_stop(self, about: dict[str, Json], tell: Callable[[str], None]) -> dict[str, str]:
        tell("Asking the ranks to stop")
        self.states[self._place(about)] = "stopped"
        return {"said": "Stopped at a checkpoint; resume goes on"}

    def on_resume(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, str]:
        self.states[self._place(about)] = "training"
        return {"said": "Resumed from the newest checkpoint"}

    def on_requeue(self, _about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, str]:
        return {"said": "Rank 2 was queued again"}

    def on_cancel(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, str]:
        self.states[self._place(about)] = "stopped"
        return {"said": "The job is cancelled"}

    def on_rename(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, str]:
        self.names[self._place(about)] = str(about["name"])
        return {"said": f"The run is called {about['name']} now"}

    def on_trash(self, about: dict[str, Json], _tell: Callable[[str], None]) -> dict[str, str]:
        self.gone.add(self._place(about))
        return {"said": "The run's files lie in runs/trash"}

    def on_apply(self, about: dict[str, Json], tell: Callable[[str], None]) -> dict[str, object]:
        for number in range(1, 49):
            tell(f"{number} of 48 frames")
            time.sleep(0.01)
        passes = "" if about["passes"] == 1 else f" in {about['passes']} passes"
        return {"said": f"48 frames were written{passes}", "frames": list(range(1001, 1049))}

    def on_export(self, about: dict[str, Json], tell: Callable[[str], None]) -> dict[str, object]:
        host, folder = str(about["to"]), str(about["folder"])
        if "taken" in folder:
            raise ValueError(f"{folder}: holds something else than an export; choose another --folder")
        samples = ["plate.1001.exr", "plate.1048.exr", "a made picture of 61x37"]
        model = f"Training.{about['checkpoint']}.safetensors"
        for line in (f"Exporting {model} to {host}", f"Held against our model on {', '.join(samples)}:"):
            tell(line)
            time.sleep(0.3)
        half = {"by": "torch 2.13.0, half", "difference": 0.0031, "sample": "plate.1048.exr"}
        return {
            "said": f"{model} was exported for {host}: {folder}",
            "folder": folder,
            "files": ["Training.nk", "Training.pt", "Training/Training.gizmo", "Training/cat.json", "make_cat.py"],
            "samples": samples,
            "proofs": [{"by": "torch 2.13.0", "difference": 2.4e-07, "sample": "a made picture of 61x37"}, half],
            "remarks": [],
        }

    def on_suggest(self, _about: dict[str, Json], tell: Callable[[str], None]) -> list[dict[str, object]]:
        tell("48 of 48 frames")
        return [
            {"frame": 1043, "score": 0.91, "why": "most unlike the painted frames: the door opens"},
            {"frame": 1031, "score": 0.64, "why": "far from the painted frames next to it"},
            {"frame": 1007, "score": 0.42, "why": "far from the painted frames next to it"},
        ]

    def _place_of(self, number: int) -> str:
        return f"/show/sh010/comp/runs/v{self.num_runs - number:03d}/{number}"

    def _row(self, place: str) -> RunRow:
        number = _number(place)
        newest = "training" if self.state in ("training", "problems") else "finished"
        older = ("finished", "stopped", "finished", "failed", "finished", "lost")
        state = self.states.get(place, newest if number == 0 else older[number % len(older)])
        step = self._step() if number == 0 and state == "training" else self.num_steps
        step = int(step * (0.45 if state in ("stopped", "failed", "lost") else 1))
        started = datetime(2026, 11, 20, 17, 15, 32, tzinfo=timezone.utc) - timedelta(hours=7 * number)
        version = f"v{self.num_runs - number:03d}"
        return {
            "place": place,
            "name": self.names.get(place, f"Training_{started:%y%m%d_%H%M%S}"),
            "version": version,
            "state": state,
            "step": step,
            "total_steps": self.num_steps,
            "minutes": 0.0,
            "loss": _loss(step, self.num_steps, number),
            "started": started.isoformat(),
            "seconds_left": (self.num_steps - step) * 2.7 if state == "training" else None,
            "farm": "slurm" if number % 3 != 1 else "local",
            "fault": "metrics.jsonl is cut off in line 812; what is before it is shown" if state == "failed" else "",
        }

    def _step(self) -> int:
        begun = self.num_steps * 0.68
        return min(self.num_steps, int(begun + (time.monotonic() - self.start) * self.steps_a_second))

    def _ranks(self, row: RunRow) -> Iterator[dict[str, object]]:
        state = {"training": "running", "finished": "done"}.get(row["state"], "cancelled")
        for number in range(3):
            is_lost = number == 2 and row["state"] == "training"
            note = "not heard of since step 812" if is_lost else ""
            yield {
                "number": number,
                "state": "lost" if is_lost else state,
                "host": f"render{number + 1:02d}",
                "note": note,
            }

    def _place(self, about: dict[str, Json]) -> str:
        place = str(about["place"])
        if place in self.gone:
            raise ValueError("the run's record is gone; it was deleted or moved")
        return place

    def _folder(self) -> str:
        """Of pictures that it draws itself."""
        self.folder = self.folder or tempfile.TemporaryDirectory(prefix="stand_in_")
        return self.folder.name

    def _picture(self, kind: str, frame: int) -> str:
        drawn = Path(self.pictures, f"{kind}.{frame}.png") if self.pictures else None
        if drawn is not None and not drawn.exists():
            drawn = Path(self.pictures, f"{kind}.png")
        if drawn is not None and drawn.exists():
            return str(drawn)
        path = Path(self._folder(), f"{kind}.{frame}.png")
        if not path.exists():
            path.write_bytes(_png(frame % 256, 480, 270 if kind != "sheet" else 640))
        return str(path)


def _setting(field: dataclasses.Field[object]) -> Field:
    about = field.metadata
    label = LABELS.get(field.name, field.name.replace("_", " ").title())
    group = "knobs" if about["knob"] and not about["knob"].startswith("COPYCAT") else "training"
    made = _field(field.name, as_flag(field.name), "text", field.default, about["doc"], group, label)
    choices = list(field_choices(field.name))
    is_path = field.default is None or isinstance(field.default, Path)
    kind = "path" if is_path else "word" if choices else made["kind"]
    return {**made, "kind": kind, "choices": choices, "low": about["low"], "high": about["high"], "unit": about["unit"]}


def _choice(field: dataclasses.Field[object]) -> Field:
    group = "result" if field.name in RESULT_FIELDS else "farm"
    made = _field(field.name, as_flag(field.name), "text", field.default, field.metadata["doc"], group)
    made = {**made, "low": field.metadata["low"], "high": field.metadata["high"], "unit": field.metadata["unit"]}
    return {**made, "kind": "word", "choices": ["local", "slurm"]} if field.name == "farm" else made


def _field(name: str, flag: str, kind: str, default: object, doc: str, group: str, label: str = "") -> Field:
    kinds = {bool: "flag", int: "whole", float: "number", tuple: "words"}
    plain = list(default) if isinstance(default, tuple) else str(default) if isinstance(default, Path) else default
    return {
        "name": name,
        "flag": flag,
        "label": label or name.replace("_", " ").title(),
        "doc": doc,
        "group": group,
        "kind": kinds.get(type(default), kind),
        "default": "" if plain is None else plain,  # type: ignore[typeddict-item]
        "choices": [],
        "low": None,
        "high": None,
        "unit": "",
    }


def _pair(frame: int, use: str) -> PairShown:
    def side(name: str) -> Side:
        return {"label": f"{name}.{frame}.exr", "path": f"/show/sh010/{name}/{name}.{frame}.exr", "layer": "rgb"}

    return {"frame": frame, "use": use, "input": side("plate"), "target": side("paint")}


def _loss(step: int, num_steps: int, run: int) -> float:
    stage = 0 if step < num_steps / 5 else 1 if step < num_steps * 2 / 5 else 2
    since = step - num_steps * stage / 5
    return (2e-4 + run % 5 * 4e-5) * (1 + 30 * math.exp(-(step + 20) / num_steps * 9)) + 1.5e-3 * math.exp(
        -(since + 5) / num_steps * 25
    )


def _number(place: str) -> int:
    return int(Path(place).name)


def _words(about: dict[str, Json]) -> list[str]:
    words = about["words"]
    assert isinstance(words, list)
    return [str(word) for word in words]


def _png(shade: int, width: int, height: int) -> bytes:
    """A gradient of that shade."""
    row = b"\0" + bytes(value for x in range(width) for value in (x * 255 // width, shade, 96))
    chunks = (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(row * height, 1))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (*chunks, (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + body


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", choices=("empty", "problems", "training", "finished"), default="training")
    parser.add_argument("--pictures", default="")
    parser.add_argument("--num-runs", type=int, default=6)
    parser.add_argument("--num-steps", type=int, default=2000)
    parser.add_argument("--num-sheets", type=int, default=20)
    parser.add_argument("--steps-a-second", type=float, default=5.0)
    parser.add_argument("--die-at", default="")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> None:
    arguments = parse(words)
    stand_in = StandIn(arguments)
    try:
        for line in sys.stdin:
            _serve(stand_in, json.loads(line), arguments.die_at)
    finally:
        if stand_in.folder:
            stand_in.folder.cleanup()


def _serve(stand_in: StandIn, question: dict[str, Json], die_at: str) -> None:
    asked = str(question["ask"])
    if asked == "give up":
        return
    if asked == die_at:
        sys.stderr.write("Segmentation fault\n")
        sys.stderr.flush()
        os._exit(1)
    about = question["about"]
    assert isinstance(about, dict)
    number = question["id"]
    try:
        _say({"id": number, "answer": stand_in.answer(asked, about, lambda line: _say({"id": number, "told": line}))})
    except ValueError as fault:
        _say({"id": number, "faults": [str(fault)]})


def _say(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
