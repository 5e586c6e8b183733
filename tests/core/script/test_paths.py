"""File-path expressions: those in common use are understood, every other is named and never run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import script_of

from understudy.errors import UnderstudyError
from understudy.remap import Remap
from understudy.script.paths import PathRules

FOLDER = Path("/shots/a b")


def _path(value: str, project: str = "", remap: Remap = (), **environment: str) -> str:
    root = f'Root {{ project_directory "{project}" }}\n' if project else ""
    script = script_of(f'{root}Read {{ name Read1 file "{value}" }}', FOLDER)
    return PathRules(script=script, remap=remap, environment=environment).path_of(script.nodes[0], "file")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/p/a.%04d.exr", "/p/a.%04d.exr"),
        ("a.####.exr", "/shots/a b/a.####.exr"),
        ("./a.exr", "/shots/a b/a.exr"),
        ("../a.exr", "/shots/a b/../a.exr"),
        ("C:/p/a.exr", "C:/p/a.exr"),
        (r"//server\\p\\a.exr", "//server/p/a.exr"),
        (r"\[value root.name]", "/shots/a b/shot.nk"),
        (r"\[knob root.name]", "/shots/a b/shot.nk"),
        (r"\[file dirname \[value root.name]]/plate.####.exr", "/shots/a b/plate.####.exr"),
        (r"\[file rootname \[value root.name]]_x.exr", "/shots/a b/shot_x.exr"),
        (r"/o/\[file tail \[value root.name]]", "/o/shot.nk"),
        (r"/o/\[file rootname \[file tail \[value root.name]]]", "/o/shot"),
        (r"/o/a\[file extension \[value root.name]]", "/o/a.nk"),
        (r"\[file join /o \[file tail \[value root.name]]]", "/o/shot.nk"),
        (r"\[file dirname \[file dirname \[value root.name]]]", "/shots"),
        (r"\[getenv SHOW]/a.exr", "/show/a.exr"),
        (r"\[python \{nuke.script_directory()\}]/a.exr", "/shots/a b/a.exr"),
        (r"\[python nuke.script_directory()]/a.exr", "/shots/a b/a.exr"),
        (r"\[python \{os.path.dirname(nuke.root().name())\}]/a.exr", "/shots/a b/a.exr"),
    ],
)
def test_expressions_in_common_use(value: str, expected: str) -> None:
    assert _path(value, SHOW="/show") == expected


def test_relative_paths_begin_at_the_project_directory() -> None:
    assert _path("a.exr", project="/project") == "/project/a.exr"
    assert _path("a.exr", project="/project/") == "/project/a.exr"
    assert _path("a.exr", project="sub") == "/shots/a b/sub/a.exr"
    assert _path("a.exr", project=r"\[python \{nuke.script_directory()\}]/..") == "/shots/a b/../a.exr"
    assert _path(r"\[value root.project_directory]/a.exr", project="/project") == "/project/a.exr"


def test_remap_replaces_the_beginning() -> None:
    remap = (("P:/show", "/mnt/show"), ("/old", "/new"))
    assert _path("P:/show/a.exr", remap=remap) == "/mnt/show/a.exr"
    assert _path("/old/a.exr", remap=remap) == "/new/a.exr"
    assert _path("/x/old/a.exr", remap=remap) == "/x/old/a.exr"


@pytest.mark.parametrize(
    "expression",
    [
        r"\[exec rm -rf /]",
        r"\[python \{__import__('os').system('touch bait')\}]",
        r"\[python -exec \{import os\}]",
        r"\[value Read2.file]",
        r"\[file delete /x]",
        r"\[file dirname \[exec id]]",
        r"\[value root.name; exec id]",
        r"\[lindex \{a b\} 0]",
        r"\[value root.name",
        r"\[]",
        "\\[" * 3000 + "]" * 3000,
        "\\[file dirname " * 100 + "x" + "]" * 100,
    ],
)
def test_other_expressions_are_named_and_not_run(
    expression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UnderstudyError, match=r"^Read1 \(Read\), line 1: knob file holds .*; write the path out"
    ) as fault:
        _path(expression + "/a.exr")
    assert len(str(fault.value)) < 300
    assert not list(tmp_path.iterdir())


def test_a_missing_environment_variable_is_named() -> None:
    with pytest.raises(UnderstudyError, match=r"knob file holds .*the environment variable SHOW is not set"):
        _path(r"\[getenv SHOW]/a.exr")


def test_a_project_directory_that_names_itself_is_refused() -> None:
    with pytest.raises(UnderstudyError, match="brackets nested too deeply"):
        _path("a.exr", project=r"\[value root.project_directory]")
