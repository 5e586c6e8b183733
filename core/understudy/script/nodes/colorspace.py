"""Colorspace: from one curve, one set of primaries, or one way to write colours down, to another, all by formula.

What Nuke does is known for the curves of `transfer`, for XYZ and its chromaticities, and for HSV and HSL of linear
light; all else is refused by name. Primaries matter where XYZ comes in, and only those with the white of D65 are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.script.graph import Node
from understudy.script.knobs import Matrix, bool_knob, knob_error, text_knob
from understudy.script.nodes.base import Tree
from understudy.script.nodes.colours import ColourNode, Recolour, inverse, mixed
from understudy.script.nodes.pixels import PixelNode
from understudy.script.nodes.transfer import TRANSFERS
from understudy.script.values.fault import shortened
from understudy.script.values.moment import Moment

SPACES = (text_knob("colorspace_in", "Linear"), text_knob("colorspace_out", "Linear"))
PRIMARIES = (text_knob("primary_in", "sRGB"), text_knob("primary_out", "sRGB"))
ILLUMINANTS = (text_knob("illuminant_in", "D65"), text_knob("illuminant_out", "D65"))
BRADFORD = bool_knob("bradford_matrix", False)

D65 = "D65"
WHITE = (0.3127, 0.3290)
"""x, y of D65."""
CHROMATICITIES = {
    "sRGB": ((0.64, 0.33), (0.3, 0.6), (0.15, 0.06)),
    "Adobe (1998)": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)),
}
"""x, y of red, green, blue."""
_XYZ, _YXY, _HSV, _HSL = "CIE-XYZ", "CIE-Yxy", "HSV", "HSL"
_OF_XYZ = (_XYZ, _YXY)
_KNOWN = {name.lower(): name for name in (*TRANSFERS, *_OF_XYZ, _HSV, _HSL)}
_SPELLING = re.compile(r"\(~[\d.]+\)|(?<=\.\d)0$|\s+")
"""What versions added to names: `rec709(~1.95)`, `Gamma1.80`, `Gamma 1.8`."""


class Colorspace(ColourNode):
    names = ("Colorspace",)
    page = "color_nodes/colorspace.html"
    knobs = (*PixelNode.knobs, BRADFORD)
    still = (*PixelNode.still, *SPACES, *PRIMARIES, *ILLUMINANTS)
    fixed = (*PixelNode.fixed, *map(text_knob, ("colormatrix", "primary", "illuminant", "colorspace", "swap")))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        _recolour(node, moment)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        return _recolour(node, tree.moment(frame))


@dataclass(frozen=True, kw_only=True)
class _End:
    """What one side of the node says."""

    space: str
    primaries: str
    illuminant: str

    @property
    def is_xyz(self) -> bool:
        return self.space in _OF_XYZ


def _recolour(node: Node, moment: Moment) -> Recolour:
    before, after = _end(node, moment, 0), _end(node, moment, 1)
    if before.illuminant != after.illuminant:
        what = f"is {shortened(after.illuminant)}, and {ILLUMINANTS[0].name} is {shortened(before.illuminant)}"
        raise knob_error(node, ILLUMINANTS[1].name, f"{what}: how one is made the other is not known")
    has_other_colours = before.is_xyz != after.is_xyz or (not before.is_xyz and before.primaries != after.primaries)
    if before.space == after.space and not has_other_colours:
        return _unchanged
    steps = [_to_linear(before.space)]
    if has_other_colours and not before.is_xyz:
        steps.append(_by(_matrix(node, 0, before)))
    if has_other_colours and not after.is_xyz:
        steps.append(_by(inverse(_matrix(node, 1, after))))
    return _all_of([*steps, _from_linear(after.space)])


def _end(node: Node, moment: Moment, side: int) -> _End:
    stated = SPACES[side].of(node, moment)
    space = _KNOWN.get(_SPELLING.sub("", stated).lower())
    if space is None:
        raise knob_error(node, SPACES[side].name, f"is {shortened(stated)}, and how Nuke computes that is not known")
    primaries, illuminant = PRIMARIES[side].of(node, moment), ILLUMINANTS[side].of(node, moment)
    return _End(space=space, primaries=primaries, illuminant=illuminant)


def _matrix(node: Node, side: int, end: _End) -> Matrix:
    if end.primaries not in CHROMATICITIES:
        what = f"is {shortened(end.primaries)}, which is none of {', '.join(CHROMATICITIES)}"
        raise knob_error(node, PRIMARIES[side].name, what)
    if end.illuminant != D65:
        what = f"is {shortened(end.illuminant)}, and only primaries under {D65} are known"
        raise knob_error(node, ILLUMINANTS[side].name, what)
    return to_xyz(end.primaries)


@cache
def to_xyz(primaries: str) -> Matrix:
    """From linear red, green, blue to X, Y, Z, so that (1, 1, 1) is white of Y 1."""
    columns = np.array([_xyz(x, y) for x, y in CHROMATICITIES[primaries]]).T
    amounts = np.linalg.solve(columns, np.array(_xyz(*WHITE)))
    first, second, third = ((float(row[0]), float(row[1]), float(row[2])) for row in columns * amounts)
    return first, second, third


def _xyz(x: float, y: float) -> tuple[float, float, float]:
    """Of a chromaticity, with Y 1."""
    return x / y, 1.0, (1 - x - y) / y


def _to_linear(space: str) -> Recolour:
    special = {_XYZ: _unchanged, _YXY: _xyz_of_yxy, _HSV: _rgb_of_hsv, _HSL: _rgb_of_hsl}
    return special[space] if space in special else TRANSFERS[space].to_linear


def _from_linear(space: str) -> Recolour:
    special = {_XYZ: _unchanged, _YXY: _yxy_of_xyz, _HSV: _hsv_of_rgb, _HSL: _hsl_of_rgb}
    return special[space] if space in special else TRANSFERS[space].from_linear


def _unchanged(pixels: FloatPixels) -> FloatPixels:
    return pixels


def _by(matrix: Matrix) -> Recolour:
    return lambda pixels: mixed(pixels, matrix)


def _all_of(steps: Sequence[Recolour]) -> Recolour:
    def recolour(pixels: FloatPixels) -> FloatPixels:
        for step in steps:
            pixels = step(pixels)
        return pixels

    return recolour


def _quotient(over: FloatPixels, under: FloatPixels) -> FloatPixels:
    """0 where nothing is divided by."""
    return np.where(under == 0, np.float32(0), np.divide(over, under))


def _yxy_of_xyz(pixels: FloatPixels) -> FloatPixels:
    x, y, z = np.moveaxis(pixels, 2, 0)
    total = x + y + z
    return np.stack((y, _quotient(x, total), _quotient(y, total)), axis=2)


def _xyz_of_yxy(pixels: FloatPixels) -> FloatPixels:
    light, x, y = np.moveaxis(pixels, 2, 0)
    scale = _quotient(light, y)
    return np.stack((scale * x, light, scale * (1 - x - y)), axis=2)


def _hue_and_ends(pixels: FloatPixels) -> tuple[FloatPixels, FloatPixels, FloatPixels]:
    """The place on the wheel, of 0 to 1, and the least and the most of the three; each H W."""
    red, green, blue = np.moveaxis(pixels, 2, 0)
    least, most = pixels.min(axis=2), pixels.max(axis=2)
    spread = most - least
    sixths = np.where(
        most == red,
        _quotient(green - blue, spread),
        np.where(most == green, _quotient(blue - red, spread) + 2, _quotient(red - green, spread) + 4),
    )
    hue: FloatPixels = np.where(spread == 0, np.float32(0), (sixths / 6) % 1).astype(np.float32)
    return hue, least, most


def _hsv_of_rgb(pixels: FloatPixels) -> FloatPixels:
    hue, least, most = _hue_and_ends(pixels)
    return np.stack((hue, _quotient(most - least, most), most), axis=2)


def _rgb_of_hsv(pixels: FloatPixels) -> FloatPixels:
    hue, saturation, value = np.moveaxis(pixels, 2, 0)
    return _wheel(hue, value, saturation * value)


def _hsl_of_rgb(pixels: FloatPixels) -> FloatPixels:
    hue, least, most = _hue_and_ends(pixels)
    lightness = (most + least) / 2
    room = np.where(lightness <= 0.5, most + least, 2 - most - least)
    return np.stack((hue, _quotient(most - least, room), lightness), axis=2)


def _rgb_of_hsl(pixels: FloatPixels) -> FloatPixels:
    hue, saturation, lightness = np.moveaxis(pixels, 2, 0)
    chroma = saturation * np.where(lightness <= 0.5, 2 * lightness, 2 - 2 * lightness)
    return _wheel(hue, lightness + chroma / 2, chroma)


def _wheel(hue: FloatPixels, most: FloatPixels, chroma: FloatPixels) -> FloatPixels:
    """Each colour is `most`, less what the wheel takes of it there; all H W, the result H W 3."""
    out = np.empty((*hue.shape, 3), np.float32)  # H W 3
    for place, start in enumerate((0, 2, 4)):
        sixths = (hue * 6 - start) % 6
        share = np.clip(np.abs(sixths - 3) - 1, 0, 1)
        out[..., place] = most - chroma * (1 - share)
    return out
