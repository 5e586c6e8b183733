"""Thousands of damaged files of every kind that is read: each is read, or refused in clear lines; nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.footage import needs_footage
from tests.fuzz.campaign import campaign
from tests.fuzz.kind import Kind
from tests.fuzz.kinds import KINDS
from tests.fuzz.kinds_of_frames import FOOTAGE_KIND
from tests.fuzz.kinds_of_sources import SCRIPTS
from tests.fuzz.misbehaving import MISBEHAVING
from tests.fuzz.worker import OURS, REPO

from understudy.script.graph import read_script
from understudy.script.nodes import BY_NAME as NODE_CLASS_BY_NAME

TIMES = int(os.environ.get("UNDERSTUDY_FUZZ_TIMES", "1"))
"""For longer campaigns: so many times the cases."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(0),  # each case has a limit of its own
    pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by means of Linux"),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_damaged_files_give_only_clear_errors(kind: Kind, tmp_path: Path) -> None:
    _check(kind, tmp_path)


@needs_footage
def test_damaged_footage_gives_only_clear_errors(tmp_path: Path) -> None:
    _check(FOOTAGE_KIND, tmp_path)


def _check(kind: Kind, folder: Path) -> None:
    cases = kind.cases * TIMES
    outcome = campaign(kind, cases, folder)
    assert not outcome.faults, f"\n{outcome.report(kind)}"
    assert outcome.read + outcome.refused == cases
    assert outcome.read, "no damage was so slight that the file could still be read"
    assert outcome.refused or kind.is_forgiving


def test_every_class_that_is_evaluated_is_in_a_script_that_is_damaged() -> None:
    files = [path for path in SCRIPTS.iterdir() if path.suffix in (".nk", ".gizmo")]
    stated = {node.class_name for path in files for node in read_script(path).nodes}
    assert not NODE_CLASS_BY_NAME.keys() - stated


def test_there_are_ten_thousand_cases() -> None:
    assert sum(kind.cases for kind in KINDS) >= 10_000


def test_whatever_goes_wrong_is_noticed_and_the_next_case_tried(tmp_path: Path) -> None:
    outcome = campaign(MISBEHAVING, MISBEHAVING.cases, tmp_path, seconds_a_case=12.0)
    assert {(what, where) for what, where in outcome.faults} == {
        ("crash -11", ""),
        ("hang", ""),
        ("AttributeError", "core/understudy/frames/window.py:union"),
        ("a line that names no file, frame, node or knob", ""),
        ("a line of 5012 characters", ""),
        ("memory", ""),
        ("MemoryError", ""),
    }
    assert outcome.read > 0 < outcome.refused
    assert f"python -m tests.fuzz misbehaving {outcome.faults['hang', ''].seeds[0]}" in outcome.report(MISBEHAVING)


def test_a_case_can_be_seen_again(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPO), *OURS])}
    words = [sys.executable, "-m", "tests.fuzz", "record", "1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    damaged, said = done.stdout.splitlines()
    assert Path(damaged).is_file()
    assert "run.json" in said
