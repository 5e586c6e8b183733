"""From nothing to a file that a run can start from, by the program as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import MATTE, RGB, RGBA
from benchmarks.shots.spoiling import hexagon, segmented
from benchmarks.starting_weights import make
from benchmarks.starting_weights.measure import Curve, ratios
from benchmarks.starting_weights.tasks import TASKS
from benchmarks.starting_weights.unseen import SHOTS
from safetensors import safe_open

from understudy.cli.main import main
from understudy.errors import EXIT_DONE
from understudy.frames.read import read_image
from understudy.train.model_file import METADATA_KEY, load_model


def test_more_pairs_change_none(tmp_path: Path) -> None:
    few, many = (
        PairFiles(folder=tmp_path / name, seen_channels=RGBA, wanted_channels=MATTE) for name in ("few", "many")
    )
    make.write_pairs("matte", few, count=1, side=32, seed=7)
    make.write_pairs("matte", many, count=2, side=32, seed=7)
    first, same, other = (
        read_image(folder.folder / f"seen.000{n}.exr", layer="rgba").pixels
        for folder, n in ((few, 1), (many, 1), (many, 2))
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


@pytest.mark.slow
def test_starting_weights_are_small_name_no_place_and_start_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--to", str(tmp_path / "made"), "--work", str(tmp_path / "work")]
    sizes = ["--pairs", "6", "--side", "144", "--steps", "6", "--batch-size", "1", "--threads", "1"]
    make.main(["--tasks", "denoise", *sizes, *places])
    made = tmp_path / "made" / "denoise.small.safetensors"
    assert made.stat().st_size < 3e6
    with safe_open(made, framework="pt") as file:
        assert file.get_tensor("unet.enter.0.0.weight").dtype == torch.float16
        about = json.loads(file.metadata()[METADATA_KEY])
    assert str(tmp_path) not in json.dumps(about)
    assert load_model(made).model.state_dict()["unet.enter.0.0.weight"].dtype == torch.float32
    pairs, data = tmp_path / "work" / "denoise" / "pairs", str(tmp_path / "data")
    files = PairFiles(folder=pairs, seen_channels=RGB, wanted_channels=RGB)
    start = ["train", *files.words(), "--initial-weights", str(made), "--data-directory", data]
    small = ["--model-size", "small", "--crop-size", "32", "--batch-size", "1", "--steps", "2", "--threads", "1"]
    assert main([*start, *small]) == EXIT_DONE
    capsys.readouterr()


def test_an_unseen_shot_is_what_its_task_wants() -> None:
    for shot in SHOTS.values():
        if shot.footage is None:
            pair = shot.example(shot.frames[0])
            task = TASKS[shot.kind]
            assert (shot.seen, shot.wanted) == (task.seen, task.wanted)
            assert (pair.seen.shape[2], pair.wanted.shape[2]) == (len(task.seen), len(task.wanted))
            assert pair.seen.shape[:2] == pair.wanted.shape[:2]
            assert np.abs(pair.seen[..., -1] - pair.wanted[..., -1]).mean() > 1e-3
    assert set(TASKS) == {shot.kind for shot in SHOTS.values() if shot.footage is None}, "each without footage too"


def test_an_iris_of_blades_loses_no_light() -> None:
    assert float(hexagon(2.6).sum()) == pytest.approx(1, rel=1e-5)


def test_a_segmented_matte_is_near_the_true_one() -> None:
    matte = np.zeros((60, 81), np.float32)
    matte[20:50, 20:70] = 1
    cut = segmented(np.random.default_rng(0), matte, 4)
    assert cut.shape == matte.shape
    assert 0.02 < np.abs(cut - matte).mean() < 0.2


def test_the_ratio_is_the_time_until_the_best_from_scratch_is_reached() -> None:
    slow = _curve("scratch", [10.0, 20.0, 30.0])
    slower = _curve("scratch, full resolution", [10.0, 15.0, 20.0])
    quick = _curve("weights", [28.0, 32.0, 33.0])
    told = list(ratios([slow, slower, quick]))
    assert told == [
        "weights: there after 0.50 of the time, 0.50 of the steps; +3.00 dB at its end (best from scratch: 30.00)"
    ]
    assert "never there" in next(ratios([slow, _curve("weights", [1.0, 2.0, 3.0])]))


def _curve(way: str, decibels: list[float]) -> Curve:
    return Curve(way=way, steps=np.array([10, 20, 30]), seconds=np.array([1.0, 2.0, 3.0]), decibels=np.array(decibels))
