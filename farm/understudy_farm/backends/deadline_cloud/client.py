"""What is asked of Deadline Cloud. The only importer of `deadline`, `boto3` and `openjd`, which come when needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, TypedDict

from understudy_farm.backend import FarmError, Site
from understudy_farm.backends.deadline_cloud.bundle import TASK_NUMBER, TEMPLATE

MEND = "see `deadline auth status`"
JOB_URL = "Job URL: "

Table = Mapping[str, object]


class _LogPage(TypedDict, total=False):
    events: list[Table]
    nextForwardToken: str


class _LogErrors(Protocol):
    ResourceNotFoundException: type[Exception]


class _LogReader(Protocol):
    """The part of CloudWatch's client that is used."""

    @property
    def exceptions(self) -> _LogErrors: ...

    def get_log_events(self, *, logGroupName: str, logStreamName: str, **words: object) -> _LogPage: ...


@dataclass(frozen=True, kw_only=True)
class TaskOnFarm:
    """One task as the service tells of it."""

    step_id: str
    task_id: str
    status: str
    """The service's own word."""
    session: str
    """In which it runs or ran last; empty when it has not started."""
    failures: int
    """How often it was started again by the service."""


def check_template(folder: Path) -> None:
    """Raise FarmError with what Open Job Description's own library finds wrong; without it, the service will tell."""
    with suppress(ModuleNotFoundError):
        model = import_module("openjd.model")
        template = json.loads((folder / TEMPLATE).read_text(encoding="utf-8"))
        try:
            model.decode_job_template(template=template)
        except model.DecodeValidationError as error:
            said = " ".join(str(error).split())
            raise FarmError(f"{folder / TEMPLATE}: is no Open Job Description template: {said}") from error


class Client:
    """One queue, as the artist's `deadline config` and login reach it. Every method raises FarmError."""

    def __init__(self, site: Site, farm_id: str, queue_id: str) -> None:
        """Empty ids: the defaults of `deadline config`."""
        try:
            self._api = import_module("deadline.client.api")
            settings = import_module("deadline.client.config")
            file = import_module("deadline.client.config.config_file")
        except ModuleNotFoundError as error:
            raise FarmError(
                "deadline-cloud: the library is absent; pip install 'understudy[deadline-cloud]', or give --export DIR "
                "and submit with `deadline bundle submit DIR`"
            ) from error
        with _asking():
            self._config = ConfigParser()
            self._config.read_dict(file.read_config())
            given = {"aws_profile_name": site["profile"], "farm_id": farm_id, "queue_id": queue_id}
            for name, value in given.items():
                if value:
                    settings.set_setting(f"defaults.{name}", value, config=self._config)
            self.farm_id = str(settings.get_setting("defaults.farm_id", config=self._config))
            self.queue_id = str(settings.get_setting("defaults.queue_id", config=self._config))
            if not self.farm_id or not self.queue_id:
                raise FarmError("deadline-cloud: no farm or queue; give -O farm_id=farm-... and -O queue_id=queue-...")
            self._service = self._api.get_boto3_client("deadline", config=self._config)
        self._queue = {"farmId": self.farm_id, "queueId": self.queue_id}

    def submit(self, folder: Path) -> tuple[str, str]:
        """The id of the new job, and where people see it; empty without a monitor."""
        said: list[str] = []
        with _asking():
            known = self._api.get_queue_parameter_definitions(**self._queue, config=self._config)
            job_id = self._api.create_job_from_job_bundle(
                str(folder),
                config=self._config,
                queue_parameter_definitions=known,
                submitter_name="understudy",
                print_function_callback=said.append,
            )
        links = [line.removeprefix(JOB_URL) for line in said if line.startswith(JOB_URL)]
        return str(job_id), "".join(links)

    def tasks(self, job_id: str) -> dict[tuple[str, int], TaskOnFarm]:
        """By the name of the template's step, and the task's number in it."""
        found: dict[tuple[str, int], TaskOnFarm] = {}
        with _asking():
            for step in self._listed("list_steps", "steps", jobId=job_id):
                for task in self._listed("list_tasks", "tasks", jobId=job_id, stepId=step["stepId"]):
                    found[str(step["name"]), _number(task)] = TaskOnFarm(
                        step_id=str(step["stepId"]),
                        task_id=str(task["taskId"]),
                        status=str(task["runStatus"]),
                        session=_session_of(str(task.get("latestSessionActionId", ""))),
                        failures=int(str(task.get("failureRetryCount", 0))),
                    )
        return found

    def workers(self, job_id: str) -> dict[str, str]:
        """Session to worker."""
        with _asking():
            sessions = self._listed("list_sessions", "sessions", jobId=job_id)
            return {str(session["sessionId"]): str(session["workerId"]) for session in sessions}

    def log(self, job_id: str, task: TaskOnFarm) -> str:
        """What all starts of the task printed. A session's log holds those of other tasks too: the times tell."""
        with _asking():
            actions = list(self._listed("list_session_actions", "sessionActions", jobId=job_id, taskId=task.task_id))
            starts = [
                (began, action.get("endedAt"), _session_of(str(action["sessionActionId"])))
                for action in actions
                if isinstance(began := action.get("startedAt"), datetime)
            ]
            lines = [line for start in sorted(starts, key=lambda one: one[0]) for line in self._lines(*start)]
        return "".join(f"{line}\n" for line in lines)

    def queue_ids(self) -> tuple[str, ...]:
        """All of the farm."""
        with _asking():
            pages = self._service.get_paginator("list_queues").paginate(farmId=self.farm_id)
            return tuple(str(queue["queueId"]) for page in pages for queue in page["queues"])

    def cancel_job(self, job_id: str) -> None:
        with _asking():
            self._service.update_job(**self._queue, jobId=job_id, targetTaskRunStatus="CANCELED")

    def set_target(self, job_id: str, task: TaskOnFarm, target: Literal["CANCELED", "PENDING"]) -> None:
        """PENDING starts it again."""
        with _asking():
            ids = {"jobId": job_id, "stepId": task.step_id, "taskId": task.task_id}
            self._service.update_task(**self._queue, **ids, targetRunStatus=target)

    def _listed(self, operation: str, name: str, **words: object) -> Iterator[Table]:
        for page in self._service.get_paginator(operation).paginate(**self._queue, **words):
            yield from page[name]

    def _lines(self, began: datetime, ended: object, session: str) -> Iterator[str]:
        logs = self._logs()
        words: dict[str, object] = {"startTime": int(began.timestamp() * 1000), "startFromHead": True}
        if isinstance(ended, datetime):
            words["endTime"] = int(ended.timestamp() * 1000) + 1
        group = f"/aws/deadline/{self.farm_id}/{self.queue_id}"
        while True:
            try:
                page = logs.get_log_events(logGroupName=group, logStreamName=session, **words)
            except logs.exceptions.ResourceNotFoundException:  # nothing was printed yet
                return
            yield from (str(event["message"]).rstrip("\r\n") for event in page["events"])
            if page.get("nextForwardToken") in (None, words.get("nextToken")):
                return
            words["nextToken"] = page["nextForwardToken"]

    def _logs(self) -> _LogReader:
        """Who logged in by the monitor may read logs in the queue's role only."""
        if all(self._api.get_user_and_identity_store_id(config=self._config)):
            session = self._api.get_queue_user_boto3_session(
                deadline=self._service, config=self._config, farm_id=self.farm_id, queue_id=self.queue_id
            )
            made: _LogReader = session.client("logs")
        else:
            made = self._api.get_boto3_client("logs", config=self._config)
        return made


def _number(task: Table) -> int:
    """0 in a step that has one task."""
    parameters = task.get("parameters")
    own = parameters.get(TASK_NUMBER) if isinstance(parameters, Mapping) else None
    return int(own["int"]) if isinstance(own, Mapping) else 0


def _session_of(action_id: str) -> str:
    """Of `sessionaction-<session>-<number>`."""
    return f"session-{action_id.split('-')[1]}" if action_id else ""


@contextmanager
def _asking() -> Iterator[None]:
    """Turns what the libraries raise into one line."""
    errors = import_module("botocore.exceptions")
    refused = import_module("deadline.client.exceptions").DeadlineOperationError
    try:
        yield
    except (errors.BotoCoreError, errors.ClientError, refused, OSError) as error:
        said = " ".join(str(error).split())[:400]
        raise FarmError(f"deadline-cloud: {said}; {MEND}") from error
