"""Where real footage lies, for tests that want it; they are skipped where it is absent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

REPO = Path(__file__).resolve().parents[1]
FOOTAGE = Path(os.environ.get("UNDERSTUDY_FOOTAGE", REPO.parent / "shared" / "footage"))

_absent = pytest.mark.skipif(not FOOTAGE.is_dir(), reason="real footage is absent (UNDERSTUDY_FOOTAGE)")
Test = TypeVar("Test", bound=Callable[..., None])


def needs_footage(test: Test) -> Test:
    """Skip where there is none; no set-up can install it, so that such a skip is allowed in CI too."""
    marked: Test = pytest.mark.footage(_absent(test))
    return marked
