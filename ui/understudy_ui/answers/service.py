"""Questions come in by lines and go out answered, in any order: quick ones never wait behind slow ones."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TextIO

from understudy.errors import UnderstudyError
from understudy_ui.answers.asking import Asking, GivenUp
from understudy_ui.protocol import GIVE_UP, Json

Lane = Literal["quick", "slow", "acts", "long"]
"""quick: milliseconds; slow: decodes, or asks a farm; acts: changes something; long: goes on for minutes."""

THREADS: Mapping[Lane, int] = {"quick": 4, "slow": 4, "acts": 4, "long": 16}
SECONDS_TO_END = 2.0
"""For looks, once nobody asks any more."""
SECONDS_TO_ACT = 90.0
"""For what changes something, such as a submission on its way: longer than a farm may take to answer."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """How a question is answered."""

    lane: Lane
    give: Callable[[Asking], object]
    """JSON data, as protocol.py says. Raises UnderstudyError for what a person can mend."""


class Service:
    """Answers every line of an input until it ends."""

    def __init__(self, answers: Mapping[str, Answer], out: TextIO) -> None:
        self._answers = answers
        self._out = out
        self._pools = {lane: ThreadPoolExecutor(count, thread_name_prefix=lane) for lane, count in THREADS.items()}
        self._lock = threading.Lock()
        """Of what is written: a line is whole."""
        self._open: dict[int, tuple[Asking, Future[None], Lane]] = {}

    def serve(self, lines: Iterable[str]) -> None:
        """Comes back when the lines end, and with them what was being answered: given up where that is possible."""
        for line in lines:
            try:
                question = json.loads(line)
                number, name, about = int(question["id"]), str(question["ask"]), dict(question["about"])
            except (ValueError, TypeError, KeyError) as error:
                _complain(f"a line that is no question ({error}): {line.strip()[:200]}")
                continue
            if name == GIVE_UP:
                self._give_up(about.get("id"))
            else:
                self._begin(number, name, about)
        self._end()

    def _begin(self, number: int, name: str, about: Mapping[str, Json]) -> None:
        answer = self._answers.get(name)
        if answer is None:
            self._write(number, {"faults": [f"{name}: is no question that these answers know; update understudy"]})
            return
        asking = Asking(about, lambda told: self._write(number, {"told": told}))
        begin = threading.Event()  # an answer must not be done before it is written down as open
        future = self._pools[answer.lane].submit(self._answer, number, answer, asking, begin)
        self._open[number] = asking, future, answer.lane
        begin.set()

    def _answer(self, number: int, answer: Answer, asking: Asking, begin: threading.Event) -> None:
        begin.wait()
        self._write(number, _outcome(answer, asking))
        self._open.pop(number, None)

    def _give_up(self, number: object) -> None:
        """What has not begun ends here; the rest when it hears of it."""
        if not isinstance(number, int) or number not in self._open:
            return
        asking, future, _ = self._open[number]
        if future.cancel():
            self._open.pop(number, None)
            self._write(number, {"faults": []})
        else:
            asking.give_up()

    def _end(self) -> None:
        """Nobody asks any more: looks are given up, and what changes something is finished."""
        for number, (_, _, lane) in list(self._open.items()):
            if lane != "acts":
                self._give_up(number)
        begin = time.monotonic()
        while lanes := {lane for _, _, lane in list(self._open.values())}:
            if time.monotonic() - begin > (SECONDS_TO_ACT if "acts" in lanes else SECONDS_TO_END):
                return
            time.sleep(0.02)

    def _write(self, number: int, what: Mapping[str, object]) -> None:
        line = json.dumps({"id": number, **what})
        with self._lock:
            try:
                self._out.write(line + "\n")
                self._out.flush()
            except (OSError, ValueError):  # nobody reads any more; the end of stdin tells the rest
                return


def _outcome(answer: Answer, asking: Asking) -> dict[str, object]:
    try:
        given = answer.give(asking)
        json.dumps(given, allow_nan=False)  # a number that JSON lacks is a fault of ours: told of as one
        return {"answer": given}
    except GivenUp:
        return {"faults": []}
    except UnderstudyError as error:
        return {"faults": str(error).splitlines()}
    except Exception as error:
        _complain(traceback.format_exc())
        name = " ".join(f"{type(error).__name__}: {error}".split())
        return {"faults": [f"a fault of the program, please report it ({name})"]}


def _complain(text: str) -> None:
    sys.stderr.write(f"understudy answers: {text}\n")
    sys.stderr.flush()
