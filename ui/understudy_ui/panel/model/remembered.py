"""The last values of each shot, kept in one small file under the user's home."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Dict, List, Mapping, cast

from understudy_ui.protocol import Json

MAX_SHOTS = 200
"""More are forgotten, the oldest first."""


def remembered_in(environment: Mapping[str, str]) -> Path:
    home = environment.get("UNDERSTUDY_HOME") or str(Path.home() / ".understudy")
    return Path(home) / "panel.json"


class Remembered:
    """{"shots": {KEY: {"source": {...}, "form": {...}, ...}}}, the newest shot last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shots: Dict[str, Dict[str, Json]] = {}
        self.faults: List[str] = []
        try:
            self._shots = _shots_of(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RecursionError) as error:
            self.faults = [f"{path}: the last values cannot be read ({error}); the defaults are taken"]

    def of(self, key: str) -> Mapping[str, Json]:
        return self._shots.get(key, {})

    def newest(self) -> Mapping[str, Json]:
        return list(self._shots.values())[-1] if self._shots else {}

    def note(self, key: str, about: Mapping[str, Json]) -> None:
        """Written aside and renamed, so that two windows do not leave half a file."""
        self._shots.pop(key, None)
        self._shots[key] = dict(about)
        for old in list(self._shots)[:-MAX_SHOTS]:
            del self._shots[old]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            aside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
            aside.write_text(json.dumps({"shots": self._shots}, indent=1), encoding="utf-8")
            aside.replace(self._path)
        except OSError as error:
            self.faults = [f"{self._path}: the values of this shot cannot be remembered ({error})"]


def _shots_of(content: Json) -> Dict[str, Dict[str, Json]]:
    shots = content.get("shots") if isinstance(content, dict) else None
    if not isinstance(shots, dict):
        raise ValueError("no shots in it")
    return {key: cast("Dict[str, Json]", about) for key, about in shots.items() if isinstance(about, dict)}
