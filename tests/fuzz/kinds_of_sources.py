"""Scripts and timelines: read as `understudy check` and `understudy bake` read them."""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.core.script import fixtures, training_comp
from tests.fuzz.kind import FaultElsewhere, Kind
from tests.fuzz.nuke_words import damaged_script
from tests.fuzz.timeline_parts import damaged_timeline
from tests.picture_files import SMALL, ramp, write_plate

from understudy.frames.window import Window
from understudy.pairs import FrameSource, Pair
from understudy.script.bake import lay_out as lay_out_bake
from understudy.script.nodes.base import Span
from understudy.settings import Settings, check
from understudy.sources.script import EvaluatedFrame, ScriptSource
from understudy.sources.sequences import FileFrame
from understudy.sources.timeline import TimelineSource, write_timeline
from understudy.survey import survey

_MOST_PAIRS = 2
"""Decoded of each case; the others are only named."""
_KNOBS = tuple(f"{field.name}: " for field in dataclasses.fields(Settings))


def _shot() -> None:
    for frame in range(1, 11):
        write_plate(Path(f"plate/plate.{frame:04d}.exr"), ramp(SMALL, 4), ("R", "G", "B", "A"))
        write_plate(Path(f"paint/plate.{frame:04d}.exr"), ramp(SMALL, 3))


def _scripts() -> Sequence[Path]:
    """One script for each family of nodes, the files that they name, and what is written in the tests of the parser."""
    for folder in ("plate", "paint"):
        Path(folder).mkdir()
    _shot()
    shutil.copy("plate/plate.0003.exr", "plate/left.0003.exr")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.iterdir())}
    texts |= {"training.nk": training_comp.COMP, "comp.nk": fixtures.COMP + _TRAINING, "look.cube": _LOOK}
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    return [Path(name) for name in texts if name not in _LOOKS]


SCRIPTS = Path(__file__).parent / "scripts"
_TRAINING = "CopyCat {\n inputs 2\n name CopyCat1\n}\n"
_ENDS = (0, 0.9)
_LOOK = "LUT_3D_SIZE 2\n" + "".join(f"{r} {g} {b}\n" for b in _ENDS for g in _ENDS for r in _ENDS)
_LOOKS = ("look.cube", "grade.ccc")
"""OpenColorIO reads each file once in a process: it would see no damage."""
_READ_BY = dict.fromkeys(("Lift.gizmo", "inner.nk", "live.nk"), "linked.nk")
"""The script that reads what is no script of its own."""
_VIEW = {"views.nk": "left"}
_PART = Window(2, 1, 5, 4)


def _read_script(damaged: Path) -> None:
    path = Path(_READ_BY.get(damaged.name, damaged))
    source = ScriptSource(script=path, view=_VIEW.get(path.name, ""))
    check(dataclasses.replace(Settings(), **source.knob_overrides()))  # type: ignore[arg-type]
    source.outline()
    pairs = source.pairs()[:_MOST_PAIRS]
    if not survey(pairs, crop_size=8).problems:
        _compare_a_part(pairs[0].input)
    lay_out_bake(path, "", Span(1, 3), Path("bake"))


def _compare_a_part(shown: FrameSource) -> None:
    """A part is the same, computed alone."""
    assert isinstance(shown, EvaluatedFrame)
    whole, part = shown.read(), shown.evaluator.pull(shown.node, shown.frame, shown.channels, _PART)
    if not np.allclose(whole.over(part.data_window), part.pixels, rtol=1e-4, atol=1e-6, equal_nan=True):
        raise FaultElsewhere("a part that differs from the whole", "", f"{part.data_window} of {whole.data_window}")


def _timelines() -> Sequence[Path]:
    for folder in ("plate", "paint"):
        Path(folder).mkdir()
    _shot()
    shutil.copy("plate/plate.0001.exr", "clean.exr")
    pairs = [
        Pair(
            frame=frame,
            input=FileFrame(path=Path(f"plate/plate.{frame:04d}.exr"), frame=frame, layer="rgb"),
            target=FileFrame(path=Path(f"paint/plate.{frame:04d}.exr"), frame=frame),
            use="validation" if frame == 4 else "train",
        )
        for frame in (2, 4, 7)
    ]
    pairs.append(Pair(frame=9, input=FileFrame(path=Path("clean.exr"), frame=0), target=pairs[0].target))
    path = Path("pairs.otio")
    write_timeline(path, pairs, name="shot", metadata={"run": "Training_1"})
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(Path.cwd().as_uri() + "/", ""), encoding="utf-8")  # the same wherever this lies
    return [path]


def _read_timeline(path: Path) -> None:
    survey(TimelineSource(timeline=path).pairs()[:_MOST_PAIRS], crop_size=8)


def _damage_script(_: Path, content: bytes, chance: random.Random) -> bytes:
    return damaged_script(content, chance)


def _damage_timeline(_: Path, content: bytes, chance: random.Random) -> bytes:
    return damaged_timeline(content, chance)


SOURCE_KINDS = (
    Kind(
        name="script",
        cases=1500,
        lay_out=_scripts,
        damage=_damage_script,
        read=_read_script,
        names=(", line ", *_KNOBS, "frame ", "no such file"),
    ),
    Kind(
        name="timeline", cases=1200, lay_out=_timelines, damage=_damage_timeline, read=_read_timeline, names=("frame ",)
    ),
)
