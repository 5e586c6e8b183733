"""What menus and buttons call. Nothing leaves these functions but one line in Nuke's own window."""

from __future__ import annotations

import re
from typing import Callable

import nuke

from . import bake, node, result, studio, submit
from .cat_file import CAT_ENDINGS, MODEL_ENDING
from .graph import chosen_training_node, data_directory_of
from .problem import Problem, guarded

_SEQUENCE = re.compile(r"(?P<pattern>.+?)(?: (?P<first>-?\d+)-(?P<last>-?\d+))?")
"""What Nuke's file browser answers: a path, and for a sequence its range."""


def train(training: nuke.Node | None = None) -> None:
    _on_training_node(submit.train, training)


def bake_here(training: nuke.Node | None = None) -> None:
    def tell(laid: bake.LaidOut) -> None:
        nuke.message(f"Baked; train from {laid.baked}")

    _on_training_node(lambda one: bake.render(one, tell), training)


def bake_on_farm(training: nuke.Node | None = None) -> None:
    _on_training_node(submit.bake_and_train, training)


def inference(training: nuke.Node | None = None) -> None:
    _on_training_node(_choose_result, training)


def create_node() -> None:
    @guarded
    def make() -> None:
        node.create()

    make()


def choose_python() -> None:
    @guarded
    def ask() -> None:
        chosen = nuke.getInput("Studio's Python, the one with understudy", studio.preferred_python())
        if chosen:
            studio.prefer(chosen.strip())
            studio.python()

    ask()


def _on_training_node(action: Callable[[nuke.Node], None], training: nuke.Node | None) -> None:
    guarded(lambda: action(training or chosen_training_node()))()


def _choose_result(training: nuke.Node) -> None:
    title, start = "Model (.safetensors, .cat) or applied frames (.exr)", data_directory_of(training) + "/"
    chosen = nuke.getFilename(title, "*.safetensors *.cat *.exr", start)
    if not chosen:
        return
    if chosen.endswith((*CAT_ENDINGS, MODEL_ENDING)):
        result.add_model(training, chosen)
        return
    sequence = _SEQUENCE.fullmatch(chosen)
    if sequence is None or sequence["first"] is None:
        raise Problem(f"{chosen}: is no sequence; choose the applied frames as one sequence, or a model")
    result.add_result(sequence["pattern"], int(sequence["first"]), int(sequence["last"]), training)
