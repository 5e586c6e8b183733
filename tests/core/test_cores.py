"""How many cores a process may use: those that it may run on, and no more than a container's limit has time for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy import cores
from understudy.cores import cores_given, cores_seen

GROUPS_OF_CPU = Path("/sys/fs/cgroup/cpu")
"""Of version 1."""


@pytest.fixture
def cgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 64 cores, whose groups are in that folder."""
    monkeypatch.setattr(cores, "CGROUPS", tmp_path)
    monkeypatch.setattr(cores, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(cores, "cores_seen", lambda: tuple(range(64)))
    return tmp_path


def given(folder: Path, own: str, limits: dict[str, str]) -> int:
    for name, text in {"own": own, **limits}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="ascii")
    return cores_given()


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/", {}, 64),
        ("0::/", {"cpu.max": "max 100000"}, 64),
        ("0::/", {"cpu.max": "400000 100000"}, 4),
        ("0::/", {"cpu.max": "150000 100000"}, 1),
        ("0::/", {"cpu.max": "50000 100000"}, 1),
        ("0::/", {"cpu.max": "9900000 100000"}, 64),
        ("0::/farm/task", {"farm/cpu.max": "800000 100000", "farm/task/cpu.max": "max 100000"}, 8),
        ("0::/docker/1f2e", {"cpu.max": "200000 100000"}, 2),
        (
            "4:cpu,cpuacct:/\n3:cpuset:/",
            {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"},
            64,
        ),
        (
            "3:cpuset:/task\n4:cpu,cpuacct:/task",
            {"cpu/task/cpu.cfs_quota_us": "30000", "cpu/task/cpu.cfs_period_us": "10000"},
            3,
        ),
        ("no such lines", {}, 64),
    ],
)
def test_a_container_s_limit_counts(cgroups: Path, own: str, limits: dict[str, str], expected: int) -> None:
    assert given(cgroups, own, limits) == expected


def test_without_groups_it_is_what_the_scheduler_gives(cgroups: Path) -> None:
    assert cores_given() == 64
    assert not (cgroups / "own").exists()


def test_a_process_that_is_bound_to_a_core_has_one() -> None:
    if hasattr(os, "sched_setaffinity"):
        core = cores_seen()[-1]
        bound = f"import os; os.sched_setaffinity(0, [{core}]); "
        words = bound + "from understudy.cores import *; print(cores_given(), *cores_seen())"
        assert said_by(words).split() == ["1", str(core)]
    assert 1 <= cores_given() <= len(cores_seen())


@pytest.fixture
def limited() -> Iterator[Path]:
    """A group with the time of one core."""
    group = GROUPS_OF_CPU / f"understudy-{os.getpid()}"
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text("100000", encoding="ascii")
    except OSError as error:
        pytest.skip(f"groups with a limit are not to be had here: {error}")
    yield group
    group.rmdir()


@pytest.mark.cgroups
def test_a_real_limit_counts(limited: Path) -> None:
    joined = f"open({str(limited / 'cgroup.procs')!r}, 'w').write('0'); "
    assert said_by(f"{joined}from understudy.cores import cores_given; print(cores_given())") == "1"


def said_by(words: str) -> str:
    return subprocess.run([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
