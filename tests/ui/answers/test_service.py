from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ui.answers.panel import Panel

from understudy.errors import Problems, UnderstudyError
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.service import THREADS, Answer, Lane, Service

REPO = Path(__file__).parents[3]


class Spoken(io.StringIO):
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.getvalue().splitlines()]

    def about(self, number: int) -> list[dict[str, object]]:
        return [line for line in self.lines() if line["id"] == number]


def question(number: int, name: str, about: object = None) -> str:
    return json.dumps({"id": number, "ask": name, "about": about or {}})


def served(answers: dict[str, Answer], *lines: str, patiently: bool = True) -> Spoken:
    """What is answered; `patiently`: the panel stays until the last question is."""
    spoken = Spoken()

    def asked() -> Iterator[str]:
        yield from lines
        give_up = time.monotonic() + 30
        while patiently and not any("told" not in line for line in spoken.about(json.loads(lines[-1])["id"])):
            assert time.monotonic() < give_up
            time.sleep(0.01)

    Service(answers, spoken).serve(asked())
    return spoken


def answering(give: object, lane: Lane = "quick") -> Answer:
    assert callable(give)
    return Answer(lane=lane, give=give)


def test_answers_and_what_is_told_on_the_way_carry_the_questions_number() -> None:
    def look(asking: Asking) -> int:
        for line in ("1 of 2", "1 of 2", "2 of 2"):
            asking.tell(line)
        return asking.whole("one") + 1

    spoken = served({"look": answering(look)}, question(7, "look", {"one": 1}))
    assert spoken.lines() == [{"id": 7, "told": "1 of 2"}, {"id": 7, "told": "2 of 2"}, {"id": 7, "answer": 2}]


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (UnderstudyError("plate.1.exr: no such file; render it"), ["plate.1.exr: no such file; render it"]),
        (Problems(["a: is wrong", "b: is wrong"]), ["a: is wrong", "b: is wrong"]),
        (ZeroDivisionError("by\nzero"), ["a fault of the program, please report it (ZeroDivisionError: by zero)"]),
    ],
)
def test_faults_are_lines(error: Exception, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_: Asking) -> None:
        raise error

    assert served({"fail": answering(fail)}, question(1, "fail")).lines() == [{"id": 1, "faults": lines}]
    assert ("Traceback" in capsys.readouterr().err) is not isinstance(error, UnderstudyError)


def test_a_number_that_json_lacks_is_a_fault_of_ours() -> None:
    spoken = served({"nan": answering(lambda _: {"loss": float("nan")})}, question(1, "nan"))
    assert "please report it" in str(spoken.lines())


def test_lines_that_are_no_questions_are_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {"one": answering(lambda _: 1)}
    spoken = served(answers, "nonsense", "[1]", '{"id": "x"}', question(4, "unknown"), question(5, "one"))
    assert [line["id"] for line in spoken.lines()] == [4, 5]
    assert "unknown: is no question" in str(spoken.lines()[0])
    assert capsys.readouterr().err.count("no question") == 3


@pytest.mark.parametrize("lane", ["slow", "acts", "long"])
def test_quick_questions_never_wait_behind_others(lane: Lane) -> None:
    let_go = threading.Event()
    answers = {"slow": answering(lambda _: let_go.wait(20), lane), "quick": answering(lambda _: let_go.set())}
    spoken = served(answers, *(question(number, "slow") for number in range(20)), question(99, "quick"))
    assert len(spoken.about(99)) == 1
    assert {line["answer"] for line in spoken.lines() if line["id"] != 99} == {True}, "none waited in vain"


def test_what_is_given_up_ends_without_a_fault_and_what_has_not_begun_never_begins() -> None:
    is_running, begun = threading.Event(), list[int]()

    def count(asking: Asking) -> None:
        begun.append(asking.whole("number"))
        while True:
            asking.tell(str(time.monotonic()))
            is_running.set()

    def asked() -> Iterator[str]:
        yield from (question(number, "count", {"number": number}) for number in range(1, 8))
        assert is_running.wait(10)
        yield from (question(100 + number, "give up", {"id": number}) for number in range(7, 0, -1))

    spoken = Spoken()
    Service({"count": answering(count, "slow")}, spoken).serve(asked())
    ends = [line for line in spoken.lines() if "told" not in line]
    assert {str(line["id"]): line["faults"] for line in ends} == {str(number): [] for number in range(1, 8)}
    assert len(ends) == 7
    assert len(begun) <= THREADS["slow"]


def test_what_changes_something_is_finished_when_the_panel_goes_away() -> None:
    done = threading.Event()

    def act(asking: Asking) -> None:
        time.sleep(0.5)
        asking.tell("half")
        time.sleep(0.5)
        done.set()

    served({"act": answering(act, "acts")}, question(1, "act"), patiently=False)
    assert done.is_set()


def test_nothing_but_answers_reaches_stdout() -> None:
    chatter = "import understudy_ui.answers.service as s\n"
    loud = (
        "def give(asking):\n"
        "    import os, subprocess, sys\n"
        "    print('printed'); os.write(1, b'written'); sys.stdin.read()\n"
        "    subprocess.run([sys.executable, '-c', 'import sys; print(sys.stdin.read())'])\n"
        "    return 1\n"
        "import understudy_ui.answers.table as table\n"
        "table.answers_in = lambda folder: {'loud': s.Answer(lane='slow', give=give)}\n"
    )
    with Panel(python=chatter + loud) as panel:
        assert panel.answer("loud") == 1
        assert panel.close() == 0
        assert panel.lines == [{"id": 1, "answer": 1}]
        assert any("printed" in line for line in panel.complaints)


def test_the_process_ends_with_its_stdin_and_takes_its_folder_along(tmp_path: Path) -> None:
    with Panel(environment={"TMPDIR": str(tmp_path), "TEMP": str(tmp_path)}) as panel:
        assert panel.answer("runs", folder=str(tmp_path / "none")) == []
        assert [path.name.startswith("understudy_answers_") for path in tmp_path.iterdir() if path.is_dir()]
        assert panel.close() == 0
        assert not list(tmp_path.glob("understudy_answers_*"))


def test_the_process_is_there_soon_and_without_torch() -> None:
    program = "import sys, understudy_ui.answers.table\nprint('torch' in sys.modules, 'matplotlib' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["False", "False"]


def test_names_that_are_no_utf8_are_answered(tmp_path: Path) -> None:
    spoken = (tmp_path / "out").open("w", encoding="utf-8")
    with spoken:
        Service({"look": answering(lambda _: "plate \udcff.exr", lane="acts")}, spoken).serve([question(1, "look")])
    assert json.loads((tmp_path / "out").read_text(encoding="utf-8")) == {"id": 1, "answer": "plate \udcff.exr"}
