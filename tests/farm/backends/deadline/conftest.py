"""A farm for every test that asks for one, and its password; the user's own ~/.netrc and proxies are not looked at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.farm.backends.deadline.fake_farm import FakeFarm
from tests.farm.backends.deadline.fake_service import PASSWORD, fake_farm

THINKBOX = Path(__file__).with_name("thinkbox_api")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return home


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeFarm]:
    monkeypatch.setenv("UNDERSTUDY_DEADLINE_PASSWORD", PASSWORD)
    with fake_farm() as farm:
        yield farm


@pytest.fixture
def thinkbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Deadline.DeadlineConnect can be imported, as where a studio has put it."""
    monkeypatch.syspath_prepend(THINKBOX)
    yield
    for name in ("Deadline", "Deadline.DeadlineConnect"):
        sys.modules.pop(name, None)
