"""A deadlinecommand for the farm that is not there: the words of the real one, asked of the fake's Web Service.

FAKE_DEADLINE_URL names it; reports are written as files into FAKE_DEADLINE_REPORTS.
"""

from __future__ import annotations

import base64
import bz2
import json
import os
import sys
from pathlib import Path
from urllib.request import Request, urlopen

WORDS = {2: "Queued", 3: "Suspended", 4: "Rendering", 5: "Completed", 6: "Failed", 8: "Pending"}
LISTS = {"-GetPoolNames": "pools", "-GetGroupNames": "groups", "-GetLimitGroupNames": "limitgroups"}
LISTS |= {"-GetSlaveNames": "slaves"}
MEMBERS = {"-GetSlaveNamesInPool": "pools?Pool", "-GetSlaveNamesInGroup": "groups?Group"}
REPORTS = {"-GetJobLogReportFilenames": 0, "-GetJobErrorReportFilenames": 1}
AGAIN = {"-RequeueJobTasks": "requeue", "-ResumeFailedJobTasks": "resumefailed", "-ResumeJobTasks": "resume"}


def ask(verb: str, path: str, body: object = None) -> object:
    request = Request(os.environ["FAKE_DEADLINE_URL"] + path, method=verb, data=json.dumps(body or {}).encode())
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", "Basic " + base64.b64encode(b"mia:open sesame").decode())
    with urlopen(request) as response:
        text = response.read().decode()
    return text if text == "Success" or text.startswith("There are") else json.loads(text)


def lines_of(path: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in Path(path).read_text(encoding="utf-8").splitlines())
    return {key: value for key, _, value in pairs}


def tasks_of(job_id: str) -> list[dict[str, object]]:
    answer = ask("GET", f"/api/tasks?JobID={job_id}")
    assert isinstance(answer, dict)
    return list(answer["Tasks"])


def report_files(job_id: str, kind: int) -> list[Path]:
    """Files whose times are the order in which the reports were made."""
    found = []
    for task in tasks_of(job_id):
        path = f"/api/taskreports?JobID={job_id}&TaskID={task['TaskID']}&Data="
        facts, texts = ask("GET", f"{path}all"), ask("GET", f"{path}allcontents")
        pairs = zip(facts, texts, strict=True) if isinstance(facts, list) and isinstance(texts, list) else ()
        for number, (fact, text) in enumerate(sorted(pairs, key=lambda pair: str(pair[0]["Date"]))):
            file = Path(os.environ["FAKE_DEADLINE_REPORTS"], f"{job_id}.{task['TaskID']}.{9 - number}.bz2")
            file.write_bytes(bz2.compress(str(text).encode()))
            os.utime(file, (number, number))
            found += [file] if fact["Type"] == kind else []
    return found


def main(words: list[str]) -> str:
    first, job_id = words[0], words[1] if len(words) > 1 else ""
    if first in LISTS or first in MEMBERS:
        path = f"{LISTS[first]}?NamesOnly=true" if first in LISTS else f"{MEMBERS[first]}={job_id}"
        answer = ask("GET", f"/api/{path}")
        assert isinstance(answer, list)
        return "\n".join(answer)
    if first == "-GetJobTasks":
        return "\n\n".join(
            f"TaskId={task['TaskID']}\nTaskStatus={WORDS[int(str(task['Stat']))]}\n"
            f"TaskSlaveName={task['Slave']}\nTaskErrorCount={task['Errs']}"
            for task in tasks_of(job_id)
        )
    if first in REPORTS:
        return "\n".join(map(str, report_files(job_id, REPORTS[first])))
    if first == "-FailJob":
        return str(ask("PUT", "/api/jobs", {"Command": "fail", "JobID": job_id}))
    if first == "-DeleteJob":
        return str(ask("DELETE", f"/api/jobs?JobID={job_id}"))
    if first in AGAIN:
        numbers = [int(number) for number in words[2].split(",")]
        return str(ask("PUT", "/api/tasks", {"Command": AGAIN[first], "JobID": job_id, "TaskList": numbers}))
    body = {"JobInfo": lines_of(words[0]), "PluginInfo": lines_of(words[1]), "AuxFiles": [], "IdOnly": True}
    answer = ask("POST", "/api/jobs", body)
    assert isinstance(answer, dict)
    return f"Submitting to Repository\n\nResult=Success\nJobID={answer['_id']}\n"


try:
    sys.stdout.write(main(sys.argv[1:]) + "\n")
except OSError as error:
    sys.stdout.write(f"Error: {error}\n")
