"""Shots on which starting weights are judged: other pictures and other faults than those they were trained on.

The demo's street and its iron rail are always there; photographs and the beach ball where real footage lies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.shots import footage, street
from benchmarks.shots.footage import BALL, Pan
from benchmarks.shots.shot import MATTE, RGBA, Example, Kind, Shot
from benchmarks.shots.street import Move
from tests.footage import FOOTAGE

from understudy.demo.shot import DemoShot

FRAMES, PAINTED = range(1, 10), (1, 5, 9)
MOVE = Move(shot=DemoShot(width=384, height=216, seed=11), step=5.8)
DESK, CARROTS = FOOTAGE / "hdr" / "Desk.exr", FOOTAGE / "hdr" / "Carrots.exr"


def _street(kind: Kind, example: Callable[[Move, int], Example]) -> Shot:
    return Shot(kind=kind, example=partial(example, MOVE), frames=FRAMES, painted=PAINTED)


def _photograph(kind: Kind, example: Callable[[Pan, int], Example], path: Path) -> Shot:
    pan = Pan(path=path, num_frames=len(FRAMES))
    return Shot(kind=kind, example=partial(example, pan), frames=FRAMES, painted=PAINTED, footage=path)


SHOTS = {
    "street noise": _street("denoise", street.noise),
    "desk noise": _photograph("denoise", footage.noise, DESK),
    "street defocus": _street("deblur", street.defocus),
    "carrots defocus": _photograph("deblur", footage.defocus, CARROTS),
    "rail matte": Shot(
        kind="matte", seen=RGBA, wanted=MATTE, example=partial(street.rail, MOVE), frames=FRAMES, painted=PAINTED
    ),
    "ball matte": Shot(
        kind="matte",
        seen=RGBA,
        wanted=MATTE,
        example=partial(footage.ball_matte, has_rough=True),
        frames=range(1, 9),
        painted=(1, 4, 8),
        footage=BALL,
    ),
}
