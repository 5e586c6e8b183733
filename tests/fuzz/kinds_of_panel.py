"""What the panel reads: its own memory of shots, and runs and jobs that lie about, asked for as it asks."""

from __future__ import annotations

import dataclasses
import io
import json
import queue
import random
import re
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path

from tests.core.records import RECORD
from tests.fuzz.kind import FaultElsewhere, Kind
from tests.fuzz.kinds_of_jobs import lay_job
from tests.fuzz.trees import damaged_json
from tests.picture_files import SMALL, ramp, write_plate
from tests.ui.panel.fake_desk import FakeDesk

from understudy.errors import Problems
from understudy.sources.sequences import SequenceSource
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.fields import farms, fields
from understudy_ui.answers.service import Service
from understudy_ui.answers.table import answers_in
from understudy_ui.panel.model.remembered import Remembered
from understudy_ui.panel.model.training import Training
from understudy_ui.protocol import Json

_SECONDS_FOR_AN_ANSWER = 15.0
_FRAME = re.compile(r'File "[^"]*/((?:core|farm|ui)/[^"]+)", line \d+, in (\S+)')


class _Silent:
    """A voice that nobody hears."""

    def say(self, line: str) -> None: ...

    def complain(self, lines: list[str]) -> None: ...

    def withdraw(self, lines: list[str]) -> None: ...


def _memory() -> Sequence[Path]:
    path = Path("panel.json")
    remembered = Remembered(path)
    form: dict[str, Json] = {"epochs": 5, "crop_size": 128, "multi_resolution": False, "run_name": "a", "limits": ["x"]}
    source: dict[str, Json] = {"kind": "sequences", "input": "plate.####.exr", "target": "paint.####.exr"}
    remembered.note("shot.nk CopyCat1", {"source": {"script": "shot.nk"}, "form": {}, "farms": {}})
    remembered.note("plate.####.exr", {"source": source, "form": form, "farms": {"slurm": {"array": "yes"}}})
    return [path]


def _read_memory(path: Path) -> None:
    """As the window does when it opens."""
    desk, remembered = FakeDesk(), Remembered(path)
    training = Training(desk, remembered, _Silent())
    training.start()
    training.open_newest()
    for asked in desk.asked:
        given = {"fields": _fields, "farms": _farms}.get(asked.question)
        if given is not None:
            asked.then(given())  # type: ignore[arg-type]
    for field in training.form.fields:
        value = training.form.value(field["name"])
        training.form.tooltip(field["name"])
        default = field["default"]
        assert default is None or type(value) in (type(default), int, type(None)), (field["name"], value)
    json.dumps(training.words())
    training.words_here()
    remembered.note("other", {"form": training.form.chosen()})
    assert not [line for line in remembered.faults if len(line.splitlines()) != 1]


@cache
def _fields() -> object:
    return fields(Asking({}))


@cache
def _farms() -> object:
    return farms(Asking({}))


class _Panel:
    """Asks a service in this process, by lines of JSON, and hears its answers."""

    def __init__(self) -> None:
        self._questions: queue.Queue[str] = queue.Queue()
        self._answers: queue.Queue[Mapping[str, Json]] = queue.Queue()
        folder = Path(tempfile.mkdtemp())
        service = Service(answers_in(folder), _Out(self._answers))
        threading.Thread(target=service.serve, args=(iter(self._questions.get, None),), daemon=True).start()

    def faults(self, question: str, /, **about: Json) -> list[str]:
        """Raises FaultElsewhere for a fault of the program, or when no answer comes."""
        heard = io.StringIO()
        with redirect_stderr(heard):
            self._questions.put(json.dumps({"id": 1, "ask": question, "about": about}))
            try:
                said = self._answers.get(timeout=_SECONDS_FOR_AN_ANSWER)
            except queue.Empty:
                raise FaultElsewhere("no answer", question, heard.getvalue()[-300:]) from None
        given, lines = said.get("answer"), said.get("faults", [])
        assert isinstance(lines, list)
        if lines and str(lines[0]).startswith("a fault of the program"):
            frames = _FRAME.findall(heard.getvalue())
            where = f"{question}, {':'.join(frames[-1]) if frames else ''}"
            raise FaultElsewhere(str(lines[0]), where, heard.getvalue()[-300:])
        rows = given if isinstance(given, list) else []
        return [*map(str, lines), *(str(row["fault"]) for row in rows if isinstance(row, dict) and row.get("fault"))]


class _Out(io.StringIO):
    """As strict as the pipe is."""

    def __init__(self, answers: queue.Queue[Mapping[str, Json]]) -> None:
        super().__init__()
        self._answers = answers

    def write(self, text: str) -> int:
        text.encode("utf-8")
        said = json.loads(text)
        if "told" not in said:
            self._answers.put(said)
        return len(text)


@cache
def _panel() -> _Panel:
    return _Panel()


def _run() -> Sequence[Path]:
    run, source = Path("v001"), SequenceSource(input="plate.####.exr", target="paint.####.exr", frames=(1001, 1013))
    for name in ("plate", "paint"):
        for frame in source.frames:
            write_plate(Path(f"{name}.{frame}.exr"), ramp(SMALL, 3))
    patterns = {"input": source.input, "target": source.target}  # as they are: the same wherever this lies
    files = lay_job(run, dataclasses.replace(RECORD, state="training", source={**source.record(), **patterns}))
    metrics = run / "run.metrics.jsonl"
    with metrics.open("a", encoding="utf-8") as file:
        file.write(
            '{"step": 10, "validation_psnr": 31.5}\n{"event": "ranks", "step": 10, "ranks": "0 1", "why": "x"}\n'
        )
    return [run / "run.run.json", run / "run.run.json", metrics, *files]


def _read_run(_: Path) -> None:
    place = str(Path("v001/run.run.json").absolute())
    lines = [
        *_panel().faults("runs", folder=str(Path.cwd())),
        *_panel().faults("run", place=place),
        *_panel().faults("curve", place=place),
        *_panel().faults("log", place=place, rank=0, offset=0),
        *_panel().faults("view", place=place, frame=1001, input="", result=""),
    ]
    if lines:
        raise Problems(lines)


def _damage(path: Path, content: bytes, chance: random.Random) -> bytes:
    if path.suffix != ".jsonl":
        return damaged_json(content, chance)
    lines = content.splitlines()
    at = chance.randrange(len(lines))
    lines[at] = damaged_json(lines[at], chance)
    return b"\n".join([*lines, b""])


PANEL_KINDS = (
    Kind(name="panel_memory", cases=600, lay_out=_memory, damage=_damage, read=_read_memory, is_forgiving=True),
    Kind(
        name="panel_run",
        cases=600,
        lay_out=_run,
        damage=_damage,
        read=_read_run,
        names=("v001", "plate.", "paint.", "no such input file", "no such target file", "colour space", "OCIO config"),
    ),
)
