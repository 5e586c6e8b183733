"""Gizmos, live groups and precomps: groups of nodes that lie in other files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.core.script.fixtures import numbered_shot

from understudy.errors import Problems, UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.script import library
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node, Script
from understudy.script.library import read_whole
from understudy.script.nodes.base import Reading
from understudy.script.paths import PathRules

GAIN = r"""#! /opt/Nuke/Nuke15.1 -nx
version 15.1 v1
Gizmo {
 inputs 2
 help "doubles, then masks"
 addUserKnob {20 User}
 addUserKnob {41 multiply l gain T Grade1.multiply}
 addUserKnob {7 lift l Lift}
 lift 1
 addUserKnob {4 mode M {off on}}
 mode on
}
 Input {
  inputs 0
  name Mask
  number 1
 }
 Input {
  inputs 0
  name Plate
 }
set N1 [stack 0]
 Grade {
  multiply 2
  add {{parent.lift}}
  name Grade1
 }
push $N1
 Switch {
  inputs 2
  which {{mode}}
  name Switch1
 }
 Output {
  name Output1
 }
end_group
"""


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """A Read of frames 1 to 3: red of the lower left pixel is the frame."""
    return f'Read {{\n inputs 0\n file "{numbered_shot(tmp_path / "plate", range(1, 4))}"\n last 3\n name Read1\n}}\n'


def _whole(folder: Path, text: str, nuke_path: str = "", **more: str) -> Script:
    script = folder / "shot.nk"
    script.write_text(text)
    for name, content in more.items():
        (folder / name.replace("__", ".")).write_text(content)
    return read_whole(script, original=None, remap=(), environment={"NUKE_PATH": nuke_path})


def _evaluator(script: Script) -> Evaluator:
    return Evaluator(script, Reading(paths=PathRules(script=script)))


def _node(script: Script, path: str) -> Node:
    return next(node for node in script.nodes if node.path == path)


def _pixels(script: Script, path: str, frame: int = 2) -> FloatPixels:
    evaluator, node = _evaluator(script), _node(script, path)
    evaluator.check([node])
    return evaluator.pull(node, frame, ("R",)).pixels


def _corner(script: Script, path: str, frame: int = 2) -> float:
    return round(float(_pixels(script, path, frame)[-1, 0, 0]), 5)


def _refused(script: Script, path: str) -> tuple[str, ...]:
    with pytest.raises(Problems) as fault:
        _evaluator(script).check([_node(script, path)])
    return fault.value.lines


def test_a_gizmo_is_a_group_of_the_nodes_in_its_file(tmp_path: Path, shot: str) -> None:
    script = _whole(tmp_path, shot + "Gain {\n name Gain1\n}\nGrade { add 10 name After }\n", Gain__gizmo=GAIN)
    assert [node.path for node in script.nodes] == [
        *("Read1", "Gain1", "Gain1.Mask", "Gain1.Plate", "Gain1.Grade1", "Gain1.Switch1", "Gain1.Output1", "After"),
    ]
    gain = _node(script, "Gain1")
    assert (gain.class_name, gain.label, gain.line) == ("Gizmo", "Gain1 (Gain)", 7)
    assert {node.line for node in script.children(gain)} == {7}
    assert [node.index for node in script.nodes] == list(range(8))
    assert _corner(script, "After") == 2 * 2 + 1 + 10


def test_a_script_that_needs_no_file_stays_as_it_is(tmp_path: Path, shot: str) -> None:
    script = _whole(
        tmp_path, shot + "Keylight { name B }\nGroup { name G }\n Input { inputs 0 }\n Output { }\nend_group\n"
    )
    assert [node.fault + node.gizmo for node in script.nodes] == [""] * 5
    assert _refused(script, "B") == (
        "B (Keylight), line 7: understudy cannot evaluate this class; render it first, e.g. with a Write after it",
    )


def test_the_scripts_own_values_go_over_those_of_the_gizmo(tmp_path: Path, shot: str) -> None:
    own = "Gain {\n name A\n lift 3\n multiply 5\n}\nGain {\n name B\n mode off\n}\n"
    script = _whole(tmp_path, shot + own, Gain__gizmo=GAIN)
    assert _corner(script, "A") == 2 * 5 + 3
    assert _corner(script, "B") == 2 * 5 + 3
    moving = "Gain { name A multiply {{curve L x1 1 x3 5}} lift {{frame}} }\n"
    assert _corner(_whole(tmp_path, shot + moving), "A") == 2 * 3 + 2


def test_knobs_are_found_through_link_knobs_and_in_groups_around(tmp_path: Path, shot: str) -> None:
    linked = (
        shot + "Gain { name A multiply 7 }\nGrade { name G multiply {{A.multiply}} add {{parent.A.multiply+A.lift}} }\n"
    )
    assert _corner(_whole(tmp_path, linked, Gain__gizmo=GAIN), "G") == (2 * 7 + 1) * 7 + 7 + 1


def test_link_knobs_reach_into_gizmos_within_gizmos_and_into_groups(tmp_path: Path, shot: str) -> None:
    outer = (
        "Gizmo {\n addUserKnob {41 multiply T Gain1.multiply}\n addUserKnob {41 add T Box.more}\n}\n"
        " Input { inputs 0 }\n Gain { name Gain1 lift 0 }\n"
        " Group {\n  name Box\n  addUserKnob {41 more T Inner.add}\n }\n  Input { inputs 0 }\n"
        "  Grade { name Inner }\n  Output { }\n end_group\n Output { }\nend_group\n"
    )
    script = _whole(tmp_path, shot + "Outer { name O multiply 3 add 4 }\n", Gain__gizmo=GAIN, Outer__gizmo=outer)
    assert _node(script, "O.Gain1.Grade1").knobs["multiply"] == "3"
    assert _corner(script, "O") == 2 * 3 + 4


def test_what_a_link_knob_cannot_carry_is_refused(tmp_path: Path, shot: str) -> None:
    script = _whole(tmp_path, shot + "Gain { name A multiply {{parent.G.size}} }\n", Gain__gizmo=GAIN)
    (line,) = _refused(script, "A")
    assert line == (
        "A (Gain), line 7: knob multiply is a link to '{parent.G.size}', which within it may mean another node; "
        "bake it; or render it first, e.g. with a Write after it"
    )
    broken = GAIN.replace("T Grade1.multiply", "T Grade7.multiply")
    script = _whole(tmp_path, shot + "Gain { name A multiply 2 }\n", Gain__gizmo=broken)
    assert (
        "knob multiply leads to 'Grade7.multiply', which its file does not have; mend the file"
        in _refused(script, "A")[0]
    )
    assert _corner(_whole(tmp_path, shot + "Gain { name A }\n"), "A") == 2 * 2 + 1


def test_gizmos_are_found_beside_the_script_then_along_nuke_path(tmp_path: Path, shot: str) -> None:
    """Folders in their order, with what the init.py of each names in plain text; nothing of it is run."""
    for name, add in (("beside", 1), ("first", 10), ("added", 100), ("second", 1000)):
        (tmp_path / name).mkdir()
        gizmo = f"Gizmo {{ }}\n Input {{ inputs 0 }}\n Grade {{ add {add} }}\n Output {{ }}\nend_group\n"
        for own in ("Everywhere", name.capitalize()):
            (tmp_path / name / f"{own}.gizmo").write_text(gizmo)
    witness = tmp_path / "it_ran"
    (tmp_path / "first" / "init.py").write_text(
        "import nuke\n"
        f"open({str(witness)!r}, 'w')\n"
        "nuke.pluginAddPath('../added')\n"
        "nuke.pluginAddPath(folder + '/x')\nif broken: nuke.pluginAppendPath(3, 'gone')\n"
    )
    (tmp_path / "second" / "init.py").write_text("print 'Python 2'\n")
    (tmp_path / "second" / "Other.gizmo").mkdir()
    nuke_path = os.pathsep.join([str(tmp_path / "first"), "", str(tmp_path / "second"), str(tmp_path / "nowhere")])
    text = shot + "".join(
        f"push 0\nRead {{ inputs 0 file x.exr }}\n{name} {{ name {name}1 }}\n"
        for name in ("Everywhere", "First", "Added", "Second", "Other")
    )
    script = _whole(tmp_path / "beside", text, nuke_path)
    added = {node.path.partition(".")[0]: node.knobs["add"] for node in script.nodes if node.class_name == "Grade"}
    assert added == {"Everywhere1": "1", "First1": "10", "Added1": "100", "Second1": "1000"}
    assert _node(script, "Other1").class_name == "Other"
    assert not witness.exists()


def test_a_gizmo_may_be_called_by_its_path_or_with_its_ending(tmp_path: Path, shot: str) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "Deep-er.gizmo").write_text(GAIN)
    text = shot + f"{tmp_path}/tools/Deep-er.gizmo {{\n name A\n}}\nGain.gizmo {{\n name B\n}}\n"
    script = _whole(tmp_path, text, Gain__gizmo=GAIN)
    assert _corner(script, "B") == (2 * 2 + 1) * 2 + 1
    assert [_node(script, path).label for path in "AB"] == ["A (Deep-er)", "B (Gain)"]


def test_circles_are_told_in_one_line(tmp_path: Path, shot: str) -> None:
    one = "Gizmo { }\n Input { inputs 0 }\n Two { name Two1 }\n Output { }\nend_group\n"
    script = _whole(tmp_path, shot + "One { name A }\n", One__gizmo=one, Two__gizmo=one.replace("Two", "One"))
    (line,) = _refused(script, "A")
    assert line == (
        f"A.Two1.One1 (One), line 7: lies within itself ({tmp_path}/One.gizmo); break the circle; "
        "or render it first, e.g. with a Write after A"
    )


def test_gizmos_that_multiply_have_an_end(tmp_path: Path, shot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_MOST_NODES", 500)
    files = {
        f"G{n}__gizmo": "Gizmo { }\n Input { inputs 0 }\n" + f" G{n + 1} {{ }}\n" * 40 + " Output { }\nend_group\n"
        for n in range(6)
    }
    script = _whole(tmp_path, shot + "G0 { name A }\n", **files, G6__gizmo=GAIN)
    assert len(script.nodes) < 500 + 6 * 50
    assert any("would make over 500 nodes in all" in line for line in _refused(script, "A"))


def test_damaged_files_are_named(tmp_path: Path, shot: str) -> None:
    script = _whole(tmp_path, shot + "Bad { name A }\n", Bad__gizmo="Gizmo {\n Input {\n")
    (line,) = _refused(script, "A")
    assert line.startswith(f"A (Bad), line 7: {tmp_path}/Bad.gizmo, line 1: the brace {{ opened here is never closed")
    assert "mend the script or save it again from Nuke; or render it first, e.g. with a Write after it" in line


def test_a_node_in_a_gizmo_that_cannot_be_evaluated_is_rendered_after_it(tmp_path: Path, shot: str) -> None:
    keyer = (
        "Gizmo { }\n Input { inputs 0 }\n Group { name Inner }\n  Input { inputs 0 }\n  Keylight { name Key }\n"
        "  Grade { }\n  Output { }\n end_group\n Output { }\nend_group\n"
    )
    script = _whole(
        tmp_path,
        shot + "Group { name Mine }\n Input { inputs 0 }\n Keyer { name K }\n Output { }\nend_group\n",
        Keyer__gizmo=keyer,
    )
    assert _refused(script, "Mine") == (
        "Mine.K.Inner.Key (Keylight), line 9: understudy cannot evaluate this class; "
        "render it first, e.g. with a Write after Mine.K",
    )


LIVE = """version 15.1 v1
LiveGroupInfo {
 name Published
 addUserKnob {20 User}
 addUserKnob {7 gain}
 gain 3
}
Input {
 inputs 0
 name Input1
}
Grade {
 multiply {{parent.gain}}
 name Grade1
}
Output {
 name Output1
}
"""


def test_a_live_group_is_read_from_its_file_or_as_it_is_written_out(tmp_path: Path, shot: str) -> None:
    published = 'LiveGroup {\n published true\n file "\\[file dirname \\[value root.name]]/live.nk"\n%s name L\n}\n'
    script = _whole(tmp_path, shot + published % "", live__nk=LIVE)
    assert _corner(script, "L") == 2 * 3
    assert _corner(_whole(tmp_path, shot + published % " gain 4\n"), "L") == 2 * 4
    written = published % "" + " Input {\n  inputs 0\n }\n Grade {\n  multiply 9\n }\n Output {\n }\nend_group\n"
    assert _corner(_whole(tmp_path, shot + written), "L") == 2 * 9
    (tmp_path / "live.nk").unlink()
    (line,) = _refused(_whole(tmp_path, shot + published % ""), "L")
    assert line == (
        f"L (LiveGroup), line 7: its file cannot be read (No such file or directory): {tmp_path}/live.nk; "
        "correct the path, or add it with --remap; or render it first, e.g. with a Write after it"
    )
    assert "has no Output node within" in _refused(_whole(tmp_path, shot + "LiveGroup {\n name L\n}\n"), "L")[0]


def test_paths_of_files_may_name_knobs(tmp_path: Path, shot: str) -> None:
    knobs = 'LiveGroup {\n file "\\[value folder]/\\[value parent.N.name_of_it].nk"\n name L\n addUserKnob {1 folder}\n'
    text = f"NoOp {{\n inputs 0\n name N\n addUserKnob {{1 name_of_it}}\n name_of_it live\n}}\n{shot}{knobs}"
    script = _whole(tmp_path, f'{text} folder "\\[file dirname \\[value root.name]]"\n}}\n', live__nk=LIVE)
    assert _corner(script, "L") == 6
    assert (
        "knob file holds [value folder], which the script leaves out"
        in _refused(_whole(tmp_path, text + "}\n"), "L")[0]
    )


PRECOMP = (
    "Root {{\n name x\n}}\n{read}Grade {{ add 5 name Grade1 }}\nWrite {{ file out.exr name Write1 }}\n"
    "Grade {{ add 100 name Grade2 }}\n{more}Viewer {{ name V }}\n"
)


def test_a_precomp_is_its_output_or_its_write_or_the_node_it_names(tmp_path: Path, shot: str) -> None:
    own = "Precomp {\n inputs 0\n file pre.nk\n%s name P\n}\n"
    script = _whole(tmp_path, own % "", pre__nk=PRECOMP.format(read=shot, more=""))
    assert _corner(script, "P") == 7
    named = _whole(tmp_path, own % " useOutput true\n output Grade2\n")
    assert _corner(named, "P") == 107
    assert _corner(_whole(tmp_path, own % " output Grade2\n"), "P") == 7
    assert (
        "knob output is Nope, and its script has no such node"
        in (_refused(_whole(tmp_path, own % " useOutput true\n output Nope\n"), "P")[0])
    )
    assert (
        "knob reading set to 'true' cannot be evaluated" in _refused(_whole(tmp_path, own % " reading true\n"), "P")[0]
    )
    with_output = PRECOMP.format(read=shot, more="Output { name Out }\n")
    assert _corner(_whole(tmp_path, own % "", pre__nk=with_output), "P") == 107
    two = PRECOMP.format(read=shot, more="Write { name Write2 }\n")
    assert (
        "has 2 Write nodes (Write1, Write2) and no Output node in its script"
        in (_refused(_whole(tmp_path, own % "", pre__nk=two), "P")[0])
    )
    assert "has no Write node and no Output node" in _refused(_whole(tmp_path, own % "", pre__nk=shot), "P")[0]


def test_a_precomp_of_itself_is_refused(tmp_path: Path) -> None:
    inner = "Precomp {\n inputs 0\n file pre.nk\n name P\n}\nOutput { }\n"
    script = _whole(tmp_path, inner, pre__nk=inner)
    (line,) = _refused(script, "P")
    assert line.startswith(f"P.P (Precomp), line 1: lies within itself ({tmp_path}/pre.nk); break the circle")


def test_files_of_many_megabytes_are_no_groups(tmp_path: Path, shot: str) -> None:
    with (tmp_path / "Huge.gizmo").open("wb") as file:
        file.truncate(65 << 20)
    assert "is over 64 MiB, which no group is" in _refused(_whole(tmp_path, shot + "Huge { name A }\n"), "A")[0]


def test_names_that_no_file_can_have_are_no_gizmos(tmp_path: Path) -> None:
    script = _whole(tmp_path, "X" * 5000 + ' { name A }\nLiveGroup { file "a\x00b.nk" name B }\n', "\0/x")
    assert "understudy cannot evaluate this class" in _refused(script, "A")[0]
    assert "its file cannot be read" in _refused(script, "B")[0]


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"gone\.nk: cannot be read"):
        read_whole(tmp_path / "gone.nk", original=None, remap=(), environment={})
