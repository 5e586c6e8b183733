"""Three scripts as artists build them, evaluated and trained from by `-X`, on a small street."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command
from tests.core.script.fixtures import write_exr

from understudy.demo.script import DemoTraining
from understudy.demo.shot import DemoShot
from understudy.demo.write import write_demo
from understudy.frames.image import Image
from understudy.frames.read import read_image
from understudy.frames.sequence import Sequence
from understudy.script.copycat import find_copycat, training_inputs
from understudy.script.evaluate import Evaluator
from understudy.script.graph import read_script
from understudy.script.nodes.base import Reading
from understudy.script.paths import PathRules

SCRIPTS = Path(__file__).parents[1] / "script" / "artists"
SHOT = DemoShot(width=240, height=136, first_frame=1001, last_frame=1009, painted_frames=(1001, 1005, 1009))
FRAMES = (1, 2, 3)
"""Of the AppendClips: the painted ones."""


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plate, paint, and the matte of what was painted out, in red."""
    folder = tmp_path_factory.mktemp("street")
    files = write_demo(folder, SHOT, DemoTraining(), say=lambda _: None)
    for frame in SHOT.frames:
        plate, truth = (read_image(Sequence(pattern).path(frame)).pixels for pattern in (files.plate, files.truth))
        matte = np.abs(plate - truth).max(axis=2, keepdims=True) > 0.02
        write_exr(folder / "roto" / f"roto.{frame}.exr", np.repeat(matte, 3, axis=2).astype(np.float32))
    for script in SCRIPTS.glob("*.nk"):
        shutil.copy(script, folder)
    return folder


def inputs_of(script: Path, frame: int) -> tuple[Image, Image]:
    """What CopyCat1 is given at the frame."""
    parsed = read_script(script)
    evaluator = Evaluator(parsed, Reading(paths=PathRules(script=parsed)))
    shown, wanted = training_inputs(parsed, find_copycat(parsed))
    evaluator.check([shown, wanted])
    first, second = (evaluator.pull(node, frame, evaluator.channels(node)) for node in (shown, wanted))
    return first, second


@pytest.mark.parametrize("name", ["cleanup", "roto", "look"])
def test_it_trains(name: str, street: Path, command: Command) -> None:
    ending = command("-F", "1-3", "-X", "CopyCat1", street / f"{name}.nk", "--device", "cpu")
    assert (ending.code, ending.faults) == (0, [])
    assert "Pairs: 3 to train on" in ending.out


@pytest.mark.parametrize("frame", FRAMES)
def test_plate_and_paint_are_stabilised_alike(frame: int, street: Path) -> None:
    plate, paint = inputs_of(street / "cleanup.nk", frame)
    assert plate.display_window == paint.display_window
    assert (plate.display_window.width, plate.display_window.height) == (192, 104)
    seen, wanted = (np.log(np.maximum(image.pixels[..., 1], 1e-3)).ravel() for image in (plate, paint))
    assert np.corrcoef(seen, wanted)[0, 1] > 0.97
    moved = np.log(np.maximum(np.roll(paint.pixels[..., 1], 4, axis=1), 1e-3)).ravel()
    assert np.corrcoef(seen, moved)[0, 1] < 0.95


@pytest.mark.parametrize("frame", FRAMES)
def test_the_matte_is_grown_and_soft(frame: int, street: Path) -> None:
    plate, matte = inputs_of(street / "roto.nk", frame)
    assert (plate.channels, matte.channels) == (("R", "G", "B"), ("A",))
    hard = read_image(street / "roto" / f"roto.{(1001, 1005, 1009)[frame - 1]}.exr").pixels[..., 0]
    grown, window = matte.data_window, plate.data_window
    assert grown.contains(window)
    assert grown != window
    soft = matte.pixels[window.y0 - grown.y0 :, window.x0 - grown.x0 :, 0][: window.height, : window.width]
    assert soft.min() >= 0
    assert soft.max() <= 1
    assert ((soft > 0.01) & (soft < 0.99)).sum() > 100
    assert soft.sum() > 1.2 * hard.sum()
    assert soft[hard == 1].min() > 0.2


@pytest.mark.parametrize("frame", FRAMES)
def test_the_look_is_dark_to_the_edges_and_both_sides_are_log(frame: int, street: Path) -> None:
    plate, look = inputs_of(street / "look.nk", frame)
    assert plate.channels == look.channels == ("R", "G", "B")
    black = 0.092809  # of Alexa's log curve
    assert plate.pixels.min() == pytest.approx(black, abs=0.02)
    assert 0.7 < look.pixels.max() < plate.pixels.max() < 1
    middle, corner = look.pixels[60:76, 110:130].mean(), look.pixels[:16, :16].mean()
    ratio = plate.pixels[60:76, 110:130].mean() / plate.pixels[:16, :16].mean()
    assert middle / corner > ratio
