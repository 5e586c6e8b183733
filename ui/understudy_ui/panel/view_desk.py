"""One view's questions, timers and pictures: when the view closes, none of them comes any more."""

from __future__ import annotations

from typing import Callable, List, Mapping, Optional, Set

from understudy_ui.panel.asking import Answers
from understudy_ui.panel.model.desk import Faults, Then, Told
from understudy_ui.panel.pictures import Shown
from understudy_ui.panel.qt import QtCore, QtGui
from understudy_ui.protocol import Json


class _Thing:
    """Something pending; dropped, it ends, and tells the desk that it is gone."""

    def __init__(self, end: Callable[[], None], things: Set[_Thing]) -> None:
        self._end, self._things = end, things
        things.add(self)

    def drop(self) -> None:
        if self in self._things:
            self._things.remove(self)
            self._end()

    def came(self) -> None:
        self._things.discard(self)


class ViewDesk:
    """Implements `Desk` (model/desk.py) for one view."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._things: Set[_Thing] = set()

    def ask(
        self,
        question: str,
        about: Mapping[str, Json],
        then: Then,
        faults: Optional[Faults] = None,
        told: Optional[Told] = None,
    ) -> _Thing:
        def on_answer(answer: Json) -> None:
            thing.came()
            then(answer)

        def on_faults(lines: List[str]) -> None:
            thing.came()
            if faults is not None:
                faults(lines)

        number = self._answers.ask(question, about, on_answer, on_faults, told or _nobody)
        thing = _Thing(lambda: self._answers.give_up(number), self._things)
        return thing

    def after(self, milliseconds: int, call: Callable[[], None]) -> _Thing:
        def on_time() -> None:
            timer.deleteLater()
            thing.came()
            call()

        def end() -> None:
            timer.stop()
            timer.deleteLater()

        timer = QtCore.QTimer(self._answers)
        timer.setSingleShot(True)
        timer.timeout.connect(on_time)
        timer.start(milliseconds)
        thing = _Thing(end, self._things)
        return thing

    def picture(self, path: str, shown: Shown, width: int = 0, height: int = 0) -> _Thing:
        """Decoded elsewhere, fitted into width x height where those are given."""

        def on_picture(image: QtGui.QImage) -> None:
            thing.came()
            shown(image)

        thing = _Thing(self._answers.load_picture(path, on_picture, width, height), self._things)
        return thing

    def close(self) -> None:
        for thing in list(self._things):
            thing.drop()


def _nobody(_line: str) -> None:
    """Whom nobody listens to."""
