"""The pairs as thumbnails, input beside ground truth; only those on view are asked for."""

from __future__ import annotations

from pathlib import PurePath
from typing import Dict, List, Tuple, Union, cast

from understudy_ui.panel.model.shot import Shot, about_thumbnail
from understudy_ui.panel.model.source import number_in
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets
from understudy_ui.panel.theme import Tones, paint_invitation
from understudy_ui.panel.view_desk import ViewDesk
from understudy_ui.protocol import Json, PairShown, Thumbnail

WIDTH, HEIGHT = 256, 144
"""Pixels of a thumbnail as it is asked for; it is drawn as large as there is room."""
CARD_WIDTH = 250
"""Pixels, the least."""
CAPTION_HEIGHT = 24
PAD = 6

Index = Union[QtCore.QModelIndex, QtCore.QPersistentModelIndex]
PAIR = int(Qt.ItemDataRole.UserRole)


class Pairs(QtCore.QAbstractListModel):
    """The pairs of a shot, with as many of their pictures as have come."""

    def __init__(self, shot: Shot, desk: ViewDesk) -> None:
        super().__init__()
        self._shot, self._desk = shot, desk
        self._pictures: Dict[Tuple[int, str], QtGui.QPixmap] = {}
        self._faults: Dict[Tuple[int, str], str] = {}
        self._asked: Dict[Tuple[int, str], int] = {}
        self._words: List[str] = []
        shot.pairs_changed.subscribe(self._take_pairs)
        shot.check_changed.subscribe(self._take_problems)

    def rowCount(self, parent: Index = QtCore.QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._shot.pairs())

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        pair = self._shot.pairs()[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return str(pair["frame"])
        if role == Qt.ItemDataRole.ToolTipRole:
            shown = [pair["input"]["path"], pair["target"]["path"], *self.troubles(pair)]
            return "\n".join(shown)
        return pair if role == PAIR else None

    def picture(self, frame: int, side: str) -> QtGui.QPixmap:
        return self._pictures.get((frame, side), QtGui.QPixmap())

    def fault(self, frame: int, side: str) -> str:
        return self._faults.get((frame, side), "")

    def troubles(self, pair: PairShown) -> List[str]:
        frame = pair["frame"]
        of_sides = [self.fault(frame, side) for side in ("input", "target")]
        return self._shot.problems_of(frame) or [fault for fault in of_sides if fault]

    def invitation(self) -> str:
        """What is said where pairs would be."""
        if self._shot.is_looking or self._shot.faults:
            return ""
        return tr("Drop a Nuke script, a timeline, or plate and painted frames here")

    def want(self, rows: range) -> None:
        """These are on view: ask for what is missing, and for nothing else any more."""
        wanted = {(self._shot.pairs()[row]["frame"], side) for row in rows for side in ("input", "target")}
        if any(key not in wanted for key in self._asked):
            self._desk.close()
            self._asked = {}
        for frame, side in sorted(wanted):
            if not {(frame, side)} & (set(self._pictures) | set(self._faults) | set(self._asked)):
                self._ask(frame, side)

    def _ask(self, frame: int, side: str) -> None:
        key = (frame, side)
        self._asked[key] = 1

        def on_answer(answer: Json) -> None:
            self._desk.picture(cast(Thumbnail, answer)["path"], on_picture)

        def on_picture(image: QtGui.QImage) -> None:
            self._asked.pop(key, None)
            self._pictures[key] = QtGui.QPixmap.fromImage(image)
            self._repaint(frame)

        def on_faults(lines: List[str]) -> None:
            self._asked.pop(key, None)
            self._faults[key] = "\n".join(lines)
            self._repaint(frame)

        about = about_thumbnail(self._words, frame, side, WIDTH, HEIGHT)
        self._desk.ask("thumbnail", about, on_answer, on_faults)

    def _repaint(self, frame: int) -> None:
        for row, pair in enumerate(self._shot.pairs()):
            if pair["frame"] == frame:
                self.dataChanged.emit(self.index(row), self.index(row))

    def _take_pairs(self) -> None:
        self.beginResetModel()
        self._desk.close()
        self._pictures, self._faults, self._asked, self._words = {}, {}, {}, self._shot.words()
        self.endResetModel()

    def _take_problems(self) -> None:
        if self.rowCount():
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))


class PairsView(QtWidgets.QListView):
    """Cards that share the width."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__()
        self._pairs = pairs
        self.setModel(pairs)
        self.setItemDelegate(Card(pairs, self))
        self.setViewMode(QtWidgets.QListView.ViewMode.IconMode)
        self.setResizeMode(QtWidgets.QListView.ResizeMode.Adjust)
        self.setMovement(QtWidgets.QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName(tr("Pairs"))
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._want())
        pairs.modelReset.connect(self._want)

    def show_frame(self, frame: int) -> None:
        for row in range(self._pairs.rowCount()):
            index = self._pairs.index(row)
            if index.data(PAIR)["frame"] == frame:
                self.setCurrentIndex(index)
                self.scrollTo(index)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        width = self.viewport().width() - 2
        columns = max(1, width // CARD_WIDTH)
        card = width // columns
        picture_height = round((card - 3 * PAD) / 2 * HEIGHT / WIDTH)
        self.setGridSize(QtCore.QSize(card, picture_height + CAPTION_HEIGHT + 2 * PAD))
        super().resizeEvent(event)
        self._want()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._pairs.rowCount():
            paint_invitation(self, self._pairs.invitation())

    def _want(self) -> None:
        if not self.gridSize().isEmpty() and self._pairs.rowCount():
            columns = max(1, self.viewport().width() // self.gridSize().width())
            top = self.verticalScrollBar().value() // self.gridSize().height()
            rows = self.viewport().height() // self.gridSize().height() + 2
            self._pairs.want(range(top * columns, min(self._pairs.rowCount(), (top + rows) * columns)))


class Card(QtWidgets.QStyledItemDelegate):
    """Both sides of one pair, its frame, and whether something is wrong with it."""

    def __init__(self, pairs: Pairs, view: PairsView) -> None:
        super().__init__(view)
        self._pairs, self._view = pairs, view

    def sizeHint(self, _option: QtWidgets.QStyleOptionViewItem, _index: Index) -> QtCore.QSize:
        return self._view.gridSize()

    def paint(self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionViewItem, index: Index) -> None:
        pair = cast(PairShown, index.data(PAIR))
        tones, card = Tones(option.palette), option.rect.adjusted(2, 2, -2, -2)
        troubles = self._pairs.troubles(pair)
        painter.save()
        is_selected = bool(option.state & QtWidgets.QStyle.StateFlag.State_Selected)
        painter.setPen(QtGui.QPen(tones.bad if troubles else tones.accent if is_selected else tones.rule, 1))
        painter.setBrush(option.palette.color(QtGui.QPalette.ColorRole.AlternateBase))
        painter.drawRect(card.adjusted(0, 0, -1, -1))
        width = (card.width() - 3 * PAD) // 2
        for place, side in enumerate(("input", "target")):
            left = card.left() + PAD + place * (width + PAD)
            room = QtCore.QRect(left, card.top() + PAD, width, card.height() - CAPTION_HEIGHT - PAD)
            self._paint_side(painter, room, pair["frame"], side, tones)
        self._paint_caption(painter, card, pair, bool(troubles), tones)
        painter.restore()

    def _paint_side(self, painter: QtGui.QPainter, room: QtCore.QRect, frame: int, side: str, tones: Tones) -> None:
        picture = self._pairs.picture(frame, side)
        painter.fillRect(room, QtGui.QColor("#101010"))
        if not picture.isNull():
            size = picture.size().scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
            place = QtCore.QRect(QtCore.QPoint(0, 0), size)
            place.moveCenter(room.center())
            painter.setRenderHint(QtGui.QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(place, picture)
            return
        fault = self._pairs.fault(frame, side)
        painter.setPen(tones.bad if fault else QtGui.QColor("#606060"))
        flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        painter.drawText(room.adjusted(4, 4, -4, -4), flags, tr("cannot be read") if fault else "\u2026")

    def _paint_caption(
        self, painter: QtGui.QPainter, card: QtCore.QRect, pair: PairShown, has_trouble: bool, tones: Tones
    ) -> None:
        line = QtCore.QRect(card.left() + PAD, card.bottom() - CAPTION_HEIGHT, card.width() - 2 * PAD, CAPTION_HEIGHT)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(tones.bad if has_trouble else tones.text)
        number, file_name = str(pair["frame"]), PurePath(pair["input"]["path"]).name
        painter.drawText(line, int(left | middle), number + ("  \u26a0" if has_trouble else ""))
        is_held = pair["use"] == "validation"
        painter.setPen(tones.lines[1] if is_held else tones.faint)
        said = tr("validation") if is_held else ""
        painter.drawText(line, int(right | middle), said)
        if number_in(file_name) != pair["frame"]:
            self._paint_file_name(painter, line, number, file_name, said, tones)

    def _paint_file_name(
        self, painter: QtGui.QPainter, line: QtCore.QRect, number: str, file_name: str, other: str, tones: Tones
    ) -> None:
        """Of a pair that a script numbers otherwise than its file is numbered."""
        width = painter.fontMetrics().horizontalAdvance
        room = line.adjusted(width(number + "  \u26a0  "), 0, -width(other + "  "), 0)
        painter.setPen(tones.faint)
        shown = painter.fontMetrics().elidedText(file_name, Qt.TextElideMode.ElideLeft, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), shown)
