"""The whole form of a training in folds: CopyCat's knobs first, then what few need, the farm, the result."""

from __future__ import annotations

from typing import List, Optional, Tuple

from understudy_ui.panel.model.form import Form
from understudy_ui.panel.model.tongue import tr
from understudy_ui.panel.model.training import Training
from understudy_ui.panel.qt import QtCore, QtWidgets
from understudy_ui.panel.theme import EDGE
from understudy_ui.panel.widgets.fold import Fold
from understudy_ui.panel.widgets.form_view import FormView
from understudy_ui.protocol import Field

FIRST_OF_FARM = ("farm", "ranks", "pool", "group", "priority", "machines", "limits")
"""What is chosen every time; the rest of the farm's fields are folded away below."""


class KnobsView(QtWidgets.QScrollArea):
    """Built when the fields are known."""

    complained = QtCore.Signal(str)

    def __init__(self, training: Training) -> None:
        super().__init__()
        self._training = training
        self._farm_shown = ""
        self._farm_options: Optional[Tuple[Form, Fold, FormView]] = None
        self._place_of_options = QtWidgets.QVBoxLayout()
        self.views: List[FormView] = []
        self.folds: List[Fold] = []
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidget(QtWidgets.QLabel(tr("Asking what there is to choose ...")))
        training.form_known.subscribe(self._build)
        training.farm_changed.subscribe(self._refresh_farm)

    def editor(self, name: str) -> QtWidgets.QWidget:
        """Raises KeyError for a field that there is not."""
        return next(view.editors[name] for view in self.views if name in view.editors)

    def _build(self) -> None:
        self._drop_options()
        form, body = self._training.form, QtWidgets.QWidget()
        layout = QtWidgets.QVBoxLayout(body)
        layout.setContentsMargins(0, 0, EDGE, 0)
        layout.setSpacing(4)
        self.views, self.folds = [], []
        first = [field for field in form.group("farm") if field["name"] in FIRST_OF_FARM]
        first.sort(key=lambda field: FIRST_OF_FARM.index(field["name"]))
        rest = [field for field in form.group("farm") if field["name"] not in FIRST_OF_FARM]
        layout.addWidget(self._fold(tr("CopyCat"), form.group("knobs"), True))
        layout.addWidget(self._fold(tr("Further settings"), form.group("training"), False))
        layout.addWidget(self._fold(tr("Farm"), first, True))
        self._place_of_options = QtWidgets.QVBoxLayout()
        layout.addLayout(self._place_of_options)
        layout.addWidget(self._fold(tr("Farm, further"), rest, False))
        layout.addWidget(self._fold(tr("Result"), form.group("result"), False))
        layout.addStretch(1)
        self.setWidget(body)
        form.changed.subscribe(self._refresh)
        self._refresh_farm()

    def _fold(self, title: str, fields: List[Field], is_open: bool) -> Fold:
        view = self._view(self._training.form, fields)
        self.views.append(view)
        fold = Fold(title, view, is_open)
        self.folds.append(fold)
        return fold

    def _view(self, form: Form, fields: List[Field]) -> FormView:
        view = FormView(form, fields, self._training.suggestions)
        view.complained.connect(self.complained)
        return view

    def _refresh(self) -> None:
        for fold, view in zip(self.folds, self.views):
            count = view.num_chosen()
            fold.set_note(tr("{count} changed").format(count=count) if count else "")
        if self._training.farm != self._farm_shown:
            self._refresh_farm()

    def _refresh_farm(self) -> None:
        """The chosen farm's own options, and the names that it knows."""
        self._farm_shown = self._training.farm
        form = self._training.farm_form()
        if self._farm_options is None or self._farm_options[0] is not form:
            self._drop_options()
            self._show_options(form)
        for view in self.views:
            view.refresh_suggestions()
        if self.views:
            self._note_farms()
            self._refresh()

    def _drop_options(self) -> None:
        if self._farm_options is not None:
            _, fold, view = self._farm_options
            view.forget()
            self._place_of_options.removeWidget(fold)
            fold.deleteLater()
            self._farm_options = None

    def _show_options(self, form: Optional[Form]) -> None:
        if form is not None and form.fields:
            view = self._view(form, form.fields)
            fold = Fold(tr("Options of {farm}").format(farm=self._training.farm), view, is_open=False)
            self._place_of_options.addWidget(fold)
            self._farm_options = form, fold, view

    def _note_farms(self) -> None:
        """What a farm is, as its tooltip."""
        editor = self.editor("farm")
        about = next((farm["doc"] for farm in self._training.farms if farm["name"] == self._training.farm), "")
        if about:
            editor.setToolTip(f"{editor.toolTip()}\n{self._training.farm}: {about}")
