"""Tokens and graph: what real Tcl makes of a script, and clear words about broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.script.fixtures import COMP, script_of

from understudy.errors import UnderstudyError
from understudy.script.graph import parse_script, read_script
from understudy.script.tokens import read_commands, read_list


def test_groups_clones_and_stack_words_of_the_comp() -> None:
    script = script_of(COMP)
    by_path = {node.path: node for node in script.nodes}
    merge = by_path["Merge1"]
    assert [input and script.nodes[input].name for input in merge.inputs] == [None, "Read1", "Grade1"]
    lines = COMP.splitlines()
    assert lines[by_path["BackdropNode1"].line - 1] == "BackdropNode {"
    assert lines[by_path["Group1.Inner.Grade1"].line - 1] == "  Grade {"
    inner = by_path["Group1.Inner"]
    assert script.input_of(inner, 0) is by_path["Group1.Merge1"]
    assert [child.name for child in script.children(inner)] == ["Input1", "Grade1", "Output1"]
    clone = next(node for node in script.nodes if "xpos" in node.knobs)
    assert (clone.class_name, clone.knobs["white"]) == ("Grade", "1.5 {curve x1 1} 2 1")
    assert script.input_of(clone, 0) is by_path["Group1"]


def test_clones_that_name_their_class_and_live_groups_written_out() -> None:
    script = script_of(
        "Read { name Read1 }\nclone node7f|Grade|19 Grade {\n name G\n gamma 2\n}\nclone node7f|Grade|19 { xpos 1 }\n"
        "LiveGroup {\n name Live1\n}\n Input { name In }\n Output { name Out }\nend_group\n"
        "LiveGroup { name Live2 }\nDot { name Dot1 }\n"
    )
    shown = [(node.path, node.knobs.get("gamma"), node.inputs) for node in script.nodes]
    assert shown == [
        ("Read1", None, ()),
        ("G", "2", (0,)),
        ("G", "2", (1,)),
        ("Live1", None, (2,)),
        ("Live1.In", None, ()),
        ("Live1.Out", None, (4,)),
        ("Live2", None, (3,)),
        ("Dot1", None, (6,)),
    ]


def test_nodes_without_a_name_are_counted() -> None:
    assert [node.path for node in script_of("Grade {}\nGrade {}\nBlur {}").nodes] == ["Grade1", "Grade2", "Blur1"]


@settings(max_examples=300)
@given(st.text(st.sampled_from('{}[]"\\$;# \nabGrade'), max_size=40))
def test_any_text_is_parsed_or_refused_in_one_line(text: str) -> None:
    said = ""
    try:
        script_of(text)
        read_list(text, "shot.nk", 1)
    except UnderstudyError as fault:
        said = str(fault)
    assert not said or "line " in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("version 1\n\nGrade {\n name {a\n}\n", 3, "the brace { opened here is never closed"),
        ("Grade {\n name {a}b\n}\n", 2, "text follows a closing brace"),
        ('Grade {\n name "a\n}\n', 2, 'the quote " opened here is never closed'),
        ("set N1 [stack 0\n", 1, "the bracket [ opened here is never closed"),
        ("Dot {\n name\n}", 2, "knob 'name' has no value"),
        ("Dot {}\npush $Nff\n", 2, "push $Nff names a node that is not set above it"),
        ("Dot {}\nend_group\n", 2, "end_group closes a group that was never opened"),
        ("Dot {}\nGroup {\n name G\n}\n Dot {}\n", 2, "G (Group) has no end_group"),
        ("Grade { inputs __import__('os').getpid() }", 1, "not a number of inputs"),
        ("Grade { inputs 99999999999 }", 1, "not a number of inputs"),
        ("Grade name Grade1\n", 1, "'Grade name Grade1' is not a line that Nuke writes"),
        ("exec rm -rf /\n", 1, "is not a line that Nuke writes"),
        ("clone $N1 {}\n", 1, "push $N1 names a node that is not set"),
    ],
)
def test_broken_scripts_say_file_line_and_what(text: str, line: int, what: str) -> None:
    with pytest.raises(UnderstudyError) as fault:
        script_of(text)
    assert f"shot.nk, line {line}: " in str(fault.value)
    assert what in str(fault.value)


def test_deep_nesting_needs_no_stack() -> None:
    deep = 100_000
    nested = "{" * deep + "}" * deep
    assert len(script_of(f"Dot {{ a {nested} }}").nodes[0].knobs["a"]) == 2 * deep - 2
    groups = script_of("Group { name G }\n" * 300 + "end_group\n" * 300)
    assert groups.nodes[-1].path.count(".") == 299
    with pytest.raises(UnderstudyError, match="never closed"):
        list(read_commands("[" * deep, "shot.nk"))


def test_nothing_in_a_script_is_run(tmp_path: Path) -> None:
    bait = tmp_path / "touched"
    text = f'set x [exec touch {bait}]\nDot {{ name "\\[exec touch {bait}]" label [exec\\ touch\\ {bait}] }}\n'
    script_of(text)
    script_of(f"Dot {{ inputs [exec\\ touch\\ {bait}]0 }}".replace("inputs [exec", "x [exec"))
    assert not bait.exists()


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"gone\.nk: cannot be read \(No such file or directory\)"):
        read_script(tmp_path / "gone.nk")


def test_a_script_of_28000_lines_is_parsed() -> None:
    text = "".join(
        f'push $N1\nGrade {{\n white {{1 {{curve x1 {i}}} 3 4}}\n label "\\[value x] {i}"\n name G{i}\n xpos 1\n}}\n'
        for i in range(4000)
    )
    script = parse_script("Read { name R }\nset N1 [stack 0]\n" + text, Path("big.nk"))
    assert len(script.nodes) == 4001


def test_more_inputs_or_groups_than_any_node_has_are_refused() -> None:
    for inputs in ("9999", "999+999", "9" * 5000):
        with pytest.raises(UnderstudyError, match="which is not a number of inputs"):
            script_of(f"Dot {{\n inputs {inputs}\n}}\n")
    with pytest.raises(UnderstudyError, match=r"line 502: .* lies within over 500 groups") as refused:
        script_of("# deep\n" + "Group {name G}\n" * 1000)
    assert len(str(refused.value)) < 400
