from __future__ import annotations

import io
import logging
import os
import platform
import re
import warnings
from pathlib import Path

import pytest

from understudy.errors import UnderstudyError
from understudy.report.log import LogHeading, RunLog
from understudy.report.progress import Progress

HEADING = LogHeading(
    rank=3, world_size=5, address="10.1.0.3", device="cpu", torch_version="2.13.0", command="understudy train a.nk"
)
LOG = logging.getLogger("understudy")


def test_first_lines_say_who_and_the_rest_has_times(tmp_path: Path) -> None:
    path = tmp_path / "run.rank3.log"
    progress = Progress("plain", io.StringIO())
    with RunLog(path, heading=HEADING, progress=progress):
        progress.begin(10, 1)
        progress.step(1, 0.5)
        LOG.warning("frame 7: 3 pixels are not finite")
    lines = path.read_text().splitlines()
    assert f"host {platform.node()}, rank 3 of 5, address 10.1.0.3, device cpu, pid {os.getpid()}" in lines[0]
    for word in ("python ", "understudy ", "torch 2.13.0", "OpenImageIO "):
        assert word in lines[1]
    assert lines[2].endswith("command: understudy train a.nk")
    assert lines[3].endswith("INFO [Step:1/10] Loss:0.500000")
    assert lines[4].endswith("WARNING frame 7: 3 pixels are not finite")
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", line) for line in lines)


def test_the_bar_does_not_keep_steps_out_of_the_log(tmp_path: Path) -> None:
    progress = Progress("bar", io.StringIO())
    with RunLog(tmp_path / "a.log", heading=HEADING, progress=progress):
        progress.begin(10, 1)
        progress.step(4, 0.25)
        progress.end()
    assert "[Step:4/10] Loss:0.250000" in (tmp_path / "a.log").read_text()


def test_python_warnings_reach_the_log(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with RunLog(tmp_path / "a.log", heading=HEADING, progress=Progress("plain", io.StringIO())):
            warnings.warn("lr_scheduler called too early", stacklevel=1)
    assert "lr_scheduler called too early" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("verbosity", "shown"),
    [(0, ["warning: w"]), (1, ["info: i", "warning: w"]), (2, ["debug: d", "info: i", "warning: w"])],
)
def test_verbosity_governs_the_terminal(tmp_path: Path, verbosity: int, shown: list[str]) -> None:
    stream = io.StringIO()
    with RunLog(tmp_path / "a.log", heading=HEADING, progress=Progress("plain", stream), verbosity=verbosity):
        LOG.debug("d")
        LOG.info("i")
        LOG.warning("w")
    assert stream.getvalue().splitlines() == shown
    assert ("DEBUG d" in (tmp_path / "a.log").read_text()) == (verbosity == 2)


def test_a_resumed_run_appends(tmp_path: Path) -> None:
    for _ in range(2):
        with RunLog(tmp_path / "a.log", heading=HEADING, progress=Progress("plain", io.StringIO())):
            pass
    assert (tmp_path / "a.log").read_text().count("command: ") == 2


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "a.log"
    with pytest.raises(UnderstudyError, match=r"gone.a\.log: cannot be written"):
        RunLog(path, heading=HEADING, progress=Progress("plain", io.StringIO()))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_ends_the_log_but_not_the_run() -> None:
    stream = io.StringIO()
    with RunLog(Path("/dev/full"), heading=HEADING, progress=Progress("plain", stream)):
        LOG.warning("still here")
    assert stream.getvalue().splitlines() == [
        "warning: /dev/full: the log cannot be written any more; training goes on",
        "warning: still here",
    ]
