"""Held-out quality over wall time: a panel for each shot, a line for each way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.quality.results import Run, of, shots_and_ways
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from understudy.report.graph import BACKGROUND, GUIDE, INK, PANEL

COLOURS = ("#56b4e9", "#e69f00", "#9ad0b8", "#cc79a7", "#f0e442", "#d55e00", "#ffffff", "#8c8ce0")
"""Told apart by all common kinds of colour vision (after Okabe and Ito)."""
COLUMNS = 3
PANEL_INCHES = (4.6, 3.4)
POINTS, TITLE_POINTS = 13, 15
TIMES, FEWER_TIMES = (5, 15, 30, 60, 120, 300, 600, 1200, 3600), (3, 10, 60, 300, 1800)
"""Seconds that are named where they lie in the panel; fewer where the last is more than WIDE times the first."""
WIDE = 15
LEAST_SPAN_DB = 2
"""Of a panel: less than that would look like more than it is."""


def draw(runs: Sequence[Run], path: Path) -> None:
    """All shots with one legend."""
    shots, ways = shots_and_ways(runs)
    rows, columns = math.ceil(len(shots) / COLUMNS), min(COLUMNS, len(shots))
    size = (PANEL_INCHES[0] * columns, PANEL_INCHES[1] * rows + 0.6)
    figure = Figure(figsize=size, dpi=100, facecolor=BACKGROUND, layout="constrained")
    panels: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[len(shots) :]:
        panel.set_visible(False)
    for shot, panel in zip(shots, panels[: len(shots)], strict=True):
        _draw_shot(panel, shot, of(runs, shot=shot), ways)
    lines = {line.get_label(): line for panel in panels for line in panel.get_lines() if line.get_label() in ways}
    figure.legend(
        [lines[way] for way in ways], ways, loc="outside lower center", ncols=min(4, len(ways)), frameon=False,
        labelcolor=INK, fontsize=TITLE_POINTS,
    )  # fmt: skip
    figure.savefig(path, facecolor=BACKGROUND)


def _draw_shot(panel: Axes, shot: str, runs: Sequence[Run], ways: Sequence[str]) -> None:
    name = "matte_error" if runs[0].is_of_matte else "psnr"
    _prepare(panel, f"{shot}: {'error, lower is better' if name == 'matte_error' else 'PSNR [dB]'}")
    for number, way in enumerate(ways):
        seeds = of(runs, shot=shot, way=way)
        if seeds:
            _draw_way(panel, seeds, name, COLOURS[number % len(COLOURS)], "-" if number < len(COLOURS) else "--")
    if name == "matte_error":
        panel.set_yscale("log")
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_locator(FixedLocator([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]))
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        low, high = panel.get_ylim()
        more = max(0, LEAST_SPAN_DB - (high - low)) / 2
        panel.set_ylim(low - more, high + more)
    first, last = panel.get_xlim()
    panel.xaxis.set_major_locator(FixedLocator(FEWER_TIMES if last > WIDE * first else TIMES))


def _draw_way(panel: Axes, seeds: Sequence[Run], name: str, colour: str, style: str) -> None:
    """The mean of all seeds where all have something to tell, and between best and worst a band."""
    times = np.unique([time for run in seeds for time in run.seconds])
    values = np.array([[run.at(name, time) for time in times] for run in seeds])  # seeds, times
    told = ~np.isnan(values).any(axis=0)
    times, values = times[told], values[:, told]
    panel.plot(times, values.mean(axis=0), style, color=colour, linewidth=2.5, label=seeds[0].way)
    panel.fill_between(times, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.25, linewidth=0)


def _prepare(panel: Axes, title: str) -> None:
    panel.set_title(title, loc="left", color=INK, fontsize=TITLE_POINTS)
    panel.set_facecolor(PANEL)
    panel.set_xscale("log")
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time:g} s" if time < 60 else f"{time / 60:g} min"))
    panel.yaxis.set_major_locator(MaxNLocator(5))
    panel.tick_params(which="both", colors=INK, labelsize=POINTS, length=0, pad=5)
    panel.spines[:].set_visible(False)
    panel.grid(color=GUIDE, alpha=0.25, linewidth=1)
