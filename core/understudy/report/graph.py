"""The graph of a run: loss, validation PSNR and learning rate over steps; readable at 300 pixels wide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from understudy.files import write_atomically
from understudy.report.curves import Curve, loss_curve, stages
from understudy.report.metrics import Metrics

BACKGROUND, PANEL, INK, GUIDE = "#262626", "#303030", "#dcdcdc", "#8c8c8c"
LOSS, PSNR, RATE = "#56b4e9", "#e69f00", "#9ad0b8"
"""Told apart by all common kinds of colour vision (after Okabe and Ito)."""

INCHES = (9.6, 7.2)
DOTS_PER_INCH = 100
LABEL_POINTS, TITLE_POINTS = 19, 22


def draw_graph(
    metrics: Metrics,
    png: Path,
    svg: Path,
    *,
    title: str,
    log_scale: bool = False,
    smoothness: float = 0.6,
    show_original: bool = True,
) -> None:
    """Draw the run's history to both files, atomically. `smoothness` is 0 to 0.99, as CopyCat's knob.

    Raises UnderstudyError naming the file that cannot be written.
    """
    figure = Figure(figsize=INCHES, dpi=DOTS_PER_INCH, facecolor=BACKGROUND, layout="constrained")
    has_psnr = bool(len(metrics.validation_steps))
    heights = [6, 3.4, 1.3] if has_psnr else [6, 1.3]
    panels: list[Axes] = list(figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}))
    panels[0].set_title(_shortened(title), loc="left", color=INK, fontsize=TITLE_POINTS, pad=10)
    for panel in panels:
        _prepare(panel)
    _draw_loss(panels[0], loss_curve(metrics, smoothness), log_scale=log_scale, show_original=show_original)
    if has_psnr:
        _draw_psnr(panels[1], metrics)
    _draw_rate(panels[-1], metrics)
    panels[-1].set_xlim(0, 1.01 * max([1, *metrics.steps[-1:], *metrics.validation_steps[-1:]]))
    _mark_stages(panels, metrics)
    _mark_resumes(panels, metrics)
    write_atomically(png, lambda path: figure.savefig(path, facecolor=BACKGROUND))
    write_atomically(svg, lambda path: figure.savefig(path, facecolor=BACKGROUND))


def _prepare(panel: Axes) -> None:
    panel.set_facecolor(PANEL)
    panel.tick_params(which="both", colors=INK, labelsize=LABEL_POINTS, length=0, pad=6)
    panel.spines[:].set_visible(False)
    panel.grid(axis="y", color=GUIDE, alpha=0.25, linewidth=1)
    panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda step, _: _short(step)))
    panel.yaxis.set_major_locator(MaxNLocator(3))


def _draw_loss(panel: Axes, curve: Curve, *, log_scale: bool, show_original: bool) -> None:
    if show_original:
        panel.fill_between(curve.steps, curve.lows, curve.highs, color=LOSS, alpha=0.3, linewidth=1)
    panel.plot(curve.steps, curve.smooth, color=LOSS, linewidth=4, solid_capstyle="round")
    latest = f"  {curve.smooth[-1]:.3g}" if len(curve.smooth) else ""
    panel.set_title("loss" + latest, loc="right", color=LOSS, fontsize=TITLE_POINTS, fontweight="bold", pad=10)
    if not len(curve.smooth):
        return
    visible = curve.highs if show_original else curve.smooth
    if log_scale and curve.smooth.min() > 0:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(10, numticks=4))
        panel.yaxis.set_minor_formatter(NullFormatter())
        floor = curve.lows[curve.lows > 0].min() if show_original else curve.smooth.min()
        panel.set_ylim(floor * 0.8, visible.max() * 2)
    else:
        # a few wild steps at the start would press the rest of the curve flat
        ceiling = max(float(np.quantile(visible, 0.98)), float(curve.smooth.max()))
        panel.set_ylim(0, 1.15 * ceiling or 1)


def _draw_psnr(panel: Axes, metrics: Metrics) -> None:
    finite = np.isfinite(metrics.validation_psnrs)
    steps, psnrs = metrics.validation_steps[finite], metrics.validation_psnrs[finite]
    marker = "o" if len(steps) < 40 else ""
    panel.plot(steps, psnrs, color=PSNR, linewidth=4, marker=marker, markersize=8, solid_capstyle="round")
    panel.margins(y=0.2)
    is_falling = len(psnrs) > 1 and bool(psnrs[-1] < (psnrs.min() + psnrs.max()) / 2)
    _name(panel, "validation PSNR" + (f"  {psnrs[-1]:.1f} dB" if len(psnrs) else ""), PSNR, high=is_falling)


def _draw_rate(panel: Axes, metrics: Metrics) -> None:
    kept = slice(None, None, max(1, len(metrics.steps) // 600))
    panel.plot(metrics.steps[kept], metrics.learning_rates[kept], color=RATE, linewidth=3)
    panel.margins(y=0.6)  # room for the name above a rate that comes down late
    panel.set_ylim(bottom=0)
    panel.set_yticks([])
    panel.grid(visible=False)
    _name(panel, "learning rate", RATE, high=True)


def _mark_stages(panels: Sequence[Axes], metrics: Metrics) -> None:
    begun = stages(metrics.steps, metrics.scales)
    if len(begun) < 2:
        return
    for index, (step, name) in enumerate(begun):
        if index:
            for panel in panels:
                panel.axvline(step, color=GUIDE, linewidth=2, linestyle=(0, (4, 3)))
        panels[0].annotate(
            name, (step, 1), (6, -6), xycoords=panels[0].get_xaxis_transform(), textcoords="offset points",
            verticalalignment="top", color=INK, fontsize=LABEL_POINTS,
        )  # fmt: skip


def _mark_resumes(panels: Sequence[Axes], metrics: Metrics) -> None:
    for event in metrics.events:
        step = event.get("step")
        if event.get("event") == "resumed" and isinstance(step, int):
            for panel in panels:
                panel.axvline(step, color=INK, linewidth=1.5, linestyle=":")
            panels[0].plot([step], [0], marker="^", markersize=14, color=INK, clip_on=False,
                           transform=panels[0].get_xaxis_transform())  # fmt: skip


def _name(panel: Axes, text: str, colour: str, *, high: bool = False) -> None:
    """Write what the curve is into the right-hand corner that it leaves free: low if it rises, high if it sinks."""
    panel.annotate(
        text, (1, int(high)), (-8, -8 if high else 10), xycoords="axes fraction", textcoords="offset points",
        horizontalalignment="right", verticalalignment="top" if high else "baseline",
        color=colour, fontsize=LABEL_POINTS, fontweight="bold",
        bbox={"facecolor": PANEL, "edgecolor": "none", "alpha": 0.8, "pad": 2},
    )  # fmt: skip


def _shortened(title: str, longest: int = 32) -> str:
    return title if len(title) <= longest else f"{title[: longest // 2]}…{title[-longest // 2 + 1 :]}"


def _short(step: float) -> str:
    """12500 -> 12.5k"""
    return f"{step / 1000:g}k" if step >= 1000 else f"{step:g}"
