"""Nuke as the panel knows it: the Host of understudy_ui."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import nuke

from understudy_ui.panel.host import ANSWERS, HostFault, Program, TrainingNode

from . import result, snapshot, studio
from .graph import INPUT_NAMES, chosen_training_node, is_training_node
from .problem import Problem


class NukeHost:
    """Every method is called on the main thread, as Nuke wants it."""

    name = "Nuke"

    def script_path(self) -> str:
        return snapshot.script_path()

    def selected_nodes(self) -> list[TrainingNode]:
        return [_shown(node) for node in nuke.selectedNodes() if is_training_node(node)]

    def save_snapshot(self) -> str:
        with _faults_for_the_panel():
            return snapshot.take("panel").path

    def go_to_frame(self, frame: int) -> None:
        nuke.frame(frame)

    def can_create_inference(self) -> bool:
        return True

    def create_inference(self, node: str, checkpoint: str) -> None:
        with _faults_for_the_panel():
            training = nuke.toNode(node) if node else chosen_training_node()
            if training is None:
                raise Problem(f"{node}: is not in this script any more; select the training node")
            result.add_model(training, checkpoint)

    def show_result(self, pattern: str, first_frame: int, last_frame: int) -> None:
        with _faults_for_the_panel():
            shown = result.add_result(pattern, first_frame, last_frame, _training_node_or_none())
            nuke.connectViewer(0, shown)

    def answers(self) -> Program:
        """Where no Python is found, one that cannot answer: the panel opens all the same, and says what to do."""
        try:
            python = studio.python()
        except Problem:
            python = studio.stated_python() or "python3"
        return Program((python, *ANSWERS), studio.environment())


def _shown(node: nuke.Node) -> TrainingNode:
    open_ones = tuple(name for number, name in enumerate(INPUT_NAMES) if node.input(number) is None)
    return TrainingNode(name=node.fullName(), unconnected=open_ones)


def _training_node_or_none() -> nuke.Node | None:
    """The panel may show a run of another script, whose node is not here."""
    try:
        return chosen_training_node()
    except Problem:
        return None


@contextmanager
def _faults_for_the_panel() -> Iterator[None]:
    try:
        yield
    except Problem as problem:
        raise HostFault(str(problem)) from problem
