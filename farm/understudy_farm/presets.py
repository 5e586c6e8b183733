"""Where choices come from: the studio's TOML, what this user chose last, the environment. Flags go over all of them.

[defaults]                 for every submission
farm = "deadline"
[farm.deadline]            choices and options for one farm
url = "http://farm:8082"
pool = "gpu"
[preset.overnight]         chosen with --preset overnight
priority = 20
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import tomli

from understudy.errors import UnderstudyError
from understudy.files import make_folder, write_text
from understudy_farm.backend import FarmBackend, Site
from understudy_farm.choices import Choices, changed
from understudy_farm.registry import farm_named

PRESETS = "UNDERSTUDY_PRESETS"
"""Environment variable: the studio's TOML files, separated as PATH is; the later go over the earlier."""
HOME = "UNDERSTUDY_HOME"
"""Environment variable: the user's own folder, instead of ~/.understudy."""
PREFIX = "UNDERSTUDY_SUBMIT_"
"""UNDERSTUDY_SUBMIT_POOL sets the choice pool, or the farm's option of that name."""

Table = Mapping[str, object]


def home(environment: Mapping[str, str] = os.environ) -> Path:
    return Path(environment[HOME]) if environment.get(HOME) else Path.home() / ".understudy"


def chosen(
    flags: Table,
    farm_options: Mapping[str, str],
    *,
    preset: str = "",
    take_last: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Choices, FarmBackend, Site]:
    """Choices, the farm that they name, and its options, from all sources; `take_last`: the last submission's too.

    Raises UnderstudyError, or Problems, naming the file, variable or flag that is wrong.
    """
    tables = _tables(environment, preset)
    farm_name = _farm_name(flags, tables, environment)
    farm = farm_named(farm_name)
    known = {option.name for option in farm.options}
    choices, options = Choices(), {option.name: option.default for option in farm.options}
    layers = [*((origin, _for_farm(origin, table, farm_name)) for origin, table in tables)]
    if take_last:
        layers.append(("last submission", _last(environment, farm_name)))
    layers.append(("environment", _from_environment(environment)))
    layers.append(("--farm-option", dict(farm_options)))
    layers.append(("flags", {**flags, "farm": farm_name}))
    for origin, layer in layers:
        own = {name: str(value) for name, value in layer.items() if name in known}
        options.update(own)
        choices = changed(choices, {name: value for name, value in layer.items() if name not in own}, origin)
    return choices, farm, Site(values=options)


def remember(choices: Choices, environment: Mapping[str, str] = os.environ) -> None:
    """Keep what the next submission to the same farm takes over. A home that cannot be written is no fault."""
    fields = dataclasses.fields(Choices)
    kept = {
        field.name: getattr(choices, field.name)
        for field in fields
        if field.metadata["sticky"] and getattr(choices, field.name) != field.default
    }
    path = _last_path(environment, choices.farm)
    with suppress(UnderstudyError):
        make_folder(path.parent)
        write_text(path, json.dumps(kept, indent=2) + "\n")


def _farm_name(flags: Table, tables: list[tuple[str, Table]], environment: Mapping[str, str]) -> str:
    stated = [str(table["farm"]) for _, table in tables if isinstance(table.get("farm"), str)]
    return str(flags.get("farm") or environment.get(f"{PREFIX}FARM") or [Choices().farm, *stated][-1])


def _tables(environment: Mapping[str, str], preset: str) -> list[tuple[str, Table]]:
    """Of all presets files: the defaults, then the farms (under `farms`), then the preset asked for."""
    paths = [*map(Path, filter(None, environment.get(PRESETS, "").split(os.pathsep))), home(environment) / "farm.toml"]
    files = [(path, _read_toml(path)) for path in paths if path != paths[-1] or path.exists()]
    found = [(f"{path}: [defaults]", _table(path, content, "defaults")) for path, content in files]
    found += [(f"{path}: [farm]", {"farms": _table(path, content, "farm")}) for path, content in files]
    presets = [(path, _table(path, content, "preset")) for path, content in files]
    asked = [(f"{path}: [preset.{preset}]", _table(path, table, preset)) for path, table in presets if preset in table]
    is_known = asked or not preset
    if not is_known:
        raise UnderstudyError(f"--preset {preset}: no presets file has it; looked in {', '.join(map(str, paths))}")
    return found + asked


def _for_farm(origin: str, table: Table, farm: str) -> Table:
    """The part of a layer that is meant for this farm."""
    farms = table.get("farms")
    if isinstance(farms, Mapping):
        own = farms.get(farm, {})
        if not isinstance(own, Mapping):
            raise UnderstudyError(f"{origin}.{farm}: is no table; write [farm.{farm}]")
        return own
    return table


def _read_toml(path: Path) -> Table:
    try:
        content: Table = tomli.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); correct {PRESETS}") from error
    except ValueError as error:
        raise UnderstudyError(f"{path}: is no TOML ({error}); correct it") from error
    unknown = sorted(content.keys() - {"defaults", "farm", "preset"})
    if unknown:
        raise UnderstudyError(f"{path}: [{unknown[0]}] is unknown; there are [defaults], [farm.NAME], [preset.NAME]")
    return content


def _table(path: Path, content: Table, name: str) -> Table:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise UnderstudyError(f"{path}: {name} is no table; write [{name}]")
    return table


def _from_environment(environment: Mapping[str, str]) -> Table:
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environment.items()
        if name.startswith(PREFIX) and name != f"{PREFIX}FARM"
    }


def _last_path(environment: Mapping[str, str], farm: str) -> Path:
    return home(environment) / f"last.{farm}.json"


def _last(environment: Mapping[str, str], farm: str) -> Table:
    """What the last submission to this farm chose; of another version or damaged: nothing."""
    try:
        kept = json.loads(_last_path(environment, farm).read_text(encoding="utf-8"))
        if not isinstance(kept, dict):
            return {}
        changed(Choices(), kept, "")
    except (OSError, ValueError, RecursionError, UnderstudyError):
        return {}
    return kept
