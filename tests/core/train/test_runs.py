"""Whole runs through the command line: what they learn, leave behind, and give back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import opentimelineio as otio
import pytest
from tests.core.script.fixtures import numbered_shot
from tests.core.script.training_comp import COMP, HEIGHT, WIDTH
from tests.core.train.shots import make_shot, write_picture
from tests.footage import FOOTAGE, needs_footage

from understudy.cli.main import main
from understudy.errors import EXIT_DONE, EXIT_USER
from understudy.frames.image import FloatPixels
from understudy.frames.read import read_header, read_image
from understudy.frames.sequence import Sequence
from understudy.report.metrics import read_metrics
from understudy.sources.timeline import TimelineSource
from understudy.train.schedule import HELD_END, HELD_SHARE, STEADY_END, STEADY_START, WARM_UP_STEPS

SMALL = ("--crop-size", "32", "--batch-size", "2", "--model-size", "small", "--device", "cpu", "--threads", "1")


def test_a_run_leaves_everything_that_was_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shot = make_shot(tmp_path)
    words = shot.train_words("--run-name", "r", "--validation-frames", "1003", "--contact-sheet-exr", "--tensorboard")
    assert main(words) == EXIT_DONE
    names = {path.name for path in shot.data.iterdir()}
    assert names == {
        *("r.6.safetensors", "r.6.ost", "r.6.png", "r.6.exr", "r.12.safetensors", "r.12.ost", "r.12.png", "r.12.exr"),
        *(
            "r.graph.png",
            "r.graph.svg",
            "r.metrics.jsonl",
            "r.run.json",
            "r.pairs.otio",
            "r.rank0.log",
            "r.tensorboard",
        ),
    }
    out = capsys.readouterr().out
    assert f" [*] Model saved at {shot.data / 'r.12.safetensors'}\n" in out
    assert f" [*] Optimiser saved at {shot.data / 'r.12.ost'}\n" in out
    assert f" [*] Contactsheet saved at {shot.data / 'r.12.png'}\n" in out
    assert "[Step:1/12] Loss:0." in out
    assert "[Step:10/12] Loss:0." in out
    metrics = read_metrics(shot.data / "r.metrics.jsonl")
    assert metrics.steps.tolist() == [1, 6, 10, 12], "every ten steps and at checkpoints"
    assert metrics.validation_steps.tolist() == [6, 12]
    record = json.loads((shot.data / "r.run.json").read_text())
    assert record["state"] == "finished"
    assert record["settings"]["crop_size"] == 32
    assert [(pair["frame"], pair["use"]) for pair in record["pairs"]] == [(1001, "train"), (1003, "validation")]
    pairs = TimelineSource(timeline=shot.data / "r.pairs.otio").pairs()
    assert [(pair.frame, pair.use, pair.target.media.path.name) for pair in pairs] == [
        (1001, "train", "paint.1001.exr"),
        (1003, "validation", "paint.1003.exr"),
    ]
    assert otio.adapters.read_from_file(str(shot.data / "r.pairs.otio")).name == "r"


@pytest.mark.parametrize(
    ("words", "fallen"),
    [
        (("--task", "matte"), STEADY_START * (STEADY_END / STEADY_START) ** 0.75),
        (("--task", "cleanup"), HELD_END + (1 - HELD_END) * 0.25 / (1 - HELD_SHARE)),
    ],
)
def test_the_learning_rate_falls_by_the_task(words: tuple[str, ...], fallen: float, tmp_path: Path) -> None:
    shot = make_shot(tmp_path)
    assert main(shot.train_words("--run-name", "r", "--learning-rate", "0.0003", *words, steps=4)) == EXIT_DONE
    last = read_metrics(shot.data / "r.metrics.jsonl").learning_rates[-1]
    assert last == pytest.approx(0.0003 * 4 / WARM_UP_STEPS * fallen)


def test_a_painted_square_goes_and_the_rest_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Learning as such: on a frame that nobody painted the mark goes, and what was right stays right."""
    shot = make_shot(tmp_path)
    words = shot.train_words(
        "--run-name", "r", "--checkpoint-interval", "800", "--contact-sheet-interval", "800", steps=800
    )
    assert main(words) == EXIT_DONE
    result = str(tmp_path / "result.####.exr")
    assert main(["apply", str(shot.data), "--input", shot.plate, "--output", result, "--frames", "1002"]) == EXIT_DONE
    plate, answer = (read_image(Sequence(pattern).path(1002)).pixels for pattern in (shot.plate, result))
    mark, highlight = (slice(22, 28), slice(43, 49)), (slice(4, 8), slice(4, 8))
    assert float(plate[mark].mean()) == pytest.approx(0.02, abs=1e-3)
    assert 0.3 < float(answer[mark].mean()) < 0.7
    assert float(answer[highlight].mean()) == pytest.approx(12.0, rel=0.1), "nothing clips a highlight"
    untouched = np.abs(answer - plate)[40:]
    assert float(np.median(untouched)) < 0.03
    capsys.readouterr()


def test_nuke_form_trains_from_a_comp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Read, five FrameHolds, AppendClip, Group with a Grade, Crop and Remove above CopyCat1."""
    numbered_shot(tmp_path / "plate", range(1, 11), WIDTH, HEIGHT)
    numbered_shot(tmp_path / "paint", range(1, 11), WIDTH, HEIGHT, "RGBA")
    (tmp_path / "shot.nk").write_text(COMP, encoding="utf-8")
    words = ["-F", "1", "-X", "CopyCat1", "--gpu", "-V", "1", "--model-size", "small", "--threads", "1"]
    assert main([*words, "--run-name", "r", str(tmp_path / "shot.nk")]) == EXIT_DONE
    out = capsys.readouterr().out
    assert "Total Steps: 50" in out, "20 epochs of 5 pairs in batches of 2"
    assert "[Step:50/50] Loss:" in out
    assert "Frame 1 (1 of 1)" in out
    runs = tmp_path / "runs"
    assert (runs / "r.nk").read_text(encoding="utf-8") == COMP
    (tmp_path / "shot.nk").unlink()  # resuming needs the run's own copy alone
    runs = runs.rename(tmp_path / "archive")
    assert main(["resume", str(runs), "--steps", "55"]) == EXIT_DONE
    assert "[Step:55/55] Loss:" in capsys.readouterr().out
    assert (runs / "r.55.safetensors").exists()


def test_nuke_form_does_without_the_node_where_there_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-F", "1", str(tmp_path / "absent.nk")]) == EXIT_USER
    assert "absent.nk" in capsys.readouterr().err


def test_apply_keeps_windows_and_header_of_the_source(tmp_path: Path) -> None:
    shot = make_shot(tmp_path)
    assert main(shot.train_words(steps=6)) == EXIT_DONE
    assert (
        main(["apply", str(shot.data), "--input", shot.plate, "--output", str(tmp_path / "out/r.%04d.exr")])
        == EXIT_DONE
    )
    for frame in range(1001, 1005):
        before = read_header(tmp_path / f"plate.{frame}.exr").parts[0]
        after = read_header(tmp_path / f"out/r.{frame}.exr").parts[0]
        assert (after.data_window, after.display_window) == (before.data_window, before.display_window)
        assert after.channels == ("R", "G", "B")


@needs_footage
def test_beachball_goes_from_rgba_to_matte_and_keeps_its_windows(tmp_path: Path) -> None:
    ball = str(FOOTAGE / "beachball" / "multipart.####.exr")
    source = ["--input", ball, "--target", ball, "--input-layer", "rgba_left", "--target-layer", "whitebarmask_left"]
    data = str(tmp_path / "data")
    assert main(["train", *source, "--frames", "1,4,8", "--steps", "3", "--data-directory", data, *SMALL]) == EXIT_DONE
    result = str(tmp_path / "matte.####.exr")
    assert main(["apply", data, "--input", ball, "--output", result, "--frames", "2", "--threads", "1"]) == EXIT_DONE
    part = next(
        part for part in read_header(FOOTAGE / "beachball/multipart.0002.exr").parts if part.name == "rgba_left"
    )
    matte = read_header(tmp_path / "matte.0002.exr").parts[0]
    assert matte.channels == ("R", "G", "B", "A", "whitebarmask.mask")
    assert (matte.data_window, matte.display_window) == (part.data_window, part.display_window)


@needs_footage
def test_hdr_passes_through_unclipped_and_non_finite_pixels_change_nothing_else(tmp_path: Path) -> None:
    """An identity task on photographs with values in the hundreds, one of them with NaN and Inf."""
    stills = ("Carrots", "CandleGlass", "Desk", "BrightRingsNanInf")
    for number, name in enumerate(stills, 1):
        shutil.copy(FOOTAGE / "hdr" / f"{name}.exr", tmp_path / f"hdr.{number:04d}.exr")
    pattern, result, data = str(tmp_path / "hdr.####.exr"), str(tmp_path / "out.####.exr"), str(tmp_path / "data")
    words = ["train", "--input", pattern, "--target", pattern, "--steps", "40", "--data-directory", data, *SMALL]
    assert main(words) == EXIT_DONE
    assert main(["apply", data, "--input", pattern, "--output", result, "--threads", "1"]) == EXIT_DONE
    brightest = []
    for number in range(1, 5):
        before, after = (read_image(Sequence(name).path(number)).pixels for name in (pattern, result))
        finite = np.isfinite(before).all(axis=-1)
        assert np.isfinite(after).all()
        assert worst_in_the_brightest_decile(before[finite], after[finite]) < 0.01
        brightest.append(float(after[finite].max()))
    assert max(brightest) > 200


def worst_in_the_brightest_decile(before: FloatPixels, after: FloatPixels) -> float:
    bright = before >= np.quantile(before, 0.9)
    return float((np.abs(after[bright] - before[bright]) / np.maximum(before[bright], 1e-3)).max())


def test_a_nan_disturbs_no_pixel_beyond_the_reach_of_one_black_pixel(tmp_path: Path) -> None:
    shot = make_shot(tmp_path)
    assert main(shot.train_words(steps=6)) == EXIT_DONE
    plate = read_image(tmp_path / "plate.1002.exr").pixels.copy()
    for name, value in (("nan", np.nan), ("black", 0.0)):
        plate[30, 30] = value
        write_picture(tmp_path / f"{name}.exr", plate)
        words = ["apply", str(shot.data), "--input", str(tmp_path / f"{name}.exr"), "--threads", "1"]
        assert main([*words, "--output", str(tmp_path / f"{name}_out.exr")]) == EXIT_DONE
    with_nan, with_black = (read_image(tmp_path / f"{name}_out.exr").pixels for name in ("nan", "black"))
    np.testing.assert_array_equal(with_nan, with_black)


def test_initial_weights_continue_where_another_run_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shot = make_shot(tmp_path)
    assert main(shot.train_words("--run-name", "first", steps=60)) == EXIT_DONE
    weights = str(shot.data / "first.60.safetensors")
    capsys.readouterr()
    assert main(shot.train_words("--run-name", "fresh", "--no-multi-resolution", steps=1)) == EXIT_DONE
    fresh = capsys.readouterr().out
    words = shot.train_words("--run-name", "more", "--initial-weights", weights, "--no-multi-resolution", steps=1)
    assert main(words) == EXIT_DONE
    assert first_loss(capsys.readouterr().out) < 0.95 * first_loss(fresh)


def first_loss(out: str) -> float:
    return float(out.split("Loss:")[1].split()[0])
