"""A studio's own farms: a package with entry points, installed as pip installs it; what is wrong with it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot

from understudy_farm import registry
from understudy_farm.backend import FarmBackend
from understudy_farm.backends.local import LocalFarm
from understudy_farm.registry import all_farms, farm_named
from understudy_farm.testing import FarmContract

PACKAGE = Path(__file__).parent / "studio_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip put the studio's package."""
    folder = tmp_path_factory.mktemp("site")
    words = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder), str(PACKAGE)]
    subprocess.run([sys.executable, "-m", "pip", "install", *words], check=True)
    return folder


@pytest.fixture(autouse=True)
def _studio(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For this process, and for the watchers that it starts."""
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")])))


def test_a_farm_of_our_own_is_found_without_a_look_at_all_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", None)
    assert isinstance(farm_named("local"), LocalFarm)


class TestStudioFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return farm_named("idle")


def test_farms_that_cannot_be_used_are_reported_and_left_out() -> None:
    said: list[str] = []
    farms = all_farms(said.append)
    assert {"idle", "local", "slurm"} <= farms.keys()
    assert not {"broken", "unfinished"} & farms.keys()
    broken, unfinished = said
    assert broken.startswith("farm broken is left out: ModuleNotFoundError: No module named 'studio_farm_of_last_year'")
    assert unfinished == (
        "farm unfinished is left out: TypeError: it has no payload, workers, send, status, log, cancel, requeue"
    )


def test_nobody_takes_a_name_of_ours() -> None:
    assert isinstance(farm_named("local"), LocalFarm)


def test_a_farm_that_cannot_be_used_is_refused_by_name(command: Command, shot: SmallShot) -> None:
    words = ["submit", *shot.train_words("--farm", "broken")[1:]]
    assert "its back end cannot be used (ModuleNotFoundError" in command.refused(*words)
    assert not shot.data.exists()
    assert command("farms").out.count("idle: this machine, when it has nothing else to do") == 1
