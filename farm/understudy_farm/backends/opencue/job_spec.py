"""The job as OpenCue's own XML (cjsl), written by pyoutline: nothing is launched here, and nothing is asked."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

from understudy_farm.backend import FarmError, Site
from understudy_farm.backends.opencue.client import opencue_module
from understudy_farm.folder import JobFolder
from understudy_farm.spec import NUMBER, Job, Step

FRAME_TOKEN = "#IFRAME#"
"""Cuebot puts the frame's number in its place."""
AT_MOST = "at_most.sh"
AT_MOST_SCRIPT = """\
#!/bin/sh
# at_most.sh STARTS FILE COMMAND...: OpenCue counts retries for a whole job; this step may be started fewer times.
most=$1 file=$2
shift 2
echo start >> "$file"
if [ "$(wc -l < "$file")" -gt "$most" ]; then
    echo "it failed, and is not started again by itself: understudy requeue" >&2
    exit 1
fi
exec "$@"
"""
OWN_GPUS = "/usr/bin/env ${CUE_GPU_CORES:+CUDA_VISIBLE_DEVICES=$CUE_GPU_CORES}"
"""RQD says which GPUs it reserved for a frame, and hides the others from nobody."""
_NAME = re.compile(r"[\w.-]{3,}", re.ASCII)
"""What Cuebot takes for names and tags."""


def job_xml(job: Job, site: Site, frames: str = "") -> str:
    """The spec of all steps; `frames` instead of all tasks where some are started anew.

    Raises FarmError for what OpenCue cannot be told.
    """
    _refuse(job)
    outline, cuerun, cue = (opencue_module(name) for name in ("outline", "outline.cuerun", "outline.backend.cue"))
    shell = opencue_module("outline.modules.shell")
    spec = outline.Outline(job_suffix(job), show=show_of(job, site), shot=shot_of(job, site), user=job.user)
    for step in job.steps:
        spec.add_layer(_layer(job, step, site, shell, frames))
    for step in job.steps:
        for name in step.after:
            spec.get_layer(step.name).depend_on(
                spec.get_layer(name), opencue_module("outline.depend").DependType.LayerOnLayer
            )
    launcher = cuerun.OutlineLauncher(
        spec,
        # Cuebot is told of other jobs to wait for only when it has this one.
        pause=job.placement.is_suspended or bool(job.placement.depends_on),
        priority=job.placement.priority,
        maxretries=retries_of(job),
        nomail=True,
        os=site["os"],
    )
    return _readable(cue.serialize_simple(launcher), site)


def retries_of(job: Job) -> int:
    """OpenCue counts them for the whole job."""
    return max(step.retries for step in job.steps)


def is_limited(job: Job, step: Step) -> bool:
    """The step may be started less often than OpenCue would."""
    return step.retries < retries_of(job)


def starts_file(job: Job, step: str, number: int | str) -> Path:
    """Holds a line for every start of a task whose starts are limited."""
    return JobFolder(job.run_directory).farm / f"{step}.{number}.starts"


def show_of(job: Job, site: Site) -> str:
    show = job.placement.pool or site["show"]
    if not show:
        raise FarmError("--pool: OpenCue wants a show for every job; give --pool SHOW or -O show=SHOW")
    return show


def shot_of(job: Job, site: Site) -> str:
    return _conforming("shot", site["shot"] or job.batch)


def job_suffix(job: Job) -> str:
    return re.sub("__+", "_", _conforming("job", job.name))


def _refuse(job: Job) -> None:
    place = job.placement
    if place.secondary_pool:
        raise FarmError("--secondary-pool: OpenCue knows no second show of a job; leave it out")
    if place.group and place.machines:
        raise FarmError("--group with --machines: OpenCue takes a host that has any of the tags; give one of the two")
    if os.environ.get("OL_TAG_OVERRIDE"):
        raise FarmError("OL_TAG_OVERRIDE: pyoutline would put it in place of every tag; unset it, and give --group")
    if job.user == "root":
        raise FarmError("opencue: Cuebot takes no jobs of root; submit as the artist")
    for flag, tag in [("--group", place.group), *(("--machines", name) for name in place.machines)]:
        if tag and not _NAME.fullmatch(tag):
            raise FarmError(f"{flag} {tag}: no tag of OpenCue: letters, digits, . _ -, three at least")


def _layer(job: Job, step: Step, site: Site, shell: ModuleType, frames: str) -> object:
    needs, place = step.resources, job.placement
    wanted = {
        "memory": f"{round(needs.memory_gib * 1024)}m" if needs.memory_gib else "",
        "gpus": needs.gpus,
        "gpu_memory": site["gpu_memory"] if needs.gpus else "",
        "timeout": -int(-needs.timeout_minutes // 1),
        "tags": list(place.machines) or [place.group] * bool(place.group),
        "limits": list(job.limits_of(step)),
        "service": site["service"],
    }
    if needs.cores:
        # Threadable: RQD binds the task to its cores, and threads are counted from those.
        wanted |= {"cores": needs.cores, "threadable": True}
    layer = shell.Shell(
        step.name,
        command=_command(job, step),
        range=frames or f"0-{step.num_tasks - 1}",
        chunk=1,
        **{name: value for name, value in wanted.items() if value},
    )
    for name, value in step.environment:
        if NUMBER in value:
            raise FarmError(f"{name}: OpenCue gives all tasks of a layer the same variables")
        layer.set_env(name, value)
    return layer


def _command(job: Job, step: Step) -> str:
    """RQD hands it to a shell."""
    words: Sequence[str] = step.argv_of(FRAME_TOKEN)
    if is_limited(job, step):
        script = JobFolder(job.run_directory).farm / AT_MOST
        starts = starts_file(job, step.name, FRAME_TOKEN)
        words = ("/bin/sh", str(script), str(step.retries + 1), str(starts), *words)
    return " ".join([*([OWN_GPUS] if step.resources.gpus else []), *map(_shell_word, words)])


def _shell_word(word: str) -> str:
    """In double quotes where that will do: RQD in Rust puts the whole command into single ones."""
    quoted = shlex.quote(word)
    return quoted if quoted == word or set(word) & set('"$`\\!') else f'"{word}"'


def _readable(text: str, site: Site) -> str:
    """With line breaks, and without what pyoutline takes from this machine: its user's number, facility and system."""
    heading, _, body = text.partition("<spec>")
    spec = ElementTree.fromstring(f"<spec>{body}")
    for parent, name in ((spec, "facility"), (spec, "uid"), (spec.find("job"), "os")):
        element = None if parent is None else parent.find(name)
        if parent is not None and element is not None:
            element.text = site[name]
            if not site[name]:
                parent.remove(element)
    ElementTree.indent(spec)
    return f"{heading}\n{ElementTree.tostring(spec, encoding='unicode')}\n"


def _conforming(kind: str, name: str) -> str:
    """Cuebot refuses spaces and more in names, and names of fewer than three characters; it lowers them itself."""
    plain = re.sub(r"[^\w.]+", "_", name, flags=re.ASCII).strip("_")
    return plain if _NAME.fullmatch(plain) else f"{kind}_{plain}".rstrip("_")
