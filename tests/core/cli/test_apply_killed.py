"""kill -9 in the middle of apply, at any moment: the same command goes on, and nothing is broken, twice or missing."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import end_of, start
from tests.core.train.export.models import lively_model, save_lively_model
from tests.picture_files import write_plate

from understudy.cli.main import main
from understudy.files import PARTIAL_SUFFIX
from understudy.frames.read import read_image

FRAMES = range(1001, 1021)
KILLS = 8
Times = dict[str, tuple[int, int]]
"""Inode and time of change by file name: a file that was written anew has others."""

pytestmark = pytest.mark.slow


class Shot:
    """Frames that take about a tenth of a second each, and what should come of them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "out"
        self.model = save_lively_model(folder / "model.safetensors", lively_model())
        noise = np.random.default_rng(0).random((220, 330, 4), np.float32)
        plate = write_plate(folder / f"plate.{FRAMES[0]}.exr", noise, ("R", "G", "B", "A"))
        for frame in FRAMES[1:]:
            shutil.copy(plate, folder / f"plate.{frame}.exr")
        assert main(self.words(folder / "wanted", "--frames", "1001")) == 0
        self.wanted = read_image(folder / "wanted" / "result.1001.exr", layer="rgba").pixels

    def words(self, out: Path, *more: str) -> list[str]:
        plates, results = self.folder / "plate.####.exr", out / "result.####.exr"
        threads = ("--device", "cpu", "--threads", "1")
        return ["apply", str(self.model), "--input", str(plates), "--output", str(results), *threads, *more]

    def whole(self) -> Times:
        """Every file under its own name; raises if one of them is not what it should be."""
        found: Times = {}
        for path in sorted(self.out.glob("result.*.exr")):
            np.testing.assert_allclose(read_image(path, layer="rgba").pixels, self.wanted, rtol=2e-3, atol=1e-4)
            found[path.name] = path.stat().st_ino, path.stat().st_mtime_ns
        return found

    def partials(self) -> set[Path]:
        return set(self.out.glob(f".*{PARTIAL_SUFFIX}*"))


@pytest.fixture
def shot(tmp_path: Path) -> Shot:
    return Shot(tmp_path)


def killed(shot: Shot, seconds: float, *more: str, after: str = "Applying") -> list[str]:
    """Run the command and kill it so long after a line that begins so; returns the frames that it said it had made."""
    process = start(*shot.words(shot.out, "--skip-existing", *more))
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith(after):
            break
    time.sleep(seconds)
    process.kill()
    said += process.communicate(timeout=60)[0].splitlines()
    return [line.split()[1] for line in said if line.startswith("Frame ")]


def test_at_many_moments(shot: Shot) -> None:
    moments, told = random.Random(1), []
    for number in range(KILLS):
        before = shot.whole() if shot.out.exists() else {}
        if len(before) == len(FRAMES):
            break
        told += killed(shot, moments.uniform(0.0, 0.6), after=("Applying", "Frame")[number % 2])
        after = shot.whole()
        assert after.items() >= before.items(), "what was there is left alone"
    assert len(shot.whole()) >= KILLS // 2, "one after each second killing at least"
    ending = end_of(start(*shot.words(shot.out, "--skip-existing")))
    assert ending.code == 0, ending
    told += [line.split()[1] for line in ending.out.splitlines() if line.startswith("Frame ")]
    assert set(shot.whole()) == {f"result.{frame}.exr" for frame in FRAMES}
    assert len(told) == len(set(told)), "no frame twice"
    assert {path.name for path in shot.out.iterdir()} == set(shot.whole()), "nothing half-written is left"


def test_in_the_middle_of_writing_a_frame(shot: Shot) -> None:
    process = start(*shot.words(shot.out))
    deadline = time.monotonic() + 60
    while not (shot.out.exists() and shot.partials()):
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=60)
    left = shot.partials()
    assert left, "the file that was being written"
    before = shot.whole()
    ending = end_of(start(*shot.words(shot.out, "--skip-existing")))
    assert ending.code == 0, ending
    assert shot.whole().items() >= before.items()
    assert {path.name for path in shot.out.iterdir()} == {f"result.{frame}.exr" for frame in FRAMES}


def test_one_of_two_parts(shot: Shot) -> None:
    """The other goes on, and its unfinished files are not taken for leftovers."""
    for seconds in (0.0, 0.3):
        other = start(*shot.words(shot.out, "--part", "1/2", "--skip-existing"))
        killed(shot, seconds, "--part", "0/2")
        again = end_of(start(*shot.words(shot.out, "--part", "0/2", "--skip-existing")))
        assert (again.code, end_of(other).code) == (0, 0)
        assert {path.name for path in shot.out.iterdir()} == {f"result.{frame}.exr" for frame in FRAMES}
        shot.whole()
        shutil.rmtree(shot.out)
