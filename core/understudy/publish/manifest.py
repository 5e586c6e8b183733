"""publish.json: what lies in a published version and what it is, for an asset system."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy import __version__
from understudy.files import write_text
from understudy.frames.sequence import format_frames
from understudy.publish.facts import Facts
from understudy.publish.result import Result
from understudy.report.run_record import now
from understudy.train.export.hosts import Host
from understudy.versions import Version

MANIFEST = "publish.json"
SCHEMA = 1
"""Raised whenever an older reader could misread what a newer one writes."""

_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Published:
    """What a manifest tells besides the files."""

    name: str
    facts: Facts
    licence: str
    result: Result | None
    left_out: Mapping[Host, str]
    """Exports that there are not, and why."""
    roles: Mapping[str, str]
    """Path of each file or folder, from the version's folder, to what it is for."""


def write_manifest(folder: Path, version: Version, published: Published) -> None:
    """Write it for the files that lie in the folder. Raises UnderstudyError naming what cannot be read or written."""
    model, card, run = published.facts.model, published.facts.model.card, published.facts.run
    about = {
        "schema": SCHEMA,
        "name": published.name,
        "version": version.number,
        "folder": version.place.name,
        "published": now(),
        "licence": published.licence,
        "model": {
            "run": card.run_name,
            "step": card.step,
            "input_channels": model.spec.input_channels,
            "target_channels": model.spec.target_channels,
            "model_size": model.spec.model_size,
            "num_weights": model.num_weights,
            "working_space": card.working_space,
            "loss": _finite(card.loss),
            "validation_psnr": _finite(card.validation_psnr),
            "training_frames": format_frames(published.facts.training_frames),
            "validation_frames": format_frames(published.facts.validation_frames),
        },
        "run_directory": str(run.files.directory.absolute()) if run else "",
        "result": _about_result(published.result),
        "exports_left_out": dict(published.left_out),
        "files": [_about_file(path, folder, published.roles) for path in _files_in(folder)],
        "understudy": __version__,
    }
    write_text(folder / MANIFEST, json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def _finite(value: float | None) -> float | None:
    """JSON knows no infinity, which is the PSNR of a picture that is hit exactly."""
    return value if value is not None and math.isfinite(value) else None


def _about_result(result: Result | None) -> dict[str, object] | None:
    if result is None:
        return None
    return {
        "pattern": result.pattern,
        "frames": format_frames(result.frames),
        "missing": format_frames(result.missing),
        "fps": result.fps,
    }


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _about_file(path: Path, folder: Path, roles: Mapping[str, str]) -> dict[str, object]:
    place = path.relative_to(folder)
    role = next(roles[one] for one in map(Path.as_posix, (place, *place.parents)) if one in roles)
    return {"path": place.as_posix(), "role": role, "bytes": path.stat().st_size, "sha256": sha256_of(path)}


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
