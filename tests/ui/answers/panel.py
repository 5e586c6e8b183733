"""The other end of the pipes: asks the real process, and waits for its answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType

from understudy_ui.protocol import Json

DEADLINE_SECONDS = 120.0


class Panel:
    """Starts `python -m understudy_ui.answers`, after the Python lines `python`."""

    def __init__(self, *, python: str = "", environment: Mapping[str, str] | None = None) -> None:
        program = f"{python}\nfrom understudy_ui.answers.__main__ import main\nmain()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **(environment or {})},
        )
        self.lines: list[dict[str, Json]] = []
        """Everything that it said on stdout, in order."""
        self.complaints: list[str] = []
        self._arrived = threading.Condition()
        self._num_asked = 0
        self._ears = [threading.Thread(target=self._hear), threading.Thread(target=self._hear_complaints)]
        for ear in self._ears:
            ear.start()

    def ask(self, name: str, /, **about: Json) -> int:
        self._num_asked += 1
        self.say(json.dumps({"id": self._num_asked, "ask": name, "about": about}))
        return self._num_asked

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def outcome(self, number: int) -> dict[str, Json]:
        """The last line about a question."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self._ended(number) is not None, DEADLINE_SECONDS), self.complaints
            found = self._ended(number)
            assert found is not None
            return found

    def told(self, number: int) -> list[str]:
        return [str(line["told"]) for line in self.lines if line["id"] == number and "told" in line]

    def wait_until_told(self, number: int, beginning: str) -> None:
        with self._arrived:
            is_told = self._arrived.wait_for(
                lambda: any(line.startswith(beginning) for line in self.told(number)), DEADLINE_SECONDS
            )
            assert is_told, (self.lines, self.complaints)

    def answer(self, name: str, /, **about: Json) -> Json:
        outcome = self.outcome(self.ask(name, **about))
        assert "answer" in outcome, (outcome, self.complaints)
        return outcome["answer"]

    def table(self, name: str, /, **about: Json) -> Mapping[str, Json]:
        answer = self.answer(name, **about)
        assert isinstance(answer, Mapping)
        return answer

    def faults(self, name: str, /, **about: Json) -> Json:
        return self.outcome(self.ask(name, **about))["faults"]

    def close(self) -> int:
        """As a panel that goes away; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(DEADLINE_SECONDS)
        for ear in self._ears:
            ear.join(DEADLINE_SECONDS)
        return code

    def __enter__(self) -> Panel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def _ended(self, number: int) -> dict[str, Json] | None:
        return next((line for line in self.lines if line["id"] == number and "told" not in line), None)

    def _hear(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._arrived:
                self.lines.append(json.loads(line))
                self._arrived.notify_all()

    def _hear_complaints(self) -> None:
        assert self.process.stderr is not None
        self.complaints.extend(self.process.stderr)


def wait_until(holds: object) -> None:
    """Until it returns True; a test fails instead of hanging."""
    assert callable(holds)
    give_up = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < give_up, "too late"
        time.sleep(0.1)
