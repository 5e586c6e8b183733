"""init.py and menu.py as Nuke runs them, well and with faults: Nuke starts whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugin.nuke.fake import api, scripts
from tests.plugin.nuke.fake.desk import Desk

from understudy_nuke import startup

REPO = Path(__file__).parents[3]
FOLDER = REPO / "plugin" / "nuke"


def _run(name: str) -> None:
    """In a name space that has nothing but Python's own names."""
    exec(compile((FOLDER / name).read_text(encoding="utf-8"), name, "exec"), {"__name__": "__main__"})


def _titles(menu: api.Menu) -> list[str]:
    return [item.name() for item in menu.items()]


def test_menus_and_the_panel_are_there(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    api.menu("Nuke").addMenu("Render").addCommand("Render All", lambda: None)
    _run("init.py")
    _run("menu.py")
    render, own = api.menu("Nuke").findItem("Render"), api.menu("Nuke").findItem("understudy")
    nodes = api.menu("Nodes").findItem("understudy")
    assert render is not None
    assert own is not None
    assert nodes is not None
    assert _titles(render) == ["Render All", "Train CopyCat on Farm..."]
    assert _titles(nodes) == ["Understudy"]
    nodes.items()[0].invoke()
    assert [node.name() for node in api.allNodes()] == ["Understudy1"]
    for item in own.items()[1:-1]:
        item.invoke()  # a node without inputs, a script without a name: lines, no exception
    assert len(desk.messages) >= 3
    assert scripts.REGISTERED == {"understudy.panel": (startup.PANEL_CLASS, "understudy")}
    assert _titles(own)[-1] == "Panel"
    assert capsys.readouterr().err == ""


DOCKED = """
import sys
from PySide6 import QtCore, QtWidgets
from tests.plugin.nuke.fake import api, scripts
sys.modules["nuke"], sys.modules["nukescripts"] = api, scripts
for name in ("init.py", "menu.py"):
    exec(compile(open(f"{folder}/{{name}}").read(), name, "exec"), {{}})
application = QtWidgets.QApplication([])
api.menu("Nuke").findItem("understudy").items()[-1].invoke()
(panel_class, pane), = scripts.SHOWN
panel = panel_class()
panel.show()
QtCore.QTimer.singleShot(1500, panel.close)
QtCore.QTimer.singleShot(2500, application.quit)
application.exec()
print(pane, panel._host.name, api.DESK.messages)
"""


@pytest.mark.parametrize("python", [sys.executable, "/gone/python"], ids=["python", "no python"])
def test_the_panel_opens_in_a_pane(python: str, tmp_path: Path) -> None:
    """In a process of its own, as in a Nuke: with the studio's Python, and where there is none."""
    about = {"QT_QPA_PLATFORM": "offscreen", "UNDERSTUDY_PYTHON": python, "HOME": str(tmp_path)}
    words = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:0] = {[str(REPO), str(FOLDER)]!r}" + DOCKED.format(folder=FOLDER),
    ]
    done = subprocess.run(words, env={**os.environ, **about}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "Properties.1 Nuke []\n"), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", ["PySide6", "understudy_ui"])
def test_without_qt_or_the_panel_there_are_menus_and_a_line(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("PySide6", "PySide2", "understudy_ui")]:
        monkeypatch.delitem(sys.modules, name)
    for name in (missing, "PySide2"):
        monkeypatch.setitem(sys.modules, name, None)
    _run("menu.py")
    assert api.menu("Nuke").findItem("understudy") is not None
    assert scripts.REGISTERED == {}
    said = {"PySide6": "neither PySide6 nor PySide2 can be imported", "understudy_ui": "understudy_ui is not on"}
    assert [line.startswith(f"understudy: no panel: {said[missing]}") for line in desk.terminal] == [True]


@pytest.mark.parametrize("name", ["init.py", "menu.py"])
@pytest.mark.parametrize("fault", [RuntimeError("broken"), SystemExit(1), KeyboardInterrupt()])
def test_a_fault_is_printed_and_nuke_starts(
    name: str, fault: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr(startup, "begin", fail)
    monkeypatch.setattr(startup, "add_menus", fail)
    _run(name)
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["init.py", "menu.py"])
def test_a_package_that_is_not_there_is_printed_and_nuke_starts(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "understudy_nuke", None)
    _run(name)
    assert "understudy_nuke" in capsys.readouterr().err
