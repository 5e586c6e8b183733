"""Journeys from button to end, with a host that writes down what it is asked and an understudy that is played."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.plugin.blender.test_plan import REQUEST, ROTO

from understudy_blender import journeys, plan, session
from understudy_blender.session import Session

PLAYED = """\
import json, os, sys, time
place, verb = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
open(os.path.join(place, "asked"), "a").write(json.dumps(sys.argv[1:]) + "\\n")
run = os.path.join(place, "v001")
def say(state, training, **more):
    task = {"step": "train", "number": 0, "state": state, "host": "render01", "note": ""}
    told = {"job": "shot", "farm": "local", "state": state, "training": training, "tasks": [{**task, **more}]}
    print(json.dumps(told, indent=2), flush=True)
"""
"""Begins every played understudy; what it does about a `verb` follows."""

WAITS = """\
import os, time
end = time.monotonic() + 30
while not os.path.exists({file!r}) and time.monotonic() < end:
    time.sleep(0.02)
print('Frame 3 (1 of 1)')
"""
"""A bake that is not done before a `file` is there."""


@dataclasses.dataclass
class FakeHost:
    """Writes down what a session asks of Blender."""

    command: str
    texts: dict[str, str] = dataclasses.field(default_factory=dict)
    sheets: list[str] = dataclasses.field(default_factory=list)
    runs: list[str] = dataclasses.field(default_factory=list)
    placed: list[plan.Result] = dataclasses.field(default_factory=list)
    bake: str = "print('Frame 3 (1 of 1)')"

    def preference(self) -> str:
        return self.command

    def baking(self, bakes: Sequence[plan.Bake], folder: str) -> Sequence[str]:
        assert Path(folder).is_dir()
        Path(bakes[0].files.pattern).parent.mkdir(parents=True, exist_ok=True)
        return [sys.executable, "-c", self.bake]

    def show_text(self, name: str, text: str) -> None:
        self.texts[name] = text

    def show_sheet(self, path: str) -> None:
        self.sheets.append(path)

    def remember(self, run_directory: str) -> None:
        self.runs.append(run_directory)

    def place(self, result: plan.Result) -> None:
        self.placed.append(result)


@pytest.fixture
def played(tmp_path: Path) -> Callable[[str], Session]:
    def play(program: str) -> Session:
        (tmp_path / "v001").mkdir(exist_ok=True)
        tool = tmp_path / "understudy"
        tool.write_text(f"#!{sys.executable}\n{PLAYED}{program}")
        tool.chmod(0o755)
        return Session(FakeHost(str(tool)))

    return play


def host_of(now: Session) -> FakeHost:
    assert isinstance(now.host, FakeHost)
    return now.host


def until_idle(now: Session, is_enough: Callable[[], bool] = lambda: False) -> None:
    end = time.monotonic() + 30
    while now.is_busy and not is_enough():
        now.tick()
        assert time.monotonic() < end
        time.sleep(0.02)


SENDS = "if verb == 'submit': print(json.dumps({'run_directory': run, 'farm': 'local', 'ids': {}}))\n"


def test_a_training_is_sent_followed_and_remembered(played: Callable[[str], Session], tmp_path: Path) -> None:
    (tmp_path / "v001").mkdir()
    (tmp_path / "v001" / "T.100.png").touch()
    now = played(SENDS + "elif verb == 'status': say('running', 'training, step 10 of 20, loss 0.5'); say('done', 'x')")
    now.begin(journeys.train(now, REQUEST))
    until_idle(now)
    assert not now.problem
    assert now.report is not None
    assert now.report.state == "done"
    assert host_of(now).runs == [str(tmp_path / "v001")]
    assert host_of(now).sheets == [str(tmp_path / "v001" / "T.100.png")]


def test_bakes_come_first_and_are_removed_when_nothing_is_sent(
    played: Callable[[str], Session], tmp_path: Path
) -> None:
    now = played("print('understudy: a.exr: missing; render it', file=sys.stderr); sys.exit(2)")
    seen = tmp_path / "seen"
    host_of(now).bake = WAITS.format(file=str(seen))
    request = dataclasses.replace(REQUEST, truth=ROTO, data_directory=str(tmp_path / "data"))
    now.begin(journeys.train(now, request))
    assert now.stage == session.BAKING
    seen.touch()
    until_idle(now)
    assert now.problem == ("a.exr: missing; render it",)
    assert list((tmp_path / "data").glob("baked/*")) == []


def test_a_bake_that_fails_says_why(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played("sys.exit(9)")
    host_of(now).bake = "import sys; print('understudy: Roto > Matte: frame 3', file=sys.stderr); sys.exit(2)"
    now.begin(journeys.train(now, dataclasses.replace(REQUEST, truth=ROTO, data_directory=str(tmp_path / "data"))))
    until_idle(now)
    assert now.problem == ("Roto > Matte: frame 3",)
    assert not (tmp_path / "asked").exists()


def test_a_dry_run_is_shown_and_leaves_nothing(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played("assert '--dry-run' in sys.argv; print(json.dumps({'job.json': '{}'}))")
    request = dataclasses.replace(REQUEST, truth=ROTO, data_directory=str(tmp_path / "data"))
    now.begin(journeys.dry_run(now, request))
    until_idle(now)
    assert host_of(now).texts[journeys.DRY_RUN_TEXT] == "=== job.json\n{}\n\nNothing was sent.\n"
    assert not (tmp_path / "data").exists()


def test_a_rank_that_failed_has_its_last_words_told(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played(
        "if verb == 'status': say('failed', 'failed')\n"
        "elif verb == 'logs': print(json.dumps({'log': 'Rank 0\\nunderstudy: disk is full\\n'}))"
    )
    now.begin(journeys.follow(now), str(tmp_path / "v001"))
    until_idle(now)
    assert now.problem == ("train 0 failed on render01: understudy: disk is full; mend it and Resume",)


def test_a_run_directory_that_goes_while_it_is_shown_is_told(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played("say('running', 'training'); time.sleep(60)")
    now.begin(journeys.follow(now), str(tmp_path / "v001"))
    until_idle(now, lambda: now.report is not None)
    (tmp_path / "v001").rmdir()
    until_idle(now)
    assert now.problem == (f"{tmp_path / 'v001'}: the run's folder is gone; bring it back, or train again",)


def test_a_farm_that_does_not_answer_is_told_while_it_is_asked_again(
    played: Callable[[str], Session], tmp_path: Path
) -> None:
    silent = "slurm: nobody answers; is the cluster up?"
    now = played(
        f"say('running', 'training'); print('understudy: {silent}; asking again', file=sys.stderr, flush=True)\n"
        f"while not os.path.exists(os.path.join(place, 'go')): time.sleep(0.02)\n"
        f"print('understudy: {silent}', file=sys.stderr); sys.exit(2)"
    )
    now.begin(journeys.follow(now), str(tmp_path / "v001"))
    until_idle(now, lambda: bool(now.warning))
    assert now.warning == f"{silent}; asking again"
    (tmp_path / "go").touch()
    until_idle(now)
    assert now.problem == (silent,)


def test_a_job_that_is_stopped_while_it_is_sent_is_cancelled(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played(SENDS + "elif verb == 'status': say('cancelled', 'stopped, step 10 of 20, loss 0.5')")
    now.begin(journeys.train(now, REQUEST))
    now.is_stopping = True
    until_idle(now)
    asked = [line.split('"')[1] for line in (tmp_path / "asked").read_text().splitlines()]
    assert asked == ["submit", "cancel", "status"]


def test_a_fault_of_ours_is_a_line_and_a_text_block_never_an_exception(played: Callable[[str], Session]) -> None:
    now = played("print('this is no JSON')")
    now.begin(journeys.train(now, REQUEST))
    until_idle(now)
    assert now.problem[0].startswith("a fault of the add-on (")
    assert "Traceback" in host_of(now).texts["Understudy fault"]


def test_an_applied_shot_is_placed(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played("print('Frame 1003 (1 of 1)')")
    work = plan.applying(REQUEST.plate, (3,), str(tmp_path / "v001"))
    result = plan.result(REQUEST.plate, ROTO, (3,), str(tmp_path / "v001"))
    now.begin(journeys.apply(now, work, result), str(tmp_path / "v001"))
    until_idle(now)
    assert host_of(now).placed == [result]


def test_what_is_left_ends_beside_blender_too(played: Callable[[str], Session], tmp_path: Path) -> None:
    now = played("open(os.path.join(place, 'pid'), 'w').write(str(os.getpid())); time.sleep(60)")
    now.begin(journeys.follow(now), str(tmp_path / "v001"))
    until_idle(now, lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    now.leave()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
