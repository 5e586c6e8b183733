"""The values of a form, and the words that say them."""

from __future__ import annotations

import pytest

from understudy_ui.panel.model.form import Form, field_words, spoken_value
from understudy_ui.protocol import Field, Json


def make_field(name: str, kind: str, default: Json, flag: str = "", group: str = "knobs") -> Field:
    return {
        "name": name,
        "flag": flag or "--" + name.replace("_", "-"),
        "label": name,
        "doc": f"what {name} is",
        "group": group,
        "kind": kind,
        "default": default,
        "choices": [],
        "low": None,
        "high": None,
        "unit": "",
    }


@pytest.fixture
def form() -> Form:
    fields = [
        make_field("epochs", "whole", 10000),
        make_field("multi_resolution", "flag", True),
        make_field("limits", "words", [], group="farm"),
    ]
    return Form(fields)


def test_nothing_is_said_of_defaults(form: Form) -> None:
    assert form.words() == []
    form.set("epochs", 10000)
    assert not form.is_chosen("epochs")


def test_what_was_chosen_is_said_in_the_order_of_the_form(form: Form) -> None:
    form.set("limits", ["torch", "gpu"])
    form.set("epochs", 200)
    assert form.words() == ["--epochs", "200", "--limits", "torch,gpu"]


def test_a_nodes_knob_lies_under_what_was_chosen(form: Form) -> None:
    form.take_node({"epochs": 400})
    assert (form.value("epochs"), form.is_of_node("epochs"), form.words()) == (400, True, [])
    form.set("epochs", 10000)
    assert form.words() == ["--epochs", "10000"]
    form.reset("epochs")
    assert (form.value("epochs"), form.words()) == (400, [])


def test_remembered_values_of_fields_that_are_gone_are_left_out(form: Form) -> None:
    form.take_chosen({"epochs": 5, "of_an_older_version": 1})
    assert form.chosen() == {"epochs": 5}


def test_a_change_is_told_once_and_none_is_not(form: Form) -> None:
    told: list[None] = []
    form.changed.subscribe(lambda: told.append(None))
    form.set("epochs", 7)
    form.set("epochs", 7)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (make_field("multi_resolution", "flag", True), False, ["--no-multi-resolution"]),
        (make_field("tensorboard", "flag", False), True, ["--tensorboard"]),
        (make_field("learning_rate", "number", 0.001), 3e-05, ["--learning-rate", "3e-05"]),
        (make_field("publish", "text", ""), "-x now", ["--publish=-x now"]),
        (make_field("array", "flag", False, "-O array="), True, ["-O", "array=yes"]),
        (make_field("qos", "text", "", "-O qos="), "high", ["-O", "qos=high"]),
    ],
)
def test_words_of_one_field(field: Field, value: Json, words: list[str]) -> None:
    assert field_words(field, value) == words


def test_yes_is_not_one(form: Form) -> None:
    form.set("multi_resolution", 1)
    assert form.is_chosen("multi_resolution")


def test_values_as_people_say_them() -> None:
    values: list[Json] = [True, False, "", [], 0.6, ["a", "b"]]
    assert list(map(spoken_value, values)) == ["on", "off", "none", "none", "0.6", "a,b"]


def test_remembered_values_of_another_kind_are_left_out(form: Form) -> None:
    form.take_chosen({"epochs": "large", "multi_resolution": 1, "limits": "torch", "unheard_of": 5})
    assert form.words() == []
    form.take_chosen({"epochs": 5, "multi_resolution": False, "limits": ["torch"]})
    assert form.words() == ["--epochs", "5", "--no-multi-resolution", "--limits", "torch"]
