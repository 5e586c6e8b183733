"""From a training node to a job on the farm: asked for in Nuke, sent by the studio's Python beside it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

import nuke

from . import background, bake, snapshot, studio
from .graph import data_directory_of, only_in_nuke, sides
from .problem import Problem

_NAMED_AT_MOST = 8


class Order(NamedTuple):
    """What is to be submitted; plain words, because the node may be gone when a bake has ended."""

    node: str
    words: tuple[str, ...]
    """Of `understudy submit`, all but node and script."""
    scene: str
    """The open script's name."""


def train(training: nuke.Node) -> None:
    """Ask where, look for what only Nuke can evaluate, and send. Raises Problem for what can be known before."""
    order = _asked_for(training)
    if order is None:
        return
    blocked = only_in_nuke(training)
    if not blocked:
        _send(snapshot.take("submit"), order, order.node)
        return
    chosen = nuke.choice("Bake first", _bake_question(training, blocked), ["on this machine", "on the farm"])
    if chosen == 0:
        bake.render(training, lambda laid: _send_baked(laid, order))
    elif chosen == 1:
        _bake_on_farm(training, order)


def bake_and_train(training: nuke.Node) -> None:
    """Ask where, and send a job that bakes first. Raises Problem for what can be known before."""
    order = _asked_for(training)
    if order is not None:
        _bake_on_farm(training, order)


def _bake_on_farm(training: nuke.Node, order: Order) -> None:
    program = studio.nuke_on_farm()
    bake.lay_out(training, lambda laid: _send_baked(laid, order, "--bake", shlex.join(laid.words(program))))


def _send_baked(laid: bake.LaidOut, order: Order, *further: str) -> None:
    """Under the open script's name: all baked ones are called alike."""
    _send(snapshot.Snapshot(laid.baked, is_copy=False), order, laid.node, "--batch", order.scene, *further)


def _asked_for(training: nuke.Node) -> Order | None:
    """None when the artist thinks better of it; what is left empty is left to the studio's presets.

    Raises Problem when there is nothing to train on, or no place for it.
    """
    sides(training)
    scene = os.path.splitext(os.path.basename(snapshot.readable_script_path()))[0]
    data_directory = data_directory_of(training)
    panel = nuke.Panel(f"Train {training.fullName()} on Farm")
    for field in ("Farm", "Ranks", "Further flags"):
        panel.addSingleLineInput(field, "")
    if not panel.show():
        return None
    farm, ranks, flags = (str(panel.value(field) or "").strip() for field in ("Farm", "Ranks", "Further flags"))
    try:
        further = shlex.split(flags)
    except ValueError as error:
        raise Problem(f"Further flags {flags!r} cannot be read ({error}); mind the quotes") from error
    words = ["--data-directory", data_directory]
    words += ["--farm", farm] if farm else []
    words += ["--ranks", ranks] if ranks else []
    return Order(training.fullName(), (*words, *further), scene)


def _bake_question(training: nuke.Node, blocked: list[nuke.Node]) -> str:
    named = [f"{node.fullName()} ({node.Class()})" for node in blocked[:_NAMED_AT_MOST]]
    rest = len(blocked) - len(named)
    names = ", ".join(named) + (f" and {rest} more" if rest else "")
    return f"{training.fullName()}: only Nuke evaluates {names}. Bake its inputs to EXR, and train on those:"


def _send(script: snapshot.Snapshot, order: Order, node: str, *further: str) -> None:
    """Comes back at once; the farm's answer, or why there is none, is told when it is known."""

    def work(task: background.Task) -> Mapping[str, object]:
        task.say(f"{order.node}: looking at the frames, then sending")
        try:
            words = studio.understudy_words("submit", "--json", "-X", node, *further, *order.words, script.path)
            ending = task.run(words, studio.environment())
        finally:
            script.remove()
        studio.raise_if_failed(ending, "the studio's Python", f"if it is not the right one, see {studio.CHOOSE}")
        return studio.json_of(ending)

    def ended(answer: Mapping[str, object]) -> None:
        nuke.message(f"{order.node} was submitted to {answer['farm']}; the run is {answer['run_directory']}")

    background.start(f"Submit {order.node}", work, ended)
