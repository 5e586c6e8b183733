"""Deadline Cloud on this machine: its operations over HTTP by botocore's own model, its workers as real sessions.

Every answer is checked against the model, as botocore checks every question.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote, urlsplit

import botocore.session
from botocore.model import ServiceModel
from botocore.validate import validate_parameters
from openjd.sessions import ActionState
from tests.farm.backends.deadline_cloud.sessions import Lines, TaskRun, Template, read_template

FARM = f"farm-{'a' * 32}"
QUEUE = f"queue-{'b' * 32}"
FLEET = f"fleet-{'c' * 32}"
SECONDS_TO_END = 30.0
ENDED = ("SUCCEEDED", "FAILED", "CANCELED")

Table = dict[str, object]


def _new(kind: str) -> str:
    return f"{kind}-{uuid.uuid4().hex}"


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class Start:
    """One session, and its only action."""

    run: TaskRun
    worker: str
    began: datetime | None = None
    ended: datetime | None = None


@dataclass
class Task:
    step: str
    step_id: str
    number: int
    status: str = "PENDING"
    retries: int = 0
    starts: list[Start] = field(default_factory=list)

    @property
    def task_id(self) -> str:
        return f"{self.step_id.replace('step', 'task')}-{self.number}"


@dataclass
class FarmJob:
    """A job, its tasks, and who runs them: every task has a worker of its own."""

    job_id: str
    template: Template
    arguments: Mapping[str, object]
    tasks: list[Task]
    lock: threading.RLock = field(default_factory=threading.RLock)
    workers: list[threading.Thread] = field(default_factory=list)

    def end(self) -> None:
        """Come back when no session is left."""
        for task in self.tasks:
            self.set_target(task, "CANCELED")
        for worker in self.workers:
            worker.join(SECONDS_TO_END)

    def advance(self) -> None:
        """Start what may start."""
        with self.lock:
            for task in self.tasks:
                step = self.template.step(task.step)
                before = {one.dependsOn for one in step.dependencies or ()}
                if task.status == "PENDING" and all(t.status == "SUCCEEDED" for t in self.tasks if t.step in before):
                    self._start(task)

    def _start(self, task: Task) -> None:
        step = self.template.step(task.step)
        run = TaskRun(self.template, step, self.template.tasks(step)[task.number], _new("session"))
        task.starts.append(Start(run, _new("worker")))
        task.status = "STARTING"
        self.workers.append(threading.Thread(target=self._work, args=(task, task.starts[-1]), daemon=True))
        self.workers[-1].start()

    def _work(self, task: Task, start: Start) -> None:
        def begin() -> None:
            start.began = _now()
            task.status = "RUNNING"

        state = start.run.run(begin)
        with self.lock:
            start.ended = _now()
            if start.run.is_cancelled.is_set():
                task.status = "CANCELED"
            elif state == ActionState.SUCCESS:
                task.status = "SUCCEEDED"
            elif task.retries < int(str(self.arguments["maxRetriesPerTask"])):
                task.retries += 1
                task.status = "PENDING"
            else:
                task.status = "FAILED"
        self.advance()

    def set_target(self, task: Task, target: str) -> None:
        with self.lock:
            if target == "CANCELED" and task.status not in ENDED:
                task.status = "CANCELED" if task.status == "PENDING" else "INTERRUPTING"
                for start in task.starts[-1:]:
                    start.run.is_cancelled.set()
            elif target == "PENDING":
                assert task.status in ENDED, f"{task.step}: started again while it is {task.status}"
                task.status = "PENDING"
        self.advance()


class DeadlineCloud:
    """The service's operations, by the names in botocore's model. CloudWatch keeps no empty lines."""

    def __init__(self, lines: Lines) -> None:
        self.jobs: dict[str, FarmJob] = {}
        self._lines = lines

    def GetQueue(self, words: Table) -> Table:
        own = {"farmId": words["farmId"], "queueId": words["queueId"], "displayName": "comp"}
        return {**own, "status": "IDLE", "defaultBudgetAction": "NONE", **_CREATED}

    def ListQueues(self, words: Table) -> Table:
        return {"queues": [self.GetQueue({**words, "queueId": QUEUE})]}

    def ListQueueEnvironments(self, _words: Table) -> Table:
        return {"environments": []}

    def CreateJob(self, words: Table) -> Table:
        values = {name: str(next(iter(value.values()))) for name, value in _tables(words["parameters"]).items()}
        template = read_template(str(words["template"]), values)
        tasks = [
            Task(step.name, step_id, number)
            for step in template.job.steps
            for step_id in [_new("step")]
            for number in range(len(template.tasks(step)))
        ]
        job = FarmJob(_new("job"), template, words, tasks)
        self.jobs[job.job_id] = job
        if words["targetTaskRunStatus"] == "READY":
            job.advance()
        return {"jobId": job.job_id}

    def GetJob(self, words: Table) -> Table:
        job = self._job(words)
        own = {"jobId": job.job_id, "name": job.template.job.name, "priority": job.arguments["priority"]}
        return {**own, "lifecycleStatus": "CREATE_COMPLETE", "lifecycleStatusMessage": "", **_CREATED}

    def UpdateJob(self, words: Table) -> Table:
        job = self._job(words)
        for task in job.tasks:
            job.set_target(task, str(words["targetTaskRunStatus"]))
        return {}

    def ListSteps(self, words: Table) -> Table:
        steps = {task.step_id: task for task in self._job(words).tasks}
        own = {"lifecycleStatus": "CREATE_COMPLETE", "taskRunStatusCounts": {}, **_CREATED}
        found = [{"stepId": key, "name": task.step, "taskRunStatus": task.status} for key, task in steps.items()]
        return {"steps": [{**step, **own} for step in found]}

    def ListTasks(self, words: Table) -> Table:
        job = self._job(words)
        return {"tasks": [_task(job, task) for task in job.tasks if task.step_id == words["stepId"]]}

    def UpdateTask(self, words: Table) -> Table:
        job = self._job(words)
        task = next(task for task in job.tasks if task.task_id == words["taskId"])
        job.set_target(task, str(words["targetRunStatus"]))
        return {}

    def ListSessions(self, words: Table) -> Table:
        starts = [start for task in self._job(words).tasks for start in task.starts]
        own = {"fleetId": FLEET, "startedAt": _now(), "lifecycleStatus": "STARTED"}
        return {"sessions": [{"sessionId": s.run.session_id, "workerId": s.worker, **own} for s in starts]}

    def ListSessionActions(self, words: Table) -> Table:
        task = next(task for task in self._job(words).tasks if task.task_id == words["taskId"])
        return {"sessionActions": [_action(task, start) for start in task.starts]}

    def GetLogEvents(self, words: Table) -> Table:
        first, last = int(str(words["startTime"])), int(str(words.get("endTime", 10**15)))
        lines = [(int(at * 1000), text) for at, text in list(self._lines.of.get(str(words["logStreamName"]), ()))]
        events = [{"timestamp": at, "message": text} for at, text in lines if text and first <= at < last]
        page = int(str(words.get("nextToken", 0)))
        return {"events": events[page : page + 100], "nextForwardToken": str(min(page + 100, len(events)))}

    def _job(self, words: Table) -> FarmJob:
        return self.jobs[str(words["jobId"])]


_CREATED = {"createdAt": _now(), "createdBy": "tester"}


def _tables(value: object) -> dict[str, dict[str, object]]:
    assert isinstance(value, dict)
    return value


def _task(job: FarmJob, task: Task) -> Table:
    parameters = job.template.tasks(job.template.step(task.step))[task.number]
    own: Table = {name: {"int": value.value} for name, value in parameters.items()}
    last: Table = {"latestSessionActionId": _action(task, task.starts[-1])["sessionActionId"]} if task.starts else {}
    status = {"taskId": task.task_id, "runStatus": task.status, "failureRetryCount": task.retries}
    return {**status, "parameters": own, **last, **_CREATED}


def _action(task: Task, start: Start) -> Table:
    """The second of its session: the first entered the environment."""
    times = {name: at for name, at in (("startedAt", start.began), ("endedAt", start.ended)) if at}
    run: Table = {"taskRun": {"taskId": task.task_id, "stepId": task.step_id, "parameters": {}}}
    action = f"{start.run.session_id.replace('session', 'sessionaction')}-1"
    return {"sessionActionId": action, "status": "RUNNING", "definition": run, **times}


class _Requests(BaseHTTPRequestHandler):
    service: ClassVar[DeadlineCloud]
    protocol_version = "HTTP/1.1"
    model: ClassVar[ServiceModel] = botocore.session.get_session().get_service_model("deadline")
    logs: ClassVar[ServiceModel] = botocore.session.get_session().get_service_model("logs")

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        words: Table = json.loads(body) if body else {}
        target = self.headers.get("X-Amz-Target", "")
        model, name = (self.logs, target.partition(".")[2]) if target else (self.model, self._operation(words))
        operation = model.operation_model(name)
        answer = getattr(self.service, name)(words)
        if operation.output_shape:
            validate_parameters(answer, operation.output_shape)
        text = json.dumps(answer, default=lambda at: at.timestamp() if target else at.isoformat()).encode()
        self.send_response(operation.http.get("responseCode", 200))
        self.send_header("Content-Type", "application/x-amz-json-1.1" if target else "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = _answer

    def _operation(self, words: Table) -> str:
        """The operation whose address this is; what its address says joins `words`."""
        place = urlsplit(self.path)
        for pair in filter(None, place.query.split("&")):
            name, _, value = pair.partition("=")
            words[name] = unquote(value)
        for name in self.model.operation_names:
            http = self.model.operation_model(name).http
            pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", http["requestUri"])
            found = re.fullmatch(pattern, place.path)
            if found and http["method"] == self.command:
                words.update({key: unquote(value) for key, value in found.groupdict().items()})
                return str(name)
        raise AssertionError(f"{self.command} {self.path}: no operation of Deadline Cloud")

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def deadline_cloud() -> Iterator[tuple[str, DeadlineCloud]]:
    """Its address, and what it knows."""
    with Lines() as lines:
        service = DeadlineCloud(lines)
        handler = type("Requests", (_Requests,), {"service": service})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield f"http://127.0.0.1:{server.server_address[1]}", service
            finally:
                server.shutdown()
                for job in service.jobs.values():
                    job.end()
