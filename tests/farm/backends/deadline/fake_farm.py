"""A Deadline that is not there: its Web Service by HTTP, strict about what it takes, and workers that run the tasks."""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil

QUEUED, SUSPENDED, RENDERING, COMPLETED, FAILED, PENDING = 2, 3, 4, 5, 6, 8
WORKERS = ("render01", "render02", "render03")
POOLS, GROUPS, LIMITS = ("none", "gpu", "night"), ("none", "nuke"), ("torch", "big")
USER, PASSWORD = "mia", "open sesame"
PLUGIN_HOST = Path(__file__).with_name("plugin_host.py")
WORDS = {
    *("Plugin", "Name", "BatchName", "Comment", "Department", "UserName", "MachineName", "Frames", "ChunkSize"),
    *("ConcurrentTasks", "Priority", "Pool", "SecondaryPool", "Group", "LimitGroups", "Whitelist", "InitialStatus"),
    *("JobDependencies", "TaskTimeoutSeconds", "OnTaskTimeout", "EnableAutoTimeout", "Interruptible"),
    *("OverrideTaskFailureDetection", "FailureDetectionTaskErrors", "OverrideJobFailureDetection"),
    *("FailureDetectionJobErrors", "IgnoreBadJobDetection", "IncludeEnvironment"),
}
INDEXED = re.compile(r"(EnvironmentKeyValue|OutputDirectory|ExtraInfoKeyValue)\d+")


@dataclass
class FakeTask:
    number: int
    state: int
    worker: str = ""
    errors: int = 0
    process: subprocess.Popen[bytes] | None = None
    reports: list[str] = field(default_factory=list)


@dataclass
class FakeJob:
    job_id: str
    info: dict[str, str]
    plugin: dict[str, str]
    tasks: list[FakeTask]

    def waits_for(self) -> list[str]:
        return [name for name in self.info.get("JobDependencies", "").split(",") if name]

    def is_completed(self) -> bool:
        return all(task.state == COMPLETED for task in self.tasks)


class Refused(Exception):
    """What Deadline says no to: status and words."""


@dataclass
class FakeFarm:
    """Jobs by id; `faults` are answers to give instead, by verb and beginning of path, each once."""

    url: str = ""
    jobs: dict[str, FakeJob] = field(default_factory=dict)
    faults: dict[tuple[str, str], str] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)
    ended: threading.Event = field(default_factory=threading.Event)

    def submit(self, body: dict[str, object]) -> dict[str, str]:
        info, plugin = body["JobInfo"], body["PluginInfo"]
        if body.get("AuxFiles") != [] or not isinstance(info, dict) or not isinstance(plugin, dict):
            raise Refused(400, "JobInfo, PluginInfo and AuxFiles are needed")
        for key, value in [*info.items(), *plugin.items()]:
            if not isinstance(value, str):
                raise Refused(500, f"{key} is no text")
        unknown = [key for key in info if key not in WORDS and not INDEXED.fullmatch(key)]
        if unknown or info["ChunkSize"] != "1" or any(name not in self.jobs for name in _list(info, "JobDependencies")):
            raise Refused(500, f"Error: unknown {unknown} or dependency")
        frames = re.fullmatch(r"0(?:-(\d+))?", info["Frames"])
        if frames is None or info["Plugin"] not in ("CommandLine", "Understudy"):
            raise Refused(500, "Error: bad Frames or Plugin")
        job_id = secrets.token_hex(12)
        first = PENDING if "JobDependencies" in info else SUSPENDED if "InitialStatus" in info else QUEUED
        tasks = [FakeTask(number, first) for number in range(int(frames[1] or 0) + 1)]
        self.jobs[job_id] = FakeJob(job_id, info, plugin, tasks)
        return {"_id": job_id}

    def command_job(self, job: FakeJob, command: str) -> None:
        if command != "fail":
            raise Refused(500, f"Error: {command} is no command")
        if all(task.state in (COMPLETED, FAILED) for task in job.tasks):
            raise Refused(500, "Error: the job has ended")
        for task in job.tasks:
            if task.state != COMPLETED:
                task.state = FAILED
                end(task)

    def command_tasks(self, job: FakeJob, command: str, numbers: list[int]) -> None:
        allowed = {"requeue": (RENDERING, COMPLETED), "resumefailed": (FAILED,), "resume": (SUSPENDED,)}
        for task in (job.tasks[number] for number in numbers):
            if task.state not in allowed[command]:
                raise Refused(500, f"Error: cannot {command} a task with status {task.state}")
            task.state = QUEUED
            end(task)

    def work(self, worker: str) -> None:
        """One worker: takes queued tasks until the farm is closed."""
        while not self.ended.wait(0.05):
            with self.lock:
                self._release()
                found = next(((j, t) for j in self.jobs.values() for t in j.tasks if self._may(j, t, worker)), None)
                if found is None:
                    continue
                job, task = found
                task.state, task.worker = RENDERING, worker
                task.process = process = start(job, task.number)
            output, _ = process.communicate()
            with self.lock:
                self._finish(job, task, process, output.decode(errors="replace"))

    def _may(self, job: FakeJob, task: FakeTask, worker: str) -> bool:
        return task.state == QUEUED and worker in (_list(job.info, "Whitelist") or WORKERS)

    def _release(self) -> None:
        for job in self.jobs.values():
            if all(self.jobs[name].is_completed() for name in job.waits_for() if name in self.jobs):
                for task in job.tasks:
                    task.state = QUEUED if task.state == PENDING else task.state

    def _finish(self, job: FakeJob, task: FakeTask, process: subprocess.Popen[bytes], output: str) -> None:
        lines = "".join(f"2026-11-21 12:00:00:  0: STDOUT: {line}\n" for line in output.splitlines())
        task.reports.append(f"{lines}\n=====\nDetails\n=====\nFrames: {task.number}\n")
        if task.process is not process or task.state != RENDERING:
            return  # it was failed or requeued meanwhile
        if process.returncode == 0:
            task.state = COMPLETED
            return
        task.errors += 1
        has_failed = task.errors >= int(job.info["FailureDetectionTaskErrors"])
        task.state = FAILED if has_failed else QUEUED


def _list(info: dict[str, str], key: str) -> list[str]:
    return [name for name in info.get(key, "").split(",") if name]


def start(job: FakeJob, frame: int) -> subprocess.Popen[bytes]:
    own = dict(value.split("=", 1) for key, value in job.info.items() if key.startswith("EnvironmentKeyValue"))
    is_ours = job.info["Plugin"] == "Understudy"
    told = json.dumps({"frame": frame, "plugin_info": job.plugin})
    words = [sys.executable, str(PLUGIN_HOST), told] if is_ours else command_line(job, frame)
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    return subprocess.Popen(words, env={**os.environ, **own}, **out)  # type: ignore[call-overload,no-any-return]


def command_line(job: FakeJob, frame: int) -> list[str]:
    """As the stock plugin with ShellExecute: tokens, then a shell whose words are split as Mono splits them."""
    text = job.plugin["Arguments"].strip().replace("<STARTFRAME>", str(frame)).replace("<QUOTE>", '"')
    text = text.replace("\u201c", '"').replace("\u201d", '"')
    escaped = text.replace("'", "'\\''")
    assert job.plugin["ShellExecute"] == "true"
    return [job.plugin["Shell"], *shlex.split(f"-c '{escaped}'")]


def end(task: FakeTask) -> None:
    """As a worker ends a task: the whole tree at once."""
    process, task.process = task.process, None
    if process is None or process.poll() is not None:
        return
    with suppress(psutil.NoSuchProcess):
        head = psutil.Process(process.pid)
        for member in [head, *head.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                member.kill()


@contextmanager
def fake_farm() -> Iterator[FakeFarm]:
    farm = FakeFarm()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            with farm.lock:
                fault = _fault(farm, self.command, self.path)
                if fault == "drop":
                    self.close_connection = True
                    self.connection.close()
                    return
                if fault == "sleep":
                    time.sleep(3)
                status, text = (500, "Error: no database") if fault == "500" else self._say()
                text = '{"_id": ' if fault == "broken" else text
            with suppress(BrokenPipeError):  # who asked has gone
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

        do_GET = do_POST = do_PUT = do_DELETE = _answer

        def _say(self) -> tuple[int, str]:
            wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.headers.get("Authorization") != wanted:
                return 401, "Authentication failed"
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            try:
                answer = _obey(farm, self.command, self.path, body)
            except Refused as refused:
                return refused.args[0], refused.args[1]
            return 200, answer if isinstance(answer, str) else json.dumps(answer)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    farm.url = f"http://127.0.0.1:{server.server_address[1]}"
    threads = [threading.Thread(target=farm.work, args=(name,), daemon=True) for name in WORKERS]
    threads.append(threading.Thread(target=server.serve_forever, daemon=True))
    for thread in threads:
        thread.start()
    yield farm
    farm.ended.set()
    with farm.lock:
        for task in (task for job in farm.jobs.values() for task in job.tasks):
            end(task)
    server.shutdown()
    server.server_close()


def _fault(farm: FakeFarm, verb: str, path: str) -> str:
    found = next((key for key in farm.faults if key[0] == verb and path.startswith(key[1])), None)
    return farm.faults.pop(found) if found else ""


def _obey(farm: FakeFarm, verb: str, path: str, body: dict[str, object]) -> object:
    parts = urlsplit(path)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    names = {"/api/pools": POOLS, "/api/groups": GROUPS, "/api/limitgroups": LIMITS, "/api/slaves": WORKERS}
    if verb == "GET" and parts.path in names:
        return list(WORKERS[:2] if "Pool" in query or "Group" in query else names[parts.path])
    if (verb, parts.path) == ("POST", "/api/jobs"):
        return farm.submit(body)
    job = farm.jobs.get(query.get("JobID") or str(body.get("JobID")))
    if job is None:
        raise Refused(500, "Error: no such job")
    if (verb, parts.path) == ("DELETE", "/api/jobs"):
        del farm.jobs[job.job_id]
    elif (verb, parts.path) == ("PUT", "/api/jobs"):
        farm.command_job(job, str(body["Command"]))
    elif (verb, parts.path) == ("PUT", "/api/tasks"):
        numbers = body["TaskList"]
        assert isinstance(numbers, list)
        farm.command_tasks(job, str(body["Command"]), numbers)
    elif (verb, parts.path) == ("GET", "/api/tasks"):
        return {"Tasks": [_task(job, task) for task in job.tasks]}
    elif (verb, parts.path) == ("GET", "/api/taskreports"):
        reports = job.tasks[int(query["TaskID"])].reports
        facts: list[object] = [{"Date": f"2026-11-21T12:00:{n:02}", "Type": 0} for n in range(len(reports))]
        return (facts if query["Data"] == "all" else reports) or "There are no reports for this task."
    else:
        raise Refused(501, "Not Implemented")
    return "Success"


def _task(job: FakeJob, task: FakeTask) -> dict[str, object]:
    own = {"JobID": job.job_id, "TaskID": task.number, "Frames": f"{task.number}-{task.number}", "Slave": task.worker}
    return {**own, "Stat": task.state, "Prog": "0 %", "Errs": task.errors, "_id": f"{job.job_id}_{task.number}"}
