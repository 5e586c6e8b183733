"""A campaign: all cases of a kind in child processes; one that dies is started again behind the case that killed it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.footage import FOOTAGE
from tests.fuzz.kind import Kind
from tests.fuzz.worker import FAULTS, OURS, PROGRESS, REPO

from understudy.errors import EXIT_BUG

SECONDS_A_CASE = 20.0
"""After that it hangs. Many times what the slowest takes on a slow machine."""
MOST_DEATHS = 25
"""Of one kind; then the rest is left, since something is wrong with all of it."""
_TIMEOUT = "Timeout ("
"""How faulthandler begins when the time is over."""
_FRAME = re.compile(r'File "([^"]+)", line \d+ in (\S+)')


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One way to go wrong, in which many cases may end."""

    what: str
    where: str
    """file:function of ours."""
    said: str
    """By the first of them."""
    seeds: list[int]


@dataclass(kw_only=True)
class Outcome:
    """How a kind fared."""

    read: int = 0
    """Were as good as whole."""
    refused: int = 0
    faults: dict[tuple[str, str], Fault] = field(default_factory=dict)

    def add(self, seed: int, what: str, where: str, said: str) -> None:
        self.faults.setdefault((what, where), Fault(what=what, where=where, said=said, seeds=[])).seeds.append(seed)

    def report(self, kind: Kind) -> str:
        """Two lines for every fault: what it is, and how to see it again."""
        return "\n".join(
            f"{fault.what} in {fault.where or 'no code of ours'} ({len(fault.seeds)} cases): {fault.said!r}\n"
            f"    python -m tests.fuzz {kind.name} {fault.seeds[0]}"
            for fault in self.faults.values()
        )


def campaign(kind: Kind, cases: int, folder: Path, *, seconds_a_case: float = SECONDS_A_CASE) -> Outcome:
    """Cases 0 to `cases`, in new folders in `folder`."""
    outcome = Outcome()
    first = deaths = 0
    while first < cases and deaths < MOST_DEATHS:
        own = folder / f"from_{first}"
        own.mkdir()
        ended_at = _run(kind, first, cases, own, seconds_a_case, outcome)
        deaths += ended_at < cases
        first = ended_at + 1
    return outcome


def _run(kind: Kind, first: int, end: int, folder: Path, seconds: float, outcome: Outcome) -> int:
    """One child; `end`, or the case that killed it."""
    words = [sys.executable, "-m", "tests.fuzz.worker", kind.name, str(first), str(end), str(seconds)]
    done = subprocess.run(
        words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, env=_environment()
    )
    complaint = done.stderr.decode("utf-8", "replace")
    is_hanging = _TIMEOUT in complaint
    assert done.returncode != EXIT_BUG or is_hanging, complaint[-3000:]  # the fault is this program's own
    for line in (folder / FAULTS).read_text(encoding="utf-8").splitlines():
        outcome.add(**json.loads(line))
    seed, read, refused = map(int, (folder / PROGRESS).read_text(encoding="ascii").split())
    outcome.read += read
    outcome.refused += refused
    if seed < end:
        outcome.add(seed, "hang" if is_hanging else f"crash {done.returncode}", _frame_in(complaint), complaint[-300:])
    return seed


def _environment() -> dict[str, str]:
    """As of a user with an empty home and no studio; relative paths lie in the child's folder."""
    strange = ("UNDERSTUDY_", "COPYCAT_", "OCIO", "COV_CORE_")
    others = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
    paths = os.pathsep.join([str(REPO), *OURS])  # this checkout's own code, wherever another is installed from
    return {**others, "PYTHONPATH": paths, "UNDERSTUDY_HOME": "home", "UNDERSTUDY_FOOTAGE": str(FOOTAGE)}


def _frame_in(complaint: str) -> str:
    """The innermost frame of ours in what faulthandler wrote, the thread that it blames first."""
    found = (match for match in _FRAME.finditer(complaint) if match[1].startswith(OURS))
    return next((f"{Path(match[1]).relative_to(REPO)}:{match[2]}" for match in found), "")
