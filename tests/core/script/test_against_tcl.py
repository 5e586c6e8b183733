"""Tokens and graph against a real Tcl interpreter, on scripts written by hand and on generated ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.script.fixtures import FIXTURES, script_of

from understudy.errors import UnderstudyError
from understudy.script.tokens import read_commands, read_list

pytest.importorskip("tkinter", reason="this Python has no tkinter, and so no Tcl", exc_type=ImportError)
from tests.core.script.tcl_graph import commands_from_tcl, graph_from_tcl, graph_of, list_from_tcl

Words = TypeVar("Words")


@pytest.mark.parametrize("name", FIXTURES)
def test_the_graph_is_the_one_that_tcl_builds(name: str) -> None:
    ours, theirs = graph_of(script_of(FIXTURES[name])), graph_from_tcl(FIXTURES[name])
    assert ours.nodes == theirs.nodes
    assert ours.root == theirs.root


# Alphabets are plain texts: of those hypothesis draws a whole word at once, and not letter by letter.
_KNOB_NAMES = st.text("abcmpux_019.", max_size=7).map("k".__add__)
_PLAIN = st.text("abcXYZ019 .#/%_-+*()<>=!?,:é\n\t", max_size=12)
_ANY = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


def _quoted(text: str) -> str:
    return '"' + "".join("\\" + letter if letter in '\\"[]{}$' else letter for letter in text) + '"'


_VALUES = st.one_of(
    _ANY.map(_quoted),
    _PLAIN.map(lambda text: "{" + text + "}"),
    st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3).map(lambda parts: "{" + " ".join(parts) + "}")).map(
        lambda text: "{" + text + "}"
    ),
    st.sampled_from(
        [
            r"a\ b",
            r"\x41\u00e9\101",
            r"\a\b\f\n\r\t\v\q\73",
            "0.5",
            "-1e-3",
            r"\[value\ x\]",
            "{}",
            '""',
            "{{curve x1 5}}",
        ]
    ),
)
_KNOBS = st.lists(st.tuples(st.one_of(_KNOB_NAMES, st.just("addUserKnob")), _VALUES), max_size=3)
_CLASSES = st.sampled_from(["Read", "Read", "Grade", "Dot", "Merge2", "Viewer", "X_1"])
_INPUTS = st.sampled_from(["", "", "", "", "0", "0", "1", "2", "3", "1+1", "2+1"])
_GAPS = st.sampled_from(["\n ", " ", "\n\t\n "])
_KINDS = st.sampled_from(
    [*["node"] * 6, *["set"] * 2, *["push"] * 3, "other push", "group", "end", "clone", "comment", "other"]
)
_OTHER_PUSHES = st.sampled_from(
    ["push 0", "  push 0  ;", "push \\\n 0", "push [stack 0]", "push [stack 1]", "push [ stack 2 ]"]
)
_OTHERS = st.sampled_from(["", ";;", "add_layer {a a.r}", 'define_window_layout_xml {<a b="{}"/>}'])


@st.composite
def _scripts(draw: st.DrawFn) -> str:
    lines, variables, depth = ["version 16.0 v1"], 0, 0
    for index in range(draw(st.integers(0, 20))):
        kind = draw(_KINDS)
        if kind in ("node", "group"):
            lines.append(_node(draw, "Group" if kind == "group" else draw(_CLASSES), index))
            depth += kind == "group"
        elif kind == "set":
            variables += 1
            lines.append(f"set N{variables} [stack {draw(st.integers(0, 2))}]")
        elif kind == "push" and variables:
            lines.append(f"push $N{draw(st.integers(1, variables))}")
        elif kind == "other push":
            lines.append(draw(_OTHER_PUSHES))
        elif kind == "end" and depth:
            lines.append("end_group")
            depth -= 1
        elif kind == "clone":
            variables += 1
            original = _node(draw, draw(_CLASSES.filter("Viewer".__ne__)), index)
            lines += [original, f"set N{variables} [stack 0]", f"clone $N{variables} {{ {draw(_VALUES)} 1 }}"]
        elif kind == "comment":
            lines.append('# { [ " \\\\')
        else:
            lines.append(draw(_OTHERS))
    return "\n".join(lines + ["end_group"] * depth)


def _node(draw: st.DrawFn, class_name: str, index: int) -> str:
    knobs = [*draw(_KNOBS), ("name", f"n{index}")]
    if inputs := draw(_INPUTS):
        knobs.append(("inputs", inputs))
    gap = draw(_GAPS)
    return f"{class_name} {{{gap}{gap.join(map(' '.join, knobs))}\n}}"


@settings(max_examples=1000)
@given(_scripts())
def test_generated_scripts_give_the_graph_that_tcl_builds(text: str) -> None:
    ours, theirs = graph_of(script_of(text)), graph_from_tcl(text)
    assert ours.nodes == theirs.nodes
    assert ours.root == theirs.root


@settings(max_examples=500)
@given(st.text('{}"\\ \nabx41;[]$', max_size=14))
def test_lists_are_split_as_tcl_splits_them(text: str) -> None:
    assert _ours(lambda: [word.text for word in read_list(text, "shot.nk", 1)]) == list_from_tcl(text)


@settings(max_examples=500)
@given(st.text('{}"\\ \nabx4;#', max_size=14).filter(lambda text: "{*}" not in text))
def test_commands_are_split_as_tcl_splits_them(text: str) -> None:
    ours = _ours(lambda: [[word.text for word in command.words] for command in read_commands(text, "shot.nk")])
    assert ours == commands_from_tcl(text)


def _ours(split: Callable[[], Words]) -> Words | None:
    try:
        return split()
    except UnderstudyError:
        return None
