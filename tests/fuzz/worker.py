"""The child process: damages and reads one case after the other, and says what went wrong with which."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tests.fuzz.kind import FaultElsewhere, Kind, damaged_case, unclear
from tests.fuzz.kinds import BY_NAME

from understudy.errors import UnderstudyError

REPO = Path(__file__).resolve().parents[2]
OURS = tuple(str(REPO / folder) for folder in ("core", "farm", "ui"))
PROGRESS, FAULTS = "progress", "faults.jsonl"
"""Files that the parent reads: the case that is tried, with the counts before it; and a line for every fault."""
MIB = 1 << 20
MORE_ADDRESS_SPACE_MIB = 6 << 10
MOST_GROWTH_MIB = 700
"""Resident memory that one case may take besides what is there."""
_MOST_FORGOTTEN_MIB = 32
"""By so much less than it grows a case may seem to grow."""
_FORGET_THE_PEAK = "5"


def main(words: Sequence[str]) -> None:
    """KIND FIRST END SECONDS, in a folder of its own."""
    kind, first, end, seconds = BY_NAME[words[0]], int(words[1]), int(words[2]), float(words[3])
    faulthandler.enable()
    whole = [(path, path.read_bytes()) for path in kind.lay_out()]
    _warm_up(kind, whole)
    warnings.simplefilter("error")  # a user would see them among the lines
    os.fsync = _leave_unsynced
    _limit_memory()
    with Path(PROGRESS).open("w", encoding="ascii") as progress, Path(FAULTS).open("w", encoding="utf-8") as faults:
        trials = _Trials(kind, whole, faults)
        for seed in range(first, end):
            _note(progress, seed, trials)
            faulthandler.dump_traceback_later(seconds, exit=True)
            trials.attempt(seed)
            faulthandler.cancel_dump_traceback_later()
        _note(progress, end, trials)


def _leave_unsynced(fd: object) -> None:
    """Nothing here is to outlast a power cut, and a disk takes longer for it than a case."""
    del fd


def _put(path: Path, content: bytes) -> None:
    """In place of the old file: one that is cut to nothing and filled again, some file systems write out at once."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def _warm_up(kind: Kind, whole: Sequence[tuple[Path, bytes]]) -> None:
    """Whole files are read, or refused: what is imported for the first time is no growth."""
    for path, _ in whole:
        with suppress(UnderstudyError):
            kind.read(path)


def _note(progress: TextIO, seed: int, trials: _Trials) -> None:
    progress.seek(0)
    progress.write(f"{seed} {trials.num_read} {trials.num_refused} \n")
    progress.flush()


class _Trials:
    """Reads damaged files, and writes down what should not have come of it."""

    def __init__(self, kind: Kind, whole: Sequence[tuple[Path, bytes]], faults: TextIO) -> None:
        self._kind = kind
        self._whole = whole
        self._faults = faults
        self.num_read = self.num_refused = 0

    def attempt(self, seed: int) -> None:
        path, content, damaged = damaged_case(self._kind, self._whole, seed)
        _put(path, damaged)
        before = _peak_from_now_on()
        try:
            self._kind.read(path)
            self.num_read += 1
            if self._kind.is_sealed and damaged != content:
                self._tell(seed, "taken for whole")
        except UnderstudyError as error:
            self.num_refused += 1
            if what := unclear(error, self._kind, [name for name, _ in self._whole]):
                self._tell(seed, what, top_frame(error), str(error))
        except FaultElsewhere as fault:
            self._tell(seed, fault.what, fault.where, fault.said)
        except Exception as error:
            self._tell(seed, type(error).__name__, top_frame(error), str(error))
        finally:
            _put(path, content)
        grown = _resident_mib()[1] - before
        if grown > MOST_GROWTH_MIB:
            self._tell(seed, "memory", said=f"{grown} MiB")

    def _tell(self, seed: int, what: str, where: str = "", said: str = "") -> None:
        self._faults.write(json.dumps({"seed": seed, "what": what, "where": where, "said": said[:300]}) + "\n")
        self._faults.flush()


def top_frame(error: BaseException) -> str:
    """file:function of the innermost code of ours."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(OURS)]
    return f"{Path(frames[-1].filename).relative_to(REPO)}:{frames[-1].name}" if frames else ""


def _peak_from_now_on() -> int:
    """MiB at the peak, which is made to be near what is resident: Linux looks at every page of a process for that."""
    resident, peak = _resident_mib()
    if peak - resident > _MOST_FORGOTTEN_MIB:
        Path("/proc/self/clear_refs").write_text(_FORGET_THE_PEAK, encoding="ascii")
        _, peak = _resident_mib()
    return peak


def _resident_mib() -> tuple[int, int]:
    """Now, and at the peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    now, peak = (int(status.partition(name)[2].split()[0]) >> 10 for name in ("VmRSS:", "VmHWM:"))
    return now, peak


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + MORE_ADDRESS_SPACE_MIB * MIB
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1:])
