"""Makes docs/panel-*.png: the panel in each place and state, before a stand-in for the answers process.

    python ui/screenshots.py [FOLDER [NAME ...]]

It renders five frames of the demo once, so that the pictures in the pictures are real ones.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import OpenImageIO as oiio

from understudy.demo.scene import render_frame
from understudy.demo.shot import DemoShot
from understudy_ui.panel.alone import SIZE, dress, wait_for_processes
from understudy_ui.panel.host import Alone, Program, TrainingNode
from understudy_ui.panel.model.source import Source
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.window import Panel

REPO = Path(__file__).parents[1]
STAND_IN = REPO / "tests" / "ui" / "panel" / "stand_in_answers.py"
SOURCE = Source(script="/show/sh010/comp/sh010_v012.nk", node="CopyCat1")
SECONDS_TO_SETTLE = 2.5
NARROW = (560, 980)
"""Pixels, as in a host's dock."""


class Dock(Alone):
    """A host with a node selected, to show what a host adds."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(os.environ)
        self.name = "Nuke"
        self._words = words

    def selected_nodes(self) -> list[TrainingNode]:
        return [TrainingNode(SOURCE.node)]

    def script_path(self) -> str:
        return SOURCE.script

    def save_snapshot(self) -> str:
        return SOURCE.script

    def can_create_inference(self) -> bool:
        return True

    def answers(self) -> Program:
        return Program(self._words, os.environ)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPO / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:] or list(SHOTS)
    application = QtWidgets.QApplication([])
    dress(application)
    with tempfile.TemporaryDirectory() as pictures:
        make_pictures(Path(pictures))
        for name, (state, arrange) in ((name, SHOTS[name]) for name in wanted):
            os.environ["UNDERSTUDY_HOME"] = pictures
            words = (sys.executable, str(STAND_IN), "--pictures", pictures, *state.split())
            take(folder / f"panel-{name}.png", Dock(words), arrange)
    wait_for_processes(application)


def take(path: Path, host: Dock, arrange: Callable[[Panel], None]) -> None:
    host.name = "Nuke" if "dock" in path.name else ""
    panel = Panel(host)
    panel.resize(*(NARROW if "dock" in path.name else SIZE))
    panel.show()
    settle(0.6)
    arrange(panel)
    settle(SECONDS_TO_SETTLE)
    window = next((one for one in panel.findChildren(QtWidgets.QDialog) if one.isVisible()), panel)
    window.grab().save(str(path))
    panel.close()
    panel.deleteLater()
    settle(0.2)


def settle(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QtCore.QCoreApplication.processEvents(QtCore.QEventLoop.ProcessEventsFlag.AllEvents, 20)


def train(panel: Panel) -> None:
    panel.training.choose(SOURCE)
    settle(1.2)
    panel.training.form.set("crop_size", 192)
    panel.training.form.set("farm", "slurm")
    panel.training.form.set("ranks", 3)
    panel.training.form.set("pool", "gpu")


def check(panel: Panel) -> None:
    train(panel)
    settle(0.8)
    panel.train_page.check.click()


def preview(panel: Panel) -> None:
    train(panel)
    settle(0.8)
    panel.train_page.dry_run.click()


def farm_gone(panel: Panel) -> None:
    train(panel)
    settle(0.8)
    panel.train_page.farm.click()


def runs(panel: Panel, tab: int = 0, num_selected: int = 1) -> None:
    panel.runs.open("/show/sh010/comp/runs")
    panel.places.setCurrentWidget(panel.runs_page)
    panel.runs_page.tabs.setCurrentIndex(tab)
    settle(0.8)
    if panel.runs.rows:
        panel.runs.select([row["place"] for row in panel.runs.rows[:num_selected]])
    settle(0.5)


def compare(panel: Panel) -> None:
    runs(panel, num_selected=4)
    graph = panel.runs_page.graph.graph
    settle(0.8)
    place = QtCore.QPointF(graph.width() * 0.55, graph.height() * 0.5)
    none, button = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    move = QtGui.QMouseEvent(QtCore.QEvent.Type.MouseMove, place, place, button, button, none)
    QtCore.QCoreApplication.sendEvent(graph, move)


def wipe(panel: Panel) -> None:
    panel.frames.take_result("/show/sh010/result/result.####.exr", DemoShot().painted_frames)
    runs(panel, tab=1)
    panel.frames.take_result("/show/sh010/result/result.####.exr", DemoShot().painted_frames)
    panel.runs_page.frame.manner.setCurrentIndex(1)


def result(panel: Panel) -> None:
    panel.training.choose(SOURCE)
    panel.training.shot.look_again()
    runs(panel)
    panel.places.setCurrentWidget(panel.result_page)
    settle(1.0)
    panel.result_page.paint_next.suggest.click()
    panel.result_page.apply.click()


def export(panel: Panel) -> None:
    result(panel)
    settle(1.5)
    panel.result_page.export.button.click()
    settle(1.0)


def make_pictures(folder: Path) -> None:
    """PNGs of the demo's painted frames, by the names that the stand-in looks for."""
    for frame in DemoShot().painted_frames:
        plate, truth = render_frame(DemoShot(), frame)
        learnt = truth + (plate - truth) * 0.03
        difference = np.abs(learnt - truth) * 4
        for kind, pixels in (("input", plate), ("target", truth), ("result", learnt), ("difference", difference)):
            write_png(folder / f"{kind}.{frame}.png", pixels)
    (folder / "sheet.png").write_bytes((REPO / "docs" / "contact-sheet.png").read_bytes())


def write_png(path: Path, pixels: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
    picture = oiio.ImageBuf(np.ascontiguousarray(pixels))
    shown = oiio.ImageBufAlgo.colorconvert(picture, "lin_rec709_scene", "srgb_rec709_scene")
    shown.write(str(path), "uint8")


SHOTS: dict[str, tuple[str, Callable[[Panel], None]]] = {
    "empty": ("--state empty", lambda panel: panel.train_page.setFocus()),
    "train": ("--state training", train),
    "problems": ("--state problems", check),
    "dry-run": ("--state training", preview),
    "farm-gone": ("--state training", farm_gone),
    "runs-none": ("--state empty", runs),
    "runs": ("--state training", runs),
    "runs-many": ("--state finished --num-runs 200", compare),
    "frames": ("--state finished", wipe),
    "ranks": ("--state training", lambda panel: runs(panel, tab=2)),
    "log": ("--state training", lambda panel: runs(panel, tab=3)),
    "result": ("--state finished", result),
    "export": ("--state finished", export),
    "dock-train": ("--state training", train),
    "dock-runs": ("--state training", runs),
}

if __name__ == "__main__":
    main()
