"""Knobs that move: curves, expressions and links against values worked out by hand."""

from __future__ import annotations

import math
import time

import pytest
from tests.core.script.fixtures import script_of

from understudy.errors import UnderstudyError
from understudy.script.graph import Node, Script
from understudy.script.knobs import KnobMoves, bool_knob, box_knob, colour_knob, enum_knob, float_knob, int_knob
from understudy.script.nodes import DECLARED
from understudy.script.values.links import Links
from understudy.script.values.moment import Moment

SIZE = float_knob("size", 0.0)


def _at(script: Script, frame: float | None) -> Moment:
    return Moment(links=Links(script=script, declared=DECLARED), frame=frame)


def _asked(text: str, frame: float | None = 1) -> tuple[Node, Moment]:
    """The last node of a script, and a frame of it."""
    script = script_of(text)
    return script.nodes[-1], _at(script, frame)


def _size(value: str, frame: float | None = 1, before: str = "") -> float:
    return SIZE.of(*_asked(f"{before}Blur {{ size {value} name B }}\n", frame))


@pytest.mark.parametrize(
    ("curve", "values"),
    [
        # Two smooth keys: slopes 0 at both ends, 3u^2 - 2u^3
        ("curve x0 0 x10 1", {-5: 0, 0: 0, 2.5: 0.15625, 5: 0.5, 7.5: 0.84375, 10: 1, 99: 1}),
        ("curve L x0 0 x10 1 x20 0", {-1: 0, 3: 0.3, 10: 1, 12: 0.8, 20: 0, 21: 0}),
        ("curve K x1 5 x4 7 x9 6", {0: 5, 1: 5, 3.9: 5, 4: 7, 8: 7, 9: 6, 10: 6}),
        ("curve i K x1 5 x4 7", {3: 5, 4: 7}),
        ("curve x1001 0.5 s0 x1040 1", {1001: 0.5, 1020.5: 0.75, 1040: 1}),
        # Hermite, slopes 1 and 1 over 10 frames from 0 to 0: 10 (u^3 - 2u^2 + u) + 10 (u^3 - u^2)
        ("curve x0 0 s1 x10 0 s1", {2.5: 0.9375, 5: 0, 7.5: -0.9375}),
        # broken: left 0, right 1 (and flat at the end): 10 (u^3 - 2u^2 + u)
        ("curve x0 0 s0 t1 x10 0 s0", {2.5: 1.40625, 5: 1.25}),
        # the middle key lies between its neighbours: the mean of 0.1 and 0.3
        ("curve x0 0 x10 1 x20 4", {5: 0.5 + 10 * 0.2 * (0.125 - 0.25)}),
        ("curve x0 0 x10 1 x20 0", {5: 0.5, 15: 0.5}),
        # Catmull and Rom: through the middle with (4 - 0) / 20
        ("curve R x0 0 x10 1 x20 4", {5: 0.5 + 10 * 0.2 * (0.125 - 0.25)}),
        ("curve H x0 0 x10 1 x20 4", {5: 0.5, 15: 2.5}),
        # straight into the second key, flat out of the first: 3u^2 - 2u^3 + (u^3 - u^2)
        ("curve H x0 0 L x10 1", {5: 0.375}),
        ("curve x1 4 5 7 6", {1: 4, 2: 5, 3: 7, 4: 6, 9: 6}),
        ("curve 3", {-9: 3, 1: 3}),
        ("curve x5 -2.5e-1", {1: -0.25}),
    ],
)
def test_curves(curve: str, values: dict[float, float]) -> None:
    for frame, value in values.items():
        assert _size(f"{{{{{curve}}}}}", frame) == pytest.approx(value, abs=1e-12), frame


def test_a_curve_with_long_handles_runs_as_its_bezier() -> None:
    """The frame is computed from a place u on the Bezier here, and found from the frame there."""
    for u in (0.1, 0.3, 0.5, 0.8):
        weights = (1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u * u * (1 - u), u**3
        frame = 10 * (weights[1] * 2 / 3 + weights[2] * 2 / 3 + weights[3])
        value = weights[1] * 0.3 * (10 * 2 / 3) + weights[2] + weights[3]
        assert _size("{{curve x0 0 s0.3 u1 v2 x10 1 s0 u1}}", frame) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    ("expression", "frame", "value"),
    [
        ("frame", 7, 7),
        ("t*0.5+1", 3, 2.5),
        ("1+2*3", 1, 7),
        ("(1+2)*3", 1, 9),
        ("2**3**2", 1, 512),
        ("-2**2", 1, -4),
        ("7-2-1", 1, 4),
        ("8/4/2", 1, 1),
        ("7%4 + -7%4", 1, 0),
        ("!frame + !0", 1, 1),
        ("1<2 && 2<=2 || 0", 1, 1),
        ("frame<5 ? 10 : frame<9 ? 20 : 30", 4, 10),
        ("frame<5 ? 10 : frame<9 ? 20 : 30", 8, 20),
        ("frame<5 ? 10 : frame<9 ? 20 : 30", 9, 30),
        ("frame==1 ? 0 : 1/(frame-1)", 1, 0),
        ("sin(pi/2) + cos(0) + sqrt(16)", 1, 6),
        ("clamp(3) + clamp(frame, 2, 5) + min(4,2,3) + max(1,9)", 7, 1 + 5 + 2 + 9),
        ("lerp(10, 20, 0.25) + step(3, frame) + smoothstep(0, 10, 5)", 3, 12.5 + 1 + 0.5),
        ("int(2.7) + floor(-0.5) + ceil(0.2) + rint(1.6) + trunc(-1.5)", 1, 2 - 1 + 1 + 2 - 1),
        ("min(frame, 3) + min(2) + max(frame, 3, 8)", 7, 3 + 2 + 8),
        ("equal(frame, 2) + equal(frame, 3, 7, 7)", 7, 1),
        ("isnan(sqrt(-1)) + isinf(-1/0) + isfinite(1) + isfinite(1/0)", 1, 3),
        ("sign(-3) + sign(0) + copysign(5, -0.5) + PI/pi", 1, -5),
        ("pow(2, 10) + exp(0) + log10(1000) + atan2(0, 1) + fmod(7, 4)", 1, 1024 + 1 + 3 + 3),
        ("$gui", 1, 0),
        (r'"\[value frame2]+1"', 1, 0),
        (r'"\[expression 1 + \[frame]]*2"', 4, 10),
        ("true + false", 1, 1),
        ('"frame * 2"', 3, 6),
        ("frame * 2", 3, 6),
        ("frame*10 i", 2, 20),
        ('"curve + 100" x1 5 x2 6', 2, 106),
        ("curve(frame+1) K x1 5 x2 6", 1, 6),
    ],
)
def test_expressions(expression: str, frame: float, value: float) -> None:
    if "frame2" in expression:
        expression, value = expression.replace("frame2", "other"), 5
    found = SIZE.of(*_asked(f"Blur {{ other 4 size {{{{{expression}}}}} }}\n", frame))
    assert found == pytest.approx(value)


LINKED = (
    'Root { format "48 27 0 0 48 27 1 tiny" first_frame 1001 }\n'
    "Crop { box {{curve L x0 0 x10 20} 2 {parent.Crop1.box.x+5} 9} name Crop1 }\n"
    "Grade { multiply {1 2 3 4} name Grade1 }\n"
    "Group { name G addUserKnob {7 gain l Gain} addUserKnob {7 unset} addUserKnob {4 mode M {a b}} gain 2.5 }\n"
    " Input { inputs 0 name In }\n"
    " Blur { size %s name B }\n"
    " Blur { size {{curve x0 1 x1 3}} name Other }\n"
    " Output { name Out }\n"
    "end_group\n"
)


@pytest.mark.parametrize(
    ("link", "value"),
    [
        ("parent.gain", 2.5),
        ("parent.gain*2+1", 6),
        ("parent.unset", 0),
        ("parent.parent.Crop1.box.x", 8),
        ("root.Crop1.box.r", 13),
        ("root.Crop1.box.t", 9),
        ("root.Crop1.box", 8),
        ("root.Crop1.box(5)", 10),
        ("root.Crop1.box.r(frame+1)", 15),
        ("root.Grade1.multiply.b", 3),
        ("root.Grade1.multiply.1", 2),
        ("root.Grade1.white.g", 1),
        ("root.Grade1.mix", 1),
        ("root.width + root.height", 75),
        ("root.first_frame", 1001),
        ("parent.Other.size", 3),
        ("Other.size(0)", 1),
        ("this.size2", 4),
        ("size2", 4),
        ("input.number", 0),
    ],
)
def test_links(link: str, value: float) -> None:
    script = script_of(LINKED % f"{{{{{link}}}}} size2 4")
    node = next(node for node in script.nodes if node.name == "B")
    assert SIZE.of(node, _at(script, 4)) == pytest.approx(value)


def test_every_part_of_a_knob_may_move_by_itself() -> None:
    box = box_knob("box", (0, 0, 0, 0))
    script = script_of(LINKED % "0")
    assert box.of(script.nodes[0], _at(script, 5)) == (10, 2, 15, 9)
    copy = "Crop { box {{parent.Crop1.box} {parent.Crop1.box} {parent.Crop1.box} {parent.Crop1.box}} name Crop2 }"
    script = script_of((LINKED % "0") + copy)
    assert box.of(script.nodes[-1], _at(script, 5)) == (10, 2, 15, 9)
    colour = colour_knob("multiply", 1)
    node, moment = _asked("Grade { multiply {{curve L x0 0 x2 2} 5 {frame*3} 1} }", 1)
    assert colour.of(node, moment) == (1, 5, 3, 1)
    node, moment = _asked("Grade { multiply {{frame}} }", 3)
    assert colour.of(node, moment) == (3, 3, 3, 3)


def test_words_and_truths_may_move() -> None:
    node, moment = _asked('A { operation {{"frame>2"}} disable {{curve K x1 0 x3 1}} count {{frame*2}} }', 3)
    assert enum_knob("operation", ("over", "plus"), "over").of(node, moment) == "plus"
    assert bool_knob("disable", False).of(node, moment)
    assert int_knob("count", 0).of(node, moment) == 6
    with pytest.raises(UnderstudyError, match=r"knob count is 1\.5, not a whole number"):
        int_knob("count", 0).of(*_asked("A { count {{frame/2}} }", 3))


def test_what_moves_is_refused_where_one_value_is_needed() -> None:
    assert _size("{{curve x1 2 x9 2}}", None) == 2
    assert _size("{{3*4}}", None) == 12
    for moving in ("{{curve x1 2 x9 3}}", "{{curve x1 2 s1 x9 2}}", "{{frame}}", "{{B.other}} other {{t}}"):
        with pytest.raises(KnobMoves, match=r"B \(Blur\), line 1: knob size"):
            _size(moving, None)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("{{curve}}", "is a curve without a key"),
        ("{{curve x1 0 x1 2}}", "has a key at frame 1 after one at frame 1"),
        ("{{curve x9 0 x1 2}}", "has a key at frame 1 after one at frame 9"),
        ("{{curve x1 0 x11 2 3}}", "has a key without a frame after the one at frame 11"),
        ("{{curve x1 0 u9 x2 1}}", "has a handle of length 9 at frame 1"),
        ("{{curve x1 0 q5 x2 1}}", "has 'q5' in its curve|holds"),
        ("{{curve xnan 0}}", "holds 'nan' where a number is needed|holds"),
        ("{{curve x1 1e99}}", "holds '1e99' where a number is needed"),
        ("{{1/0}}", r"holds '1/0', which comes to no number \(a division by zero\?\)"),
        ("{{sqrt(-1)}}", "comes to no number"),
        ("{{10**400}}", "comes to no number"),
        ("{{1e400}}", "holds '1e400' where a number is needed"),
        ("{{exp(exp(exp(9)))}}", "comes to no number"),
        ("1e99", "holds '1e99' where a number is needed"),
        ("{}", "holds '' where a number is needed"),
        (r'{{"\[exec rm -rf /]"}}', r"holds the command '\[exec rm -rf /\]', which is not evaluated"),
        (r'{{"\[python \{__import__(\'os\').getpid()\}]"}}', r"holds the command .\[python"),
        ("{{nuke.thisNode()}}", "refers to|holds"),
        ("{{__import__('os')}}", "holds the expression"),
        ("{{random(1)}}", "refers to 'random', and there is no 'random'"),
        ("{{noise(1, 2)}}", r"holds the function noise\(\)"),
        ("{{sin(1, 2)}}", r"holds sin\(\) with 2 numbers"),
        ("{{size}}", r"depends on itself through B\.size"),
        ("{{a}} a {{b+1}} b {{a*2}}", r"depends on itself through B\.a"),
        ("{{nowhere.size}}", "refers to 'nowhere.size', and there is no 'nowhere'"),
        ("{{this}}", "refers to 'this', which is a node and no knob"),
        ("{{a.x.y}} a 1", "refers to 'a.x.y', and a knob has no such part"),
        ("{{a.r}} a {1 2}", "refers to part 'r' of 'a.r', which is not known"),
        ("{{a.z}} a {1 2}", "refers to 'a.z', which has 2 numbers"),
        ("{{1 +}}", "is not understood at its end"),
        ("{{(1}}", "is not understood at its end"),
        ("{{1) + 2}}", r"is not understood near '\)'"),
        ("{{1 2}}", "is not understood near '2'"),
        ("{{a ? 1}} a 2", "is not understood at its end"),
        ("{{#}}", "holds the expression '#', which is not evaluated"),
        ("{{" + "(" * 25 + "1" + ")" * 25 + "}}", "holds an expression nested over 24 deep"),
        ("{{" + "2**" * 30 + "1}}", "holds an expression nested over 24 deep"),
        ("{{" + "1+" * 2500 + "1}}", "holds an expression of 5001 characters, over 4000"),
    ],
)
def test_values_that_cannot_be_computed_are_named(value: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"^B \(Blur\), line 1: knob size .*({what}).*; bake it, or render"):
        _size(value)


def test_a_key_whose_course_is_not_known_is_refused_between_keys_only() -> None:
    cubic = "{{curve C x1 5 x4 7}}"
    assert (_size(cubic, 1), _size(cubic, 4), _size(cubic, 9)) == (5, 7, 7)
    with pytest.raises(UnderstudyError, match="knob size has a key of type C at frame 1, and how it runs there is not"):
        _size(cubic, 2)


def test_long_sums_and_many_tests_are_no_depth() -> None:
    assert _size("{{" + "1+" * 1000 + "1}}") == 1001
    assert _size("{{" + "".join(f"frame<{n} ? {n} : " for n in range(150)) + "7}}", 120) == 121
    assert _size("{{" + "-" * 2001 + "1}}") == -1


def test_links_that_multiply_end_soon() -> None:
    knobs = " ".join(f"k{n} {{{{k{n + 1}+k{n + 1}}}}}" for n in range(30))
    assert _size(f"{{{{k0}}}} {knobs} k30 1") == 2**30
    begin = time.perf_counter()
    frames = " ".join(f"k{n} {{{{k{n + 1}(frame+1)+k{n + 1}(frame+2)*0.9}}}}" for n in range(31))
    for value in (f"{{{{k0}}}} {frames} k31 1", "{{k(frame+1)}} k {{size(frame+1)}}"):
        with pytest.raises(UnderstudyError, match="follows over 32 links in a row, or 2000 in all"):
            _size(value + (" k31 {{frame}}" if "k31" in value else ""))
    assert time.perf_counter() - begin < 2


def test_numbers_are_exact() -> None:
    assert _size("0.1") == 0.1
    assert _size("{{0.1}}") == 0.1
    assert math.isclose(_size("{{1/3}}"), 1 / 3, rel_tol=1e-15)
