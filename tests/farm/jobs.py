"""Jobs as planning makes them, without files, for tests of what comes after it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from understudy_farm.backend import Capabilities
from understudy_farm.choices import Choices
from understudy_farm.plan import Submission, plan
from understudy_farm.spec import Job

SUBMISSION = Submission(
    run_directory=Path("/mnt/show/sh010/copycat/v003"),
    run_name="Training_261121_120000",
    title="CopyCat1",
    sync_interval=0,
    user="mia",
    host="ws17",
    python="/opt/understudy/bin/python",
    scene="sh010_comp_v012",
    colour_words=(),
)
RANKS = Choices(ranks=3)
EVERYTHING = Choices(
    ranks=3,
    name="paint out markers",
    batch="sh010",
    comment="second try, wires too",
    department="comp",
    priority=70,
    pool="gpu",
    secondary_pool="night",
    group="nuke",
    limits=("torch", "big"),
    machines=("render01", "render02", "render03"),
    depends_on=("41", "42"),
    timeout_minutes=90.0,
    cores_per_task=8,
    gpus_per_task=1,
    memory_per_task=24.0,
    path_rules="windows=P:/show/,linux=/mnt/show/",
    bake="nuke -F 1001-1024 -X UnderstudyInput,UnderstudyTarget '/mnt/show/sh010/sh010 comp.nk'",
    bake_limits=("nuke_r",),
    apply_input="/mnt/show/sh010/plate/sh010 plate.####.exr",
    apply_output="/mnt/show/sh010/paint/sh010_paint.####.exr",
    apply_tasks=4,
    publish="publish_tool --shot sh010 --note 'model made it'",
)
ON_HOSTS = dataclasses.replace(
    EVERYTHING,
    priority=Choices().priority,
    pool="",
    secondary_pool="",
    group="",
    limits=(),
    bake_limits=(),
    depends_on=(),
    cores_per_task=0,
    gpus_per_task=0,
    memory_per_task=0.0,
)
"""As much as a farm without a queue can be told."""


def job_for(choices: Choices, capabilities: Capabilities, run_directory: Path | None = None) -> Job:
    submission = SUBMISSION
    if run_directory is not None:
        submission = dataclasses.replace(submission, run_directory=run_directory)
    return plan(submission, choices, capabilities)
