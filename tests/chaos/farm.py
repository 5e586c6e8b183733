"""A small farm: the ranks of one run, each on a host with a network of its own, and what their logs tell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.core.train.shots import write_picture
from tests.networks import Laboratory

from understudy.demo.scene import render_frame
from understudy.demo.shot import DemoShot
from understudy.report.metrics import read_metrics
from understudy.runs import RunFiles

PORT = 30700
SECRET = "known to the ranks of these tests only"
PATIENCE_SECONDS = 600
"""Whatever takes longer will never come."""
SECONDS_BETWEEN_LOOKS = 0.05
VALIDATION_FRAMES = (1019, 1031, 1043)
_TIME = "%Y-%m-%d %H:%M:%S,%f"
_LENGTH_OF_TIME = len("2026-01-01 00:00:00,000")


@dataclass(frozen=True)
class LogLine:
    seconds: float
    """Since the epoch."""
    text: str


def write_shot(folder: Path) -> None:
    """Five painted frames and three to validate, of a small demo shot."""
    shot = DemoShot(width=240, height=135)
    for frame in (*shot.painted_frames, *VALIDATION_FRAMES):
        plate, truth = render_frame(shot, frame)
        write_picture(folder / f"plate.{frame}.exr", plate)
        write_picture(folder / f"paint.{frame}.exr", truth)


class Farm:
    """One run. Ranks are started, killed and frozen by number; rank N is on host N."""

    def __init__(
        self,
        network: Laboratory,
        shot: Path,
        data: Path,
        *,
        name: str,
        flags: Sequence[str],
        addresses: Sequence[str] = (),
    ) -> None:
        """`addresses`: what each rank is to use for all its traffic; its IPv4 address when not given."""
        self._network = network
        self._addresses = addresses or [network.ipv4(host) for host in network.hosts]
        self._data = data
        self._words = [
            *(sys.executable, "-m", "understudy.cli.main", "train", "--data-directory", str(data), "--run-name", name),
            *("--input", str(shot / "plate.####.exr"), "--target", str(shot / "paint.####.exr")),
            *("--validation-frames", ",".join(map(str, VALIDATION_FRAMES))),
            *("--device", "cpu", "--threads", "1", "--model-size", "small", "--crop-size", "64", "--batch-size", "6"),
            *("--silence-seconds", "3", "--join-minutes", "3", "--hold-minutes", "3", *flags),
        ]
        self.files = RunFiles(data, name)
        self._ranks: dict[int, subprocess.Popen[str]] = {}

    def start(self, rank: int) -> None:
        place = {
            "COPYCAT_MAIN_ADDR": self._addresses[0],
            "COPYCAT_MAIN_PORT": str(PORT),
            "COPYCAT_RANK": str(rank),
            "COPYCAT_WORLD_SIZE": str(len(self._addresses)),
            "COPYCAT_LOCAL_ADDR": self._addresses[rank],
            "UNDERSTUDY_SECRET": SECRET,
        }
        self._start(rank, place)

    def launch(self, host: int, hosts_file: Path) -> None:
        """All ranks of that host by one command; from here on it is what `rank` means in the other methods."""
        self._start(host, {"UNDERSTUDY_SECRET": SECRET}, "--hosts", str(hosts_file))

    def start_alone(self) -> None:
        """The same training by one process on host 0."""
        self._start(0, {})

    def kill(self, rank: int) -> None:
        self._ranks[rank].kill()
        self._ranks[rank].wait()

    def ask_to_end(self, rank: int) -> None:
        self._ranks[rank].terminate()

    def freeze(self, rank: int) -> None:
        self._ranks[rank].send_signal(signal.SIGSTOP)

    def thaw(self, rank: int) -> None:
        self._ranks[rank].send_signal(signal.SIGCONT)

    def plug_out(self, rank: int) -> None:
        """Its host's cable."""
        self._network.link(rank, up=False)

    def plug_in(self, rank: int) -> None:
        self._network.link(rank, up=True)

    def is_running(self, rank: int) -> bool:
        return self._ranks[rank].poll() is None

    def exit_codes(self) -> dict[int, int]:
        """Of each rank's last process; waits for their ends. Raises subprocess.TimeoutExpired for one that hangs."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        return {rank: process.wait(deadline - time.monotonic()) for rank, process in sorted(self._ranks.items())}

    def close(self) -> None:
        """Kill what still runs, and plug in all cables."""
        for rank, process in self._ranks.items():
            self.plug_in(rank)
            process.kill()
            process.wait()

    def leftovers(self) -> list[int]:
        """Ids of processes on any host."""
        return [pid for host in self._network.hosts for pid in self._network.processes(host)]

    def log(self, rank: int) -> list[LogLine]:
        path = self.files.log(rank)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [_logged(line) for line in lines if line[:1].isdigit() and len(line) > _LENGTH_OF_TIME]

    def said(self, rank: int) -> str:
        """All that it printed, over all its processes."""
        path = self._said(rank)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def wait_for(self, rank: int, *texts: str, after: float = 0.0) -> LogLine:
        """The first line of its log that holds one of the texts and is younger than `after`, seconds since the epoch.

        Raises AssertionError when the rank ends without it.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            is_running = self.is_running(rank)
            found = first_of(self.log(rank), *texts, after=after)
            if found:
                return found
            assert is_running, f"rank {rank} ended without saying {' or '.join(texts)}:\n{self.said(rank)[-4000:]}"
            assert time.monotonic() < deadline, f"rank {rank} never says {' or '.join(texts)}"
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def psnr(self) -> float:
        """Of the held-out frames at the end, in dB."""
        return float(read_metrics(self.files.metrics).validation_psnrs[-1])

    def _start(self, host: int, place: Mapping[str, str], *more: str) -> None:
        folder = self._data / f"tmp{host}"  # hosts do not share their temporary files
        folder.mkdir(exist_ok=True)
        others = {name: value for name, value in os.environ.items() if not name.startswith("COPYCAT_")}
        with self._said(host).open("a") as out:
            self._ranks[host] = self._network.run(
                host,
                [*self._words, *more],
                environment={**others, **place, "TMPDIR": str(folder)},
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def _said(self, rank: int) -> Path:
        return self._data / f"rank{rank}.out"


def first_of(lines: Sequence[LogLine], *texts: str, after: float = 0.0) -> LogLine | None:
    return next((line for line in lines if line.seconds > after and any(text in line.text for text in texts)), None)


def _logged(line: str) -> LogLine:
    return LogLine(datetime.strptime(line[:_LENGTH_OF_TIME], _TIME).timestamp(), line[_LENGTH_OF_TIME + 1 :])
