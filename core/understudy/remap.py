"""Paths on another machine: which beginnings of paths are replaced by which."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence

from understudy.errors import UnderstudyError

Remap = tuple[tuple[str, str], ...]
"""Beginnings of paths and what replaces them; the first that fits counts."""

PATH_RULES = "UNDERSTUDY_PATH_RULES"
"""Environment variable: the names of one folder on the studio's systems, as `remap_of_rules` reads them."""

_SYSTEMS = {"Windows": "windows", "Linux": "linux", "Darwin": "macos"}
_NAMES = (*_SYSTEMS.values(), "submitted")
"""`submitted`: as the path was written, on whatever system."""
_ON_WINDOWS = re.compile(r"[A-Za-z]:/|//")
_DRIVE_IN_URL = re.compile(r"/[A-Za-z]:/")


def remapped(path: str, remap: Remap) -> str:
    """The path with `/`, and its beginning replaced if one fits. What lies on Windows is compared without case."""
    plain = path.replace("\\", "/")
    if _DRIVE_IN_URL.match(plain):
        plain = plain[1:]
    for before, after in remap:
        beginning = before.replace("\\", "/")
        if plain.startswith(beginning) or (
            _ON_WINDOWS.match(beginning) and plain.lower().startswith(beginning.lower())
        ):
            return after.replace("\\", "/") + plain[len(beginning) :]
    return path


def remap_of_rules(text: str, *, system: str = "") -> Remap:
    """What `windows=P:/show/,linux=/mnt/show/,macos=/Volumes/show/; ...` means on this system (or `system`).

    Every rule names one folder; a system may be left out. Raises UnderstudyError when a rule cannot be read.
    """
    here = system or _SYSTEMS.get(platform.system(), "linux")
    rules = [_names_of(rule) for rule in text.split(";") if rule.strip()]
    return tuple(
        (name, names[here])
        for names in rules
        if here in names
        for other, name in names.items()
        if other != here and name
    )


def rules_text(rules: Sequence[dict[str, str]]) -> str:
    """The text that `remap_of_rules` reads."""
    return "; ".join(",".join(f"{system}={name}" for system, name in rule.items()) for rule in rules)


def _names_of(rule: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for word in rule.split(","):
        system, is_pair, name = word.strip().partition("=")
        if not is_pair or system not in _NAMES or not name:
            raise UnderstudyError(
                f"{PATH_RULES}: {rule.strip()!r} is no path rule; write windows=P:/show/,linux=/mnt/show/; ..."
            )
        names[system] = name
    return names
