"""Nodes that need red, green and blue of a pixel together, and the simple ones of them: saturation and matrices.

The luminances and what becomes of them follow the Saturation example of Nuke's developer kit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.channels import colours_of, component, layer_of, places_of
from understudy.script.graph import Node
from understudy.script.knobs import (
    Matrix,
    bool_knob,
    enum_knob,
    float_knob,
    knob_error,
    matrix_knob,
    text_knob,
)
from understudy.script.nodes.base import Info, Request, Tree
from understudy.script.nodes.pixels import PixelNode, filled
from understudy.script.values.moment import Moment

Recolour: TypeAlias = Callable[[FloatPixels], FloatPixels]
"""New colours, H W 3 or H W 4 as given; what is given is not to be changed."""

WEIGHTS = {"Rec 709": (0.2125, 0.7154, 0.0721), "Ccir 601": (0.299, 0.587, 0.114), "Average": (1 / 3,) * 3}
"""Of red, green and blue in a luminance, as Nuke has them."""
MAXIMUM = "Maximum"
SATURATION = float_knob("saturation", 1.0)
MODE = enum_knob("mode", (*WEIGHTS, MAXIMUM), "Rec 709")
MATRIX = matrix_knob("matrix")
INVERT = bool_knob("invert", False)


class ColourNode(PixelNode, ABC):
    """Changes the colours of each layer that `channels` selects, seeing all three also where one is selected."""

    takes_alpha = False
    """Whether a layer's alpha is changed with its colours where it is selected, or stays."""
    fills_format = True
    """Whether all of the format has pixels where black does not stay black."""

    @abstractmethod
    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        """What happens to the colours at the frame."""

    def together(self, channels: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
        layers = dict.fromkeys(layer_of(channel) for channel in channels if self._is_changed(channel))
        return tuple(dict.fromkeys((*channels, *(name for layer in layers for name in colours_of(layer, there)))))

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = super().info(tree, node, frame)
        chosen = self.chosen(node, tree.moment(None)).of(tree.channels(node))
        if not (self.fills_format and any(map(self._is_changed, chosen))):
            return above
        with np.errstate(all="ignore"):
            black = self.recolour(tree, node, frame)(np.zeros((1, 1, 3 + self.takes_alpha), np.float32))
        return filled(above) if np.nan_to_num(black).any() else above

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        recolour = self.recolour(tree, node, request.frame)
        layers = self._layers(request.channels)
        if layers == [list(request.channels)]:
            return recolour(pixels)
        out: FloatPixels = pixels.copy()
        for names in layers:
            places = places_of(names, request.channels)
            out[..., places] = recolour(pixels[..., places])
        return out

    def _layers(self, channels: tuple[str, ...]) -> list[list[str]]:
        """Red, green and blue of each layer, and its alpha where that is among these and changed, too."""
        found = dict.fromkeys(layer_of(channel) for channel in channels if self._is_changed(channel))
        return [
            [*colours_of(layer, channels), *(name for name in channels if self._is_alpha_of(layer, name))]
            for layer in found
        ]

    def _is_alpha_of(self, layer: str, channel: str) -> bool:
        return self.takes_alpha and layer_of(channel) == layer and component(channel) == 3

    def _is_changed(self, channel: str) -> bool:
        part = component(channel)
        return part is not None and part < 3 + self.takes_alpha


class Saturation(ColourNode):
    names = ("Saturation",)
    page = "color_nodes/saturation.html"
    knobs = (*PixelNode.knobs, SATURATION, MODE)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        moment = tree.moment(frame)
        return partial(_saturation, factor=SATURATION.of(node, moment), mode=MODE.of(node, moment))


class ColorMatrix(ColourNode):
    """Each row of the matrix makes one colour."""

    names = ("ColorMatrix",)
    page = "color_nodes/colormatrix.html"
    knobs = (*PixelNode.knobs, MATRIX, INVERT)
    fixed = (*PixelNode.fixed, text_knob("colormatrix"))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _matrix(node, moment)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        return partial(mixed, matrix=_matrix(node, tree.moment(frame)))


def inverse(matrix: Matrix) -> Matrix:
    """Raises LinAlgError for one that has none."""
    first, second, third = ((float(row[0]), float(row[1]), float(row[2])) for row in np.linalg.inv(matrix))
    return first, second, third


def luminance(pixels: FloatPixels, weights: Sequence[float] = WEIGHTS["Rec 709"]) -> FloatPixels:
    """H W of H W 3 or more."""
    red, green, blue = (np.float32(weight) for weight in weights)
    light: FloatPixels = pixels[..., 0] * red + pixels[..., 1] * green + pixels[..., 2] * blue
    return light


def mixed(pixels: FloatPixels, matrix: Matrix) -> FloatPixels:
    """H W 3 of H W 3, one sum for each row; a product of arrays would not give a part of a frame the same digits."""
    out = np.empty_like(pixels)
    for place, row in enumerate(matrix):
        out[..., place] = luminance(pixels, row)
    return out


def saturated(pixels: FloatPixels, light: FloatPixels, factor: float) -> FloatPixels:
    """H W 3, `factor` times as far from their luminance, H W."""
    if factor == 1:
        return pixels
    grey = light[..., None]
    moved: FloatPixels = grey + (pixels - grey) * np.float32(factor) if factor else np.repeat(grey, 3, axis=2)
    return moved


def _saturation(pixels: FloatPixels, factor: float, mode: str) -> FloatPixels:
    light = pixels.max(axis=2) if mode == MAXIMUM else luminance(pixels, WEIGHTS[mode])
    return saturated(pixels, light, factor)


def _matrix(node: Node, moment: Moment) -> Matrix:
    rows = MATRIX.of(node, moment)
    if not INVERT.of(node, moment):
        return rows
    if abs(np.linalg.det(rows)) < 1e-12:
        raise knob_error(node, MATRIX.name, "has no inverse; set it, or switch invert off")
    return inverse(rows)
