"""What is to be published, and everything that can be known before the first byte is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import ProblemList
from understudy.publish.exports import Say, possible_hosts
from understudy.publish.facts import Facts, facts_of
from understudy.publish.hook import hook_words
from understudy.publish.result import Result, ResultOrder, found_result
from understudy.remap import Remap
from understudy.settings import begins_file_names
from understudy.train.export.hosts import Host


@dataclass(frozen=True, kw_only=True)
class PublishOrder:
    """What is to be published, and how."""

    model: Path
    """Model file, or a run for its newest."""
    to: Path
    """Folder of the versions."""
    name: str = ""
    """Before their numbers; empty: the run's."""
    exports: tuple[Host, ...] | None = None
    """None: all that the model can have and this machine can make."""
    make_cat: bool = False
    """Let NukeX make the .cat file of the export for Nuke."""
    nukex: str = ""
    result: ResultOrder | None = None
    copy_result: bool = False
    """Keep the result's frames with the version, which a later result may replace where they are."""
    licence: str = ""
    """A line for the card."""
    hook: str = ""
    """The studio's command, to be run when the version is there."""
    remap: Remap = ()
    """For paths that another system wrote."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """An order that was looked at."""

    order: PublishOrder
    name: str
    facts: Facts
    result: Result | None
    hosts: tuple[Host, ...]
    """To export to."""
    left_out: Mapping[Host, str]
    """Why not to others."""
    hook: tuple[str, ...]


def looked_at(order: PublishOrder, say: Say) -> Plan:
    """Raises UnderstudyError, or Problems with a line for each fault; `say` gets warnings."""
    facts = facts_of(order.model, order.remap)
    name = order.name or facts.model.card.run_name
    problems = ProblemList()
    hook: tuple[str, ...] = ()
    result: Result | None = None
    if not name or not begins_file_names(name):
        problems.add(f"--name {name}: cannot begin a folder's name; use letters, digits, _ and -")
    with problems.collecting():
        hook = hook_words(order.hook)
    if order.result:
        with problems.collecting():
            result = found_result(order.result, facts.run, order.remap)
    hosts, left_out = possible_hosts(facts.model.spec) if order.exports is None else (order.exports, {})
    if order.make_cat and "nuke" not in hosts:
        problems.add("--make-cat: is for the export to nuke, which is not made; leave it out")
    problems.raise_if_any()
    for host, why in left_out.items():
        say(f"warning: no export to {host}: {why}")
    for line in result.warnings() if result else ():
        say(f"warning: {line}")
    return Plan(order=order, name=name, facts=facts, result=result, hosts=hosts, left_out=left_out, hook=hook)
