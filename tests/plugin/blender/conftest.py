"""Blenders that are here, and a shot that one of them renders."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FIRST, LAST = 1001, 1024


def blenders() -> dict[str, list[str]]:
    """Commands that run a script inside Blender: one with windows, before 5.0, and the module from 5.0 on."""
    found = {}
    if command := shutil.which("blender"):
        found["blender"] = [command, "-b", "--factory-startup", "--python-exit-code", "9", "-P"]
    if python := os.environ.get("UNDERSTUDY_BPY"):
        found["bpy"] = [python]
    return found


def inside(blender: str, script: str, words: Sequence[str], **more: str) -> str:
    """Run a script inside a Blender, or skip; everything that it printed."""
    if blender not in blenders():
        pytest.skip("no command blender" if blender == "blender" else "UNDERSTUDY_BPY names no Python that has bpy")
    command = [*blenders()[blender], str(HERE / script), "--", *words]
    done = subprocess.run(
        command, env={**os.environ, **more}, capture_output=True, text=True, check=False, errors="replace"
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    assert "Traceback" not in printed, printed
    return printed


@pytest.fixture(scope="session")
def shot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of plate.1001.exr to plate.1024.exr, multi-layer, with the hero's Cryptomatte."""
    folder = tmp_path_factory.mktemp("shot")
    inside(next(iter(blenders()), "blender"), "shot.py", [str(folder), str(FIRST), str(LAST)])
    return folder
