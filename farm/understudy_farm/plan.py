"""Planning: what was chosen becomes a job, the same for every farm. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from understudy.ranks.contract import MAIN_ADDR, MAIN_PORT, RANK, SYNC_INTERVAL, WORLD_SIZE
from understudy.remap import PATH_RULES
from understudy_farm.backend import Capabilities
from understudy_farm.choices import Choices
from understudy_farm.spec import NUMBER, Job, Placement, Resources, Step

BAKE, TRAIN, APPLY, PUBLISH = "bake", "train", "apply", "publish"


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What a job is planned from, besides the choices: facts of the run and of the desk it is submitted from."""

    run_directory: Path
    """Absolute; the run lies in it already."""
    run_name: str
    title: str
    """What people call it: the node, or the sequence."""
    sync_interval: int
    """As asked for; 0: chosen for the link."""
    user: str
    host: str
    python: str
    """The interpreter that submits."""
    scene: str
    """Script, timeline or folder that it came from."""
    colour_words: tuple[str, ...]
    """How `apply` is told the run's colour rules."""


def plan(submission: Submission, choices: Choices, farm: Capabilities) -> Job:
    """The job for these choices on a farm that can do that."""
    version = submission.run_directory.name
    return Job(
        name=choices.name or f"{submission.title} {version}",
        batch=choices.batch or submission.scene,
        comment=choices.comment,
        department=choices.department,
        user=submission.user,
        host=submission.host,
        run_directory=submission.run_directory,
        run_name=submission.run_name,
        placement=Placement(
            priority=choices.priority,
            pool=choices.pool,
            secondary_pool=choices.secondary_pool,
            group=choices.group,
            limits=choices.limits,
            machines=choices.machines,
            depends_on=choices.depends_on,
            is_suspended=choices.suspended,
        ),
        steps=tuple(_steps(submission, choices, farm)),
    )


def _steps(submission: Submission, choices: Choices, farm: Capabilities) -> list[Step]:
    steps = [_bake(submission, choices)] if choices.bake else []
    steps.append(_train(submission, choices, farm))
    if choices.apply_output:
        steps.append(_apply(submission, choices, farm))
    if choices.publish:
        steps.append(_publish(submission, choices, steps[-1].name))
    return steps


def _bake(submission: Submission, choices: Choices) -> Step:
    """The studio's own renderer, which needs no GPU."""
    return Step(
        name=BAKE,
        argv=tuple(shlex.split(choices.bake)),
        environment=(("UNDERSTUDY_RUN", str(submission.run_directory)),),
        num_tasks=choices.bake_tasks,
        retries=choices.retries,
        resources=replace(_resources(choices), gpus=0),
        limits=choices.bake_limits,
    )


def _train(submission: Submission, choices: Choices, farm: Capabilities) -> Step:
    """Rank is the task's own number, so that any worker may take any rank, and a lost one comes back as itself."""
    words = ["resume", str(submission.run_directory), "--progress", farm.progress]
    words += ["--eviction", "leave"]  # a farm that wants a machine back ends one task and starts it again elsewhere
    environment = _rules(choices)
    if choices.ranks > 1:
        environment |= {
            MAIN_ADDR: choices.main_address,
            MAIN_PORT: choices.main_port,
            WORLD_SIZE: str(choices.ranks),
        }
        if submission.sync_interval:
            environment[SYNC_INTERVAL] = str(submission.sync_interval)
        if farm.has_task_environment:
            environment[RANK] = NUMBER
        else:
            words += ["--rank", NUMBER]
    return Step(
        name=TRAIN,
        argv=(*_understudy(submission, choices), *words),
        environment=tuple(environment.items()),
        num_tasks=choices.ranks,
        after=(BAKE,) if choices.bake else (),
        at_once=farm.can_gang and choices.ranks > 1,
        retries=choices.retries,
        resources=_resources(choices),
    )


def _apply(submission: Submission, choices: Choices, farm: Capabilities) -> Step:
    words = ["apply", str(submission.run_directory), "--progress", farm.progress]
    words += ["--input", choices.apply_input, "--output", choices.apply_output]
    words += submission.colour_words
    words += ["--input-colorspace", choices.apply_colorspace] if choices.apply_colorspace else []
    words += ["--frames", choices.apply_frames] if choices.apply_frames else []
    words += ["--passes", str(choices.apply_passes)] if choices.apply_passes > 1 else []
    words += ["--part", f"{NUMBER}/{choices.apply_tasks}"] if choices.apply_tasks > 1 else []
    return Step(
        name=APPLY,
        argv=(*_understudy(submission, choices), *words),
        environment=tuple(_rules(choices).items()),
        num_tasks=choices.apply_tasks,
        after=(TRAIN,),
        retries=choices.retries,
        resources=_resources(choices),
    )


def _publish(submission: Submission, choices: Choices, after: str) -> Step:
    """The studio's own command; or ours, as the workers have it."""
    told = {
        "UNDERSTUDY_RUN": str(submission.run_directory),
        "UNDERSTUDY_OUTPUT": choices.apply_output,
        "UNDERSTUDY_INPUT": choices.apply_input,
    }
    words = tuple(shlex.split(choices.publish))
    if words[:1] == ("understudy",):
        words = (*_understudy(submission, choices), *words[1:])
        told |= _rules(choices)
    return Step(
        name=PUBLISH,
        argv=words,
        environment=tuple(told.items()),
        num_tasks=1,
        after=(after,),
        retries=0,
        resources=Resources(timeout_minutes=choices.timeout_minutes),
    )


def _understudy(submission: Submission, choices: Choices) -> tuple[str, ...]:
    """The words that start understudy on a worker."""
    if choices.rez:
        return ("rez", "env", *choices.rez, "--", "understudy")
    if choices.conda:
        return ("conda", "run", "--no-capture-output", "--name", choices.conda, "understudy")
    return (choices.python or submission.python, "-m", "understudy.cli.main")


def _rules(choices: Choices) -> dict[str, str]:
    return {PATH_RULES: choices.path_rules} if choices.path_rules else {}


def _resources(choices: Choices) -> Resources:
    return Resources(
        cores=choices.cores_per_task,
        gpus=choices.gpus_per_task,
        memory_gib=choices.memory_per_task,
        timeout_minutes=choices.timeout_minutes,
    )
