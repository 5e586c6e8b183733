"""`understudy` as a user types it: in this process for speed, or as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from understudy.cli.main import main

SCRIPT = """Root {
 inputs 0
}
Read {
 inputs 0
 file paint.####.exr
 first 1001
 last 1001
 name Read2
}
Read {
 inputs 0
 file plate.####.exr
 first 1001
 last 1001
 name Read1
}
%(upstream)sCopyCat {
 inputs 2
 dataDirectory data
 batchSizeType Manual
 batchSize 2
 cropSize 32
 modelSize Small
 epochs 2
%(knobs)s name CopyCat1
}
"""


@dataclass(frozen=True)
class Ending:
    """How a command ended."""

    code: int
    out: str
    faults: list[str]
    """Lines of stderr."""


class Command:
    """Runs the command line in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str | Path) -> Ending:
        self._capsys.readouterr()
        code = main([str(word) for word in words])
        printed = self._capsys.readouterr()
        return Ending(code, printed.out, printed.err.splitlines())

    def refused(self, *words: str | Path, lines: int = 1) -> str:
        """The faults of a command that must end with code 2, that many lines, each said once and by name."""
        ending = self(*words)
        assert ending.code == 2, ending
        assert len(ending.faults) == len(set(ending.faults)) == lines, ending.faults
        assert all(line.startswith("understudy: ") for line in ending.faults)
        assert "Traceback" not in ending.out
        return "\n".join(ending.faults)


def write_script(folder: Path, *, knobs: str = "", upstream: str = "", more: str = "", name: str = "shot.nk") -> Path:
    """A Nuke script that trains on frame 1001 of a small shot in the same folder."""
    path = folder / name
    path.write_text(SCRIPT % {"knobs": knobs, "upstream": upstream} + more)
    return path


def start(*words: str | Path, python: str = "", environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A process of its own, after the Python lines `python`."""
    program = f"{python}\nimport sys\nfrom understudy.cli.main import run\nsys.argv[0] = 'understudy'\nrun()"
    return subprocess.Popen(
        [sys.executable, "-u", "-c", program, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )


def end_of(process: subprocess.Popen[str]) -> Ending:
    out, faults = process.communicate(timeout=60)
    return Ending(process.returncode, out, faults.splitlines())


def files_in(folder: Path) -> set[str]:
    """Everything under the folder, by path from it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
