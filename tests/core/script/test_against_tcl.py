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


_KNOB_NAMES = st.from_regex(r"[a-z][a-z_0-9.]{0,8}", fullmatch=True).filter(
    lambda name: name not in ("inputs", "name", "adduserknob")
)
_PLAIN = st.text(st.sampled_from("abcXYZ019 .#/%_-+*()<>=!?,:é\n\t"), max_size=12)
_ANY = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


def _quoted(text: str) -> str:
    return '"' + "".join("\\" + letter if letter in '\\"[]{}$' else letter for letter in text) + '"'


_VALUES = st.one_of(
    _ANY.map(_quoted),
    _PLAIN.map(lambda text: "{" + text + "}"),
    st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3).map(lambda parts: "{" + " ".join(parts) + "}")).map(
        lambda text: "{" + text + "}"
    ),
    st.sampled_from([r"a\ b", r"\x41\u00e9\101", "0.5", "-1e-3", r"\[value\ x\]", "{}", '""', "{{curve x1 5}}"]),
)
_BODIES = st.dictionaries(_KNOB_NAMES, _VALUES, max_size=4)


@st.composite
def _scripts(draw: st.DrawFn) -> str:
    lines, variables, depth = ["version 16.0 v1"], 0, 0
    for index in range(draw(st.integers(0, 14))):
        kind = draw(
            st.sampled_from(["node"] * 6 + ["set", "push", "push 0", "group", "end", "clone", "comment", "empty"])
        )
        body = draw(_BODIES) | {"name": f"n{index}"}
        if draw(st.booleans()):
            body["inputs"] = draw(st.sampled_from(["0", "1", "2", "3", "1+1", "2+1"]))
        if kind in ("node", "group"):
            name = (
                "Group"
                if kind == "group"
                else draw(st.sampled_from(["Read", "Grade", "Dot", "Merge2", "Viewer", "X_1"]))
            )
            separator = draw(st.sampled_from(["\n ", " ", "\n\t\n "]))
            lines.append(f"{name} {{{separator}" + separator.join(f"{k} {v}" for k, v in body.items()) + "\n}")
            depth += kind == "group"
        elif kind == "set":
            variables += 1
            lines.append(f"set N{variables} [stack {draw(st.integers(0, 2))}]")
        elif kind == "push" and variables:
            lines.append(f"push $N{draw(st.integers(1, variables))}")
        elif kind == "push 0":
            lines.append(draw(st.sampled_from(["push 0", "  push 0  ;", "push \\\n 0"])))
        elif kind == "end" and depth:
            lines.append("end_group")
            depth -= 1
        elif kind == "clone":
            variables += 1
            lines += ["Dot {}", f"set N{variables} [stack 0]", f"clone $N{variables} {{ {draw(_VALUES)} 1 }}"]
        elif kind == "comment":
            lines.append('# { [ " \\\\')
        else:
            lines.append(
                draw(st.sampled_from(["", ";;", "add_layer {a a.r}", 'define_window_layout_xml {<a b="{}"/>}']))
            )
    return "\n".join(lines + ["end_group"] * depth)


@settings(max_examples=150, deadline=None)
@given(_scripts())
def test_generated_scripts_give_the_graph_that_tcl_builds(text: str) -> None:
    ours, theirs = graph_of(script_of(text)), graph_from_tcl(text)
    assert ours.nodes == theirs.nodes
    assert ours.root == theirs.root


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from('{}"\\ \nabx41;[]$'), max_size=14))
def test_lists_are_split_as_tcl_splits_them(text: str) -> None:
    assert _ours(lambda: [word.text for word in read_list(text, "shot.nk", 1)]) == list_from_tcl(text)


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from('{}"\\ \nabx4;#'), max_size=14).filter(lambda text: "{*}" not in text))
def test_commands_are_split_as_tcl_splits_them(text: str) -> None:
    ours = _ours(lambda: [[word.text for word in command.words] for command in read_commands(text, "shot.nk")])
    assert ours == commands_from_tcl(text)


def _ours(split: Callable[[], Words]) -> Words | None:
    try:
        return split()
    except UnderstudyError:
        return None
