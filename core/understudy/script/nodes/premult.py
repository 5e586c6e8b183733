"""Premult and Unpremult: colour times alpha, colour by alpha. Alpha itself stays, also where `channels` selects it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import places_of
from understudy.script.graph import Node
from understudy.script.knobs import bool_knob, channels_knob, knob_error
from understudy.script.nodes.base import NodeClass, Request, Tree
from understudy.script.nodes.pixels import RGB, divided

ALPHA = channels_knob("alpha", "alpha")
INVERT = bool_knob("invert", False)


class Premult(NodeClass):
    names = ("Premult",)
    page = "merge_nodes/premult.html"
    still = (RGB, ALPHA)
    fixed = (INVERT,)
    makes_pixels = True

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        by = _alpha(tree, node)
        chosen = [name for name in RGB.of(node, tree.moment(None)).of(request.channels) if name not in by]
        if not (by and chosen):
            return tree.pixels(tree.input(node, 0), request)
        asked = tuple(dict.fromkeys((*request.channels, *by)))
        above = tree.pixels(tree.input(node, 0), replace(request, channels=asked))
        out: FloatPixels = above[..., : len(request.channels)].copy()
        places = places_of(chosen, request.channels)
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            out[..., places] = self.scaled(out[..., places], above[..., [asked.index(by[0])]])
        return out

    def scaled(self, colour: FloatPixels, alpha: FloatPixels) -> FloatPixels:
        """H W C and H W 1."""
        return colour * alpha


class Unpremult(Premult):
    """Where alpha is 0, colour stays as it is."""

    names = ("Unpremult",)
    page = "merge_nodes/unpremult.html"

    def scaled(self, colour: FloatPixels, alpha: FloatPixels) -> FloatPixels:
        return divided(colour, alpha)


def _alpha(tree: Tree, node: Node) -> tuple[str, ...]:
    """The channel that is meant; none where the input has it not."""
    found = ALPHA.of(node, tree.moment(None)).of(tree.channels(tree.input(node, 0)))
    if len(found) > 1:
        raise knob_error(node, ALPHA.name, f"selects {len(found)} channels ({', '.join(found)}); choose one")
    return found
