"""Scripts and timelines: read as `understudy check` and `understudy bake` read them."""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.core.script import fixtures, training_comp
from tests.fuzz.kind import Kind
from tests.fuzz.nuke_words import damaged_script
from tests.fuzz.timeline_parts import damaged_timeline
from tests.picture_files import SMALL, ramp, write_plate

from understudy.pairs import Pair
from understudy.script.bake import lay_out as lay_out_bake
from understudy.script.nodes.base import Span
from understudy.settings import Settings, check
from understudy.sources.script import ScriptSource
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
    for folder in ("plate", "paint"):
        Path(folder).mkdir()
    _shot()
    texts = {
        "training.nk": training_comp.COMP,
        "comp.nk": fixtures.COMP + "CopyCat {\n inputs 2\n name CopyCat1\n}\n",
        "plain.nk": PLAIN,
        "moving.nk": MOVING,
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8")
    return [Path(name) for name in ("training.nk", "moving.nk", "plain.nk", "comp.nk")]


PLAIN = (
    'Root {\n inputs 0\n name shot.nk\n format "8 6 0 0 8 6 1 tiny"\n}\n'
    "Read {\n inputs 0\n file paint/plate.####.exr\n first 2\n last 8\n before loop\n after bounce\n"
    " colorspace sRGB\n premultiplied true\n frame_mode offset\n frame 0\n on_error black\n name Read2\n}\n"
    "TimeOffset {\n time_offset 1\n reverse_input true\n name TimeOffset1\n}\n"
    "TimeClip {\n first 3\n last 6\n before hold\n after black\n name TimeClip1\n}\n"
    "FrameRange {\n first_frame 3\n last_frame 5\n name FrameRange1\n}\n"
    "Read {\n inputs 0\n file plate/plate.%04d.exr\n first 1\n last 10\n auto_alpha true\n raw true\n name Read1\n}\n"
    "Remove {\n operation keep\n channels rgb\n name Remove1\n}\n"
    "Grade {\n channels {rgba.red rgba.green}\n blackpoint {0.1 0 0 0}\n whitepoint 0.9\n gamma {1.1 1 0.9 1}\n"
    " black_clamp false\n reverse true\n mix 0.5\n name Grade1\n}\n"
    "Crop {\n box {1 1 7 5}\n intersect true\n crop false\n name Crop1\n}\n"
    "Understudy {\n inputs 2\n batchSizeType Auto\n cropSize 32\n modelSize Small\n epochs {{curve x1 5}}\n"
    " initialWeights None\n learningRate 1e-4\n checkpointInterval 100\n name Understudy1\n}\n"
)

MOVING = (
    'Root {\n inputs 0\n name shot.nk\n format "8 6 0 0 8 6 1 tiny"\n first_frame 1\n}\n'
    "Read {\n inputs 0\n file paint/plate.####.exr\n last 10\n name Read2\n}\nset Npaint [stack 0]\n"
    "Read {\n inputs 0\n file plate/plate.%04d.exr\n last 10\n name Read1\n}\nset Nplate [stack 0]\n"
    "push $Nplate\nGroup {\n name Group1\n addUserKnob {7 gain l Gain}\n gain {{curve x1 1 s0 u1 v2 x9 2}}\n}\n"
    " Input {\n  inputs 0\n  name Input1\n }\n"
    " Grade {\n  multiply {{parent.gain} {t*0.1+1} {root.width/8} 1}\n  unpremult rgba.alpha\n"
    "  mix {{frame<5 ? 0.5 : clamp(gamma.r)}}\n  gamma 0.9\n  name Grade1\n }\n"
    " Output {\n  name Output1\n }\nend_group\n"
    "Merge2 {\n inputs 2+1\n operation screen\n mix {{curve L x1 0 x10 1}}\n bbox intersection\n name Merge1\n}\n"
    "push $Nplate\nCopy {\n inputs 2\n from0 rgba.red\n to0 rgba.alpha\n name Copy1\n}\n"
    "Premult {\n name Premult1\n}\n"
    "Crop {\n box {{curve K x1 0 x4 1} 1 {parent.Crop1.box.x+6} 5}\n reformat true\n name Crop1\n}\n"
    'Shuffle2 {\n mappings "2 rgba.red 0 0 rgba.blue 0 2 white -1 -1 rgba.alpha 0 3"\n name Shuffle1\n}\n'
    "push $Npaint\nMultiply {\n channels rgba\n value {{[value root.first_frame]*2}}\n name Multiply1\n}\n"
    "Dissolve {\n inputs 2\n which {{pow(frame/10, 2)}}\n name Dissolve1\n}\n"
    "push $Npaint\nCopyCat {\n inputs 2\n dataDirectory runs\n name CopyCat1\n}\n"
)


def _read_script(path: Path) -> None:
    source = ScriptSource(script=path)
    check(dataclasses.replace(Settings(), **source.knob_overrides()))  # type: ignore[arg-type]
    source.outline()
    survey(source.pairs()[:_MOST_PAIRS], crop_size=8)
    lay_out_bake(path, "", Span(1, 3), Path("bake"))


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
