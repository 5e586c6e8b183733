from __future__ import annotations

import dataclasses
from typing import cast

from tests.ui.answers.conftest import Answer
from tests.ui.panel.stand_in_answers import RESULT_FIELDS

from understudy.cli.main import build_parser
from understudy.settings import Settings
from understudy_farm.choices import Choices
from understudy_ui.protocol import FarmShown, Field


def fields_of(answer: Answer) -> dict[str, Field]:
    return {field["name"]: field for field in cast("list[Field]", answer("fields"))}


def test_every_choice_of_a_submission_is_a_field_with_its_own_flag(answer: Answer) -> None:
    fields = fields_of(answer)
    names = {field.name for kind in (Settings, Choices) for field in dataclasses.fields(kind)}
    assert fields.keys() == names
    usage = build_parser()._subparsers._group_actions[0].choices["submit"].format_help()  # type: ignore[union-attr, index]
    assert [name for name, field in fields.items() if field["flag"] not in usage] == []
    assert all(field["doc"] and field["label"] for field in fields.values())


def test_knobs_come_first_by_copycats_own_words(answer: Answer) -> None:
    fields = fields_of(answer)
    assert [*fields][:2] == ["data_directory", "epochs"]
    assert fields["contact_sheet_interval"]["label"] == "Contact Sheet Interval"
    assert fields["multi_resolution"]["label"] == "Use Multi-Resolution Training"
    groups = [field["group"] for field in fields.values()]
    assert [*dict.fromkeys(groups)] == ["knobs", "training", "farm", "result"]
    assert groups == sorted(groups, key=["knobs", "training", "farm", "result"].index)
    assert tuple(name for name, field in fields.items() if field["group"] == "result") == RESULT_FIELDS


def test_kinds_limits_and_defaults_are_those_of_the_tables(answer: Answer) -> None:
    fields = fields_of(answer)
    assert (fields["model_size"]["kind"], fields["model_size"]["choices"]) == ("word", ["small", "medium", "large"])
    crop = fields["crop_size"]
    assert (crop["kind"], crop["default"], crop["low"], crop["unit"]) == ("whole", 96, 16, "pixels")
    kinds = {name: field["kind"] for name, field in fields.items()}
    assert {name: kinds[name] for name in ("minutes", "tensorboard", "initial_weights", "machines", "comment")} == {
        "minutes": "number",
        "tensorboard": "flag",
        "initial_weights": "path",
        "machines": "words",
        "comment": "text",
    }
    assert (fields["machines"]["default"], fields["data_directory"]["default"]) == ([], "understudy")
    assert fields["gpus_per_task"]["label"] == "GPUs Per Task"


def test_farms_tell_what_only_they_can_be_told(answer: Answer) -> None:
    farms = {farm["name"]: farm for farm in cast("list[FarmShown]", answer("farms"))}
    assert {"local", "slurm", "deadline", "opencue", "deadline-cloud"} <= farms.keys()
    options = {option["name"]: option for option in farms["local"]["options"]}
    assert (options["gpus"]["flag"], options["gpus"]["default"]) == ("-O gpus=", "auto")
