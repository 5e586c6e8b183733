"""`understudy panel`, and that the panel runs where hosts are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import understudy_ui
from understudy_ui.panel.model import tongue

PACKAGE = Path(understudy_ui.__file__).parent
SOURCES = [PACKAGE / "protocol.py", *sorted((PACKAGE / "panel").rglob("*.py"))]
OF_A_HOST = {"PySide6", "PySide2", "understudy_ui"}


def test_without_pyside_one_line_says_how_to_get_it() -> None:
    program = (
        "import sys; sys.modules.update(PySide6=None, PySide2=None)\n"
        "from understudy.cli.main import main; sys.exit(main(['panel']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "pip install 'understudy[panel]'" in done.stderr


def test_the_syntax_is_that_of_the_oldest_host() -> None:
    for path in SOURCES:
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_nothing_is_imported_that_a_host_lacks() -> None:
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        strangers = {name.split(".")[0] for name in names} - OF_A_HOST - sys.stdlib_module_names
        assert not strangers, path
        of_ours = {name for name in names if name.startswith("understudy_ui")}
        assert all(name.startswith(("understudy_ui.panel", "understudy_ui.protocol")) for name in of_ours), path


def test_words_can_be_those_of_another_language() -> None:
    german = tongue.Tongue()
    assert german("on") == "on"
    german.learn({"on": "an"}.__getitem__)
    assert german("on") == "an"
