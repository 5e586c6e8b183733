from __future__ import annotations

import dataclasses
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import OpenImageIO as oiio
import pytest

from understudy.errors import UnderstudyError
from understudy.report.curves import MAX_POINTS, loss_curve, moving_average, stages
from understudy.report.graph import BACKGROUND, LOSS, PSNR, draw_graph
from understudy.report.metrics import Metrics


def metrics(num_steps: int, num_validations: int = 5) -> Metrics:
    steps = np.arange(1, num_steps + 1)
    at = np.linspace(1, max(num_steps, 1), num_validations).astype(np.int64)
    return Metrics(
        steps=steps,
        losses=1 / steps.astype(np.float64),
        learning_rates=np.full(num_steps, 1e-3),
        scales=np.select([steps < num_steps / 3, steps < num_steps / 2], [0.25, 0.5], 1.0),
        seconds=steps / 10,
        validation_steps=at,
        validation_psnrs=30 + at / max(num_steps, 1),
        events=({"event": "resumed", "step": num_steps // 2},),
    )


def pixels(png: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    read = oiio.ImageBuf(str(png)).get_pixels(oiio.UINT8)
    assert read is not None
    return np.asarray(read[..., :3], np.uint8)


def count(png: Path, colour: str) -> int:
    return int((pixels(png) == list(bytes.fromhex(colour[1:]))).all(axis=-1).sum())


def test_draws_both_files(tmp_path: Path) -> None:
    png, svg = tmp_path / "a.graph.png", tmp_path / "a.graph.svg"
    draw_graph(metrics(300), png, svg, title="Training_251121_021500")
    assert pixels(png).shape == (720, 960, 3)
    assert count(png, LOSS) > 1000
    assert count(png, PSNR) > 1000
    assert count(png, BACKGROUND) > 10000
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.graph.png", "a.graph.svg"]


def test_no_validation_no_panel(tmp_path: Path) -> None:
    draw_graph(metrics(300, num_validations=0), tmp_path / "a.png", tmp_path / "a.svg", title="run")
    assert count(tmp_path / "a.png", PSNR) == 0


@pytest.mark.parametrize("num_steps", [0, 1, 2])
@pytest.mark.parametrize("log_scale", [False, True])
def test_the_first_steps_can_be_drawn(tmp_path: Path, num_steps: int, log_scale: bool) -> None:
    drawn = metrics(num_steps, num_validations=num_steps)
    draw_graph(drawn, tmp_path / "a.png", tmp_path / "a.svg", title="run", log_scale=log_scale)
    assert (count(tmp_path / "a.png", PSNR) > 0) == (num_steps > 0)


def test_losses_of_nought_and_nan_can_be_drawn_on_a_log_axis(tmp_path: Path) -> None:
    drawn = metrics(50)
    drawn.losses[10], drawn.losses[20:30], drawn.losses[40:] = 0, np.nan, 0
    draw_graph(drawn, tmp_path / "a.png", tmp_path / "a.svg", title="run", log_scale=True, smoothness=0)
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_a_hundred_thousand_points_make_a_small_drawing(tmp_path: Path) -> None:
    draw_graph(metrics(100_000), tmp_path / "a.png", tmp_path / "a.svg", title="run")
    assert (tmp_path / "a.svg").stat().st_size < 300_000


def test_binning_keeps_extremes_and_mean() -> None:
    drawn = metrics(100_000)
    drawn.losses[:] = 1.0
    drawn.losses[54321], drawn.losses[65432] = 9.0, 0.125
    curve = loss_curve(drawn, smoothness=0)
    assert len(curve.steps) == MAX_POINTS
    assert curve.highs.max() == 9
    assert curve.lows.min() == 0.125
    assert curve.smooth.max() == pytest.approx(1 + 8 / (100_000 / MAX_POINTS), rel=0.01)


def test_short_runs_are_not_binned() -> None:
    curve = loss_curve(metrics(40), smoothness=0)
    np.testing.assert_array_equal(curve.smooth, metrics(40).losses)
    np.testing.assert_array_equal(curve.steps, np.arange(1, 41))


def test_smoothness_is_the_weight_of_what_was() -> None:
    np.testing.assert_allclose(moving_average(np.array([1.0, 0.0, 0.0]), 0.6), [1, 0.6, 0.36])


def test_stages_are_named() -> None:
    scales = np.array([0.25, 0.25, 0.5, 1, 1])
    assert stages(np.array([10, 20, 30, 40, 50]), scales) == [(10, "1/4"), (30, "1/2"), (40, "full")]


def test_a_deleted_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnderstudyError, match=r"a\.png: cannot be written"):
        draw_graph(metrics(10), tmp_path / "gone" / "a.png", tmp_path / "a.svg", title="run")


def test_the_name_of_validation_stands_where_its_curve_is_not(tmp_path: Path) -> None:
    """Low at the right when it rises, high when it falls: the curve is drawn over in neither."""
    drawn = [tmp_path / "rises.png", tmp_path / "falls.png"]
    rises = metrics(300, num_validations=20)
    falls = dataclasses.replace(rises, validation_psnrs=rises.validation_psnrs[::-1] - 0.4)
    for png, shown in zip(drawn, (rises, falls), strict=True):
        draw_graph(shown, png, png.with_suffix(".svg"), title="run")
    mean_row = []
    for png in drawn:
        letters = (pixels(png)[:, 560:] == list(bytes.fromhex(PSNR[1:]))).all(axis=-1)
        rows = np.flatnonzero(letters.sum(axis=1) > 30)
        mean_row.append(float(rows.mean()))
    assert mean_row[0] > mean_row[1]
