"""Model files: their bytes are sealed by a digest, and what is forged with a right one is a model or refused."""

from __future__ import annotations

import argparse
import io
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

from tests.fuzz.damage import damaged
from tests.fuzz.kind import Kind

from understudy.cli.main import parsed

# What knows torch is imported by these kinds alone: it takes seconds.


def _models() -> Sequence[Path]:
    from tests.core.train.export.models import lively_model, save_lively_model

    return [save_lively_model(Path("comp.40.safetensors"), lively_model())]


def _read_model(path: Path) -> None:
    arguments = _parsed(path)
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")):
        arguments.run(arguments)


@cache
def _parsed(path: Path) -> argparse.Namespace:
    return parsed(["info", str(path)])


def _damage(_: Path, content: bytes, chance: random.Random) -> bytes:
    from tests.fuzz.model_parts import MODEL_DAMAGES

    return damaged(content, chance, MODEL_DAMAGES)


def _forge(_: Path, content: bytes, chance: random.Random) -> bytes:
    from tests.fuzz.model_parts import forged

    return forged(content, chance)


MODEL_KINDS = (
    Kind(name="model", cases=2000, lay_out=_models, damage=_damage, read=_read_model, is_sealed=True),
    Kind(name="forged_model", cases=400, lay_out=_models, damage=_forge, read=_read_model),
)
