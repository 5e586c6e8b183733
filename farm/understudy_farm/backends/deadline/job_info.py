"""A step as Deadline's JobInfo: keys and values, all of them text, and the lines in which they are kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from understudy import __version__
from understudy_farm.backend import FarmError, Site
from understudy_farm.plan import TRAIN
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
        **_placement(job.placement, site),
        DEPENDENCIES: "" if step.after else ",".join(map(_job_id, job.placement.depends_on)),
        **_endings(step),
        **_environment(step),
        "OutputDirectory0": str(job.run_directory),
        "ExtraInfoKeyValue0": f"UnderstudyRun={job.run_name}",
        "ExtraInfoKeyValue1": f"UnderstudyWorldSize={job.step(TRAIN).num_tasks}",
        "ExtraInfoKeyValue2": f"UnderstudyVersion={__version__}",
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


def _placement(place: Placement, site: Site) -> dict[str, str]:
    return {
        "Priority": str(place.priority),
        "Pool": place.pool,
        "SecondaryPool": place.secondary_pool,
        "Group": place.group,
        "LimitGroups": ",".join(place.limits),
        site["whitelist"]: ",".join(place.machines),
        "InitialStatus": "Suspended" if place.is_suspended else "",
    }


def _endings(step: Step) -> dict[str, str]:
    """When a task ends other than by itself. A job fails with its last task, never before: others may go on training.

    A task that takes too long is an error like any other, and is started again as often as retries allow.
    """
    num_starts = step.retries + 1
    minutes = step.resources.timeout_minutes
    limit = {"TaskTimeoutSeconds": str(math.ceil(60 * minutes)), "OnTaskTimeout": "Error"} if minutes else {}
    return {
        **limit,
        "EnableAutoTimeout": "false",
        "Interruptible": "false",
        "OverrideTaskFailureDetection": "true",
        "FailureDetectionTaskErrors": str(num_starts),
        "OverrideJobFailureDetection": "true",
        "FailureDetectionJobErrors": str(num_starts * step.num_tasks),
        "IgnoreBadJobDetection": "true",
    }


def _environment(step: Step) -> dict[str, str]:
    """The same for all tasks; those with the task's number are the plugin's."""
    shared = [(name, value) for name, value in step.environment if NUMBER not in value]
    numbered = {f"EnvironmentKeyValue{index}": f"{name}={value}" for index, (name, value) in enumerate(shared)}
    return {"IncludeEnvironment": "false", **numbered}


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
