"""Farms by name: our own, and those that a studio's packages bring by the entry point `understudy.farm`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from understudy.errors import UnderstudyError
from understudy_farm.backend import FarmBackend

GROUP = "understudy.farm"
OWN = {
    "local": "understudy_farm.backends.local:LocalFarm",
    "deadline": "understudy_farm.backends.deadline.farm:DeadlineFarm",
    "deadline-cloud": "understudy_farm.backends.deadline_cloud:DeadlineCloudFarm",
    "opencue": "understudy_farm.backends.opencue:OpenCueFarm",
    "ssh": "understudy_farm.backends.ssh:SshFarm",
    "mpi": "understudy_farm.backends.mpi:MpiFarm",
    "sge": "understudy_farm.backends.sge:SgeFarm",
    "slurm": "understudy_farm.backends.slurm:SlurmFarm",
}
_METHODS = ("capabilities", "payload", "workers", "send", "status", "log", "cancel", "requeue")


def _warn(line: str) -> None:
    sys.stderr.write(f"understudy: {line}\n")


def farm_named(name: str, stated_by: str = "--farm") -> FarmBackend:
    """The back end of that name. Raises UnderstudyError that begins with who said it, naming those that there are."""
    found = OWN if name in OWN else _sources()  # a look at all that is installed takes long
    if name not in found:
        raise UnderstudyError(f"{stated_by} {name}: no such farm; there are {', '.join(sorted(found))}")
    try:
        return _loaded(found[name])
    except Exception as error:  # a stranger's code
        raise UnderstudyError(
            f"{stated_by} {name}: its back end cannot be used ({_reason(error)}); mend its package"
        ) from error


def all_farms(warn: Callable[[str], None] = _warn) -> dict[str, FarmBackend]:
    """Every back end that can be loaded, by name; the others are told of and left out."""
    farms = {}
    for name, source in sorted(_sources().items()):
        try:
            farms[name] = _loaded(source)
        except Exception as error:  # a stranger's code
            warn(f"farm {name} is left out: {_reason(error)}")
    return farms


def _sources() -> Mapping[str, str | EntryPoint]:
    """A package may bring new names; ours stay ours."""
    brought = {entry.name: entry for entry in entry_points(group=GROUP)}
    return {**brought, **OWN}


def _loaded(source: str | EntryPoint) -> FarmBackend:
    if isinstance(source, EntryPoint):
        made = source.load()()
    else:
        module, _, kind = source.partition(":")
        made = getattr(import_module(module), kind)()
    lacking = [name for name in _METHODS if not callable(getattr(made, name, None))]
    if lacking:
        raise TypeError(f"it has no {', '.join(lacking)}")
    return cast(FarmBackend, made)


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
