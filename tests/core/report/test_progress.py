from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from understudy.report.progress import Progress, ProgressStyle


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(style: ProgressStyle, losses: list[tuple[int, float]], total: int = 1000, first: int = 1) -> list[str]:
    stream = io.StringIO()
    progress = Progress(style, stream)
    progress.begin(total, first)
    for step, loss in losses:
        progress.step(step, loss)
    progress.end()
    return stream.getvalue().splitlines()


def test_lines_are_copycats() -> None:
    stream = io.StringIO()
    progress = Progress("auto", stream)
    progress.begin(22500, 1)
    progress.step(10, 0.012345)
    progress.saved("Model", Path("run.10.safetensors"))
    progress.saved("Optimiser", Path("run.10.ost"))
    progress.saved("Contactsheet", Path("run.10.png"))
    progress.saved("Graph", Path("run.graph.png"))
    assert stream.getvalue() == (
        "[Step:10/22500] Loss:0.012345\n"
        " [*] Model saved at run.10.safetensors\n"
        " [*] Optimiser saved at run.10.ost\n"
        " [*] Contactsheet saved at run.10.png\n"
        " [*] Graph saved at run.graph.png\n"
    )


def test_deadline_reads_whole_percents_once_each() -> None:
    lines = said("deadline", [(1, 0.5), (9, 0.5), (10, 0.5), (11, 0.5), (379, 0.5), (1000, 0.5)])
    assert [line for line in lines if not line.startswith("[Step")] == [
        "Progress: 0%",
        "Progress: 1%",
        "Progress: 37%",
        "Progress: 100%",
    ]


def test_a_farm_line_follows_its_step() -> None:
    lines = said("afanasy", [(370, 0.25)])
    assert lines == ["PROGRESS: 0%", "[Step:370/1000] Loss:0.250000", "PROGRESS: 37%"]


def test_openjd_reads_tenths_and_status() -> None:
    lines = said("openjd", [(370, 0.0123), (371, 0.000412)])
    assert [line for line in lines if line.startswith("openjd")] == [
        "openjd_progress: 0.0",
        "openjd_progress: 37.0",
        "openjd_status: step 370/1000 loss 0.012",
        "openjd_progress: 37.1",
        "openjd_status: step 371/1000 loss 0.00041",
    ]


def test_a_resumed_run_tells_at_once_how_far_it_is() -> None:
    assert said("deadline", [], first=501) == ["Progress: 50%"]


def test_only_openjd_prints_the_failure() -> None:
    openjd, plain = io.StringIO(), io.StringIO()
    Progress("openjd", openjd).fail("frame 7: damaged\nframe 8: damaged")
    Progress("plain", plain).fail("frame 7: damaged")
    assert openjd.getvalue() == "openjd_fail: frame 7: damaged; frame 8: damaged\n"
    assert plain.getvalue() == ""


def test_a_terminal_gets_a_bar_with_loss_and_whole_lines_above_it() -> None:
    stream = Terminal()
    progress = Progress("auto", stream)
    progress.begin(100, 51)
    progress.step(60, 0.125)
    progress.saved("Model", Path("m"))
    progress.step(100, 0.0625)
    progress.end()
    text = stream.getvalue()
    assert "60/100" in text
    assert "100/100" in text
    assert "loss 0.062500" in text
    assert "\r [*] Model saved at m\n" in text
    assert "[Step" not in text


def say_often(progress: Progress, line: str) -> None:
    for _ in range(100):
        progress.say(line)


def test_lines_of_two_threads_stay_whole() -> None:
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w", encoding="utf-8") as stream:
        progress = Progress("plain", stream)
        threads = [threading.Thread(target=say_often, args=(progress, letter * 60)) for letter in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with os.fdopen(read_end, encoding="utf-8") as lines:
        assert {line.rstrip("\n") for line in lines} == {"a" * 60, "b" * 60}


@pytest.mark.skipif(os.name == "nt", reason="closes a POSIX pipe")
@pytest.mark.parametrize("style", ["plain", "bar"])
def test_a_closed_pipe_kills_neither_training_nor_exit(style: str) -> None:
    script = f"""
import sys
from understudy.report.progress import Progress
progress = Progress({style!r}, sys.stdout)
progress.begin(100000, 1)
for step in range(1, 100001, 5):
    progress.step(step, 0.5)
    if step % 1000 == 1:
        progress.say("x" * 1000)
progress.end()
sys.stderr.write("trained to the end")
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read().decode()
    process.stderr.close()
    assert (process.wait(), complaint) == (0, "trained to the end")


def test_a_stream_closed_in_this_process_is_left_alone() -> None:
    stream = io.StringIO()
    progress = Progress("plain", stream)
    stream.close()
    progress.begin(10, 1)
    progress.step(1, 0.5)
    progress.end()
    assert stream.closed, "and nothing was raised"
