"""What the numbers look like: of a frame that nobody painted, the place where all ways together are most wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from benchmarks.quality.curves_picture import TITLE_POINTS
from benchmarks.shots.files import folder_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.frames.psnr import srgb_encoded
from understudy.frames.read import read_image
from understudy.report.graph import BACKGROUND, INK

SIDE, STRIDE = 96, 8
"""Pixels of the square that is shown, and between two that come into question."""
CELL_INCHES = 2.6
SEED = 0


def draw_frames(kept: Path, shots: Sequence[str], ways: Sequence[str], path: Path) -> None:
    """A row for each shot of which answers were kept: plate, truth, and what each way has made of it at its end."""
    pictures = {shot: found for shot in shots if (found := _pictures(folder_of(shot, kept), ways))}
    if not pictures:
        return
    titles = ["plate", "truth", *ways]
    size = (CELL_INCHES * len(titles), CELL_INCHES * len(pictures) + 0.5)
    figure = Figure(figsize=size, dpi=100, facecolor=BACKGROUND, layout="constrained")
    rows = figure.subplots(len(pictures), len(titles), squeeze=False)
    for row, (shot, shown) in zip(rows, pictures.items(), strict=True):
        place = _most_wrong(shown["truth"], [shown[way] for way in ways if way in shown])
        for cell, title in zip(row, titles, strict=True):
            _draw_cell(cell, shown[title][place] if title in shown else None)
        row[0].set_ylabel(shot, color=INK, fontsize=TITLE_POINTS)
    for cell, title in zip(rows[0], titles, strict=True):
        cell.set_title(title, color=INK, fontsize=TITLE_POINTS)
    figure.savefig(path, facecolor=BACKGROUND)


def _pictures(folder: Path, ways: Sequence[str]) -> Mapping[str, FloatPixels]:
    """By title; H W 1 or H W 3 as displayed."""
    kept = {tuple(path.name.split(".", 2)[1:]): path for path in folder.glob("answer.*.exr")}
    answers = {way: path for way in ways for (_, name), path in kept.items() if name == f"{way}.{SEED}.exr"}
    if not answers:
        return {}
    frame = next(number for number, _ in kept)
    paths = {"plate": folder / f"seen.{frame}.exr", "truth": folder / f"wanted.{frame}.exr", **answers}
    return {title: _displayed(path) for title, path in paths.items()}


def _displayed(path: Path) -> FloatPixels:
    """A matte as it is."""
    pixels = read_image(path, colorspace="raw").pixels
    return np.clip(pixels, 0.0, 1.0) if pixels.shape[2] == 1 else srgb_encoded(pixels[..., :3])


def _most_wrong(truth: FloatPixels, answers: Sequence[FloatPixels]) -> tuple[slice, slice]:
    """A square within the frame."""
    wrong: NDArray[np.float64] = sum(np.abs(answer - truth).mean(axis=2, dtype=np.float64) for answer in answers)
    height, width = wrong.shape
    places = [
        (slice(y, y + SIDE), slice(x, x + SIDE))
        for y in range(0, max(height - SIDE, 0) + 1, STRIDE)
        for x in range(0, max(width - SIDE, 0) + 1, STRIDE)
    ]
    return max(places, key=lambda place: float(wrong[place].sum()))


def _draw_cell(cell: Axes, pixels: FloatPixels | None) -> None:
    cell.set_xticks([])
    cell.set_yticks([])
    cell.spines[:].set_visible(False)
    cell.set_facecolor(BACKGROUND)
    if pixels is not None:
        cell.imshow(pixels if pixels.shape[2] == 3 else pixels[..., 0], cmap="gray", vmin=0.0, vmax=1.0)
