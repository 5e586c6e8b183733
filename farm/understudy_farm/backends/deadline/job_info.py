"""A step as Deadline's JobInfo: keys and values, all of them text, and the lines in which they are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from understudy import __version__
from understudy_farm.backend import FarmError, Site
from understudy_farm.plan import APPLY, TRAIN
from understudy_farm.spec import NUMBER, Job, Placement, Resources, Step

DEPENDENCIES = "JobDependencies"
_JOB_ID = re.compile(r"[0-9a-f]{24}")


def job_info(job: Job, step: Step, site: Site, plugin: str) -> dict[str, str]:
    """Without empty values: Deadline's own defaults stay. Raises FarmError for what Deadline has no word for."""
    _refuse(step.resources)
    stated = {
        "Plugin": plugin,
        "Name": f"{job.name} {step.name}",
        "BatchName": job.batch,
        "Comment": job.comment,
        "Department": job.department,
        "UserName": job.user,
        "MachineName": job.host,
        **_tasks(step),
        **_placement(job, step, site),
        **({} if step.after else _beginning(job.placement)),
        **_endings(step),
        **_environment(step),
        **_numbered("OutputDirectory", _folders(job, step)),
        **_facts(job),
    }
    return {key: value for key, value in stated.items() if value}


def to_lines(values: Mapping[str, str]) -> str:
    """Key=Value lines. Raises FarmError for a value of several lines."""
    for key, value in values.items():
        if "\n" in value or "\r" in value:
            raise FarmError(f"deadline: {key} has several lines, and Deadline takes one; shorten {value[:60]!r}")
    return "".join(f"{key}={value}\n" for key, value in values.items())


def from_lines(text: str) -> dict[str, str]:
    """What `to_lines` wrote; blank lines are left out."""
    pairs = (line.partition("=") for line in text.split("\n") if line.strip())
    return {key.strip(): value for key, _, value in pairs}


def is_job_id(text: str) -> bool:
    return _JOB_ID.fullmatch(text) is not None


def _tasks(step: Step) -> dict[str, str]:
    """Frame and task have the same number. One task a worker: several would share its GPUs."""
    return {
        "Frames": f"0-{step.num_tasks - 1}" if step.num_tasks > 1 else "0",
        "ChunkSize": "1",
        "ConcurrentTasks": "1",
    }


def _placement(job: Job, step: Step, site: Site) -> dict[str, str]:
    place = job.placement
    return {
        "Priority": str(place.priority),
        "Pool": place.pool,
        "SecondaryPool": place.secondary_pool,
        "Group": place.group,
        "LimitGroups": ",".join(job.limits_of(step)),
        site["whitelist"]: ",".join(place.machines),
    }


def _beginning(place: Placement) -> dict[str, str]:
    """Of the first steps. The others wait for these alone, so that resuming the first is enough."""
    return {
        DEPENDENCIES: ",".join(map(_job_id, place.depends_on)),
        "InitialStatus": "Suspended" if place.is_suspended else "",
    }


def _endings(step: Step) -> dict[str, str]:
    """When a task ends other than by itself. What fails is a task, never the job while others may go on training.

    A task that takes too long is an error like any other, and is started again as often as retries allow. Which workers
    are bad is the farm's to know: one that breaks every task must not use up the retries.
    """
    minutes = step.resources.timeout_minutes
    limit = {"TaskTimeoutSeconds": str(math.ceil(60 * minutes)), "OnTaskTimeout": "Error"} if minutes else {}
    return {
        **limit,
        "EnableAutoTimeout": "false",
        "Interruptible": "false",
        "OverrideTaskFailureDetection": "true",
        "FailureDetectionTaskErrors": str(step.retries + 1),
        "OverrideJobFailureDetection": "true",
        "FailureDetectionJobErrors": "0",  # no limit: errors are kept when a task is requeued, and would add up to one
    }


def _environment(step: Step) -> dict[str, str]:
    """The same for all tasks; those with the task's number are the plugin's."""
    shared = [f"{name}={value}" for name, value in step.environment if NUMBER not in value]
    return {"IncludeEnvironment": "false", **_numbered("EnvironmentKeyValue", shared)}


def _folders(job: Job, step: Step) -> list[str]:
    """What "explore output" opens in the Monitor. No file names: it would put a task's number in for the frame."""
    words = pairwise(step.argv) if step.name == APPLY else ()
    return [*(str(Path(pattern).parent) for word, pattern in words if word == "--output"), str(job.run_directory)]


def _facts(job: Job) -> dict[str, str]:
    """For the Monitor's columns, which have no titles, and by name for scripts."""
    ranks = job.step(TRAIN).num_tasks
    shown = (job.run_name, f"ranks: {ranks}", f"understudy {__version__}")
    named = (f"UnderstudyRun={job.run_name}", f"UnderstudyWorldSize={ranks}", f"UnderstudyVersion={__version__}")
    return {**_numbered("ExtraInfo", shown), **_numbered("ExtraInfoKeyValue", named)}


def _numbered(key: str, values: Iterable[str]) -> dict[str, str]:
    return {f"{key}{index}": value for index, value in enumerate(values)}


def _refuse(needs: Resources) -> None:
    given = {"cores_per_task": needs.cores, "memory_per_task": needs.memory_gib}
    named = [name for name, value in given.items() if value]
    if named:
        raise FarmError(
            f"deadline: {' and '.join(named)}: Deadline gives a task a whole worker; leave it out, and choose workers "
            "by --group or --machines"
        )


def _job_id(text: str) -> str:
    if not is_job_id(text):
        raise FarmError(f"--depends-on {text}: is no id of a Deadline job, which has 24 digits from 0 to f")
    return text
