"""The loss of one run or several, drawn with a QPainter: zoom by the wheel, pan by dragging, read by pointing."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Dict, List, Mapping, Optional, Tuple

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.graph import Span, loss_span, nearest, panned, ticks, zoomed
from understudy_ui.panel.model.speech import spoken_count, spoken_loss
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui, QtWidgets, place_of
from understudy_ui.panel.theme import Tones, paint_focus
from understudy_ui.panel.widgets.graph_painter import GraphPainter, Look, event_lines
from understudy_ui.protocol import CurveShown

LONGEST_LOSS, LONGEST_PSNR = "0.00005", "44.5"
"""Numbers beside the axes: so much room is left for them, in whatever font."""
ALPHA_ALONE, ALPHA_AMONG_OTHERS = 75, 34
"""Of the unsmoothed loss, of 255: several of them are not to hide each other."""
WHEEL_FACTOR = 0.8
"""By which one notch shortens the steps on view."""


class LossGraph(QtWidgets.QWidget):
    """Curves by the run's place, in the order in which their colours are given."""

    zoomed_to = QtCore.Signal(int, int)
    """First and last step on view; 0, 0: all."""
    widened = QtCore.Signal(int)
    """Columns there are to draw in."""

    def __init__(self) -> None:
        super().__init__()
        self.curves: Dict[str, CurveShown] = {}
        self.names: Mapping[str, str] = {}
        self.look = Look()
        self.steps: Tuple[int, int] = (0, 0)
        self.hovered: Optional[int] = None
        """Step under the mouse."""
        self.hover_changed = Changes()
        self._layer: Optional[QtGui.QPixmap] = None
        self._losses: Optional[Span] = None
        self._dragged_from: Optional[Tuple[float, Tuple[int, int]]] = None
        self.setMinimumSize(240, 150)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Loss graph"))
        self.setToolTip("")

    def show_curves(self, curves: Mapping[str, CurveShown], names: Mapping[str, str]) -> None:
        self.curves, self.names = dict(curves), names
        self._redraw()

    def show_look(self, look: Look) -> None:
        self.look = look
        self._redraw()

    def colour(self, place: str) -> QtGui.QColor:
        lines = Tones(self.palette()).lines
        return lines[list(self.curves).index(place) % len(lines)]

    def view(self) -> Span:
        """Steps on view."""
        if self.steps != (0, 0):
            return Span(float(self.steps[0]), float(self.steps[1]))
        last = max((curve["steps"][-1] for curve in self.curves.values() if curve["steps"]), default=100)
        return Span(0.0, float(max(last, 2)))

    def whole(self) -> Tuple[float, float]:
        """All steps there are, as far as was seen."""
        return (0.0, max([self._longest(), float(self.steps[1])]))

    def plot(self) -> QtCore.QRect:
        metrics = self.fontMetrics()
        left, right = metrics.horizontalAdvance(LONGEST_LOSS) + 14, metrics.horizontalAdvance(LONGEST_PSNR) + 14
        return self.rect().adjusted(left, metrics.height() // 2 + 4, -right, -metrics.height() - 10)

    def zoom(self, at: float, factor: float) -> None:
        view = self.view()
        self._go_to(zoomed(view.low, view.high, at, factor, self.whole()))

    def reset_zoom(self) -> None:
        self._go_to((0, 0))

    def losses(self) -> Span:
        """On view; counted once for many moves of the mouse."""
        if self._losses is None:
            self._losses = self._count_losses()
        return self._losses

    def _count_losses(self) -> Span:
        view = self.view()
        values: List[float] = []
        for curve in self.curves.values():
            inside = slice(bisect_left(curve["steps"], view.low), bisect_right(curve["steps"], view.high))
            values += curve["smooth"][inside]
            if self.look.shows_original:
                values += curve["lowest"][inside] + curve["highest"][inside]
        return loss_span(values, self.look.is_log)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        if self._layer is None:
            self._layer = self._draw_layer()
        painter.drawPixmap(0, 0, self._layer)
        if not self.curves:
            painter.setPen(Tones(self.palette()).faint)
            painter.drawText(self.plot(), int(Qt.AlignmentFlag.AlignCenter), tr("No loss yet"))
        if self.hovered is not None and self.curves:
            self._painter(painter).draw_hover(self.hovered, self._read(self.hovered), self._events_near(self.hovered))
        paint_focus(painter, self)
        painter.end()

    def resizeEvent(self, _event: QtGui.QResizeEvent) -> None:
        self._redraw()
        self.widened.emit(max(100, self.plot().width()))

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        share = (place_of(event).x() - self.plot().left()) / max(1, self.plot().width())
        notches = event.angleDelta().y() / 120
        self.zoom(self.view().at(min(max(share, 0.0), 1.0)), WHEEL_FACTOR**notches)
        event.accept()

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        view = self.view()
        self._dragged_from = (place_of(event).x(), (round(view.low), round(view.high)))

    def mouseReleaseEvent(self, _event: QtGui.QMouseEvent) -> None:
        self._dragged_from = None

    def mouseDoubleClickEvent(self, _event: QtGui.QMouseEvent) -> None:
        self.reset_zoom()

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        x, plot, view = place_of(event).x(), self.plot(), self.view()
        if self._dragged_from is not None and self.steps != (0, 0):
            start, (first, last) = self._dragged_from
            by = (start - x) / max(1, plot.width()) * (last - first)
            self._go_to(panned(first, last, by, self.whole()))
        inside = plot.left() <= x <= plot.right()
        self._hover(round(view.at((x - plot.left()) / max(1, plot.width()))) if inside else None)

    def leaveEvent(self, _event: QtCore.QEvent) -> None:
        self._hover(None)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        view, key = self.view(), Qt.Key(event.key())
        middle, tenth = (view.low + view.high) / 2, (view.high - view.low) / 10
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(middle, WHEEL_FACTOR)
        elif key == Qt.Key.Key_Minus:
            self.zoom(middle, 1 / WHEEL_FACTOR)
        elif key in (Qt.Key.Key_F, Qt.Key.Key_Home):
            self.reset_zoom()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            by = -tenth if key == Qt.Key.Key_Left else tenth
            self._go_to(panned(view.low, view.high, by, self.whole()) if self.steps != (0, 0) else (0, 0))
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QtCore.QEvent) -> None:
        if event.type() == QtCore.QEvent.Type.PaletteChange:
            self._redraw()
        super().changeEvent(event)

    def _draw_layer(self) -> QtGui.QPixmap:
        """Everything but what follows the mouse; drawn once for many moves of it."""
        ratio = self.devicePixelRatioF()
        layer = QtGui.QPixmap(self.size() * ratio)
        layer.setDevicePixelRatio(ratio)
        painter = QtGui.QPainter(layer)
        painter.setFont(self.font())
        drawing = self._painter(painter)
        if not self.curves:
            drawing.draw_axes([], [])
            painter.end()
            return layer
        num_step_ticks, num_loss_ticks = max(2, self.plot().width() // 90), max(3, self.plot().height() // 34)
        drawing.draw_axes(ticks(drawing.steps, num_step_ticks), ticks(drawing.losses, num_loss_ticks))
        for place, curve in self.curves.items():
            drawing.draw_curve(curve, self.colour(place), ALPHA_ALONE if len(self.curves) == 1 else ALPHA_AMONG_OTHERS)
        main = next(iter(self.curves.values()), None)
        if main is not None:
            drawing.draw_marks(main)
        if len(self.curves) > 1:
            drawing.draw_legend([(self.names.get(place, ""), self.colour(place)) for place in self.curves])
        painter.end()
        return layer

    def _painter(self, painter: QtGui.QPainter) -> GraphPainter:
        return GraphPainter(painter, self.plot(), self.view(), self.losses(), self.look, Tones(self.palette()))

    def _read(self, step: int) -> List[Tuple[str, Tuple[int, float], QtGui.QColor]]:
        """Of every curve: what is written of its point nearest to that step; the point: step and loss; its colour."""
        found = []
        for place, curve in self.curves.items():
            if curve["steps"] and curve["steps"][0] <= step <= curve["steps"][-1] * 1.02:
                at = nearest(curve["steps"], step)
                loss = curve["smooth"][at]
                said = tr("step {step}   loss {loss}").format(
                    step=spoken_count(curve["steps"][at]), loss=spoken_loss(loss)
                )
                said = f"{self.names.get(place, '')}   {said}" if len(self.curves) > 1 else said
                found.append((said, (curve["steps"][at], loss), self.colour(place)))
        return found

    def _events_near(self, step: int) -> List[str]:
        main = next(iter(self.curves.values()))
        view = self.view()
        return event_lines(main["events"], main["event_steps"], step, (view.high - view.low) / 100)

    def _longest(self) -> float:
        ends = [curve["steps"][-1] for curve in self.curves.values() if curve["steps"]]
        marks = [curve["validation_steps"][-1] for curve in self.curves.values() if curve["validation_steps"]]
        return float(max([2, *ends, *marks]))

    def _go_to(self, steps: Tuple[int, int]) -> None:
        if steps != self.steps:
            self.steps = steps
            self.zoomed_to.emit(*steps)
            self._redraw()

    def _hover(self, step: Optional[int]) -> None:
        if step != self.hovered:
            self.hovered = step
            self.hover_changed.tell()
            self.update()

    def _redraw(self) -> None:
        self._layer, self._losses = None, None
        self.update()
