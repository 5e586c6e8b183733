"""From the command line to the first step: the real program as a process, where its time goes, and what it waits for.

python -m benchmarks.throughput.startup SECONDS words of understudy...   (that process; SECONDS: when it was begun)
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

Given = TypeVar("Given")

MARK = "beginning "


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """Of a training; seconds."""

    imports: float
    """Python, and all that is imported."""
    decoding: float
    """With what comes before it."""
    fitting: float
    """With the model and all that is chosen."""
    first_step: float
    """With all that is opened for it."""
    waited: float
    """For crops, after the first batch."""

    @property
    def seconds(self) -> float:
        """To the first step."""
        return self.imports + self.decoding + self.fitting + self.first_step

    def __str__(self) -> str:
        return (
            f"{self.seconds:.2f} s: imports {self.imports:.2f}, decoding {self.decoding:.2f}, "
            f"fitting {self.fitting:.2f}, first step {self.first_step:.2f}"
        )


def demo_shot(folder: Path) -> Path:
    """The demo's script, beside its frames."""
    from understudy.demo.script import DemoTraining
    from understudy.demo.shot import DemoShot
    from understudy.demo.write import write_demo

    return write_demo(folder, DemoShot(), DemoTraining(), say=lambda _: None).script


def beginning_of(words: list[str]) -> Beginning:
    """Of `understudy train` with these words, in a process of its own. Raises CalledProcessError."""
    program = [sys.executable, "-m", "benchmarks.throughput.startup", repr(time.time()), "train", *words]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2])
    marked = next(line for line in done.stdout.splitlines() if line.startswith(MARK))
    return Beginning(**json.loads(marked.removeprefix(MARK)))


def main() -> None:
    times, words = [float(sys.argv[1])], sys.argv[2:]
    from understudy.cli.main import main as command
    from understudy.importing import large_imports

    with large_imports():  # as the program does
        from benchmarks.throughput.whole import Watch

        from understudy.dataset import decode
        from understudy.train.state import new_state

    def noting(act: Callable[..., Given]) -> Callable[..., Given]:
        def noted(*arguments: object, **more: object) -> Given:
            given = act(*arguments, **more)
            times.append(time.time())
            return given

        return noted

    times.append(time.time())
    watch = Watch()
    with (
        watch.installed(),
        patch("understudy.train.prepare.decode", noting(decode)),
        patch("understudy.train.session.new_state", noting(new_state)),
    ):
        code = command(words)
    if code:
        sys.exit(code)
    times.append(watch.first_step_at + time.time() - time.perf_counter())
    imports, decoding, fitting, first_step = (end - begin for begin, end in pairwise(times))
    beginning = Beginning(
        imports=imports, decoding=decoding, fitting=fitting, first_step=first_step, waited=sum(watch.waits[1:])
    )
    print(MARK + json.dumps(asdict(beginning)))


if __name__ == "__main__":
    main()
