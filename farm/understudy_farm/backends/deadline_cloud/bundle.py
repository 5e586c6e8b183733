"""The job bundle: an Open Job Description template, the values of its parameters, its assets. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from understudy.errors import Problems
from understudy_farm.backend import FarmError, Site
from understudy_farm.plan import APPLY, TRAIN
from understudy_farm.spec import NUMBER, Job, Resources, Step

TEMPLATE, VALUES, ASSETS = "template.json", "parameter_values.json", "asset_references.json"
TASK_NUMBER = "Number"
"""The task parameter of a step that has several tasks."""
SECONDS_TO_END = 90
"""From being told to end to being killed: time for a checkpoint."""

_PATHS_OF_APPLY = {"--input": "ApplyInput", "--output": "ApplyOutput"}

Part = dict[str, object]
"""A table of the template."""


def bundle(job: Job, site: Site) -> Mapping[str, str]:
    """File name to JSON. Raises Problems with a line for each choice that Deadline Cloud has no place for."""
    _refuse_what_has_no_place(job, site)
    paths = _paths_of(job)
    return {
        TEMPLATE: _json(_template(job, paths)),
        VALUES: _json({"parameterValues": _values(job, paths, site)}),
        # Empty: the run lies on storage that all workers see. Any path named here would be copied by way of S3, and
        # each rank would then have a run directory of its own.
        ASSETS: _json(
            {
                "assetReferences": {
                    "inputs": {"filenames": [], "directories": []},
                    "outputs": {"directories": []},
                    "referencedPaths": [],
                }
            }
        ),
    }


def steps_on_farm(step: Step) -> tuple[str, ...]:
    """The names of the template's steps that are this one: a step for each rank, else one with all tasks.

    Tasks of one step may be queued behind each other in one worker's session, where ranks would wait for ever. Steps
    with environments of their own never share a session. Variables too can differ between steps only.
    """
    name = step.name.capitalize()
    if step.name == TRAIN or any(NUMBER in value for _, value in step.environment):
        return tuple(f"{name}-{number}" for number in range(step.num_tasks))
    return (name,)


def _refuse_what_has_no_place(job: Job, site: Site) -> None:
    place, most = job.placement, site["max_worker_count"]
    ranks = sum(step.num_tasks for step in job.steps if step.name == TRAIN)
    lines = [
        f"{flag}: Deadline Cloud {reason}"
        for flag, value, reason in (
            ("--secondary-pool", place.secondary_pool, "sends a job to one queue; leave it out"),
            ("--group", place.group, "has no groups; name a queue with --pool"),
            ("--machines", place.machines, "chooses workers by what they have; leave it out"),
            ("--depends-on", place.depends_on, "lets steps wait for each other, not jobs; leave it out"),
        )
        if value
    ]
    if most and not most.isdecimal():
        lines.append(f"-O max_worker_count={most}: is no number; leave it out for as many as there are")
    elif most and int(most) < ranks:
        lines.append(f"-O max_worker_count={most}: {ranks} ranks train at the same time; allow as many workers")
    if lines:
        raise Problems(lines)


def _paths_of(job: Job) -> Mapping[str, str]:
    """Paths that storage profiles may give another name on the workers, and the parameter that stands for each."""
    found = {str(job.run_directory): "RunDirectory"}
    for step in job.steps:
        if step.name == APPLY:
            pairs = pairwise(step.argv)
            found |= {word: _PATHS_OF_APPLY[flag] for flag, word in pairs if flag in _PATHS_OF_APPLY}
    return found


def _template(job: Job, paths: Mapping[str, str]) -> Part:
    about = {
        "": job.comment,
        "batch: ": job.batch,
        "department: ": job.department,
        "user: ": job.user,
        "submitted from: ": job.host,
    }
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": _plain(job.name),
        "description": "\n".join(label + text for label, text in about.items() if text),
        "parameterDefinitions": [
            {
                "name": name,
                "type": "PATH",
                "objectType": "DIRECTORY" if name == "RunDirectory" else "FILE",
                "dataFlow": "NONE",
            }
            for name in paths.values()
        ],
        "steps": [part for step in job.steps for part in _steps(job, step, paths)],
    }


def _values(job: Job, paths: Mapping[str, str], site: Site) -> list[Part]:
    """Packages as argv says them work on any worker. Those of a queue's own environment are parameters that only a
    queue with that environment knows, and a conda environment's name is no package: so they are options, not taken
    from --rez and --conda."""
    values: dict[str, object] = {name: path for path, name in paths.items()}
    packages = {"RezPackages": site["rez_packages"], "CondaPackages": site["conda_packages"]}
    values |= {name: text for name, text in packages.items() if text}
    values["deadline:priority"] = job.placement.priority
    values["deadline:targetTaskRunStatus"] = "SUSPENDED" if job.placement.is_suspended else "READY"
    # Deadline Cloud has one number for the whole job.
    values["deadline:maxRetriesPerTask"] = max(step.retries for step in job.steps)
    if site["max_worker_count"]:
        values["deadline:maxWorkerCount"] = int(site["max_worker_count"])
    return [{"name": name, "value": value} for name, value in values.items()]


def _steps(job: Job, step: Step, paths: Mapping[str, str]) -> list[Part]:
    names = steps_on_farm(step)
    if len(names) > 1 or step.num_tasks == 1:
        return [_step(job, step, name, str(number), paths) for number, name in enumerate(names)]
    space = {"taskParameterDefinitions": [{"name": TASK_NUMBER, "type": "INT", "range": f"0-{step.num_tasks - 1}"}]}
    number = f"{{{{Task.Param.{TASK_NUMBER}}}}}"
    return [{**_step(job, step, names[0], number, paths), "parameterSpace": space}]


def _step(job: Job, step: Step, name: str, number: str, paths: Mapping[str, str]) -> Part:
    command, *words = (_text(word, number, paths) for word in step.argv)
    variables = {key: _text(value, number, paths) for key, value in step.environment}
    before = [one for after in step.after for one in steps_on_farm(job.step(after))]
    amounts = _amounts(step.resources, job.limits_of(step))
    return {
        "name": name,
        **({"dependencies": [{"dependsOn": one} for one in before]} if before else {}),
        **({"hostRequirements": {"amounts": amounts}} if amounts else {}),
        **({"stepEnvironments": [{"name": f"{name} variables", "variables": variables}]} if variables else {}),
        "script": {"actions": {"onRun": _action(command, words, step.resources)}},
    }


def _action(command: str, words: list[str], needs: Resources) -> Part:
    return {
        "command": command,
        **({"args": words} if words else {}),
        **({"timeout": math.ceil(needs.timeout_minutes * 60)} if needs.timeout_minutes else {}),
        "cancelation": {"mode": "NOTIFY_THEN_TERMINATE", "notifyPeriodInSeconds": SECONDS_TO_END},
    }


def _amounts(needs: Resources, limits: Iterable[str]) -> list[Part]:
    """Of the machine, and of Deadline Cloud's limits by the names of their amounts."""
    of_machine = {
        "amount.worker.vcpu": needs.cores,
        "amount.worker.memory": math.ceil(needs.memory_gib * 1024),
        "amount.worker.gpu": needs.gpus,
    }
    of_limits = {limit if "amount." in limit else f"amount.{limit}": 1 for limit in limits}
    return [{"name": name, "min": least} for name, least in {**of_machine, **of_limits}.items() if least]


def _text(word: str, number: str, paths: Mapping[str, str]) -> str:
    """A word as Open Job Description reads it back."""
    return f"{{{{Param.{paths[word]}}}}}" if word in paths else _plain(word).replace(NUMBER, number)


def _plain(text: str) -> str:
    if "{{" in text or "}}" in text:
        raise FarmError(f"{text!r}: Open Job Description takes {{{{ and }}}} for its own; write it without")
    return text


def _json(part: Part) -> str:
    return json.dumps(part, indent=2, ensure_ascii=False) + "\n"
