"""Adapters to peers: the files that they are given, and what is read of their logs. The peers themselves are not here:
small programs that speak the same files take their place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.quality import few_shot, measure, peers, tunet
from benchmarks.quality.few_shot import FewShot, srgb_decoded
from benchmarks.quality.peers import Peer
from benchmarks.quality.trainers import Means, Task, Trainer
from benchmarks.quality.tunet import Tunet
from benchmarks.shots.files import PairFiles
from benchmarks.shots.shot import MATTE, RGB, Example, Kind, Shot

from understudy.demo.filters import float32
from understudy.frames.image import FloatPixels
from understudy.frames.psnr import srgb_encoded
from understudy.frames.read import read_image

FRAMES, PAINTED = range(1, 4), (1, 3)


def plate(frame: int) -> FloatPixels:
    """Darker than black and brighter than white."""
    return np.random.default_rng(frame).uniform(-0.1, 3.0, (40, 50, 3)).astype(np.float32)


def example(frame: int, kind: Kind) -> Example:
    seen = plate(frame)
    return Example(seen=seen, wanted=float32(seen[..., :1].clip(0, 1) if kind == "matte" else seen / 2))


def task_of(kind: Kind, folder: Path, means: Means | None = None) -> Task:
    wanted = MATTE if kind == "matte" else RGB
    shot = Shot(kind=kind, wanted=wanted, example=lambda frame: example(frame, kind), frames=FRAMES, painted=PAINTED)
    files = PairFiles(folder=folder / "pairs", seen_channels=RGB, wanted_channels=wanted)
    for frame in FRAMES:
        files.write(frame, example(frame, kind))
    return Task(shot=shot, files=files, seed=0, seconds=0.5, folder=folder / "run", means=means or Means())


def read(path: Path, colorspace: str = "") -> FloatPixels:
    return read_image(path, layer="rgb", colorspace=colorspace).pixels


def test_tunet_gets_colour_as_it_is(tmp_path: Path) -> None:
    task = task_of("cleanup", tmp_path)
    Tunet(name="TuNet").write_pairs(task)
    assert sorted(path.name for path in (task.folder / "src").iterdir()) == ["0001.exr", "0003.exr"]
    np.testing.assert_array_equal(read(task.folder / "src" / "0003.exr"), plate(3))
    np.testing.assert_array_equal(read(task.folder / "dst" / "0003.exr"), plate(3) / 2)


def test_tunet_gets_a_matte_as_grey_beside_the_plate_as_displayed(tmp_path: Path) -> None:
    task = task_of("matte", tmp_path)
    Tunet(name="TuNet").write_pairs(task)
    np.testing.assert_array_equal(read(task.folder / "src" / "0001.exr"), srgb_encoded(plate(1)))
    np.testing.assert_array_equal(
        read(task.folder / "dst" / "0001.exr"), np.clip(plate(1)[..., :1], 0, 1).repeat(3, axis=2)
    )


@pytest.mark.parametrize(
    ("kind", "color_space", "loss", "is_residual"),
    [("cleanup", "linear", "l1", True), ("look", "linear", "l1", False), ("matte", "srgb", "bce+dice", False)],
)
def test_tunets_settings_follow_the_kind_of_shot(
    kind: Kind, color_space: str, loss: str, is_residual: bool, tmp_path: Path
) -> None:
    found = Tunet(name="TuNet", width=32).settings(task_of(kind, tmp_path), tmp_path, 7)
    assert found["data"]["color_space"] == color_space
    assert (found["training"]["loss"], found["training"]["predict_residual"]) == (loss, is_residual)
    assert (found["training"]["iterations_per_epoch"], found["model"]["model_size_dims"]) == (7, 32)


def test_few_shot_gets_eight_bits_as_displayed(tmp_path: Path) -> None:
    FewShot(name="few-shot").write_pairs(task_of("look", tmp_path), tmp_path)
    painted = tmp_path / few_shot.PAINTED
    shown = read(painted / "input_filtered" / "0001.png", "raw")
    np.testing.assert_allclose(shown, srgb_encoded(plate(1)), atol=0.5 / 255 + 1e-6)
    np.testing.assert_allclose(srgb_decoded(shown), np.clip(plate(1), 0, 1), atol=0.006)
    assert read_image(painted / "mask" / "0003.png", colorspace="raw").pixels.min() == 1


def test_few_shots_own_settings_are_kept_but_for_this_machine(tmp_path: Path) -> None:
    shipped = tmp_path / "_config" / "reference_P.yaml"
    shipped.parent.mkdir()
    shipped.write_text('lr: 4\n    perception_loss: *perception_loss\n    num_workers: 1\n    device: "cuda:0"\n')
    program = Peer(checkout=tmp_path, python=Path(sys.executable), threads=1)
    FewShot(name="few-shot").write_settings(program, tmp_path / "written.yaml")
    assert (tmp_path / "written.yaml").read_text() == 'lr: 4\n    num_workers: 0\n    device: "cpu"\n'
    shipped.write_text("lr: 4\n")
    with pytest.raises(SystemExit, match="another version"):
        FewShot(name="few-shot").write_settings(program, tmp_path / "written.yaml")


@pytest.mark.parametrize(("way", "option"), [("TuNet", "--tunet"), ("few-shot", "--few-shot")])
def test_a_peer_that_is_not_given_is_refused(way: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        measure.main(["--ways", way])
    assert refused.value.code == 2
    assert f"give {option}" in capsys.readouterr().err.splitlines()[-1]


def test_a_folder_without_the_peer_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        measure.main(["--ways", "TuNet", "--tunet", str(tmp_path), "--peer-python", sys.executable])
    assert "there is no train.py" in capsys.readouterr().err


TUNET_TRAIN = """
import json, pathlib, sys, time
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
settings = json.loads(pathlib.Path(words["--config"]).read_text())
output, interval = pathlib.Path(settings["data"]["output_dir"]), settings["training"]["iterations_per_epoch"]
log = (output / "training.log").open("a", buffering=1)
def say(text):
    now = time.time()
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now)) + f",{int(now % 1 * 1000):03d}"
    log.write(f"{when} [R0|Linux|INFO] {text}\\n")
step, least = 0, 2 * interval if interval < 1000 else 1
while step < least or not pathlib.Path(words["--stop-file"]).exists():
    time.sleep(0.05)
    step += 1
    say(f"Epoch[1] Step[{step}] (1/1), L1:0.1(Avg:0.1), LR:1.0e-04, T/Step:0.050s (D:0.0 T:0.0 C:0.0)")
    if step % interval == 0:
        (output / f"settings_tunet_epoch_{step // interval:09d}.pth").write_text(str(step))
say(f"Performing final checkpoint save (State @ Step {step})...")
(output / "settings_tunet_latest.pth").write_text(str(step))
"""
TUNET_INFERENCE = """
import pathlib, torch
def load_model_and_config(path, device):
    assert int(pathlib.Path(path).read_text()) > 0
    return torch.nn.Identity(), 128, False, "l1", "linear", True
"""
TUNET_NORMALIZED = """
import torch
class NormalizedUNet(torch.nn.Module):
    def __init__(self, network, use_sigmoid, color_space, predict_residual):
        super().__init__()
        assert (use_sigmoid, color_space, predict_residual) == (False, "linear", True)
    def forward(self, pixels):
        assert pixels.shape[2] % 16 == pixels.shape[3] % 16 == 0
        return 2 * pixels
"""
FEW_SHOT_TRAIN = """
import pathlib, signal, sys, time, torch
import tensorflow as tf
tf.compat.v1.summary.FileWriter("log").add_summary(tf.Summary(value=[]), 1)
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
log = pathlib.Path(words["--data_root"], words["--log_folder"])
log.mkdir()
start, step, number, interval, told = time.time(), 0, 0, int(words["--log_interval"]), []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
while step < 2 * interval or not told:
    time.sleep(0.05)
    step += 1
    if step == 1 or step % interval == 0:
        print(f"[{step}]  totalLossOnEbsynth:  0.0000", flush=True)
        print(f"[{step}] [generator_loss]  4.4347. Took {time.time() - start}", flush=True)
        torch.save(torch.nn.Identity(), log / f"model_{number:05d}.pth")
        number += 1
        print(f"Eval of batch: {step} took 0.1", flush=True)
"""


@pytest.fixture
def stand_ins(tmp_path: Path) -> Means:
    """Programs that learn nothing, but take, write and say what the peers do; told to stop, they save twice first."""
    texts = {
        "tunet/train.py": TUNET_TRAIN,
        "tunet/inference.py": TUNET_INFERENCE,
        "tunet/models/normalized.py": TUNET_NORMALIZED,
        "few-shot/train.py": FEW_SHOT_TRAIN,
        "few-shot/_config/reference_P.yaml": "".join(few_shot.CHANGES),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    checkouts = {"tunet": tmp_path / "tunet", "few-shot": tmp_path / "few-shot"}
    return Means(threads=1, peer_python=Path(sys.executable), checkouts=checkouts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "answer"),
    [
        (Tunet(name="TuNet", snapshots=2), lambda pixels: 2 * pixels),
        (FewShot(name="few-shot", snapshots=2), lambda pixels: np.clip(pixels, 0, 1)),
    ],
)
def test_a_peer_is_run_for_its_time_and_its_networks_answer_along_the_way(
    way: Trainer,
    answer: Callable[[FloatPixels], FloatPixels],
    stand_ins: Means,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (tunet, few_shot):
        monkeypatch.setattr(module, "PACE_SECONDS", 0.5)
    monkeypatch.setattr(peers, "LEAST_SHARE", 0)
    task = task_of("cleanup", tmp_path, stand_ins)
    steps, seconds = [], []
    for snapshot in way.train(task):
        steps.append(snapshot.step)
        seconds.append(snapshot.seconds)
        found = snapshot.answers({2: plate(2), 3: plate(3)})
        np.testing.assert_allclose(found[3], answer(plate(3)), atol=1e-5)
    assert len(steps) > 1
    assert steps == sorted(set(steps))
    assert seconds == sorted(seconds)
    assert all(0.04 * step < at for step, at in zip(steps, seconds, strict=True)), "a step takes 0.05 s"
