"""The plugin's modules import `nuke`: in these tests they get the fake. Each test begins a new session of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.plugin.nuke.fake import api, scripts
from tests.plugin.nuke.fake.desk import DESK, Desk, clean

sys.modules["nuke"] = api
sys.modules["nukescripts"] = scripts


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A new session of an artist who has no preferences, beside a studio's Python that has understudy."""
    clean()
    api.scriptClear()
    scripts.REGISTERED.clear()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("UNDERSTUDY_PYTHON", sys.executable)
    monkeypatch.delenv("UNDERSTUDY_KEEP", raising=False)
    return DESK
