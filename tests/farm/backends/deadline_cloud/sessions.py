"""Sessions of Open Job Description on this machine: each runs one task of a bundle, as a worker of the farm would."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from openjd.model import (
    Job,
    JobParameterValues,
    Step,
    StepParameterSpaceIterator,
    TaskParameterSet,
    create_job,
    decode_job_template,
    preprocess_job_parameters,
)
from openjd.sessions import LOG, ActionState, PathMappingRule, Session, SessionState

SECONDS_BETWEEN_LOOKS = 0.02
_STARTING = threading.Lock()
"""A session writes a script and runs it; a process that another one forks in between would hold the script open."""


@dataclass(frozen=True)
class Template:
    """A template with the values of its parameters."""

    job: Job
    values: JobParameterValues

    def step(self, name: str) -> Step:
        return next(step for step in self.job.steps if step.name == name)

    def tasks(self, step: Step) -> list[TaskParameterSet]:
        space = step.parameterSpace
        return list(StepParameterSpaceIterator(space=space)) if space else [{}]


def read_template(text: str, values: Mapping[str, str]) -> Template:
    """Raises what openjd raises for a template that is none."""
    template = decode_job_template(template=json.loads(text))
    here = Path.cwd()
    prepared = preprocess_job_parameters(
        job_template=template, job_parameter_values=dict(values), job_template_dir=here, current_working_dir=here
    )
    return Template(create_job(job_template=template, job_parameter_values=prepared), prepared)


class Lines(logging.Handler):
    """What sessions print, with times, by session."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, list[tuple[float, str]]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        session = str(getattr(record, "session_id", ""))
        self.of.setdefault(session, []).append((time.time(), record.getMessage()))

    def __enter__(self) -> Lines:
        LOG.addHandler(self)
        LOG.setLevel(logging.INFO)
        LOG.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        LOG.removeHandler(self)


@dataclass
class TaskRun:
    """One start of a task."""

    template: Template
    step: Step
    parameters: TaskParameterSet
    session_id: str
    rules: tuple[PathMappingRule, ...] = ()
    """The worker's names of folders."""
    is_cancelled: threading.Event = field(default_factory=threading.Event)

    def run(self, on_start: Callable[[], None]) -> ActionState:
        """Enter the environments, run the task, leave them; how the task ended."""
        with Session(
            session_id=self.session_id,
            job_parameter_values=self.template.values,
            path_mapping_rules=list(self.rules),
        ) as session:
            entered = []
            for environment in self.step.stepEnvironments or ():
                entered.append(session.enter_environment(environment=environment))
                self._wait(session)
            on_start()
            with _STARTING:
                session.run_task(step_script=self.step.script, task_parameter_values=self.parameters)
            self._wait(session)
            status = session.action_status
            for identifier in reversed(entered):
                session.exit_environment(identifier=identifier)
                self._wait(session)
        assert status is not None
        return status.state

    def _wait(self, session: Session) -> None:
        while session.state in (SessionState.RUNNING, SessionState.CANCELING):
            if self.is_cancelled.is_set() and session.state == SessionState.RUNNING:
                session.cancel_action()
            time.sleep(SECONDS_BETWEEN_LOOKS)
