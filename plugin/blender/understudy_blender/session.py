"""What goes on between the panel and understudy. One journey at a time; Blender asks `tick` a few times a second."""

from __future__ import annotations

import os
import traceback
from collections.abc import Generator, Mapping, Sequence
from typing import Protocol

from . import command, job, problems
from .child import Child
from .plan import Bake, Result
from .problems import Problem

Journey = Generator[None, None, None]
"""Steps that happen in order; between two of them Blender goes on."""

BAKING = "Baking to EXR"
CHECKING = "Checking"
SUBMITTING = "Submitting"
TRAINING = "Training"
STOPPING = "Stopping"
APPLYING = "Applying"


class Host(Protocol):
    """What a session asks of Blender. Called on Blender's own thread alone."""

    def preference(self) -> str:
        """Path of the understudy command, or of its Python; empty: to be found."""

    def baking(self, bakes: Sequence[Bake], folder: str) -> Sequence[str]:
        """The command that bakes from a copy of the scene, which is left in `folder`."""

    def show_text(self, name: str, text: str) -> None: ...

    def show_sheet(self, path: str) -> None: ...

    def remember(self, run_directory: str) -> None: ...

    def place(self, result: Result) -> None: ...


class Session:
    """What is going on, and what the panel shows of it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._journey: Journey | None = None
        self.forget()

    def forget(self) -> None:
        """Show nothing of any run."""
        self.leave()
        self.run_directory = ""
        self.share = 0.0
        self.report: job.Report | None = None
        self.seconds_left: float | None = None
        self.warning = ""
        self.sheet = ""
        self.problem: tuple[str, ...] = ()
        self.is_stopping = False
        """Asked to stop at a moment when only the next step can."""

    @property
    def is_busy(self) -> bool:
        return self._journey is not None

    def begin(self, journey: Journey, run_directory: str = "") -> None:
        """Set out; what was going on is left. An empty `run_directory` means a run that is still to be made."""
        self.leave()
        if not run_directory or run_directory != self.run_directory:
            self.forget()
        self.run_directory = run_directory
        self.problem, self.warning, self.share, self.is_stopping = (), "", 0.0, False
        self._journey = journey
        self.tick()

    def tick(self) -> None:
        """Go one step on. Never raises: what went wrong is in `problem`."""
        journey = self._journey
        if journey is None:
            return
        try:
            next(journey)
            return
        except StopIteration:
            pass
        except Problem as problem:
            self.fail(problem)
        except Exception:
            self.fail(problems.of_fault(traceback.format_exc()))
        if self._journey is journey:
            self._journey, self.stage = None, ""

    def leave(self) -> None:
        """End what goes on beside Blender; a job on the farm goes on."""
        journey, self._journey = self._journey, None
        self.stage = ""
        if journey is not None:
            journey.close()

    def fail(self, problem: Problem) -> None:
        self.problem = problem.lines
        if problem.details:
            self.host.show_text(problems.FAULT_TEXT, problem.details)

    def found(self) -> tuple[str, ...]:
        """The words that begin every understudy command. Raises Problem when there is none."""
        return command.found(self.host.preference(), os.environ)

    def understudy(self, words: Sequence[str]) -> Child:
        """Start an understudy command. Raises Problem when there is none."""
        return Child((*self.found(), *words), command.environment_of_child(os.environ))

    def call(self, words: Sequence[str]) -> Generator[None, None, str]:
        """What an understudy command prints. Raises Problem when it fails."""
        return (yield from self._heard(self.understudy(words)))

    def bake(self, words: Sequence[str], environment: Mapping[str, str]) -> Generator[None, None, str]:
        """What a Blender beside this one prints. Raises Problem when it fails."""
        return (yield from self._heard(Child(words, environment)))

    def _heard(self, child: Child) -> Generator[None, None, str]:
        try:
            while child.code is None:
                self.share = job.frames_done(child.output)
                yield
        finally:
            child.end()
        self.share = 0.0
        if child.code != problems.EXIT_DONE:
            raise problems.of_errors(child.code, child.errors)
        return child.output
