"""Exports are tried on the run's own frames where they can be read, and always on made ones of odd sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.core.cli.command import write_script
from tests.core.train.export.models import RGB, lively_model, save_lively_model
from tests.core.train.shots import make_shot

from understudy.cli.main import main
from understudy.train.export.samples import MADE_SIZES, samples_for
from understudy.train.model_file import load_model


def test_the_runs_first_and_last_input_frame_are_taken(tmp_path: Path) -> None:
    shot = make_shot(tmp_path / "shot", painted=(1001, 1002, 1003))
    assert main(shot.train_words("--run-name", "first", steps=1)) == 0
    path = shot.data / "first.1.safetensors"
    samples = samples_for(path, load_model(path).model)
    assert [sample.name for sample in samples.own] == ["plate.1001.exr", "plate.1003.exr"]
    assert samples.own[0].pixels.shape == (64, 96, 3)
    assert samples.own[0].pixels.max() == 12.0
    assert str(samples) == "plate.1001.exr and plate.1003.exr, and 3 made HDR pictures"
    (shot.folder / "plate.1003.exr").unlink()
    samples = samples_for(path, load_model(path).model)
    assert samples.own == ()
    assert "plate.####.exr: input frames 1003 are missing" in samples.why_none


def test_frames_of_a_script_are_taken_through_it(tmp_path: Path) -> None:
    shot = make_shot(tmp_path / "shot")
    script = write_script(shot.folder)
    words = ["--data-directory", str(shot.data), "--run-name", "first", "--steps", "1", "--device", "cpu"]
    assert main(["-X", "CopyCat1", *words, str(script)]) == 0
    path = shot.data / "first.1.safetensors"
    assert [sample.name for sample in samples_for(path, load_model(path).model).own] == ["plate.1001.exr"]


def test_a_model_without_its_run_has_made_pictures(tmp_path: Path) -> None:
    path = save_lively_model(tmp_path / "comp.40.safetensors", lively_model((*RGB, "A", "Z"), RGB))
    samples = samples_for(path, load_model(path).model)
    assert samples.own == ()
    assert samples.why_none.endswith(
        "comp.40.safetensors: no run of that name; give a data directory or a file of the run"
    )
    assert [sample.pixels.shape[:2] for sample in samples.made] == [*MADE_SIZES]
    largest = samples.made[0].pixels
    finite = np.nan_to_num(largest, nan=0.0, posinf=0.0, neginf=0.0)
    assert not np.isfinite(largest).all()
    assert finite[..., :3].max() == 60000.0
    assert finite.min() < 0
    assert finite[..., 3].max() == 1.0
    assert str(samples) == "3 made HDR pictures"
