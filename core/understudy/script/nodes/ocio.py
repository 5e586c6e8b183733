"""OpenColorIO's nodes: with the config, and the working space for scene-linear, that files are read with.

As in its own plug-ins for Nuke, colours change and alpha stays, and nothing is filled outside the data window.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules, FileTransform
from understudy.frames.image import FloatPixels
from understudy.frames.sequence import is_missing
from understudy.script.graph import Node
from understudy.script.knobs import (
    Knob,
    Triple,
    bool_knob,
    enum_knob,
    float_knob,
    knob_error,
    rgb_knob,
    text_knob,
)
from understudy.script.nodes.arithmetic import Power
from understudy.script.nodes.base import Tree
from understudy.script.nodes.colours import ColourNode, Recolour, luminance, saturated
from understudy.script.nodes.decode import known_space
from understudy.script.nodes.pixels import PixelNode
from understudy.script.values.fault import shortened
from understudy.script.values.moment import Moment

SCENE_LINEAR = "scene_linear"
COMPOSITING_LOG = "compositing_log"
_WORKING = ("linear", "raw")
"""Where the config has no space of that name, pixels are in it already."""
IN, OUT = text_knob("in_colorspace", SCENE_LINEAR), text_knob("out_colorspace", SCENE_LINEAR)
WORKING_SPACE = text_knob("working_space", SCENE_LINEAR)
_CONTEXT = tuple(text_knob(f"key{number}") for number in (1, 2, 3, 4))

SHOWN = text_knob("colorspace", SCENE_LINEAR)
DISPLAY, VIEW = text_knob("display"), text_knob("view")
INVERT = bool_knob("invert", False)
GAIN, GAMMA = float_knob("gain", 1.0), float_knob("gamma", 1.0)

FILE = text_knob("file")
ENTRY = text_knob("cccid")
DIRECTION = enum_knob("direction", ("forward", "inverse"), "forward")
INTERPOLATION = enum_knob("interpolation", ("nearest", "linear", "tetrahedral", "best"), "linear")

SLOPE, OFFSET, POWER = rgb_knob("slope", 1.0), rgb_knob("offset", 0.0), rgb_knob("power", 1.0)
SATURATION = float_knob("saturation", 1.0)
_CDL_WEIGHTS = (0.2126, 0.7152, 0.0722)
"""Of red, green and blue in the luminance of a colour decision list."""

LOG_DIRECTION = enum_knob("operation", ("log to lin", "lin to log"), "log to lin")


class OcioNode(ColourNode):
    fills_format = False

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if moment.frame is None:  # these knobs hold at every frame
            self.check_colours(tree, node)

    def check_colours(self, tree: Tree, node: Node) -> None:
        """Raise UnderstudyError if the config lacks what the knobs name."""


class OCIOColorSpace(OcioNode):
    names = ("OCIOColorSpace",)
    page = "color_nodes/ociocolorspace.html"
    still = (*PixelNode.still, IN, OUT)
    fixed = (*PixelNode.fixed, *_CONTEXT)

    def check_colours(self, tree: Tree, node: Node) -> None:
        for knob in (IN, OUT):
            _space(tree, node, knob)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        del frame
        source, target = _space(tree, node, IN), _space(tree, node, OUT)
        return partial(tree.reading.colour.converted, source=source, target=target)


class OCIOLogConvert(OcioNode):
    """Between scene-linear and the config's role compositing_log."""

    names = ("OCIOLogConvert",)
    page = "color_nodes/ociologconvert.html"
    still = (*PixelNode.still, LOG_DIRECTION)
    fixed = (*PixelNode.fixed, *_CONTEXT)

    def check_colours(self, tree: Tree, node: Node) -> None:
        if not tree.reading.colour.knows(COMPOSITING_LOG):
            what = f"needs the role {COMPOSITING_LOG}, which the OCIO config has not"
            raise knob_error(node, LOG_DIRECTION.name, what)

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        colour = tree.reading.colour
        if LOG_DIRECTION.of(node, tree.moment(frame)) == LOG_DIRECTION.default:
            return partial(colour.converted, source=COMPOSITING_LOG, target=colour.working_space_name)
        return partial(colour.converted, source=colour.working_space_name, target=COMPOSITING_LOG)


class OCIODisplay(OcioNode):
    """Gain in scene-linear, the view of the display, then gamma; inverted, the view alone."""

    names = ("OCIODisplay",)
    page = "color_nodes/ociodisplay.html"
    knobs = (*PixelNode.knobs, GAIN, GAMMA)
    still = (*PixelNode.still, SHOWN, DISPLAY, VIEW, INVERT)
    fixed = (*PixelNode.fixed, *_CONTEXT, text_knob("channel_selector", "RGB"), text_knob("layer"))

    def check_colours(self, tree: Tree, node: Node) -> None:
        moment = tree.moment(None)
        _space(tree, node, SHOWN)
        try:
            tree.reading.colour.check_display(DISPLAY.of(node, moment), VIEW.of(node, moment))
        except UnderstudyError as fault:
            raise knob_error(node, VIEW.name, f"cannot be shown: {fault}") from None

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        if INVERT.of(node, tree.moment(None)):
            for knob in (GAIN, GAMMA):
                if knob.of(node, moment) != knob.default:
                    raise knob_error(node, INVERT.name, f"is set beside {knob.name}, which cannot be evaluated")

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        moment, colour, space = tree.moment(frame), tree.reading.colour, _space(tree, node, SHOWN)
        gain, gamma = GAIN.of(node, moment), GAMMA.of(node, moment)
        view = partial(
            colour.displayed,
            display=DISPLAY.of(node, moment),
            view=VIEW.of(node, moment),
            is_inverse=INVERT.of(node, moment),
        )

        def shown(pixels: FloatPixels) -> FloatPixels:
            source = space
            if gain != 1:
                source = colour.working_space_name
                pixels = colour.converted(pixels, space, source) * np.float32(gain)
            encoded = view(pixels, source=source)
            return encoded if gamma == 1 else np.maximum(encoded, np.float32(0)) ** np.float32(1 / max(gamma, 1e-6))

        return shown


class OCIOFileTransform(OcioNode):
    """A file's transform, in the working space or another."""

    names = ("OCIOFileTransform",)
    page = "color_nodes/ociofiletransform.html"
    still = (*PixelNode.still, FILE, ENTRY, DIRECTION, INTERPOLATION, WORKING_SPACE)
    fixed = (*PixelNode.fixed, *_CONTEXT)

    def check_colours(self, tree: Tree, node: Node) -> None:
        _space(tree, node, WORKING_SPACE)
        transform = _file_transform(tree, node)
        if is_missing(Path(transform.path)):
            raise knob_error(node, FILE.name, f"is {transform.path or 'empty'}: no such file; name one")
        try:
            transform.of(np.zeros((1, 1, 3), np.float32))
        except UnderstudyError as fault:
            raise knob_error(node, FILE.name, f"cannot be applied: {fault}") from None

    def content(self, tree: Tree, node: Node, frame: int) -> tuple[object, ...]:
        return (*super().content(tree, node, frame), _file_transform(tree, node))

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        del frame
        return _within(tree.reading.colour, _space(tree, node, WORKING_SPACE), _file_transform(tree, node).of)


class OCIOCDLTransform(OcioNode):
    """(slope value + offset) ** power, then saturation, in the working space or another; what is negative stays."""

    names = ("OCIOCDLTransform",)
    page = "color_nodes/ociocdltransform.html"
    knobs = (*PixelNode.knobs, SLOPE, OFFSET, POWER, SATURATION)
    still = (*PixelNode.still, DIRECTION, WORKING_SPACE)
    fixed = (*PixelNode.fixed, *_CONTEXT, bool_knob("read_from_file", False))

    def check_colours(self, tree: Tree, node: Node) -> None:
        _space(tree, node, WORKING_SPACE)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        is_inverse = DIRECTION.of(node, moment) == "inverse"
        if min(POWER.of(node, moment)) <= 0:
            raise knob_error(node, POWER.name, "is 0 or less, which leaves no picture; set it above 0")
        if is_inverse and 0 in SLOPE.of(node, moment):
            raise knob_error(node, SLOPE.name, "is 0, which has no inverse; set it")
        if is_inverse and SATURATION.of(node, moment) == 0:
            raise knob_error(node, SATURATION.name, "is 0, which has no inverse; set it")

    def recolour(self, tree: Tree, node: Node, frame: int) -> Recolour:
        moment = tree.moment(frame)
        slope, offset, power = (knob.of(node, moment) for knob in (SLOPE, OFFSET, POWER))
        made = _undecided if DIRECTION.of(node, moment) == "inverse" else _decided
        decided = partial(made, slope=slope, offset=offset, power=power, saturation=SATURATION.of(node, moment))
        return _within(tree.reading.colour, _space(tree, node, WORKING_SPACE), decided)


def _space(tree: Tree, node: Node, knob: Knob[str]) -> str:
    """The space of the config that the knob means; a menu's path of families may stand before it."""
    colour, stated = tree.reading.colour, knob.of(node, tree.moment(None))
    for name in (stated, stated.rpartition("/")[2]):
        role = name.partition(" (")[0]
        if role == SCENE_LINEAR or (role in _WORKING and not colour.knows(role)):
            return colour.working_space_name
        found = name if colour.knows(name) else known_space(colour, name) or ""
        if colour.knows(found):
            return found
    raise knob_error(node, knob.name, f"is {shortened(stated)}, which the OCIO config has not")


def _file_transform(tree: Tree, node: Node) -> FileTransform:
    moment = tree.moment(None)
    return FileTransform(
        path=tree.reading.paths.path_of(node, FILE.name),
        interpolation=INTERPOLATION.of(node, moment),
        entry=ENTRY.of(node, moment),
        is_inverse=DIRECTION.of(node, moment) == "inverse",
    )


def _within(colour: ColourRules, space: str, change: Recolour) -> Recolour:
    """The change, made in a space to which pixels are brought, and from which they come back."""
    working = colour.working_space_name
    return lambda pixels: colour.converted(change(colour.converted(pixels, working, space)), space, working)


def _decided(pixels: FloatPixels, slope: Triple, offset: Triple, power: Triple, saturation: float) -> FloatPixels:
    bent = _powers(pixels * np.array(slope, np.float32) + np.array(offset, np.float32), power)
    return saturated(bent, luminance(bent, _CDL_WEIGHTS), saturation)


def _undecided(pixels: FloatPixels, slope: Triple, offset: Triple, power: Triple, saturation: float) -> FloatPixels:
    straight = saturated(pixels, luminance(pixels, _CDL_WEIGHTS), 1 / saturation)
    ramp = _powers(straight, [1 / exponent for exponent in power]) - np.array(offset, np.float32)
    slopes: FloatPixels = np.array(slope, np.float32)
    return np.divide(ramp, slopes)


def _powers(pixels: FloatPixels, exponents: Sequence[float]) -> FloatPixels:
    out: FloatPixels = pixels.copy()
    for place, exponent in enumerate(exponents):
        out[..., place] = Power(exponent=exponent).of(pixels[..., place])
    return out
