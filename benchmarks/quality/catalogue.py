"""The shots: some for choosing what understudy does, others to be looked at only when that is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.shots import footage, screen, street
from benchmarks.shots.footage import BALL, BALL_FRAMES, Pan
from benchmarks.shots.shot import MATTE, RGB, RGBA, Example, Kind, Shot
from benchmarks.shots.street import Move
from tests.footage import FOOTAGE

from understudy.demo.shot import DemoShot

FRAMES, PAINTED = range(1, 17), (1, 6, 11, 16)
MOVE = Move(shot=DemoShot(width=384, height=216), step=3.0)
LARGE = Move(shot=DemoShot(width=1152, height=648), step=3.0)
"""The same move; all that is seen has three times as many pixels across."""
KEPT_ASIDE = Move(shot=DemoShot(width=384, height=216, seed=29), step=3.0)
"""Other textures, drift and grain."""


def _street(
    kind: Kind, example: Callable[[Move, int], Example], move: Move = MOVE, wanted: tuple[str, ...] = RGB
) -> Shot:
    return Shot(kind=kind, wanted=wanted, example=partial(example, move), frames=FRAMES, painted=PAINTED)


def _photograph(kind: Kind, example: Callable[[Pan, int], Example], path: Path) -> Shot:
    pan = Pan(path=path, num_frames=len(FRAMES))
    return Shot(kind=kind, example=partial(example, pan), frames=FRAMES, painted=PAINTED, footage=path)


DEVELOPMENT = {
    "rig removal": _street("cleanup", street.rig),
    "blemishes": _street("beauty", street.blemishes),
    "look": _street("look", street.look),
    "roto": _street("matte", street.roto, wanted=MATTE),
    "rig removal, large": _street("cleanup", street.rig, LARGE),
    "roto, large": _street("matte", street.roto, LARGE, wanted=MATTE),
    "defocus": _photograph("deblur", footage.defocus, FOOTAGE / "hdr" / "Desk.exr"),
    "beach ball": Shot(
        kind="matte",
        wanted=MATTE,
        example=partial(footage.ball_matte, has_rough=False),
        frames=BALL_FRAMES,
        painted=(1, 4, 8),
        footage=BALL,
    ),
    "key": Shot(kind="matte", wanted=MATTE, example=screen.key, frames=FRAMES, painted=PAINTED),
    "cut out": Shot(kind="look", wanted=RGBA, example=screen.cut_out, frames=FRAMES, painted=PAINTED),
}
FINAL = {
    "rig removal, aside": _street("cleanup", street.rig, KEPT_ASIDE),
    "blemishes, aside": _street("beauty", street.blemishes, KEPT_ASIDE),
    "roto, aside": _street("matte", street.roto, KEPT_ASIDE, wanted=MATTE),
    "defocus, aside": _photograph("deblur", footage.defocus, FOOTAGE / "hdr" / "Carrots.exr"),
}
