"""A job's placement and needs in qsub's words."""

from __future__ import annotations

import re
import shlex

from understudy_farm.backend import FarmError, Site
from understudy_farm.folder import JobFolder
from understudy_farm.spec import Job, Step

ORDINARY_PRIORITY = 50
STEPS_OF_PRIORITY = 20
"""Grid Engine's for one of ours: 0 to 49 become -1000 to -20."""
MISREAD = set("'\":$")
"""Quotes within quotes, a host's colon, and the sign of Grid Engine's own variables."""
SECONDS_BEFORE_TIME_OUT = 90
"""The soft limit comes so long before the hard one: time for a checkpoint."""


def qsub_words(job: Job, step: Step, site: Site) -> tuple[str, ...]:
    """One line of words for each thing, quoted. Raises FarmError for what Grid Engine cannot do."""
    folder = JobFolder(job.run_directory)
    misread = sorted(set(str(job.run_directory)) & MISREAD)
    if misread:
        raise FarmError(f"{job.run_directory}: Grid Engine misreads {misread[0]} in a path; choose another folder")
    is_gang = bool(site["pe"]) and step.at_once
    lines = [
        ["-N", _name(f"{job.name} {step.name}")],
        ["-S", "/bin/bash"],
        ["-wd", str(job.run_directory)],
        ["-j", "y"],
        ["-o", str(folder.task_log(step.name, "sge"))],
        ["-r", "y"],
        ["-notify"],
        ["-pe", site["pe"], str(step.num_tasks)] if is_gang else ["-t", f"1-{step.num_tasks}"],
        *_placement(job, step),
        *_resources(step, site, is_gang=is_gang),
        shlex.split(site["qsub"]),
    ]
    return tuple(shlex.join(line) for line in lines if line)


def pools_of(job: Job) -> list[str]:
    return [pool for pool in (job.placement.pool, job.placement.secondary_pool) if pool]


def time_limits_seconds(step: Step) -> tuple[int, int]:
    """(Soft, hard); zeros without a limit."""
    hard = round(step.resources.timeout_minutes * 60)
    return max(hard - SECONDS_BEFORE_TIME_OUT, hard // 2), hard


def _name(text: str) -> str:
    """Without the signs that Grid Engine refuses, and with no figure first."""
    return re.sub(r"^(?=\d)", "_", re.sub(r"[^\w.-]+", "_", text))


def _placement(job: Job, step: Step) -> list[list[str]]:
    place = job.placement
    if place.priority > ORDINARY_PRIORITY:
        raise FarmError(
            f"--priority {place.priority}: Grid Engine lets nobody but its operators go above the ordinary "
            f"{ORDINARY_PRIORITY}; give less, or as an operator -O qsub='-p 500'"
        )
    limits = job.limits_of(step)
    lowered = (place.priority - ORDINARY_PRIORITY) * STEPS_OF_PRIORITY
    return [
        ["-q", ",".join(pools_of(job))] if pools_of(job) else [],
        ["-P", place.group] if place.group else [],
        ["-p", str(lowered)] if lowered else [],
        ["-l", ",".join(limit if "=" in limit else f"{limit}=1" for limit in limits)] if limits else [],
        ["-l", f"hostname={'|'.join(place.machines)}"] if place.machines else [],
        ["-h"] if place.is_suspended else [],
    ]


def _resources(step: Step, site: Site, *, is_gang: bool) -> list[list[str]]:
    needs = step.resources
    soft, hard = time_limits_seconds(step)
    mebibytes = round(needs.memory_gib * 1024 / (needs.cores or 1))
    asked = {
        site["gpu_resource"]: str(needs.gpus or ""),
        site["memory_resource"]: f"{mebibytes}M" if mebibytes else "",
        "s_rt": str(soft or ""),
        "h_rt": str(hard or ""),
    }
    words = [f"{name}={value}" for name, value in asked.items() if name and value]
    return [_cores(needs.cores, site, is_gang=is_gang), ["-l", ",".join(words)] if words else []]


def _cores(cores: int, site: Site, *, is_gang: bool) -> list[str]:
    if not cores:
        return []
    if is_gang:
        raise FarmError(f"--cores-per-task {cores}: a rank in the environment {site['pe']} has one slot; leave it out")
    if not site["smp_pe"]:
        raise FarmError(
            f"--cores-per-task {cores}: Grid Engine gives cores by a parallel environment; name it by -O smp_pe=..., "
            "see `qconf -spl`"
        )
    return ["-pe", site["smp_pe"], str(cores)]
