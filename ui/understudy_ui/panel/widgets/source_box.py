"""Where the pairs come from: node, sequences or timeline; typed, chosen, dropped, or taken from the host."""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, List, Tuple

from understudy_ui.panel.model.shot import Shot
from understudy_ui.panel.model.source import KINDS, SCRIPT, SEQUENCES, TIMELINE, Source, as_pattern
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtWidgets
from understudy_ui.panel.theme import GAP
from understudy_ui.panel.widgets.editors import Editor, PathEditor, TextEditor, WordEditor, browse_file
from understudy_ui.protocol import Field

LABEL_WIDTH = 110
"""Pixels."""

SEGMENT = """
QToolButton { padding: 3px 9px; border: 1px solid palette(dark); background: palette(button); }
QToolButton:hover { background: palette(light); }
QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); }
"""
"""One of several that exclude each other; styles draw a pressed button too much like another."""

PATHS = ("script", "input", "target", "timeline")
MORE = ("input_layer", "target_layer", "input_colorspace", "target_colorspace", "view")
"""Asked for only where somebody opens them."""


def _rows() -> List[Tuple[str, str, Tuple[str, ...], str]]:
    """Field of Source, label, kinds of source that have it, tooltip."""
    frames = tr("1001,1013-1040x9; empty: where a painted frame exists")
    held = tr("Pairs kept out of training and measured: judge by them")
    layer = tr("Part, layer or channels, such as rgb, alpha, diffuse, mask.a")
    space = tr("OCIO colour space of the files; raw: as they are; empty: as the config says")
    return [
        ("script", tr("Script"), (SCRIPT,), tr("Nuke script with a CopyCat or Understudy node")),
        ("node", tr("Node"), (SCRIPT,), tr("The training node; may be left empty when the script has one")),
        ("input", tr("Input"), (SEQUENCES,), tr("The plate: plate.####.exr")),
        ("target", tr("Ground Truth"), (SEQUENCES,), tr("The painted frames, numbered as the plate")),
        ("frames", tr("Frames"), (SEQUENCES,), frames),
        ("timeline", tr("Timeline"), (TIMELINE,), tr("OpenTimelineIO with an input and a target track")),
        ("validation_frames", tr("Validation Frames"), KINDS, held),
        ("input_layer", tr("Input Layer"), (SEQUENCES,), layer),
        ("target_layer", tr("Truth Layer"), (SEQUENCES,), layer),
        ("input_colorspace", tr("Input Space"), (SEQUENCES,), space),
        ("target_colorspace", tr("Truth Space"), (SEQUENCES,), space),
        ("view", tr("View"), KINDS, tr("Stereo view, such as left")),
    ]


class SourceBox(QtWidgets.QWidget):
    """Shows and changes the source of a shot."""

    def __init__(self, shot: Shot, choose: Callable[[Source], None], host_name: str) -> None:
        super().__init__()
        self._shot, self._choose = shot, choose
        self.editors: Dict[str, Editor] = {}
        self._labels: Dict[str, QtWidgets.QLabel] = {}
        self._kinds_of: Dict[str, Tuple[str, ...]] = {}
        self.kinds: Dict[str, QtWidgets.QToolButton] = {}
        self.take_selected = QtWidgets.QPushButton(tr("Take Selected Node"))
        self.take_selected.setToolTip(tr("Train the node that is selected in {host}").format(host=host_name))
        self.take_selected.setVisible(bool(host_name))
        self.more = QtWidgets.QToolButton()
        self.more.setText(tr("Layers, colour spaces, view"))
        self.more.setCheckable(True)
        self.more.setAutoRaise(True)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.toggled.connect(lambda _on: self._show())
        self._lay_out()
        shot.source_changed.subscribe(self._show)
        self._show()

    def _lay_out(self) -> None:
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP)
        layout.addLayout(self._kind_buttons())
        grid = QtWidgets.QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(3)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        for row, (name, label, kinds, tip) in enumerate(_rows()):
            self._add(grid, row + (name in MORE), name, label, tip)
            self._kinds_of[name] = kinds
        grid.addWidget(self.more, len(_rows()) - len(MORE), 1)
        layout.addLayout(grid)

    def _kind_buttons(self) -> QtWidgets.QHBoxLayout:
        layout = QtWidgets.QHBoxLayout()
        layout.setSpacing(0)
        names = {SCRIPT: tr("Node of a Script"), SEQUENCES: tr("Two Sequences"), TIMELINE: tr("Timeline")}
        group = QtWidgets.QButtonGroup(self)
        for kind in KINDS:
            button = QtWidgets.QToolButton()
            button.setText(names[kind])
            button.setCheckable(True)
            button.setMinimumHeight(24)
            button.setStyleSheet(SEGMENT)
            button.clicked.connect(lambda _on=False, of=kind: self._set("kind", of))
            group.addButton(button)
            layout.addWidget(button)
            self.kinds[kind] = button
        layout.addStretch(1)
        layout.addWidget(self.take_selected)
        return layout

    def _add(self, grid: QtWidgets.QGridLayout, row: int, name: str, text: str, tip: str) -> None:
        label = QtWidgets.QLabel(text)
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        editor: Editor = PathEditor(text, browse_file) if name in PATHS else TextEditor(_text_field(name, text))
        if name == "node":
            editor = WordEditor(_text_field(name, text))
            editor.box.setEditable(True)
            line = editor.box.lineEdit()
            assert line is not None
            line.setPlaceholderText(tr("the only one"))
            line.editingFinished.connect(lambda: self._set("node", line.text().strip()))
        label.setBuddy(editor)
        label.setToolTip(tip)
        editor.setToolTip(tip)
        editor.edited.connect(
            lambda value: self._set(name, as_pattern(value) if name in ("input", "target") else value)
        )
        grid.addWidget(label, row, 0)
        grid.addWidget(editor, row, 1)
        self.editors[name], self._labels[name] = editor, label

    def _set(self, name: str, value: str) -> None:
        source = self._shot.source
        if getattr(source, name) != value:
            self._choose(dataclasses.replace(source, **{name: value}))
        self._show()

    def _show(self) -> None:
        source, is_more = self._shot.source, self.more.isChecked()
        self.more.setArrowType(Qt.ArrowType.DownArrow if is_more else Qt.ArrowType.RightArrow)
        self.kinds[source.kind].setChecked(True)
        self.editors["node"].suggest(self._shot.nodes)
        for name, editor in self.editors.items():
            value = getattr(source, name)
            editor.show_value(value)
            is_on = source.kind in self._kinds_of[name] and (name not in MORE or is_more or bool(value))
            for widget in (editor, self._labels[name]):
                widget.setVisible(is_on)


def _text_field(name: str, label: str) -> Field:
    return {
        "name": name,
        "flag": "",
        "label": label,
        "doc": "",
        "group": "",
        "kind": "text",
        "default": "",
        "choices": [],
        "low": None,
        "high": None,
        "unit": "",
    }
