"""From the panel's choices to bakes and words; the words are read by understudy's own parser."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest

from understudy.cli.main import build_parser
from understudy.settings import Settings
from understudy_blender import knobs, plan
from understudy_blender.problems import Problem
from understudy_blender.sources import Files, Socket, Source
from understudy_farm.choices import Choices

PLATE = Source(
    Socket("Plate", 0, "Image", is_value=False), Files(pattern="/s/plate.####.exr", shift=1000, first=1, last=24)
)
PAINT = Source(
    Socket("Paint", 0, "Image", is_value=False), Files(pattern="/s/paint.####.exr", shift=1000, first=1, last=24)
)
ROTO = Source(Socket("Roto", 1, "Matte", is_value=True), None)
REQUEST = plan.Request(
    plate=PLATE,
    truth=PAINT,
    painted=(3, 4, 9),
    values={knob.name: knob.default for knob in (*knobs.TRAINING, *knobs.FARM)},
    data_directory="/s/understudy",
    scene="shot",
)


def read(words: Sequence[str]) -> argparse.Namespace:
    return build_parser().parse_args(list(words))


def test_knobs_are_those_of_understudy() -> None:
    for knob in (*knobs.TRAINING, knobs.DATA_DIRECTORY):
        field = Settings.__dataclass_fields__[knob.name]
        assert knob.doc == field.metadata["doc"]
        assert knob is knobs.DATA_DIRECTORY or (knob.default, float(knob.low)) == (
            field.default,
            float(field.metadata["low"] or 0),
        )
    for knob in knobs.FARM[:2]:
        assert knob.doc.startswith(Choices.__dataclass_fields__[knob.name].metadata["doc"])


def test_two_sequences_are_read_as_they_lie() -> None:
    work = plan.training(REQUEST, "/s/baked")
    said = read(work.words)
    assert not work.bakes
    assert (said.input, said.target, said.frames) == ("/s/plate.####.exr", "/s/paint.####.exr", "1003-1004,1009")
    assert said.data_directory == Path("/s/understudy")
    assert said.choice_name == "shot, Paint"


def test_what_stands_at_its_default_is_left_to_the_studio() -> None:
    said = vars(read(plan.training(REQUEST, "").words))
    assert not {"choice_farm", "choice_ranks", "model_size", "epochs", "batch_size"} & set(said)
    chosen = {**REQUEST.values, "farm": "slurm", "ranks": 4, "model_size": "large", "steps": 500, "preset": "night"}
    said = vars(read(plan.training(dataclasses.replace(REQUEST, values=chosen), "").words))
    assert (said["choice_farm"], said["choice_ranks"], said["model_size"], said["steps"], said["preset"]) == (
        "slurm",
        4,
        "large",
        500,
        "night",
    )


def test_a_matte_is_baked_into_alpha_under_the_numbers_of_the_plate() -> None:
    work = plan.training(dataclasses.replace(REQUEST, truth=ROTO), "/s/baked")
    (bake,) = work.bakes
    assert (bake.socket, bake.frames, bake.files.shift) == (ROTO.socket, (3, 4, 9), 1000)
    assert read(work.words).target == bake.files.pattern == str(Path("/s/baked/truth.####.exr"))
    assert read(work.words).target_layer == "alpha"


def test_a_paint_that_is_numbered_otherwise_is_baked() -> None:
    other = dataclasses.replace(PAINT, files=Files(pattern="/s/paint.####.exr", shift=0))
    work = plan.training(dataclasses.replace(REQUEST, truth=other), "/s/baked")
    assert [bake.files.shift for bake in work.bakes] == [1000]


def test_painted_frames_are_found_on_disk_when_none_are_said(tmp_path: Path) -> None:
    for number in (1002, 1020, 1099):
        (tmp_path / f"paint.{number}.exr").touch()
    paint = dataclasses.replace(PAINT, files=Files(str(tmp_path / "paint.####.exr"), shift=1000, first=1, last=24))
    said = read(plan.training(dataclasses.replace(REQUEST, truth=paint, painted=()), "").words)
    assert said.frames == "1002,1020"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"truth": ROTO, "painted": ()}, "Painted Frames: say which frames of Roto > Matte are painted"),
        ({"painted": (3, 30)}, "Painted Frames: 30 lie outside of Plate, which shows 1-24"),
        ({"truth": PLATE}, "Ground Truth: Plate > Image is the plate itself"),
        ({"painted": ()}, "the node Paint shows no file of it"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, object], told: str) -> None:
    with pytest.raises(Problem, match=told):
        plan.training(dataclasses.replace(REQUEST, **changes), "")  # type: ignore[arg-type]


def test_the_data_directory_lies_beside_the_blend() -> None:
    assert plan.data_directory("//understudy", "/show/comp.blend") == str(Path("/show/understudy").absolute())
    assert plan.data_directory("/data", "") == str(Path("/data").absolute())
    with pytest.raises(Problem, match=r"a \.blend that is not saved; save it"):
        plan.data_directory("//understudy", "")
    with pytest.raises(Problem, match="is empty"):
        plan.data_directory("", "/show/comp.blend")


def test_the_whole_shot_is_applied_and_comes_back_under_the_scene_s_frames() -> None:
    shot = tuple(range(0, 31))
    work = plan.applying(PLATE, shot, "/s/understudy/v001")
    said = read(work.words)
    assert (said.input, said.frames, work.bakes) == ("/s/plate.####.exr", "1001-1024", ())
    result = plan.result(PLATE, ROTO, shot, "/s/understudy/v001")
    assert said.output == result.pattern
    assert (result.frames, result.shift, result.is_matte, result.source) == (
        tuple(range(1, 25)),
        1000,
        True,
        "Plate",
    )


def test_a_plate_that_is_made_in_the_compositor_is_baked_for_the_whole_shot() -> None:
    graded = Source(Socket("Grade", 0, "Image", is_value=False), None)
    work = plan.applying(graded, (1, 2, 3), "/s/understudy/v001")
    assert [bake.frames for bake in work.bakes] == [(1, 2, 3)]
    assert read(work.words).input == str(Path("/s/understudy/v001/plate/plate.####.exr"))
    with pytest.raises(Problem, match="shows none of the frames 90-91"):
        plan.applying(PLATE, (90, 91), "/s/understudy/v001")
