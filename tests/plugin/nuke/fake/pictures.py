"""Ranges and pictures of the fake's nodes, evaluated by understudy. A Keylight is taken for a Dot: so it has pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.core.script.fixtures import write_exr
from tests.plugin.nuke.fake import api, nk

from understudy.frames.sequence import Sequence
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node, parse_script
from understudy.script.nodes.base import Reading
from understudy.script.paths import PathRules


def span_of(node: api.Node) -> tuple[int, int]:
    evaluator, found = _evaluated(node)
    span = evaluator.span(found)
    return span.first, span.last


def render(write: api.Node, frame: int) -> None:
    """As Nuke's Write does with the knobs that a bake needs; with others it fails."""
    wanted = {"file_type": "exr", "raw": True, "channels": "all", "autocrop": False, "datatype": "32 bit float"}
    assert {name: write[name].value() for name in wanted} == wanted
    above = write.input(0)
    assert above is not None
    evaluator, node = _evaluated(above)
    image = evaluator.pull(node, frame, evaluator.channels(node))
    assert image.data_window == image.display_window, "the fake writes whole pictures only"
    path = Sequence(write["file"].value()).path(frame)
    write_exr(path, np.asarray(image.pixels), image.channels)


def _evaluated(node: api.Node) -> tuple[Evaluator, Node]:
    text = nk.text_of(api.root()).replace("Keylight {", "Dot {")
    script = parse_script(text, Path(api.root()["name"].value() or "nowhere.nk"))
    evaluator = Evaluator(script, Reading(paths=PathRules(script=script)))
    return evaluator, next(found for found in script.nodes if found.path == node.fullName())
