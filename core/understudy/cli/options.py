"""Flags that several commands share, made from the tables they belong to, and the values built from them."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from understudy import settings as settings_room
from understudy.errors import UnderstudyError
from understudy.settings import Settings, as_flag, field_choices, field_doc

if TYPE_CHECKING:
    from understudy.frames.colour import ColourRules

PROGRESS_STYLES = ("auto", "plain", "bar", "deadline", "openjd", "afanasy")
COLOUR_FLAGS = {
    "config": ("--ocio", "OCIO config; default $OCIO, else OpenImageIO's built-in one"),
    "working_space": ("--working-space", "scene-linear space of all pixels; default lin_rec709_scene or scene_linear"),
    "display": ("--display", "OCIO display of contact sheets; default the config's"),
    "view": ("--display-view", "OCIO view of contact sheets; default the display's"),
}


def add_settings(parser: argparse.ArgumentParser, names: Iterable[str] | None = None) -> None:
    """A flag for each field of Settings (or those named). Absent flags leave no trace in the namespace."""
    group = parser.add_argument_group("training")
    wanted = set(names) if names is not None else None
    for field in dataclasses.fields(Settings):
        if wanted is not None and field.name not in wanted:
            continue
        default: object = field.default
        shown = "" if default in ("", None) else f" (default {default})"
        doc = (field_doc(field) + shown).replace("%", "%%")
        flag = as_flag(field.name)
        if field.name == "gpu":
            group.add_argument(flag, type=int, metavar="N", help=doc, default=argparse.SUPPRESS)
        elif isinstance(default, bool):
            action = argparse.BooleanOptionalAction
            group.add_argument(flag, action=action, help=doc, default=argparse.SUPPRESS)
        else:
            kind = Path if default is None or isinstance(default, Path) else type(default)
            choices = field_choices(field.name) or None
            metavar = None if choices else kind.__name__.upper()
            group.add_argument(flag, type=kind, choices=choices, metavar=metavar, help=doc, default=argparse.SUPPRESS)


def given_settings(arguments: argparse.Namespace) -> dict[str, object]:
    """The fields of Settings that were given as flags."""
    names = {field.name for field in dataclasses.fields(Settings)}
    return {name: value for name, value in vars(arguments).items() if name in names}


def implied_settings(arguments: argparse.Namespace) -> dict[str, object]:
    """What flags ask for besides their own field; a knob or another flag goes over it."""
    return {"device": "gpu"} if "gpu" in vars(arguments) else {}


def settings_of(arguments: argparse.Namespace, knobs: Mapping[str, object] | None = None) -> Settings:
    """Defaults, then what flags imply, then a node's knobs, then the flags. Raises Problems for values out of range."""
    merged = {**implied_settings(arguments), **(knobs or {}), **given_settings(arguments)}
    settings = dataclasses.replace(Settings(), **merged)  # type: ignore[arg-type]
    settings_room.check(settings)
    return settings


def add_colour(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("colour")
    for name, (flag, doc) in COLOUR_FLAGS.items():
        group.add_argument(flag, dest=f"colour_{name}", default="", metavar="NAME", help=doc)


def colour_rules(arguments: argparse.Namespace) -> ColourRules:
    """Raises Problems when the config, space, display or view does not exist."""
    from understudy.frames.colour import ColourRules  # OpenImageIO: not for --help

    stated = {name: getattr(arguments, f"colour_{name}") for name in COLOUR_FLAGS}
    stated["config"] = stated["config"] or os.environ.get("OCIO", "")  # a run may be resumed where it is another one
    if stated["config"] and "://" not in stated["config"]:
        stated["config"] = str(Path(stated["config"]).absolute())  # or from another folder
    rules = ColourRules(**stated)
    rules.check()
    return rules


def add_voice(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("messages")
    group.add_argument(
        "--progress", choices=PROGRESS_STYLES, default="auto", help="what is printed; a farm's name adds its own lines"
    )
    group.add_argument("-V", dest="verbosity", type=int, default=0, metavar="LEVEL", help="0, 1 or 2: more is said")


def frame_list(text: str | None) -> tuple[int, ...]:
    """1001,1013-1040x9 as frames; none when the flag was not given. Raises UnderstudyError when it is no frame list."""
    if not text:
        return ()
    from understudy.frames.sequence import parse_frames  # numpy and more: not for --help

    return parse_frames(text)


def remap_rules(text: str) -> tuple[tuple[str, str], ...]:
    """FROM,TO,FROM,TO,... as Nuke's --remap has it. Raises UnderstudyError when one is left over."""
    words = [word for word in text.split(",") if word] if text else []
    if len(words) % 2:
        raise UnderstudyError(f"--remap {text}: give pairs FROM,TO[,FROM,TO...]")
    return tuple(zip(words[::2], words[1::2], strict=True))
