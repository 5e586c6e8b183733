from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from tests.core.records import RECORD, lay_run
from tests.core.train.shots import SmallShot
from tests.ui.answers.conftest import Answer

from understudy.errors import Problems, UnderstudyError
from understudy.runs import RunFiles
from understudy_ui.answers.asking import Asking, GivenUp
from understudy_ui.answers.results import apply, suggest
from understudy_ui.protocol import SuggestionShown

ECHO = "import sys; print('Frame 1 (1 of 1)'); print(*sys.argv[1:], sep='|')"


@pytest.fixture
def understudy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets a few Python lines stand for the command line."""

    def stand_in(program: str) -> None:
        path = tmp_path / "stand_in.py"
        path.write_text(program)
        monkeypatch.setattr("understudy_ui.answers.children.PROGRAM", (sys.executable, str(path)))

    return stand_in


@pytest.fixture
def run(shot: SmallShot) -> RunFiles:
    source = {"kind": "sequences", "input": shot.plate, "target": shot.paint, "input_layer": "", "target_layer": ""}
    source |= {"view": "left", "input_colorspace": "ACEScg", "target_colorspace": "", "frames": "1001"}
    record = dataclasses.replace(RECORD, source=source, colour={"working_space": "lin_rec709_scene"})
    return lay_run(shot.data, "run", record)


def asking(run: RunFiles, told: list[str] | None = None, **about: str | int) -> Asking:
    heard = told if told is not None else []
    return Asking({"place": str(run.record), "output": "r.####.exr", **about}, heard.append)


def test_apply_says_on_the_command_line_what_the_run_knows(run: RunFiles, understudy: Callable[[str], None]) -> None:
    understudy(ECHO)
    told: list[str] = []
    assert apply(asking(run, told, frames="1-3", checkpoint=10)) == {
        "said": f"1 frames were made by {run.model(10).name}: r.####.exr",
        "frames": [1],
    }
    words = told[1].split("|")
    assert words[:2] == ["apply", str(run.model(10))]
    assert words[2:4] == ["--input", run.directory.parent.joinpath("plate.####.exr").as_posix()]
    assert words[4:] == [
        *("--working-space", "lin_rec709_scene", "--input-colorspace", "ACEScg", "--view", "left"),
        *("--output", "r.####.exr", "--frames", "1-3", "--progress", "plain"),
    ]
    apply(asking(run, told, input="other.####.exr"))
    assert "--input|other.####.exr" in told[-1]
    assert "ACEScg" not in told[-1]
    assert "--passes" not in told[-1]
    apply(asking(run, told, passes=4))
    assert "--output|r.####.exr|--passes|4|" in told[-1]


def test_apply_needs_a_model_and_an_output(run: RunFiles, understudy: Callable[[str], None]) -> None:
    understudy("raise SystemExit(99)")
    with pytest.raises(UnderstudyError, match="no such model file"):
        apply(asking(run, checkpoint=77))
    with pytest.raises(UnderstudyError, match="--output: is empty"):
        apply(asking(run, output=""))


def test_faults_of_the_command_are_told_as_it_tells_them(run: RunFiles, understudy: Callable[[str], None]) -> None:
    understudy(
        "import sys; sys.stderr.write('warning: w\\nunderstudy: a: is bad\\nunderstudy: b: too\\n'); sys.exit(2)"
    )
    with pytest.raises(Problems) as refused:
        apply(asking(run))
    assert refused.value.lines == ("a: is bad", "b: too")
    understudy("raise ValueError('our bug')")
    with pytest.raises(Problems, match="ended with exit code 1: ValueError: our bug"):
        apply(asking(run))


def test_an_apply_that_is_given_up_is_ended(run: RunFiles, understudy: Callable[[str], None], tmp_path: Path) -> None:
    understudy(
        f"import os, pathlib, time; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        f"print('Frame 1 (1 of 9)', flush=True)\ntime.sleep(60)\npathlib.Path({str(tmp_path / 'end')!r}).touch()"
    )
    question = Asking(asking(run)._about, lambda _: question.give_up())
    with pytest.raises(GivenUp):
        apply(question)
    assert not (tmp_path / "end").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_is_still_being_heard_when_it_is_given_up_is_heard_to_its_end(
    run: RunFiles, understudy: Callable[[str], None]
) -> None:
    """Else its pipe is closed under the thread that reads it."""
    understudy(
        "import sys, time\nprint('a warning', 'another', sep='\\n', file=sys.stderr, flush=True)\n"
        "time.sleep(0.5)\nprint('Frame 1 (1 of 9)', flush=True)\ntime.sleep(60)"
    )
    heard: list[str] = []

    def say(line: str) -> None:
        if line.startswith("Frame"):
            question.give_up()
        elif line == "a warning":
            time.sleep(2)  # longer than it takes to end
            heard.append(line)

    question = Asking(asking(run)._about, say)
    with pytest.raises(GivenUp):
        apply(question)
    assert heard == ["a warning"]


def test_suggestions_are_read_from_the_command(
    answer: Answer, run: RunFiles, understudy: Callable[[str], None]
) -> None:
    understudy(
        "import json, sys\nsys.stderr.write('looking\\n')\n"
        "one = {'frame': 1017, 'score': 0.5, 'why': ' '.join(sys.argv[1:]), 'distance': 3}\n"
        "print(json.dumps({'suggestions': [one]}))"
    )
    found = cast("list[SuggestionShown]", answer("suggest", place=str(run.record), input="p.####.exr", count=2))
    words = f"suggest {run.record} --json --count 2 --input p.####.exr"
    assert found == [{"frame": 1017, "score": 0.5, "why": words}]


@pytest.mark.parametrize("said", ["nonsense", "[]", '{"suggestions": [{}]}'])
def test_suggestions_that_are_none_are_told_of(run: RunFiles, understudy: Callable[[str], None], said: str) -> None:
    understudy(f"print({said!r})")
    with pytest.raises(UnderstudyError, match="gave no suggestions"):
        suggest(asking(run, input=""))
