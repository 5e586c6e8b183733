"""Where real footage lies, for tests that want it; they are skipped where it is absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
FOOTAGE = Path(os.environ.get("UNDERSTUDY_FOOTAGE", REPO.parent / "shared" / "footage"))

needs_footage = pytest.mark.skipif(not FOOTAGE.is_dir(), reason="real footage is absent (UNDERSTUDY_FOOTAGE)")
