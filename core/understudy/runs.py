"""Names of everything a run leaves in its data directory, and how a run is found again."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError

MODEL_SUFFIX = ".safetensors"
STATE_SUFFIX = ".ost"
"""Optimizer state beside the weights; CopyCat's ending. The content is safetensors too."""
RECORD_SUFFIX = ".run.json"
VERSIONS = "v[0-9][0-9][0-9]*"
"""Folders of a data directory in which submitted runs lie, each in one of its own."""


def new_run_name(now: time.struct_time | None = None) -> str:
    """Training_YYMMDD_HHMMSS, as CopyCat names its runs."""
    return time.strftime("Training_%y%m%d_%H%M%S", now or time.localtime())


@dataclass(frozen=True)
class RunFiles:
    """Every path of one run. All names begin with the run's, so several runs may share a data directory."""

    directory: Path
    name: str

    def model(self, step: int) -> Path:
        return self._numbered(step, MODEL_SUFFIX)

    def state(self, step: int) -> Path:
        return self._numbered(step, STATE_SUFFIX)

    def contact_sheet(self, step: int, suffix: str = ".png") -> Path:
        return self._numbered(step, suffix)

    @property
    def record(self) -> Path:
        return self._plain(RECORD_SUFFIX)

    @property
    def metrics(self) -> Path:
        return self._plain(".metrics.jsonl")

    @property
    def timeline(self) -> Path:
        return self._plain(".pairs.otio")

    @property
    def script(self) -> Path:
        """The Nuke script as it was when the run began."""
        return self._plain(".nk")

    @property
    def events(self) -> Path:
        """Folder of TensorBoard events."""
        return self._plain(".tensorboard")

    def graph(self, suffix: str) -> Path:
        return self._plain(f".graph{suffix}")

    def log(self, rank: int = 0) -> Path:
        return self._plain(f".rank{rank}.log")

    def stop_requests(self) -> tuple[Path, Path]:
        """A file of either name asks the run to finish its step, write a checkpoint and end."""
        return self._plain(".stop"), self.directory / "stop"

    def checkpoint_steps(self) -> list[int]:
        """Steps, ascending, at which weights and optimizer state both lie whole on disk."""
        return [step for step in self._steps_with(MODEL_SUFFIX) if self.state(step).exists()]

    def contact_sheet_steps(self) -> list[int]:
        """Steps, ascending, of which there is a contact sheet."""
        return self._steps_with(".png")

    def _steps_with(self, suffix: str) -> list[int]:
        pattern = re.compile(re.escape(self.name) + r"\.(\d+)" + re.escape(suffix))
        found = (pattern.fullmatch(path.name) for path in self.directory.iterdir())
        return sorted(int(match.group(1)) for match in found if match)

    def _numbered(self, step: int, suffix: str) -> Path:
        return self.directory / f"{self.name}.{step}{suffix}"

    def _plain(self, suffix: str) -> Path:
        return self.directory / f"{self.name}{suffix}"


def run_of(record: Path) -> RunFiles:
    """The run whose record this is, or will be. Raises UnderstudyError when that is no record's name."""
    if not record.name.endswith(RECORD_SUFFIX):
        raise UnderstudyError(f"{record}: is no record of a run; give its *{RECORD_SUFFIX}")
    return RunFiles(record.parent, record.name.removesuffix(RECORD_SUFFIX))


def find_run(place: Path) -> RunFiles:
    """The run that `place` names: a data directory (its newest run, also of its versions), or any file of the run.

    Raises UnderstudyError when there is none.
    """
    if place.is_dir():
        records = [*place.glob(f"*{RECORD_SUFFIX}")] or [*place.glob(f"{VERSIONS}/*{RECORD_SUFFIX}")]
        if not records:
            raise UnderstudyError(f"{place}: holds no run (no *{RECORD_SUFFIX}); give a run's data directory")
        return run_of(max(records, key=lambda path: (path.stat().st_mtime, path.name)))
    owners = [
        record.name.removesuffix(RECORD_SUFFIX)
        for record in place.parent.glob(f"*{RECORD_SUFFIX}")
        if place.name == record.name.removesuffix(RECORD_SUFFIX)
        or place.name.startswith(record.name.removesuffix(RECORD_SUFFIX) + ".")
    ]
    if not owners:
        raise UnderstudyError(f"{place}: no run of that name; give a data directory or a file of the run")
    return RunFiles(place.parent, max(owners, key=len))


def find_model(place: Path) -> Path:
    """The model file that `place` names: itself, or the newest of the run.

    Raises UnderstudyError when there is none.
    """
    if place.is_file() and place.suffix == MODEL_SUFFIX:
        return place
    if place.suffix == MODEL_SUFFIX:
        raise UnderstudyError(f"{place}: no such model file; correct the path")
    run = find_run(place)
    steps = run.checkpoint_steps()
    if not steps:
        raise UnderstudyError(f"{place}: the run {run.name} has written no checkpoint yet")
    return run.model(steps[-1])
