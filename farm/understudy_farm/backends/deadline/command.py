"""Deadline asked by deadlinecommand, which every machine with a Deadline client has."""

from __future__ import annotations

import bz2
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from understudy_farm.backend import FarmAway, FarmError
from understudy_farm.backends.deadline.job_info import is_job_id
from understudy_farm.backends.deadline.questions import Again, FarmTask, JobFiles, Kind
from understudy_farm.shell import ask

PLACE = "DEADLINE_PATH"
"""Environment variable: the folder of the client's programs."""
PLACE_ON_MACOS = Path("/Users/Shared/Thinkbox/DEADLINE_PATH")
MEND = "install the Deadline client here, set DEADLINE_PATH, or give -O url=http://HOST:8082"

_NAMES: Mapping[Kind, str] = {
    "pool": "GetPoolNames",
    "group": "GetGroupNames",
    "limit": "GetLimitGroupNames",
    "worker": "GetSlaveNames",
}
_AGAIN: Mapping[Again, str] = {
    "requeue": "RequeueJobTasks",
    "resumefailed": "ResumeFailedJobTasks",
    "resume": "ResumeJobTasks",
}


def find_command() -> str:
    """Empty when there is none here."""
    folders = [os.environ.get(PLACE, "")]
    folders += [PLACE_ON_MACOS.read_text(encoding="utf-8").strip()] if PLACE_ON_MACOS.is_file() else []
    places = [folder for folder in folders if folder] + [os.environ.get("PATH", os.defpath)]
    return next(filter(None, (shutil.which("deadlinecommand", path=place) for place in places)), "")


class ByCommand:
    """One call for each question."""

    def __init__(self) -> None:
        self._command = find_command()
        if not self._command:
            raise FarmAway(f"deadlinecommand: no such program here; {MEND}")

    def submit(self, files: JobFiles) -> str:
        said = self._ask(str(files.job_info), str(files.plugin_info))
        job_id = next((line.partition("=")[2].strip() for line in said.splitlines() if line.startswith("JobID=")), "")
        if not is_job_id(job_id):
            raise FarmError(f"{self._command}: took {files.job_info}, but named no job: {' '.join(said.split())[:300]}")
        return job_id

    def delete(self, job_id: str) -> None:
        self._ask("-DeleteJob", job_id)

    def fail(self, job_id: str) -> None:
        self._ask("-FailJob", job_id)

    def start_again(self, job_id: str, how: Again, numbers: Sequence[int]) -> None:
        self._ask(f"-{_AGAIN[how]}", job_id, ",".join(map(str, numbers)))

    def tasks(self, job_id: str) -> tuple[FarmTask, ...]:
        said = self._ask("-GetJobTasks", job_id, "true")
        blocks = (dict(re.findall(r"^\s*(\w+)=(.*?)\s*$", block, re.M)) for block in re.split(r"\n\s*\n", said))
        try:
            tasks = [_task(block) for block in blocks if "TaskId" in block]
        except (KeyError, ValueError) as error:
            raise FarmError(f"{self._command}: lists the tasks of {job_id} in a way nobody knows ({error})") from error
        return tuple(sorted(tasks, key=lambda task: task.number))

    def reports(self, job_id: str, number: int) -> str:
        """The reports of a job are files; each says of which frame it is."""
        paths = [
            Path(line.strip())
            for kind in ("Error", "Log")
            for line in self._ask(f"-GetJob{kind}ReportFilenames", job_id).splitlines()
            if line.strip()
        ]
        try:
            texts = [_text(path) for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns)]
        except OSError as error:
            raise FarmError(
                f"{error.filename}: this report cannot be read here ({error.strerror}); give -O url"
            ) from error
        own = re.compile(rf"^Frames: {number}\s*$", re.M)
        return "".join(f"{text.rstrip()}\n" for text in texts if own.search(text))

    def names(self, kind: Kind) -> tuple[str, ...]:
        return _lines(self._ask(f"-{_NAMES[kind]}"))

    def workers_in(self, kind: Literal["pool", "group"], names: Sequence[str]) -> tuple[str, ...]:
        return _lines(self._ask(f"-GetSlaveNamesIn{kind.capitalize()}", ",".join(names)))

    def _ask(self, *words: str) -> str:
        """Errors may come with exit code 0."""
        said = ask([self._command, *words], mend=MEND)
        if said.lstrip().startswith("Error"):
            raise FarmError(f"{self._command} {words[0]}: {' '.join(said.split())[:300]}")
        return said


def _task(facts: Mapping[str, str]) -> FarmTask:
    return FarmTask(
        number=int(facts["TaskId"]),
        word=facts["TaskStatus"],
        worker=facts.get("TaskSlaveName", ""),
        num_errors=int(facts.get("TaskErrorCount") or 0),
    )


def _text(path: Path) -> str:
    content = path.read_bytes()
    return (bz2.decompress(content) if path.suffix == ".bz2" else content).decode("utf-8", "replace")


def _lines(said: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in said.splitlines() if line.strip())
