"""Nodes that count light in logarithms, value by value: Log2Lin, PLogLin, EXPTool (Exposure in Nuke's menu)."""

from __future__ import annotations

from abc import abstractmethod

from understudy.script.channels import component
from understudy.script.graph import Node
from understudy.script.knobs import (
    Knob,
    bool_knob,
    colour_knob,
    enum_knob,
    float_knob,
    knob_error,
    text_knob,
    word_knob,
)
from understudy.script.nodes.arithmetic import Arithmetic, Line
from understudy.script.nodes.base import Tree
from understudy.script.nodes.pixels import PixelNode, Tone, ToneNode
from understudy.script.nodes.transfer import Decoded, Encoded, Film, Transfer, film
from understudy.script.values.moment import Moment

DENSITY_PER_CODE = 0.002
"""Of film, in code values of ten bits."""
NEGATIVE_GAMMA = 0.6
"""Density of film for ten times the light."""

BLACK = colour_knob("black", 95.0)
WHITE = colour_knob("white", 685.0)
GAMMA = colour_knob("gamma", NEGATIVE_GAMMA)
IGNORE_BLACK = bool_knob("ignore_black", False)
DIRECTION = enum_knob("operation", ("log2lin", "lin2log"), "log2lin")

LINEAR_REFERENCE = colour_knob("linref", 0.18)
LOG_REFERENCE = colour_knob("logref", 445.0)
FILM_GAMMA = colour_knob("ngamma", NEGATIVE_GAMMA)
DENSITY = colour_knob("density", DENSITY_PER_CODE)
PIVOTED_DIRECTION = enum_knob("operation", ("log to lin", "lin to log"), "log to lin")

BASES = {
    "Stops": 2.0,
    "Densities": 10 ** (1 / NEGATIVE_GAMMA),
    "Cineon": 10 ** (DENSITY_PER_CODE / NEGATIVE_GAMMA),
}
"""Times the light for one unit."""
UNIT = word_knob("mode", tuple(BASES), "Densities")
EXPOSURES = tuple(float_knob(name, 0.0) for name in ("red", "green", "blue"))


class LogNode(ToneNode):
    """Between code values of film and linear light."""

    direction: Knob[str]

    @abstractmethod
    def transfer(self, node: Node, part: int, moment: Moment) -> Transfer:
        """The curve for red, green, blue and alpha: part 0 to 3. Raises UnderstudyError where there is none."""

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        for part in range(4):
            self.transfer(node, part, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        transfer = self.transfer(node, part, moment)
        is_decoded = self.direction.of(node, moment) == self.direction.default
        return Decoded(transfer=transfer) if is_decoded else Encoded(transfer=transfer)


class Log2Lin(LogNode):
    """Between Cineon's code values and linear light, by the codes for black and white."""

    names = ("Log2Lin",)
    page = "color_nodes/log2lin.html"
    direction = DIRECTION
    knobs = (*PixelNode.knobs, DIRECTION, BLACK, WHITE, GAMMA, IGNORE_BLACK)
    fixed = (*PixelNode.fixed, *map(text_knob, ("conversion", "Conversion", "whitepoint", "dmin", "neggamma")))

    def transfer(self, node: Node, part: int, moment: Moment) -> Transfer:
        black, white, gamma = (knob.of(node, moment)[part] for knob in (BLACK, WHITE, GAMMA))
        if gamma <= 0:
            raise knob_error(node, GAMMA.name, "is 0 or less, which leaves no picture; set it above 0")
        decade = gamma / DENSITY_PER_CODE
        if IGNORE_BLACK.of(node, moment):
            return Film(reference=white, decade=decade)
        if black >= white:
            raise knob_error(node, BLACK.name, f"is {black:g}, and white is {white:g}; set it below")
        return film(black=black, white=white, decade=decade)


class PLogLin(LogNode, Arithmetic):
    """Between Cineon's code values and linear light, by the code for one grey."""

    names = ("PLogLin",)
    page = "color_nodes/ploglin.html"
    direction = PIVOTED_DIRECTION
    knobs = (*PixelNode.knobs, PIVOTED_DIRECTION, LINEAR_REFERENCE, LOG_REFERENCE, FILM_GAMMA, DENSITY)

    def transfer(self, node: Node, part: int, moment: Moment) -> Transfer:
        grey, code, gamma, density = (
            knob.of(node, moment)[part] for knob in (LINEAR_REFERENCE, LOG_REFERENCE, FILM_GAMMA, DENSITY)
        )
        for knob, value in ((LINEAR_REFERENCE, grey), (FILM_GAMMA, gamma), (DENSITY, density)):
            if value <= 0:
                raise knob_error(node, knob.name, "is 0 or less, which leaves no picture; set it above 0")
        return Film(reference=code, decade=gamma / density, grey=grey)


class EXPTool(ToneNode):
    """Light times a power: of 2 for stops, of ten for densities of film of gamma 0.6 and for Cineon's code values."""

    names = ("EXPTool",)
    page = "color_nodes/exposure.html"
    knobs = (*PixelNode.knobs, UNIT, *EXPOSURES)
    fixed = (
        *PixelNode.fixed,
        *(text_knob("colorspace", "Linear"), colour_knob("blackpoint", 0.0), text_knob("pval")),
    )

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there = super().channels(tree, node)
        others = [name for name in self.chosen(node, tree.moment(None)).of(there) if component(name) in (3, None)]
        if others:
            raise knob_error(
                node, self.channels_knob.name, f"selects {others[0]}, and what exposure does to that is not known"
            )
        return there

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        for part in range(4):
            self.tone(node, part, moment)

    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        if part == 3:
            return Line()
        exposure = EXPOSURES[part].of(node, moment)
        try:
            return Line(factor=BASES[UNIT.of(node, moment)] ** exposure)
        except OverflowError:
            raise knob_error(node, EXPOSURES[part].name, f"is {exposure:g}, which leaves no picture; set it") from None
