"""The plugin runs in the Python of Nuke 14, which is 3.9, and brings nothing into Nuke that does not belong there."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
PLUGIN = REPO / "plugin" / "nuke"

PROGRAM = """
import sys
sys.path[:0] = {path!r}
from tests.plugin.nuke.fake import api, scripts
sys.modules["nuke"], sys.modules["nukescripts"] = api, scripts
for name in ("init.py", "menu.py"):
    exec(compile(open({plugin!r} + "/" + name).read(), name, "exec"), {{}})
import understudy_nuke.host
node = understudy_nuke.node.create()
node["epochs"].setValue(12)
api.scriptSaveAs({script!r})
api.menu("Nuke").findItem("understudy").items()[1].invoke()
assert api.DESK.messages == ["Understudy1: nothing is connected to its Input and Ground Truth; connect the frames"]
loaded = {{name.partition(".")[0] for name in sys.modules}}
assert not loaded & {{"numpy", "torch", "understudy", "understudy_farm", "OpenImageIO"}}, loaded
print("fine", sys.version_info[:2])
"""


@pytest.mark.parametrize("path", sorted(PLUGIN.rglob("*.py")), ids=lambda path: path.name)
def test_the_grammar_is_that_of_3_9(path: Path) -> None:
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_nothing_but_the_standard_library_nuke_and_the_panel_is_imported() -> None:
    named = {
        name.partition(".")[0]
        for path in PLUGIN.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
    }
    assert named - sys.stdlib_module_names == {"nuke", "nukescripts", "understudy_nuke", "understudy_ui"}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []


def _pythons() -> list[str]:
    """The running one, and a 3.9 where there is one; a launcher may lie on PATH without one behind it."""
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.9.*/bin/python3.9"))
    candidates = filter(None, [shutil.which("python3.9"), *map(str, kept)])
    found = [python for python in candidates if not subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL)]
    return [sys.executable, *found[:1]]


@pytest.mark.parametrize("python", _pythons(), ids=lambda python: Path(python).name)
def test_the_plugin_starts_in_a_python_that_has_nothing_else(tmp_path: Path, python: str) -> None:
    """-S: without site-packages, as Nuke's own Python. The panel's code is found by init.py."""
    about = {"path": [str(REPO), str(PLUGIN)], "plugin": str(PLUGIN), "script": str(tmp_path / "shot.nk")}
    words = [python, "-S", "-c", PROGRAM.format(**about)]
    home = {name: str(tmp_path) for name in ("HOME", "USERPROFILE")}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, env={**environment, **home}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("fine")
    assert done.stderr == ""
    assert " epochs 12" in (tmp_path / "shot.nk").read_text()
