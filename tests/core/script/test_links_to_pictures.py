"""Links to what pictures are, to nodes that exist, and to knobs of words: numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull, script_of, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window
from understudy.script.knobs import channels_knob, enum_knob, float_knob, text_knob, word_knob
from understudy.script.nodes import DECLARED
from understudy.script.values.links import Links
from understudy.script.values.moment import Moment

SIZE = float_knob("size", 0.0)


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """A Read of frames 3 to 9, 8 x 6; a Crop of it whose box moves; then the group that asks."""
    pattern = numbered_shot(tmp_path, range(3, 10), 8, 6)
    return (
        'Root { format "48 27 0 0 48 27 2 wide" first_frame 1001 frame 1042 }\n'
        f'Read {{ inputs 0 file "{pattern}" first 3 last 9 name Read1 }}\n'
        "Crop { box {1 2 {frame} 5} name Crop1 }\n"
        "Group { inputs 1 name G addUserKnob {14 over l Over} over {3 4} addUserKnob {15 bbox} bbox {1 2 3 4} "
        'addUserKnob {7 width} width 77 addUserKnob {6 hold} addUserKnob {4 mode M {a "b c" d}} mode {b c} }\n'
        " Input { inputs 0 name In }\n"
        " Blur { size %s name B }\n"
        " NoOp { name N addUserKnob {3 first_frame} first_frame 5 }\n"
        " Output { name Out }\n"
        "end_group\n"
    )


def _size(text: str, value: str, frame: float | None = 6) -> float:
    evaluator, _ = evaluator_of(text % f"{{{{{value}}}}}")
    node = next(node for node in evaluator.script.nodes if node.name == "B")
    moment = evaluator.moment(0)
    return SIZE.of(node, Moment(links=moment.links, frame=frame))


@pytest.mark.parametrize(
    ("link", "value"),
    [
        ("input.width", 8),
        ("input0.height", 6),
        ("parent.input.width + parent.input0.format.h", 14),
        ("Read1.width", None),
        ("root.Read1.format.w", 8),
        ("root.Read1.actual_format.r + root.Read1.full_size_format.t", 14),
        ("root.Read1.format.x + root.Read1.format.y", 0),
        ("root.Read1.pixel_aspect", 1),
        ("parent.parent.Crop1.bbox.x", 1),
        ("parent.parent.Crop1.bbox.y", 2),
        ("input.bbox.r", 6),
        ("input.bbox.r(frame+1)", 7),
        ("input.bbox.t", 5),
        ("input.bbox.w*10 + input.bbox.h", 53),
        ("input.first_frame + input.last_frame", 12),
        ("[value parent.input.first_frame]", 3),
        ("root.format.w + root.format.h + root.width + root.height", 150),
        ("root.format.pixel_aspect + root.pixel_aspect", 4),
        ("root.first_frame", 1001),
        ("root.last_frame + root.fps", 124),
        # what the group has by these names are knobs
        ("parent.width", 77),
        ("parent.bbox.r", 3),
        ("parent.over.w + parent.over.h*10", 43),
        ("N.first_frame", 5),
        ("N.knob.first_frame", 5),
        ("this.knob.other", 9),
        # a knob of a group around needs no `parent`
        ("over.h", 4),
        ("hold", 0),
        ("mode", 1),
        ("parent.mode == 1", 1),
        ("input.disable + N.disable", 0),
        ("[exists input]", 1),
        ("[exists input1]", 0),
        ("[exists parent.input0]*2 + [exists parent.input1]", 2),
        ("![exists parent.input7] && [exists N]", 1),
        ("[exists nowhere.input]", 0),
        ("[exists parent.parent.Crop1.box]", 1),
        ("[numvalue parent.width]", 77),
    ],
)
def test_links(shot: str, link: str, value: float | None) -> None:
    text = shot.replace("name B }", "name B other 9 }")
    if value is None:
        with pytest.raises(UnderstudyError, match="and there is no 'Read1'"):
            _size(text, link)
    else:
        assert _size(text, link.replace("[", "\\[").join('""')) == pytest.approx(value)


def test_what_a_picture_is_needs_a_frame_but_its_range_does_not(shot: str) -> None:
    assert _size(shot, "input.last_frame", None) == 9
    with pytest.raises(UnderstudyError, match=r"knob size asks for the bbox of G\.In, which may change with the frame"):
        _size(shot, "input.bbox.x", None)
    with pytest.raises(UnderstudyError, match=r"asks for the format of G\.In at 2\.5, which is between frames"):
        _size(shot, "input.width", 2.5)


@pytest.mark.parametrize(
    ("link", "what"),
    [
        ("root.frame", "refers to root.frame, where Nuke's timeline stood; write frame"),
        ("input.bbox.q", "refers to 'input.bbox.q', and there is no 'bbox'"),
        ("[exists In.softness]", "asks whether 'In.softness' exists, which is not known"),
        ("[exists In]", "asks whether 'In' exists, which is not known"),
        ("Loop.width", "asks for the format of G.Loop, which cannot be evaluated"),
        ("parent.parent.Keyer.width", "asks for the format of Keyer, which cannot be evaluated"),
    ],
)
def test_what_cannot_be_asked_is_named(shot: str, link: str, what: str) -> None:
    text = shot.replace(" Blur {", " Crop { box {0 0 {width} 5} name Loop }\n Blur {")
    text = text.replace("Group {", "Keylight { name Keyer }\nGroup {", 1)
    with pytest.raises(UnderstudyError) as fault:
        _size(text, link.replace("[", "\\[").join('""'))
    assert what in str(fault.value)


def test_a_crop_may_follow_the_size_of_its_input(tmp_path: Path) -> None:
    read = f'Read {{ file "{numbered_shot(tmp_path, range(1, 3), 8, 6)}" last 2 }}\n'
    once = pull(read + "Crop { box {1 1 {input.width-1} {input.height-2}} reformat true }\n")
    assert once.display_window == Window(0, 0, 6, 3)
    np.testing.assert_array_equal(once.pixels, pull(read).pixels[2:5, 1:7])


def test_long_chains_of_links_to_pictures_need_no_stack(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.ones((2, 200, 1), np.float32), ("R",))
    crop = "Crop { box {1 0 {input.width} 2} reformat true }\n"
    assert pull(f'Read {{ file "{tmp_path}/a.exr" }}\n' + crop * 140).display_window == Window(0, 0, 60, 2)


def test_timeclip_follows_the_range_of_its_input(tmp_path: Path) -> None:
    read = f'Read {{ file "{numbered_shot(tmp_path, range(1, 9))}" first 2 last 8 }}\n'
    evaluator, last = evaluator_of(read + "TimeClip { first {{input.first_frame}} last {{input.last_frame-1}} }")
    assert str(evaluator.span(last)) == "2-7"
    evaluator, last = evaluator_of(read + "FrameRange { first_frame {{input.first_frame+1}} last_frame 6 }")
    assert str(evaluator.span(last)) == "3-6"


WORDS = (
    "Grade { channels rgb name Grade1 }\n"
    "Merge2 { output {rgba.red -rgba.green} name Merge1 }\n"
    "ChannelMerge { operation plus name Joined }\n"
    "Merge2 { name Plain }\n"
    "NoOp { name Ctrl addUserKnob {4 op M {over plus}} op plus addUserKnob {1 layer} layer diffuse "
    "addUserKnob {41 chans T Grade1.channels} }\n"
    "Asker { knob %s name Asker1 }\n"
)


def test_knobs_of_words_may_be_links() -> None:
    script = script_of(WORDS % "0")
    moment = Moment(links=Links(script=script, declared=DECLARED), frame=1)

    def asked(knob: object, value: str) -> object:
        node = script_of(WORDS % value).nodes[-1]
        return knob.of(node, moment)  # type: ignore[attr-defined]

    channels = channels_knob("knob", "none")
    assert asked(channels, "{{{parent.Grade1.channels}}}") == channels_knob("", "rgb").default
    assert asked(channels, "{{Merge1.output x1 3}}") == channels_knob("", "rgba.red").default
    assert asked(channels, "{{{parent.Plain.output}}}") == channels_knob("", "rgba").default
    assert asked(channels, "{{parent.Ctrl.layer}}") == channels_knob("", "diffuse").default
    assert asked(text_knob("knob"), "{{{Ctrl.layer}}}") == "diffuse"
    assert asked(word_knob("knob", ("over", "plus"), "over"), "{{Joined.operation i}}") == "plus"
    assert asked(enum_knob("knob", ("x", "y", "z"), "x"), "{{parent.Ctrl.op}}") == "y"
    assert asked(enum_knob("knob", ("x", "y", "z"), "x"), "{{parent.Ctrl.op+1}}") == "z"
    with pytest.raises(
        UnderstudyError, match=r"knob knob is a link to '\{\{parent\.Ctrl\.op\}\}', which names no channels"
    ):
        asked(channels, "{{{parent.Ctrl.op}}}")
    with pytest.raises(UnderstudyError, match=r"knob knob refers to 'Gone\.channels', and there is no 'Gone'"):
        asked(channels, "{{{Gone.channels}}}")
    with pytest.raises(UnderstudyError, match="knob knob follows over 32 links in a row"):
        asked(text_knob("knob"), "{{Asker1.knob}} knob {{{this.knob}}}")


def test_a_link_knob_is_the_knob_that_it_leads_to() -> None:
    group = (
        "Group { name G addUserKnob {41 amount T Inner.mix} addUserKnob {41 loop T this.loop} }\n"
        " Grade { inputs 0 mix 0.25 name Inner }\nend_group\nBlur { size {{G.%s}} name B }\n"
    )
    for link, value in (("amount", 0.25), ("Inner.mix", 0.25)):
        script = script_of(group % link)
        assert SIZE.of(script.nodes[-1], Moment(links=Links(script=script, declared=DECLARED), frame=1)) == value
    script = script_of(group % "loop")
    with pytest.raises(UnderstudyError, match=r"follows over 32 link knobs in a row, the last of them G\.loop"):
        SIZE.of(script.nodes[-1], Moment(links=Links(script=script, declared=DECLARED), frame=1))
