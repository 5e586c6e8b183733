"""What a training gave, put into the script below its node: Nuke's own Inference, or the applied frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import nuke

from . import cat_file
from .graph import INPUT
from .problem import Problem

_BELOW = 100
"""Between a node and the one under it."""


def add_model(training: nuke.Node, model: str) -> None:
    """An Inference node with that model: at once, or when its .cat file has been made.

    Raises Problem for a model that Nuke cannot read, or a Nuke that has no Inference.
    """
    name = training.fullName()
    cat_file.bring(model, lambda cat: _add_inference(name, cat))


def _add_inference(name: str, model: str) -> None:
    """On what the training node's Input shows; the node may be gone when a .cat file has been made."""
    training = nuke.toNode(name)
    if training is None:
        raise Problem(f"{name}: is not in this script any more; the model is {model}")
    with _one_undo("Create Inference"), training.parent():
        try:
            inference = nuke.nodes.Inference()
        except RuntimeError as error:
            raise Problem(f"this Nuke has no Inference ({error}); apply the model, and read the frames") from error
        inference["modelFile"].setValue(model)
        inference.setInput(0, training.input(INPUT))
        _place_below(inference, training)


def add_result(pattern: str, first: int, last: int, training: nuke.Node | None) -> nuke.Node:
    """A Read of the applied frames, and, below a training node, a Switch between them and what its Input shows.

    The files hold the working space, as the model's own input did, so their numbers are taken as they are.
    """
    with _one_undo("Show Result"), training.parent() if training else nuke.root():
        read = nuke.nodes.Read()
        read["file"].setValue(pattern)
        for name, frame in (("first", first), ("last", last), ("origfirst", first), ("origlast", last)):
            read[name].setValue(frame)
        read["raw"].setValue(True)
        if training is None:
            return read
        read.setXYpos(training.xpos() + _BELOW, training.ypos() + _BELOW)
        switch = nuke.nodes.Switch()
        switch.setInput(0, training.input(INPUT))
        switch.setInput(1, read)
        switch["which"].setValue(1)
        _place_below(switch, training, rows=2)
    return switch


def _place_below(node: nuke.Node, training: nuke.Node, rows: int = 1) -> None:
    node.setXYpos(training.xpos(), training.ypos() + rows * _BELOW)


@contextmanager
def _one_undo(name: str) -> Iterator[None]:
    undo = nuke.Undo()
    undo.begin(name)
    try:
        yield
    finally:
        undo.end()
