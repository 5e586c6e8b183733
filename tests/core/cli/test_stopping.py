"""Runs that are told to stop, run out of disk, or follow the clock; all go on afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.core.cli.command import Command, end_of, start
from tests.core.train.shots import SmallShot, make_shot

from understudy.train.model_file import load_model

posix = pytest.mark.skipif(os.name == "nt", reason="signals and limits of POSIX")


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    """Read the process's lines until one holds `word`."""
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(f"it ended without {word!r}")


@posix
@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT, None])
def test_a_stopped_run_says_how_to_resume_and_does(
    command: Command, shot: SmallShot, asked: signal.Signals | None
) -> None:
    process = start(
        *shot.train_words("--checkpoint-interval", "100000", "--contact-sheet-interval", "100000", steps=10**6)
    )
    wait_for(process, "[Step:10/")
    if asked is None:
        (shot.data / "stop").touch()
    else:
        process.send_signal(asked)
    ending = end_of(process)
    assert ending.code == 3, ending
    assert ending.faults == []
    said = re.search(r"Stopped by (.+) after step (\d+); go on with: understudy resume (.+)", ending.out)
    assert said is not None, ending.out
    assert said.group(1) == (asked.name if asked else "stop file stop")
    steps = int(said.group(2))
    assert not (shot.data / "stop").exists()
    resumed = command("resume", said.group(3), "--steps", str(steps + 2))
    assert resumed.code == 0, resumed
    assert f"after step {steps}" in resumed.out
    assert f"[Step:{steps + 2}/{steps + 2}]" in resumed.out


OCIO_CONFIG = """ocio_profile_version: 2
roles: {default: linear, scene_linear: linear}
displays:
  monitor: [!<View> {name: plain, colorspace: linear}]
colorspaces: [!<ColorSpace> {name: linear}]
"""

SMALL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
"""


@posix
def test_a_full_disk_ends_the_run_in_one_line_and_harms_no_checkpoint(shot: SmallShot) -> None:
    ending = end_of(start(*shot.train_words("--run-name", "full", steps=6), python=SMALL_DISK.format(200_000)))
    assert ending.code == 2, ending
    assert len(ending.faults) == 1
    assert "full.6.ost: cannot be written (File too large); free space or choose another place" in ending.faults[0]
    assert not list(shot.data.glob("*.6.*")) + list(shot.data.glob(".*partial*"))


@posix
def test_a_disk_that_fills_up_leaves_the_checkpoint_before(command: Command, trained: SmallShot) -> None:
    before = (trained.data / "first.4.safetensors").read_bytes()
    ending = end_of(start("resume", trained.data, "--steps", "8", python=SMALL_DISK.format(200_000)))
    assert ending.code == 2, ending
    assert len(ending.faults) == 1
    assert "free space" in ending.faults[0]
    assert load_model(trained.data / "first.4.safetensors").card.step == 4
    assert (trained.data / "first.4.safetensors").read_bytes() == before
    assert command("resume", trained.data, "--steps", "6").code == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_nobody_to_read_the_lines_does_not_matter(shot: SmallShot) -> None:
    with Path("/dev/full").open("w") as full:
        program = [sys.executable, "-m", "understudy.cli.main", *shot.train_words(steps=1)]
        ended = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_farm_is_told_of_the_clock(command: Command, shot: SmallShot) -> None:
    ending = command(*shot.train_words("--minutes", "0.02", "--progress", "deadline", steps=10**6))
    percentages = [int(number) for number in re.findall(r"^Progress: (\d+)%$", ending.out, re.MULTILINE)]
    assert ending.code == 0
    assert percentages[0] == 0
    assert percentages[-1] == 100
    assert percentages == sorted(percentages)


def test_the_bar_follows_the_clock_too(command: Command, shot: SmallShot) -> None:
    ending = command(*shot.train_words("--minutes", "0.01", "--progress", "bar", steps=10**6))
    assert ending.code == 0
    assert "100%|" in ending.out.splitlines()[-1]


def test_the_last_step_is_told_whatever_its_number(command: Command, shot: SmallShot) -> None:
    told = re.findall(r"\[Step:(\d+)/3\]", command(*shot.train_words(steps=3)).out)
    assert told == ["1", "3"]


def test_memory_that_does_not_suffice_is_a_users_matter(
    command: Command, shot: SmallShot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_much(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")

    monkeypatch.setattr("understudy.train.loop.train_step", too_much)
    fault = command.refused(*shot.train_words(steps=1))
    assert "step 1: does not fit into memory; train again with a smaller --batch-size" in fault


def test_a_run_begun_by_relative_paths_resumes_from_elsewhere(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sh øt 日本"
    folder.mkdir()
    make_shot(folder)
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(folder)
    (folder / "config.ocio").write_text(OCIO_CONFIG)
    words = ["--input", "plate.####.exr", "--target", "../link/paint.####.exr", "--data-directory", "dä ta"]
    words += ["--ocio", "config.ocio"]
    size = ["--crop-size", "32", "--batch-size", "1", "--model-size", "small", "--device", "cpu", "--threads", "1"]
    assert command("train", *words, *size, "--steps", "1").code == 0
    monkeypatch.chdir(folder / "dä ta")
    assert command("resume", ".", "--steps", "2").code == 0
    monkeypatch.chdir(tmp_path)
    ending = command("apply", "link/dä ta", "--input", "link/plate.####.exr", "--output", "link/ö %d.exr")
    assert ending.code == 0, ending
    assert (folder / "ö 1001.exr").is_file()
