"""Nuke's Inference node in a script: which model it runs, on what, and what its knobs ask for.

Its page in Nuke's reference guide: https://learn.foundry.com/nuke/content/reference_guide/air_nodes/inference.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.layers import names_in_layer
from understudy.remap import Remap
from understudy.script.channels import channel_set, component, exr_name, nuke_name
from understudy.script.choosing import the_node
from understudy.script.evaluate import DISABLE, Evaluator
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, text_knob
from understudy.script.library import read_whole
from understudy.script.nodes.base import Reading, Span, node_error
from understudy.script.paths import PathRules

USE_GPU = bool_knob("useGPUIfAvailable", True)
HALF = bool_knob("halfPrecision", False)
INPUT_CHANNELS = text_knob("inputChannels")
OUTPUT_CHANNELS = text_knob("outputChannels")
MODEL_FILE = "modelFile"


@dataclass(frozen=True, kw_only=True)
class Inference:
    """What the node says, and what comes to its input."""

    evaluator: Evaluator
    node: Node
    shown: Node
    """What is connected to its input."""

    def model(self) -> str:
        """The path of its model file, as an absolute one. Raises UnderstudyError where there is none."""
        path = self.evaluator.reading.paths.path_of(self.node, MODEL_FILE)
        if not path:
            raise node_error(self.node, f"knob {MODEL_FILE} is empty; name a model, or give one on the command line")
        return path

    def uses_gpu(self) -> bool:
        return USE_GPU.of(self.node, self.evaluator.moment(None))

    def is_half(self) -> bool:
        return HALF.of(self.node, self.evaluator.moment(None))

    def frames(self) -> Span:
        """The script's range, or, where it states none, that of what is connected."""
        root = self.evaluator.script.root
        stated = [root.get(name, "") for name in ("first_frame", "last_frame")]
        if all(re.fullmatch(r"-?\d{1,7}", text) for text in stated):
            return Span(int(stated[0]), int(stated[1]))
        return self.evaluator.span(self.shown)

    def file(self, frame: int) -> Path | None:
        """The nearest file above; None where none is. Raises Problems naming all that are missing."""
        files = self.evaluator.files(self.shown, frame)
        return files[0].path if files else None

    def read(self, frame: int) -> Image:
        """Everything that comes to the input. Raises UnderstudyError naming node, file, frame or knob."""
        return self.evaluator.pull(self.shown, frame, self.evaluator.channels(self.shown))

    def taken(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Names, in what comes to the input, of the channels for the model: by the knob, or those that it wants.

        Raises UnderstudyError when there are fewer, or more.
        """
        there = self.evaluator.channels(self.shown)
        words = _words(INPUT_CHANNELS.of(self.node, self.evaluator.moment(None))) or [
            nuke_name(channel) for channel in wanted
        ]
        found = tuple(dict.fromkeys(channel for word in words for channel in _in_order(word, there)))
        if len(found) == len(wanted):
            return found
        raise node_error(
            self.node,
            f"{INPUT_CHANNELS.name} are {', '.join(words)}, the model takes {', '.join(wanted)}, and at its input are "
            f"{', '.join(there)}; choose as many channels as the model takes",
        )

    def given(self, made: Sequence[str]) -> tuple[str, ...]:
        """Names of the channels that the model makes: by the knob, or the model's own. As OpenEXR names them."""
        words = _words(OUTPUT_CHANNELS.of(self.node, self.evaluator.moment(None))) or [
            nuke_name(channel) for channel in made
        ]
        if len(words) == 1 and channel_set(words).layers:
            return names_in_layer(words[0], made)
        there = (*made, *self.evaluator.channels(self.shown))
        names = tuple(exr_name(full, there) for word in words for full in _spelled_out(word))
        if len(set(names)) == len(made):
            return names
        raise node_error(
            self.node,
            f"{OUTPUT_CHANNELS.name} are {', '.join(words)}, the model makes {', '.join(made)}; "
            "name as many channels by their full names",
        )


def read_inference(path: Path, name: str, *, remap: Remap = (), colour: ColourRules, view: str = "") -> Inference:
    """The Inference node called `name` (empty: the only one) of the script at `path`.

    Raises UnderstudyError listing those that there are, or Problems naming nodes and knobs that cannot be evaluated.
    """
    script = read_whole(path, original=None, remap=remap, environment=os.environ)
    paths = PathRules(script=script, remap=remap, environment=os.environ)
    candidates = [node for node in script.nodes if node.class_name == "Inference"]
    without = "add one, or give --input instead"
    node = the_node(script, candidates, name, kind="Inference", flag="--node", without=without)
    evaluator = Evaluator(script, Reading(paths=paths, colour=colour, view=view))
    shown = _shown(evaluator, node)
    evaluator.check((shown,))
    return Inference(evaluator=evaluator, node=node, shown=shown)


def _shown(evaluator: Evaluator, node: Node) -> Node:
    if DISABLE.of(node, evaluator.moment(None)):
        raise node_error(node, "is disabled, so that it changes nothing; enable it")
    shown = evaluator.script.input_of(node, 0)
    if shown is None:
        raise node_error(node, "nothing is connected to its input; connect the frames")
    return shown


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,{}]+", text) if word and word != "none"]


def _in_order(word: str, there: Sequence[str]) -> list[str]:
    """The channels of `there` that a word of the knob means; red before green before blue."""
    found = channel_set([word]).of(there)
    return sorted(found, key=lambda channel: component(channel) or 0)


def _spelled_out(word: str) -> Iterator[str]:
    """Nuke's full names of the channels that a word means."""
    names = sorted(channel_set([word]).names, key=lambda name: component(name) or 0)
    yield from [word] if "." in word else names
