"""Deadline asked by its Web Service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NoReturn
from urllib.parse import urlencode

from understudy_farm.backend import FarmError
from understudy_farm.backends.deadline.client import Service
from understudy_farm.backends.deadline.job_info import from_lines, is_job_id
from understudy_farm.backends.deadline.questions import Again, FarmTask, JobFiles, Kind

_WORDS = {2: "Queued", 3: "Suspended", 4: "Rendering", 5: "Completed", 6: "Failed", 8: "Pending"}
"""Of a task's number for its state."""
_NAMES: Mapping[Kind, str] = {"pool": "pools", "group": "groups", "limit": "limitgroups", "worker": "slaves"}


class ByRest:
    """One request for each question, and two for reports."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def submit(self, files: JobFiles) -> str:
        job_info = from_lines(files.job_info.read_text(encoding="utf-8"))
        plugin_info = from_lines(files.plugin_info.read_text(encoding="utf-8"))
        body = {"JobInfo": job_info, "PluginInfo": plugin_info, "AuxFiles": [], "IdOnly": True}
        answer = self._service.ask("POST", "/api/jobs", body)
        job_id = answer.get("_id") if isinstance(answer, dict) else None
        if not isinstance(job_id, str) or not is_job_id(job_id):
            _raise_strange("the submission of a job", answer)
        return job_id

    def delete(self, job_id: str) -> None:
        _expect_success(self._service.ask("DELETE", _path("jobs", JobID=job_id)))

    def fail(self, job_id: str) -> None:
        _expect_success(self._service.ask("PUT", "/api/jobs", {"Command": "fail", "JobID": job_id}))

    def start_again(self, job_id: str, how: Again, numbers: Sequence[int]) -> None:
        body = {"Command": how, "JobID": job_id, "TaskList": list(numbers)}
        _expect_success(self._service.ask("PUT", "/api/tasks", body))

    def tasks(self, job_id: str) -> tuple[FarmTask, ...]:
        answer = self._service.ask("GET", _path("tasks", JobID=job_id))
        listed = answer.get("Tasks") if isinstance(answer, dict) else None
        if not isinstance(listed, list):
            _raise_strange(f"the tasks of {job_id}", answer)
        return tuple(sorted(map(_task, listed), key=lambda task: task.number))

    def reports(self, job_id: str, number: int) -> str:
        """Texts come without their dates: those are asked for too."""
        texts = self._task_reports(job_id, number, "allcontents")
        facts = self._task_reports(job_id, number, "all")
        if len(texts) == len(facts):
            dates = [str(fact["Date"]) if isinstance(fact, dict) and "Date" in fact else "" for fact in facts]
            texts = [text for _, text in sorted(zip(dates, texts, strict=True), key=lambda pair: pair[0])]
        return "".join(f"{str(text).rstrip()}\n" for text in texts)

    def names(self, kind: Kind) -> tuple[str, ...]:
        return self._names(_path(_NAMES[kind], NamesOnly="true"))

    def workers_in(self, kind: Literal["pool", "group"], names: Sequence[str]) -> tuple[str, ...]:
        return self._names(_path(_NAMES[kind], **{kind.capitalize(): ",".join(names)}))

    def _task_reports(self, job_id: str, number: int, data: str) -> list[object]:
        """That there are none is said in words."""
        answer = self._service.ask("GET", _path("taskreports", JobID=job_id, TaskID=str(number), Data=data))
        if isinstance(answer, str):
            return []
        if not isinstance(answer, list):
            _raise_strange(f"the reports of task {number} of {job_id}", answer)
        return answer

    def _names(self, path: str) -> tuple[str, ...]:
        answer = self._service.ask("GET", path)
        if not isinstance(answer, list):
            _raise_strange(path, answer)
        return tuple(map(str, answer))


def _path(what: str, **query: str) -> str:
    return f"/api/{what}?{urlencode(query, safe=',')}"


def _task(value: object) -> FarmTask:
    if not isinstance(value, dict):
        _raise_strange("its tasks", value)
    try:
        state = int(value["Stat"])
        return FarmTask(
            number=int(value["TaskID"]),
            word=_WORDS.get(state, f"state {state}"),
            worker=str(value.get("Slave") or ""),
            num_errors=int(value.get("Errs") or 0),
        )
    except (KeyError, TypeError, ValueError):
        _raise_strange("its tasks", value)


def _expect_success(answer: object) -> None:
    if not isinstance(answer, str) or "success" not in answer.lower():
        _raise_strange("a command", answer)


def _raise_strange(question: str, answer: object) -> NoReturn:
    raise FarmError(
        f"deadline: the Web Service was asked for {question} and answers {str(answer)[:200]!r}; restart it, or use "
        "-O via=command"
    )
