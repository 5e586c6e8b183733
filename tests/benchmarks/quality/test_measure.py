"""The bench of quality, from a shot to its scores, by the program as one calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.quality import measure
from benchmarks.quality.catalogue import DEVELOPMENT
from benchmarks.shots.shot import RGB

from understudy.frames.psnr import PooledPsnr
from understudy.frames.read import read_image


@pytest.fixture(autouse=True)
def short_shot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 4 of its 16 frames."""
    short = replace(DEVELOPMENT["rig removal"], frames=range(1, 5), painted=(1, 4))
    monkeypatch.setitem(DEVELOPMENT, "rig removal", short)


@pytest.mark.slow
def test_a_few_seconds_of_training_are_scored_along_the_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--shots", "rig removal", "--seconds", "4", "--ways", "small", "--keep", str(tmp_path)]
    measure.main(words)
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines()]
    assert [line["seconds"] for line in lines] == sorted(line["seconds"] for line in lines)
    assert {line["way"] for line in lines} == {"small"}
    assert lines[-1]["psnr"] > 25
    answer = read_image(tmp_path / "rig_removal" / "answer.0003.small.0.exr", layer="rgb")
    wanted = read_image(tmp_path / "rig_removal" / "wanted.0003.exr", layer="rgb")
    of_one_frame = PooledPsnr(RGB)
    of_one_frame.add(answer.pixels, wanted.pixels)
    assert of_one_frame.decibels() == pytest.approx(lines[-1]["psnr"], abs=3)
    assert "plate as it is" in capsys.readouterr().out


@pytest.mark.slow
def test_networks_that_were_built_otherwise_are_scored_as_they_were_trained(tmp_path: Path) -> None:
    ways = ["narrow at full resolution", "last layer of 3 x 3", "more layers"]
    last = last_scores(tmp_path, "1", ways)
    assert [(way, last[way]["step"]) for way in last] == [(way, 1) for way in ways]
    assert min(line["psnr"] for line in last.values()) > 15


@pytest.mark.slow
def test_several_passes_are_scored_of_the_same_model(tmp_path: Path) -> None:
    last = last_scores(tmp_path, "12", ["small", "four passes"])
    one, four = (line["psnr"] for line in last.values())
    assert one != four
    assert one == pytest.approx(four, abs=1)


def last_scores(folder: Path, steps: str, ways: list[str]) -> dict[str, dict[str, float]]:
    measure.main(["--shots", "rig removal", "--steps", steps, "--ways", *ways, "--keep", str(folder)])
    lines = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    return {line["way"]: line for line in lines}
