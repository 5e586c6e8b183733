"""The lines that a terminal and a farm read: CopyCat's own, a bar, and each farm's progress beside them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TextIO

from tqdm import tqdm

ProgressStyle = Literal["auto", "plain", "bar", "deadline", "openjd", "afanasy"]
SavedKind = Literal["Model", "Optimiser", "Contactsheet", "Graph"]

_LOG = logging.getLogger("understudy.progress")


class Progress:
    """One run's voice. Every method may be called from any thread; lines come out whole and at once.

    A stream that can no longer be written to (closed pipe, full disk) is left alone: training goes on, and the lines
    still reach the log.
    """

    def __init__(self, style: ProgressStyle, stream: TextIO) -> None:
        self._style = _for_stream(stream) if style == "auto" else style
        self._stream = stream
        self._lock = threading.RLock()
        self._stream_works = True
        self._bar: _Bar | None = None
        self._total_steps = 0
        self._percentage = ""
        self._psnr = ""
        """The newest of validation, as it stands behind the loss in a bar."""

    def begin(self, total_steps: int, first_step: int, share_done: float | None = None) -> None:
        """Announce a run of `total_steps` whose next step is `first_step` (1, or more when resumed).

        `share_done`, 0 to 1, is what a farm is told; None: by steps.
        """
        with self._lock:
            self._total_steps = total_steps
            self._percentage = ""
            if self._style == "bar":
                self._bar = _Bar(
                    total=total_steps, initial=first_step - 1, unit="step", file=self._stream, dynamic_ncols=True
                )
            for line in self._farm_lines(first_step - 1, None, share_done):
                self._show(line)

    def step(self, step: int, loss: float, share_done: float | None = None) -> None:
        """Tell the loss of a finished step, 1 to `total_steps`. Every call is a line: the caller sets the pace.

        `share_done`, 0 to 1, is what a farm is told; None: by steps.
        """
        line = f"[Step:{step}/{self._total_steps}] Loss:{loss:.6f}"
        with self._lock:
            _LOG.info(line)
            if self._bar:
                self._advance(self._bar, step, loss, share_done)
                return
            self._show(line)
            for farm_line in self._farm_lines(step, loss, share_done):
                self._show(farm_line)

    def validated(self, psnr: float, best: str = "") -> None:
        """Tell of validation PSNR, in dB. `best`: what a checkpoint adds; its line stands above a bar, too."""
        line = f"Validation PSNR: {psnr:.2f} dB" + (f" ({best})" if best else "")
        with self._lock:
            _LOG.info(line)
            self._psnr = f", {psnr:.2f} dB"
            if best or not self._bar:
                self._show(line)

    def saved(self, kind: SavedKind, path: Path) -> None:
        """Tell that a whole file lies at `path`."""
        self.say(f" [*] {kind} saved at {path}")

    def say(self, line: str) -> None:
        """Print a line and log it."""
        _LOG.info(line)
        self.show(line)

    def show(self, line: str) -> None:
        """Print a line without logging it, above the bar if there is one."""
        with self._lock:
            self._show(line)

    def fail(self, line: str) -> None:
        """End the bar, log the failure and tell the farm why; the edge that ends the process prints it for people."""
        _LOG.error(line)
        with self._lock:
            self.end()
            if self._style == "openjd":
                self._show("openjd_fail: " + "; ".join(line.splitlines()))

    def end(self) -> None:
        """Close the bar. May be called twice."""
        with self._lock:
            bar, self._bar = self._bar, None
            if bar is not None:
                with self._surviving():
                    bar.close()

    def _advance(self, bar: _Bar, step: int, loss: float, share_done: float | None) -> None:
        if share_done:
            bar.total = max(step, round(step / share_done))  # by the clock, as many as there will be at this pace
        with self._surviving():
            bar.set_postfix_str(f"loss {loss:.6f}{self._psnr}", refresh=False)
            bar.update(step - bar.n)

    def _farm_lines(self, step: int, loss: float | None, share_done: float | None) -> list[str]:
        """What the farm should read now: nothing while its percentage stays the same."""
        if self._style not in ("deadline", "openjd", "afanasy"):
            return []
        share = step / self._total_steps if share_done is None and self._total_steps else share_done or 0.0
        tenths = int(1000 * share + 1e-6)  # rounded down: 100 means done
        percentage = f"{tenths / 10:.1f}" if self._style == "openjd" else f"{tenths // 10}%"
        if percentage == self._percentage:
            return []
        self._percentage = percentage
        if self._style == "openjd":
            status = [] if loss is None else [f"openjd_status: step {step}/{self._total_steps} loss {loss:.2g}"]
            return [f"openjd_progress: {percentage}", *status]
        return [f"{'Progress' if self._style == 'deadline' else 'PROGRESS'}: {percentage}"]

    def _show(self, line: str) -> None:
        if not self._stream_works:
            return
        with self._surviving():
            if self._bar:
                self._bar.clear()
            self._stream.write(line + "\n")
            self._stream.flush()
            if self._bar:
                self._bar.refresh()

    @contextmanager
    def _surviving(self) -> Iterator[None]:
        """A block in which a dead stream ends the talking, not the training."""
        try:
            yield
        except (OSError, ValueError):  # ValueError: the stream was closed in this process
            self._give_up_stream()

    def _give_up_stream(self) -> None:
        """Say nothing more, and let the interpreter's own last flush succeed."""
        self._stream_works = False
        if self._bar is not None:
            self._bar.disable = True
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


class _Bar(tqdm):  # type: ignore[type-arg]  # tqdm is generic for type checkers only
    monitor_interval = 0
    """tqdm's own watching thread is not wanted."""


def _for_stream(stream: TextIO) -> ProgressStyle:
    try:
        return "bar" if stream.isatty() else "plain"
    except ValueError:  # a closed stream
        return "plain"
