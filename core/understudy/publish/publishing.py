"""Publishing a model: looked at first, written aside, and there as one numbered folder."""

from __future__ import annotations

from pathlib import Path

from understudy.publish.exports import Say
from understudy.publish.filling import fill
from understudy.publish.hook import run_hook
from understudy.publish.manifest import MANIFEST
from understudy.publish.plan import PublishOrder, looked_at
from understudy.versions import Version, whole_version


def publish(order: PublishOrder, say: Say) -> Path:
    """Make the next version and return its folder; `say` gets lines of progress and warnings.

    Raises UnderstudyError, or Problems with a line for each fault; then nothing is left behind, unless it is the hook
    that failed.
    """
    plan = looked_at(order, say)
    with whole_version(order.to.absolute(), f"{plan.name}_") as version:
        _tell_of_others(version, plan.name, say)
        fill(version, plan, say)
    say(f" [*] Published at {version.place}")
    run = plan.facts.run
    told = {
        "UNDERSTUDY_PUBLISHED": str(version.place),
        "UNDERSTUDY_MANIFEST": str(version.place / MANIFEST),
        "UNDERSTUDY_RUN": str(run.files.directory.absolute()) if run else "",
    }
    run_hook(plan.hook, told, version.place)
    return version.place


def _tell_of_others(version: Version, name: str, say: Say) -> None:
    for other in version.aside.parent.glob(f".{name}_v*{version.aside.suffix}"):
        if other != version.aside:
            say(f"warning: {other}: a publishing that still goes on, or was killed; its number is left out")
