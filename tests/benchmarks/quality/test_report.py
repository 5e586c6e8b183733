"""From the lines of measure to tables and a picture."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.quality import report
from benchmarks.quality.curves_picture import COLOURS
from benchmarks.quality.frames_picture import SIDE
from benchmarks.quality.results import read_runs
from benchmarks.shots.files import PairFiles, folder_of
from benchmarks.shots.shot import RGB, Example

from understudy.frames.read import read_image


def line(way: str, seed: int, seconds: float, psnr: float, shot: str = "look") -> str:
    is_matte = shot == "roto"
    numbers = {"log_psnr": math.nan if is_matte else 40.0, "matte_error": 0.5 if is_matte else math.nan, "flicker": 1.0}
    found = {"shot": shot, "way": way, "seed": seed, "step": int(10 * seconds), "seconds": seconds, "psnr": psnr}
    return json.dumps({**found, **numbers}) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two seeds of one way, one of another that has stopped early, and a matte."""
    lines = [line("ours", 0, seconds, psnr) for seconds, psnr in ((10, 20.0), (100, 30.0), (1000, 40.0))]
    lines += [line("ours", 1, seconds, psnr + 2) for seconds, psnr in ((10, 20.0), (100, 30.0), (1000, 40.0))]
    lines += [line("theirs", 0, seconds, psnr) for seconds, psnr in ((10, 15.0), (100, 25.0))]
    lines += [line("ours", 0, seconds, 33.0, "roto") for seconds in (10, 100)]
    (tmp_path / "scores.jsonl").write_text("".join(lines))
    return tmp_path


def test_a_table_tells_mean_and_spread_at_each_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.main([str(folder), "--at", "100", "1000"])
    text = (folder / "report.md").read_text()
    assert capsys.readouterr().out.strip() == text.strip()
    assert "| ours | 31.00 ± 1.00 | 41.00 ± 1.00 | 40.00 ± 0.00 | 1.00 ± 0.00 | 10000 ± 0 |" in text
    assert "| theirs | 25.00 | - | 40.00 | 1.00 | 1000 |" in text
    assert "error at 100 s" in text.split("## roto")[1]
    assert "PSNR of stops" not in text.split("## roto")[1]


def test_between_snapshots_a_run_goes_straight_over_the_logarithm_of_time(folder: Path) -> None:
    run = read_runs(folder / "scores.jsonl")[0]
    assert run.at("psnr", math.sqrt(10 * 100)) == pytest.approx(25.0)
    assert run.at("psnr", 1040) == 40.0, "a little short of the time that was asked for"
    assert math.isnan(run.at("psnr", 2000))
    assert math.isnan(run.at("psnr", 5))


def test_what_was_measured_again_counts_once(folder: Path) -> None:
    with (folder / "scores.jsonl").open("a") as lines:
        lines.write(line("theirs", 0, 10, 11.0) + line("theirs", 0, 50, 12.0))
    run = next(run for run in read_runs(folder / "scores.jsonl") if run.way == "theirs")
    assert run.numbers["psnr"] == (11.0, 12.0)


def test_the_picture_has_a_line_for_each_way(folder: Path) -> None:
    report.main([str(folder)])
    pixels = (read_image(folder / "report.png", layer="rgb", colorspace="raw").pixels * 255).round()
    for colour in COLOURS[:2]:
        wanted = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
        assert (pixels == wanted).all(axis=2).sum() > 200, f"nothing is drawn in {colour}"


def test_another_picture_shows_where_the_answers_are_most_wrong(folder: Path) -> None:
    """A plate in green; right answers are blue, and one way's is red in a corner: there the picture looks."""
    files = PairFiles(folder=folder_of("look", folder), seen_channels=RGB, wanted_channels=RGB)
    green, blue, red = (np.zeros((200, 300, 3), np.float32) for _ in range(3))
    green[..., 1] = blue[..., 2] = red[..., 2] = 1.0
    red[-SIDE:, -SIDE:] = (1.0, 0.0, 0.0)
    files.write(7, Example(seen=green, wanted=blue))
    files.write_answer(7, "ours", 0, blue)
    files.write_answer(7, "theirs", 0, red)
    report.main([str(folder)])
    pixels = read_image(folder / "frames.png", layer="rgb", colorspace="raw").pixels
    count = [int((abs(pixels - colour) < 0.02).all(axis=2).sum()) for colour in ((0, 1, 0), (0, 0, 1), (1, 0, 0))]
    assert min(count) > 1000
    assert count[1] == pytest.approx(2 * count[0], rel=0.05), "truth and the right answer"
    assert count[2] == pytest.approx(count[0], rel=0.1), "the corner fills its cell"


def test_where_no_answers_were_kept_there_is_no_such_picture(folder: Path) -> None:
    report.main([str(folder)])
    assert not (folder / "frames.png").exists()


def test_a_folder_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"scores\.jsonl is absent"):
        report.main([str(tmp_path)])
