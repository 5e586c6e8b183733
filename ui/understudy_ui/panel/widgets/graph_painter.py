"""How a graph looks: axes, curves, stages, events, and what is read under the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

from understudy_ui.panel.model.graph import Span, ticks
from understudy_ui.panel.model.speech import spoken_count
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.qt import Qt, QtCore, QtGui
from understudy_ui.panel.theme import Tones
from understudy_ui.protocol import CurveShown

WIDE_COLUMN = 3
"""Pixels, above which a column is a point of a line."""
SHARE_OF_VALIDATION = 0.9
"""Of the height, that the validation curve may take."""


@dataclass(frozen=True)
class Look:
    """What is drawn, and how."""

    is_log: bool = True
    shows_original: bool = True
    shows_validation: bool = True


class GraphPainter:
    """Draws onto one painter, in one plot, one span of steps and losses."""

    def __init__(
        self, painter: QtGui.QPainter, plot: QtCore.QRect, steps: Span, losses: Span, look: Look, tones: Tones
    ) -> None:
        self._painter, self._plot, self._look, self._tones = painter, plot, look, tones
        self.steps, self.losses = steps, losses
        self._line_height = painter.fontMetrics().height() + 2
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)

    def x(self, step: float) -> float:
        return self._xs([step])[0]

    def y(self, loss: float) -> float:
        return self._ys([loss])[0]

    def draw_axes(self, step_ticks: Sequence[float], loss_ticks: Sequence[float]) -> None:
        painter, plot, tones = self._painter, self._plot, self._tones
        painter.fillRect(painter.viewport(), tones.ground)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, False)
        for loss in loss_ticks:
            y = round(self.y(loss))
            painter.setPen(tones.rule)
            painter.drawLine(plot.left(), y, plot.right(), y)
            painter.setPen(tones.faint)
            room = QtCore.QRect(0, y - self._line_height // 2, plot.left() - 8, self._line_height)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), f"{loss:.3g}")
        for step in step_ticks:
            x = round(self.x(step))
            painter.setPen(tones.rule)
            painter.drawLine(x, plot.bottom(), x, plot.bottom() + 4)
            painter.setPen(tones.faint)
            room = QtCore.QRect(x - 50, plot.bottom() + 5, 100, self._line_height)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignHCenter), spoken_count(round(step)))
        painter.setPen(tones.rule)
        painter.drawLine(plot.left(), plot.bottom(), plot.right(), plot.bottom())
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, True)

    def draw_curve(self, curve: CurveShown, colour: QtGui.QColor, alpha_of_original: int) -> None:
        painter = self._painter
        painter.save()
        painter.setClipRect(self._plot.adjusted(0, -2, 1, 2))
        if self._look.shows_original:
            self._draw_columns(curve, _faded(colour, alpha_of_original))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QtGui.QPen(colour, 1.8))
        line = QtGui.QPolygonF(list(map(QtCore.QPointF, self._xs(curve["steps"]), self._ys(curve["smooth"]))))
        painter.drawPolyline(line)
        painter.restore()

    def _draw_columns(self, curve: CurveShown, colour: QtGui.QColor) -> None:
        """From lowest to highest loss, column by column: a polygon of so many spikes would take ten times as long.

        Of few steps, or one loss each, the line from one to the next.
        """
        places = [int(x) for x in self._xs(curve["steps"])]
        if len(places) < self._plot.width() / WIDE_COLUMN or curve["lowest"] == curve["highest"]:
            self._painter.setPen(QtGui.QPen(_faded(colour, 2 * colour.alpha()), 1))
            line = QtGui.QPolygonF(list(map(QtCore.QPointF, places, self._ys(curve["highest"]))))
            self._painter.drawPolyline(line)
            return
        heights: Dict[int, Tuple[int, int]] = {}
        for x, top, bottom in zip(places, map(int, self._ys(curve["highest"])), map(int, self._ys(curve["lowest"]))):
            known_top, known_bottom = heights.get(x, (top, bottom))
            heights[x] = min(top, known_top), max(bottom, known_bottom)
        ends = [*list(heights)[1:], places[-1] + 1] if places else []
        bars = [
            QtCore.QRect(x, top, end - x, max(1, bottom - top))
            for (x, (top, bottom)), end in zip(heights.items(), ends)
        ]
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(colour)
        self._painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, False)
        self._painter.drawRects(bars)
        self._painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing, True)

    def draw_marks(self, curve: CurveShown) -> None:
        """Stages, events and validation of the run that is shown in full."""
        painter, plot, tones = self._painter, self._plot, self._tones
        painter.save()
        painter.setClipRect(plot.adjusted(-5, -8, 5, 8))
        for name, stage in zip(curve["stage_names"][1:], curve["stages"][1:]):
            name = tr("{stage} resolution").format(stage=name)
            x = round(self.x(stage))
            painter.setPen(QtGui.QPen(tones.faint, 1, Qt.PenStyle.DashLine))
            painter.drawLine(x, plot.top(), x, plot.bottom())
            later = [self.x(other) for other in curve["stages"] if other > stage]
            if x + 8 + painter.fontMetrics().horizontalAdvance(name) < min([*later, plot.right()]):
                painter.drawText(x + 4, plot.top() + 10, name)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tones.warn)
        for step in curve["event_steps"]:
            at = self.x(step)
            corners = [(at - 4, plot.bottom() + 1), (at + 4, plot.bottom() + 1), (at, plot.bottom() - 7)]
            painter.drawPolygon(QtGui.QPolygonF([QtCore.QPointF(*corner) for corner in corners]))
        painter.restore()
        if self._look.shows_validation and curve["validation_steps"]:
            self._draw_validation(curve)

    def draw_legend(self, runs: Sequence[Tuple[str, QtGui.QColor]]) -> None:
        painter, metrics = self._painter, self._painter.fontMetrics()
        width = max(metrics.horizontalAdvance(name) for name, _ in runs) + 34
        height = metrics.height() + 2
        left, top = self._plot.left() + 8, self._plot.bottom() - height * len(runs) - 16
        painter.fillRect(left, top, width, height * len(runs) + 8, _faded(self._tones.ground, 215))
        for number, (name, colour) in enumerate(runs):
            y = top + 4 + height * number
            painter.fillRect(left + 8, y + height // 2 - 1, 14, 3, colour)
            painter.setPen(self._tones.text)
            painter.drawText(left + 28, y + metrics.ascent(), name)

    def draw_hover(
        self, step: int, readings: Sequence[Tuple[str, Tuple[int, float], QtGui.QColor]], notes: Sequence[str]
    ) -> None:
        painter, plot, tones = self._painter, self._plot, self._tones
        x = self.x(step)
        painter.setPen(QtGui.QPen(tones.faint, 1))
        painter.drawLine(QtCore.QPointF(x, plot.top()), QtCore.QPointF(x, plot.bottom()))
        metrics = painter.fontMetrics()
        said_lines = [*(said for said, _, _ in readings), *notes]
        width = max((metrics.horizontalAdvance(said) for said in said_lines), default=0) + 30
        height = metrics.height() + 2
        left = x + 10 if x + 10 + width < plot.right() else x - 10 - width
        top = plot.top() + 18.0
        if said_lines:
            box = QtCore.QRectF(left, top, width, height * len(said_lines) + 8)
            painter.fillRect(box, _faded(tones.ground, 230))
            painter.setPen(tones.rule)
            painter.drawRect(box)
        for number, (said, (at, loss), colour) in enumerate(readings):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QtCore.QPointF(self.x(at), self.y(loss)), 3.5, 3.5)
            y = top + 4 + height * number
            painter.drawEllipse(QtCore.QPointF(left + 10, y + height / 2), 3, 3)
            painter.setPen(tones.text)
            painter.drawText(QtCore.QPointF(left + 19, y + metrics.ascent()), said)
        painter.setPen(tones.warn)
        for number, note in enumerate(notes, len(readings)):
            painter.drawText(QtCore.QPointF(left + 19, top + 4 + height * number + metrics.ascent()), note)

    def _xs(self, steps: Sequence[float]) -> List[float]:
        left, width = self._plot.left(), self._plot.width()
        return [left + fraction * width for fraction in self.steps.fractions(steps)]

    def _ys(self, losses: Sequence[float]) -> List[float]:
        bottom, height = self._plot.bottom(), self._plot.height()
        return [bottom - min(max(fraction, -0.02), 1.05) * height for fraction in self.losses.fractions(losses)]

    def _draw_validation(self, curve: CurveShown) -> None:
        """On an axis of its own at the right, in decibels."""
        painter, plot, tones = self._painter, self._plot, self._tones
        values = curve["validation_psnrs"]
        margin = max(0.5, (max(values) - min(values)) * 0.1)
        span = Span(min(values) - margin, max(values) + margin)
        colour = tones.lines[4]

        def at(step: int, value: float) -> QtCore.QPointF:
            return QtCore.QPointF(
                self.x(step), plot.bottom() - span.fraction(value) * plot.height() * SHARE_OF_VALIDATION
            )

        points = [at(step, value) for step, value in zip(curve["validation_steps"], values)]
        painter.save()
        painter.setClipRect(plot.adjusted(-4, 0, 5, 0))
        painter.setPen(QtGui.QPen(colour, 1.4, Qt.PenStyle.DotLine))
        painter.drawPolyline(QtGui.QPolygonF(points))
        painter.setPen(QtGui.QPen(colour, 1.4))
        painter.setBrush(tones.ground)
        for point in points:
            painter.drawEllipse(point, 2.6, 2.6)
        painter.restore()
        painter.setPen(colour)
        for value in ticks(span, 4):
            y = round(at(0, value).y())
            room = QtCore.QRect(plot.right() + 5, y - self._line_height // 2, 60, self._line_height)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), f"{value:g}")
        label = QtCore.QRect(plot.right() + 5, plot.top() - self._line_height // 2, 60, self._line_height)
        painter.drawText(label, int(Qt.AlignmentFlag.AlignLeft), tr("dB"))


def _faded(colour: QtGui.QColor, alpha: int) -> QtGui.QColor:
    faded = QtGui.QColor(colour)
    faded.setAlpha(alpha)
    return faded


def event_lines(events: Sequence[str], event_steps: Sequence[int], step: int, reach: float) -> List[str]:
    """What happened near a step."""
    return [line for line, at in zip(events, event_steps) if abs(at - step) <= reach]
