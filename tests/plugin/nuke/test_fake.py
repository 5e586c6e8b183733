"""The fake claims nothing that Nuke lacks, and the plugin uses nothing that either of them lacks."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugin.nuke.fake import api
from tests.plugin.nuke.stubs import api_of, differences, nuke_api

REPO = Path(__file__).parents[3]
FAKE = [REPO / "tests" / "plugin" / "nuke" / "fake" / name for name in ("api.py", "windows.py")]
PLUGIN = sorted((REPO / "plugin" / "nuke").rglob("*.py"))

PLANTED = """
def thisNode(wrong): ...
def notThere(): ...
class Node:
    def frobnicate(self): ...
    def setInput(self, i): ...
class Group(Node):
    def xpos(self, more=0): ...
"""


def test_everything_in_the_fake_is_in_nuke() -> None:
    assert differences(api_of(FAKE), nuke_api()) == []


def test_the_comparison_sees_what_is_wrong(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(PLANTED)
    found = differences(api_of([planted]), nuke_api())
    assert [line.split("(")[0] for line in found] == [
        "nuke has no notThere",
        "nuke.Group.xpos",
        "nuke.Node.frobnicate is not in Nuke",
        "nuke.Node.setInput",
        "nuke.thisNode",
    ]


def test_every_name_that_the_plugin_takes_from_nuke_is_in_both() -> None:
    used = {
        node.attr
        for path in PLUGIN
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nuke"
    }
    assert len(used) > 30
    assert used - nuke_api().names == set()
    assert {name for name in used if not hasattr(api, name)} == set()


@pytest.mark.slow
def test_the_plugin_is_right_about_the_fake_too(tmp_path: Path) -> None:
    """mypy holds the plugin against types-nuke wherever the repository is checked; here against the fake."""
    (tmp_path / "nuke.py").write_text("from tests.plugin.nuke.fake.api import *\n")
    paths = ("core", "farm", "ui", "plugin/nuke", "typings")
    config = tmp_path / "mypy.ini"
    config.write_text(
        f"[mypy]\nexplicit_package_bases = true\nimplicit_reexport = true\ncheck_untyped_defs = true\n"
        f"mypy_path = {tmp_path}:{':'.join(str(REPO / path) for path in paths)}\n"
    )
    words = ["--config-file", str(config), "--cache-dir", str(tmp_path / "cache"), str(REPO / "plugin" / "nuke")]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
