"""The Web Service of the farm that is not there: its paths, verbs and errors as documented, plain or by TLS."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.farm.backends.deadline.fake_farm import LIMITS, WORKERS, FakeFarm, FakeJob, FakeTask
from tests.farm.backends.deadline.fake_job_info import Refused

USER, PASSWORD = "mia", "open sesame"
LISTS: Mapping[str, Collection[str]] = {
    "/api/pools": ("none", "gpu", "night"),
    "/api/groups": ("none", "nuke"),
    "/api/limitgroups": LIMITS,
    "/api/slaves": [worker.name for worker in WORKERS],
}
SECONDS_OF_SLEEP = 20.0
"""Longer than anybody waits; ends with the farm."""


@contextmanager
def fake_farm(certificate: Path | None = None) -> Iterator[FakeFarm]:
    """With a file of a certificate and its key, by TLS."""
    farm = FakeFarm()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(farm))
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    farm.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    threads = [threading.Thread(target=farm.work, args=(worker,), daemon=True) for worker in WORKERS]
    threads.append(threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True))
    for thread in threads:
        thread.start()
    yield farm
    farm.close()
    server.shutdown()
    server.server_close()


def _handler(farm: FakeFarm) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with farm.lock:
                fault = _fault(farm, self.command, self.path)
                status, text = (500, "Error: no database") if fault == "500" else self._say(body)
            if fault == "drop":
                self.close_connection = True
                self.connection.close()
                return
            if fault == "sleep":
                farm.ended.wait(SECONDS_OF_SLEEP)
            with suppress(OSError):  # who asked has gone
                self.send_response(status)
                self.end_headers()
                self.wfile.write(('{"_id": ' if fault == "broken" else text).encode())

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def _say(self, body: bytes) -> tuple[int, str]:
            wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.headers.get("Authorization") != wanted:
                return 401, "Authentication failed"
            try:
                answer = _obey(farm, self.command, self.path, json.loads(body) if body else {})
            except Refused as refused:
                return refused.status, str(refused)
            return 200, answer if isinstance(answer, str) else json.dumps(answer)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    return Handler


def _fault(farm: FakeFarm, verb: str, path: str) -> str:
    found = next((key for key in farm.faults if key[0] == verb and path.startswith(key[1])), None)
    return farm.faults.pop(found) if found else ""


def _obey(farm: FakeFarm, verb: str, path: str, body: Mapping[str, object]) -> object:
    parts = urlsplit(path)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if verb == "GET" and parts.path in LISTS:
        return _names(parts.path, query)
    if verb in ("POST", "PUT") and not body:
        raise Refused(400, "there is no message body")
    if (verb, parts.path) == ("POST", "/api/jobs"):
        return farm.submit(body)
    job = _job(farm, query.get("JobID") or str(body.get("JobID") or ""))
    if (verb, parts.path) == ("DELETE", "/api/jobs"):
        farm.command_job(job, "fail") if any(task.process for task in job.tasks) else None
        del farm.jobs[job.job_id]
    elif verb == "PUT" and parts.path in ("/api/jobs", "/api/tasks"):
        _command(farm, job, parts.path, body)
    elif (verb, parts.path) == ("GET", "/api/tasks"):
        return {"Tasks": [_task(job, task) for task in job.tasks]}
    elif (verb, parts.path) == ("GET", "/api/taskreports"):
        return _reports(job, query)
    else:
        raise Refused(501, "Not Implemented")
    return "Success"


def _names(path: str, query: Mapping[str, str]) -> list[str]:
    """Of all, or of the workers in some pools or groups."""
    if query.get("Pool"):
        return [worker.name for worker in WORKERS if {*query["Pool"].lower().split(",")} & {*worker.pools}]
    if query.get("Group"):
        return [worker.name for worker in WORKERS if {*query["Group"].lower().split(",")} & {*worker.groups}]
    return list(LISTS[path])


def _job(farm: FakeFarm, job_id: str) -> FakeJob:
    if not job_id:
        raise Refused(400, "no job ID was provided")
    if job_id not in farm.jobs:
        raise Refused(500, f"Error: the job ID {job_id} does not correspond to any job in the repository")
    return farm.jobs[job_id]


def _command(farm: FakeFarm, job: FakeJob, path: str, body: Mapping[str, object]) -> None:
    command, numbers = body.get("Command"), body.get("TaskList", [task.number for task in job.tasks])
    if not isinstance(command, str):
        raise Refused(400, "no command was provided")
    if path == "/api/jobs":
        farm.command_job(job, command)
    elif isinstance(numbers, list):
        farm.command_tasks(job, command, numbers)
    else:
        raise Refused(500, "Error: TaskList is no list")


def _task(job: FakeJob, task: FakeTask) -> dict[str, object]:
    own = {"JobID": job.job_id, "TaskID": task.number, "Frames": f"{task.number}-{task.number}", "Slave": task.worker}
    return {**own, "Stat": task.state, "Prog": "0 %", "Errs": task.errors, "_id": f"{job.job_id}_{task.number}"}


def _reports(job: FakeJob, query: Mapping[str, str]) -> object:
    """Newest first: nothing is documented about their order."""
    reports = job.tasks[int(query["TaskID"])].reports[::-1]
    if query["Data"] == "all":
        found: list[object] = [{"Date": report.date, "Type": report.kind} for report in reports]
    elif query["Data"] == "allcontents":
        found = [report.text for report in reports]
    else:
        raise Refused(400, "the value for Data is incorrect")
    return found or "There are no reports for this task."
