"""The form: everything that a submission may choose, and what each farm can be told besides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from understudy.settings import Settings, as_flag, field_choices
from understudy_farm.choices import Choices
from understudy_farm.registry import all_farms
from understudy_ui.answers.asking import Asking
from understudy_ui.protocol import FarmShown, Field, Json

KNOBS = {
    "data_directory": "Data Directory",
    "epochs": "Epochs",
    "initial_weights": "Checkpoint File",
    "model_size": "Model Size",
    "batch_size": "Batch Size",
    "crop_size": "Crop Size",
    "checkpoint_interval": "Checkpoint Interval",
    "contact_sheet_interval": "Contact Sheet Interval",
    "multi_resolution": "Use Multi-Resolution Training",
    "graph_log_scale": "Log Scale",
    "graph_smoothness": "Smoothness",
    "graph_show_original": "Show Original Curve",
    "run_name": "Run Name",
    "max_checkpoints": "Max Checkpoints",
    "learning_rate": "Learning Rate",
    "seed": "Seed",
}
"""CopyCat's knobs by its own words and in its order; those that it hides come last."""
SPELLINGS = {
    "Gpu": "GPU",
    "Gpus": "GPUs",
    "Cpu": "CPU",
    "Gib": "GiB",
    "Url": "URL",
    "Exr": "EXR",
    "Tensorboard": "TensorBoard",
}
PATHS = ("apply_input", "apply_output")


def fields(asking: Asking) -> list[Field]:
    """Knobs first, then the training's further settings, then where and how it runs, then what becomes of it."""
    del asking
    settings = {field.name: field for field in dataclasses.fields(Settings)}
    ordered = [settings[name] for name in (*KNOBS, *(name for name in settings if name not in KNOBS))]
    shown = [_field(field, "knobs" if field.name in KNOBS else "training") for field in ordered]
    choices = [_field(field, _group_of(field.name)) for field in dataclasses.fields(Choices)]
    return [*shown, *sorted(choices, key=lambda field: field["group"] == "result")]


def farms(asking: Asking) -> list[FarmShown]:
    del asking
    return [
        {
            "name": name,
            "doc": farm.doc,
            "options": [
                _described(option.name, f"-O {option.name}=", option.doc, "farm", option.default)
                for option in farm.options
            ],
        }
        for name, farm in all_farms().items()
    ]


def _group_of(choice: str) -> str:
    return "result" if choice.startswith("apply_") or choice == "publish" else "farm"


def _field(field: dataclasses.Field[object], group: str) -> Field:
    about = field.metadata
    shown = _described(field.name, as_flag(field.name), str(about["doc"]), group, _as_json(field.default))
    words = list(field_choices(field.name)) if group in ("knobs", "training") else []
    return {
        **shown,
        "kind": "word" if words else _kind_of(field),
        "choices": words,
        "low": about["low"],
        "high": about["high"],
        "unit": about["unit"],
    }


def _described(name: str, flag: str, doc: str, group: str, default: Json) -> Field:
    """A text, unless more is known."""
    return {
        "name": name,
        "flag": flag,
        "label": KNOBS.get(name) or " ".join(_spelt(name)),
        "doc": doc,
        "group": group,
        "kind": "text",
        "default": default,
        "choices": [],
        "low": None,
        "high": None,
        "unit": "",
    }


def _spelt(name: str) -> Iterator[str]:
    """sync_interval -> Sync Interval"""
    for word in name.split("_"):
        yield SPELLINGS.get(word.capitalize(), word.capitalize())


def _kind_of(field: dataclasses.Field[object]) -> str:
    default = field.default
    if default is None or isinstance(default, Path) or field.name in PATHS:
        return "path"
    if isinstance(default, bool):
        return "flag"
    if isinstance(default, tuple):
        return "words"
    return {int: "whole", float: "number"}.get(type(default), "text")


def _as_json(value: object) -> Json:
    if isinstance(value, tuple):
        return [str(word) for word in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
