"""Numbers as people say them."""

from __future__ import annotations

from typing import List, Optional

from understudy_ui.panel.model.tongue import tr

THIN_SPACE = "\u2009"
BETWEEN = "  \u00b7  "


def spoken_count(count: int) -> str:
    """22500 -> 22 500"""
    return f"{count:,}".replace(",", THIN_SPACE)


def spoken_seconds(seconds: float) -> str:
    """5400 -> 1 h 30 min"""
    whole = max(0, round(seconds))
    if whole < 60:
        return tr("{seconds} s").format(seconds=whole)
    minutes = round(whole / 60)
    if minutes < 60:
        return tr("{minutes} min").format(minutes=minutes)
    if minutes < 48 * 60:
        return tr("{hours} h {minutes:02d} min").format(hours=minutes // 60, minutes=minutes % 60)
    return tr("{days} days").format(days=round(minutes / 1440))


def spoken_mib(mebibytes: float) -> str:
    """2048 -> 2.0 GiB"""
    return f"{mebibytes / 1024:.1f} GiB" if mebibytes >= 1024 else f"{mebibytes:.0f} MiB"


def spoken_loss(loss: Optional[float]) -> str:
    """Three digits that count; a dash while nobody knows."""
    if loss is None:
        return "\u2013"
    return f"{loss:.4f}" if loss >= 0.01 else f"{loss:.2e}"


def spoken_frames(frames: List[int]) -> str:
    """1001, 1002, 1003, 1010 -> 1001-1003, 1010"""
    spans: List[List[int]] = []
    for frame in sorted(frames):
        if spans and frame == spans[-1][1] + 1:
            spans[-1][1] = frame
        else:
            spans.append([frame, frame])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def spoken_state(state: str) -> str:
    """A run's or rank's state as a word of the panel's language."""
    words = {
        "submitted": tr("submitted"),
        "training": tr("training"),
        "finished": tr("finished"),
        "stopped": tr("stopped"),
        "failed": tr("failed"),
        "lost": tr("lost"),
        "waiting": tr("waiting"),
        "running": tr("running"),
        "joining": tr("joining"),
        "done": tr("done"),
        "cancelled": tr("cancelled"),
        "unknown": tr("unknown"),
    }
    return words.get(state, state)
