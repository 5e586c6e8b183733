"""The Train place by real clicks."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from tests.ui.panel.conftest import OpenPanel

from understudy_ui.panel.model.source import Source
from understudy_ui.panel.qt import Qt, QtCore, QtWidgets
from understudy_ui.panel.widgets.editors import FlagEditor, NumberEditor, TextEditor
from understudy_ui.panel.widgets.fold import Fold
from understudy_ui.panel.widgets.preview_window import PreviewWindow
from understudy_ui.panel.window import Panel

NODE = Source(script="/show/sh010.nk", node="CopyCat1")
LEFT = Qt.MouseButton.LeftButton


def choose(qtbot: QtBot, panel: Panel, source: Source = NODE) -> None:
    panel.training.choose(source)
    qtbot.waitUntil(lambda: panel.training.shot.shown is not None and panel.training.estimate is not None)


def number(panel: Panel, name: str) -> NumberEditor:
    editor = panel.train_page.knobs.editor(name)
    assert isinstance(editor, NumberEditor)
    return editor


def type_number(qtbot: QtBot, editor: NumberEditor, text: str) -> None:
    editor.line.selectAll()
    qtbot.keyClicks(editor.line, text)
    qtbot.keyClick(editor.line, Qt.Key.Key_Return)


def test_pairs_are_shown_with_their_pictures(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel("--state", "finished")
    choose(qtbot, panel)
    model = panel.train_page.pairs.model()
    assert [model.index(row, 0).data() for row in range(5)] == ["1001", "1013", "1025", "1037", "1048"]
    assert "1 for validation" in panel.train_page.summary.text()
    pairs = panel.train_page.pairs._pairs
    qtbot.waitUntil(lambda: not pairs.picture(1048, "target").isNull(), timeout=20000)


def test_a_changed_value_is_marked_said_and_reset(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    view = panel.train_page.knobs.views[0]
    type_number(qtbot, number(panel, "seed"), "7")
    assert view._marks["seed"].is_chosen
    assert "--seed 7" in " ".join(panel.training.words())
    qtbot.mouseClick(view.resets["seed"], LEFT)
    assert (number(panel, "seed").line.text(), view._marks["seed"].is_chosen) == ("0", False)
    assert view._marks["epochs"].is_of_node, "the node says 2400"


def test_a_value_out_of_range_is_said_and_the_last_one_kept(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    type_number(qtbot, number(panel, "crop_size"), "3")
    assert panel.message.text.text() == "Crop Size: 3 is too low; give at least 16"
    assert number(panel, "crop_size").line.text() == "96"
    type_number(qtbot, number(panel, "crop_size"), "32")
    assert panel.message.isHidden(), "it was mended"


def test_switches_and_live_names(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    switch = panel.train_page.knobs.editor("multi_resolution")
    assert isinstance(switch, FlagEditor)
    qtbot.mouseClick(switch.box, LEFT, pos=QtCore.QPoint(6, switch.box.height() // 2))
    assert panel.training.form.words() == ["--multi-resolution"]
    machines = panel.train_page.knobs.editor("machines")
    assert isinstance(machines, TextEditor)
    qtbot.waitUntil(lambda: not machines.names.isHidden(), timeout=20000)
    names = machines.names.menu().actions()
    names[0].trigger()
    names[1].trigger()
    names[0].trigger()
    assert panel.training.form.value("machines") == ["render02"]


def test_check_marks_the_frames_it_concerns(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel("--state", "problems")
    choose(qtbot, panel)
    qtbot.mouseClick(panel.train_page.check, LEFT)
    assert panel.train_page.check.text().startswith("Stop Checking")
    problems = panel.train_page.problems
    qtbot.waitUntil(lambda: problems.count() == 3, timeout=20000)
    assert "give both the same format" in problems.item(0).text()
    pairs = panel.train_page.pairs._pairs
    assert [bool(pairs.troubles(pair)) for pair in panel.training.shot.pairs()] == [False, True, False, True, False]
    qtbot.mouseClick(problems.viewport(), LEFT, pos=problems.visualItemRect(problems.item(0)).center())
    assert panel.train_page.pairs.currentIndex().data() == "1013"


def test_a_farms_options_stay_as_they_are_until_there_is_another_farm(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    panel.training.form.set("farm", "slurm")
    knobs = panel.train_page.knobs
    fold = next(fold for fold in knobs.findChildren(Fold) if fold.button.text() == "Options of slurm")
    qtbot.waitUntil(lambda: fold.button.isVisible() and not fold.button.size().isEmpty(), timeout=20000)
    qtbot.mouseClick(fold.button, LEFT)
    assert fold.body.isVisible()
    qtbot.waitUntil(lambda: panel.training.names is not None, timeout=20000)
    panel.training.farm_changed.tell()
    assert fold.body.isVisible()
    panel.training.form.set("farm", "local")
    QtCore.QCoreApplication.sendPostedEvents(None, int(QtCore.QEvent.Type.DeferredDelete.value))
    panel.training.farm_forms["slurm"].set("qos", "night")
    panel.training.choose(Source(script="/show/other.nk"))
    assert panel.training.farm_forms["slurm"].chosen() == {}


def test_dry_run_shows_command_and_files(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    qtbot.mouseClick(panel.train_page.dry_run, LEFT)
    qtbot.waitUntil(lambda: bool(panel.train_page.findChildren(PreviewWindow)), timeout=20000)
    window = panel.train_page.findChildren(PreviewWindow)[0]
    assert "-X CopyCat1" in window.command.toPlainText()
    assert window.text.toPlainText().startswith("{")
    qtbot.keyClick(window, Qt.Key.Key_Escape)


def test_training_goes_on_to_the_runs(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    qtbot.mouseClick(panel.train_page.here, LEFT)
    qtbot.waitUntil(lambda: panel.places.currentWidget() is panel.runs_page, timeout=20000)
    assert panel.runs.folder == "/show/sh010/comp/runs"
    assert panel.focusWidget() is panel.runs_page.table, "keys are not written into the path"


def test_a_farm_that_is_gone_is_said_under_everything(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    panel.training.form.set("farm", "slurm")
    assert panel.train_page.farm.text() == "Train on slurm"
    qtbot.mouseClick(panel.train_page.farm, LEFT)
    qtbot.waitUntil(lambda: "sbatch does not answer" in panel.message.text.text(), timeout=20000)
    assert panel.train_page.farm.isEnabled()


def test_everything_is_reached_by_the_keyboard(qtbot: QtBot, open_panel: OpenPanel) -> None:
    panel = open_panel()
    choose(qtbot, panel)
    panel.train_page.source.kinds["script"].setFocus()
    seen: set[QtWidgets.QWidget] = set()
    while (widget := QtWidgets.QApplication.focusWidget()) is not None and widget not in seen:
        seen.add(widget)
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    wanted = {panel.train_page.pairs, panel.train_page.check, panel.train_page.farm, number(panel, "epochs").line}
    assert wanted <= seen
    qtbot.keyClick(panel, "2", Qt.KeyboardModifier.ControlModifier)
    assert panel.places.currentWidget() is panel.runs_page
