"""Applying a model as a user does it: what is in the files then, from a sequence and from a script."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
import torch
from numpy.typing import NDArray
from tests.core.cli.command import Command, end_of, start
from tests.core.train.export.models import lively_model, save_lively_model
from tests.picture_files import part_spec, write_file

from understudy.frames.image import FloatPixels
from understudy.frames.read import open_image, read_header, read_image
from understudy.frames.window import Window
from understudy.train.infer import answer_for
from understudy.train.model_file import load_model

FRAMES = range(1001, 1005)
DATA = Window(-5, 7, 62, 54)
DISPLAY = Window.of_size(64, 60)
CHANNELS = ("R", "G", "B", "A", "Z")
RGB = CHANNELS[:3]
CPU = ("--device", "cpu", "--threads", "1")


class Shot:
    """A plate with alpha and depth in odd windows, and a model for its colour."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = save_lively_model(folder / "model.safetensors", lively_model())
        random = np.random.default_rng(3)
        for frame in FRAMES:
            spec = part_spec(CHANNELS, DATA, DISPLAY, "float", attributes={"acme/take": frame})
            spec.channelformats = tuple(oiio.TypeDesc(one) for one in ("half",) * 4 + ("float",))
            spec["compression"] = "zips"
            spec.attribute("smpte:TimeCode", oiio.TypeTimeCode, (0x01020300 + frame % 10, 0))
            pixels = random.random((DATA.height, DATA.width, len(CHANNELS)), np.float32)
            pixels[:4, :4, :3] = 40.0
            write_file(self.plate(frame), spec, pixels)

    def plate(self, frame: int) -> Path:
        return self.folder / f"plate.{frame}.exr"

    def out(self, frame: int) -> Path:
        return self.folder / "out" / f"result.{frame}.exr"

    def words(self, *more: str, model: str = "") -> list[str]:
        """Of the whole shot."""
        pattern, output = str(self.folder / "plate.####.exr"), str(self.folder / "out" / "result.####.exr")
        return ["apply", model or str(self.model), "--input", pattern, "--output", output, *CPU, *more]

    def wanted(self, frame: int) -> FloatPixels:
        """The answer, as half holds it."""
        return self.answer(read_image(self.plate(frame), channels=RGB).pixels)

    def answer(self, pixels: FloatPixels) -> FloatPixels:
        from tests.core.train.test_tiles import CPU as machine

        return answer_for(load_model(self.model).model, pixels, machine).astype(np.float16).astype(np.float32)


@pytest.fixture
def shot(tmp_path: Path) -> Shot:
    return Shot(tmp_path)


def stored(path: Path, *channels: str) -> NDArray[np.float32]:
    return read_image(path, channels=channels).pixels


def types_of(path: Path) -> dict[str, str]:
    spec = open_image(path).spec()
    return dict(zip(spec.channelnames, map(str, spec.get_channelformats()), strict=True))


def test_the_result_lies_in_a_copy_of_the_plate(command: Command, shot: Shot) -> None:
    ending = command(*shot.words())
    assert ending.code == 0, ending
    for frame in FRAMES:
        out, plate = shot.out(frame), shot.plate(frame)
        np.testing.assert_allclose(stored(out, *RGB), shot.wanted(frame), rtol=1e-3)
        np.testing.assert_array_equal(stored(out, "A", "Z"), stored(plate, "A", "Z"))
        assert types_of(out) == types_of(plate)
        before, after = read_header(plate), read_header(out)
        assert (after.parts[0].data_window, after.parts[0].display_window) == (DATA, DISPLAY)
        assert after.metadata["smpte:TimeCode"] == before.metadata["smpte:TimeCode"] == f"01:02:03:0{frame % 10}"
        assert after.metadata["acme/take"] == frame
        assert open_image(out).spec().get_string_attribute("compression") == "zips"
    assert "Frame 1001 (" in ending.out
    assert "(4 of 4)" in ending.out
    assert "4 frames made in" in ending.out


def test_layer_out_leaves_the_plate_and_adds_a_layer(command: Command, shot: Shot) -> None:
    assert command(*shot.words("--frames", "1001", "--layer-out", "clean")).code == 0
    out = shot.out(1001)
    assert set(types_of(out)) == {*CHANNELS, "clean.R", "clean.G", "clean.B"}
    np.testing.assert_array_equal(stored(out, *CHANNELS), stored(shot.plate(1001), *CHANNELS))
    np.testing.assert_allclose(stored(out, "clean.R", "clean.G", "clean.B"), shot.wanted(1001), rtol=1e-3)


def test_layer_out_may_name_channels_and_layer_in_choose_them(command: Command, shot: Shot) -> None:
    words = ("--frames", "1001", "--layer-in", "A,R,Z", "--layer-out", "x.a,Z,y.a", "--only-result")
    assert command(*shot.words(*words)).code == 0
    assert types_of(shot.out(1001)) == {"x.a": "half", "y.a": "half", "Z": "float"}
    wanted = shot.answer(stored(shot.plate(1001), "A", "R", "Z"))
    np.testing.assert_allclose(stored(shot.out(1001), "x.a", "Z", "y.a"), wanted, rtol=1e-3)


def test_several_passes_change_the_result_but_not_much(command: Command, shot: Shot) -> None:
    assert command(*shot.words("--frames", "1001", "--passes", "2")).code == 0
    out, plain = stored(shot.out(1001), *RGB), shot.wanted(1001)
    assert not np.allclose(out, plain, rtol=1e-2)
    assert np.median(np.abs(out - plain)) < 0.1


def test_float64(command: Command, shot: Shot) -> None:
    ending = command(*shot.words("--frames", "1001", "--precision", "float64"))
    assert ending.code == 0
    assert "on CPU, float64, 1 threads" in ending.out
    np.testing.assert_allclose(stored(shot.out(1001), *RGB), shot.wanted(1001), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("precision", "tolerance"), [("half", 2e-2), ("bfloat16", 0.1)])
def test_16_bits_are_taken_where_the_device_has_them_and_said_where_not(
    command: Command, shot: Shot, precision: str, tolerance: float
) -> None:
    ending = command(*shot.words("--frames", "1001", "--precision", precision))
    assert ending.code == 0
    is_float = f"warning: this CPU has no arithmetic in {precision}; going on in float32" in ending.out
    assert f"on CPU, {'float32' if is_float else precision}, 1 threads" in ending.out
    np.testing.assert_allclose(stored(shot.out(1001), *RGB), shot.wanted(1001), rtol=tolerance, atol=tolerance)


@pytest.mark.hardware
@pytest.mark.skipif(not (torch.cuda.is_available() or torch.backends.mps.is_available()), reason="no GPU here")
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 5e-3), ("half", 2e-2)])
def test_a_gpu_gives_what_the_cpu_gives(command: Command, shot: Shot, precision: str, tolerance: float) -> None:
    ending = command(*shot.words("--device", "gpu", "--precision", precision, "--passes", "2"))
    assert ending.code == 0, ending
    assert "warning" not in ending.out
    on_gpu = [stored(shot.out(frame), *RGB) for frame in FRAMES]
    assert command(*shot.words("--passes", "2")).code == 0
    for frame, pixels in zip(FRAMES, on_gpu, strict=True):
        np.testing.assert_allclose(pixels, stored(shot.out(frame), *RGB), rtol=tolerance, atol=tolerance)


def test_skip_existing_makes_what_is_missing_or_damaged(command: Command, shot: Shot) -> None:
    assert command(*shot.words("--frames", "1001-1003")).code == 0
    shot.out(1003).write_bytes(shot.out(1003).read_bytes()[:100])
    before = {frame: shot.out(frame).stat() for frame in (1001, 1002)}
    ending = command(*shot.words("--skip-existing"))
    assert ending.code == 0
    assert "2 of 4 frames are there already and stay as they are: 1001-1002" in ending.out
    assert "2 frames made" in ending.out
    for frame, was in before.items():
        assert (shot.out(frame).stat().st_ino, shot.out(frame).stat().st_mtime_ns) == (was.st_ino, was.st_mtime_ns)
    np.testing.assert_allclose(stored(shot.out(1003), *RGB), shot.wanted(1003), rtol=1e-3)
    again = command(*shot.words("--skip-existing"))
    assert again.code == 0
    assert "4 of 4 frames are there already" in again.out
    assert "Applying" not in again.out


def test_parts_side_by_side_make_every_frame_once(shot: Shot) -> None:
    parts = [start(*shot.words("--part", f"{number}/3")) for number in range(3)]
    endings = [end_of(part) for part in parts]
    assert [ending.code for ending in endings] == [0, 0, 0], endings
    made = [line.split()[1] for ending in endings for line in ending.out.splitlines() if line.startswith("Frame ")]
    assert sorted(made) == [str(frame) for frame in FRAMES]
    assert sorted(path.name for path in shot.out(1001).parent.iterdir()) == [shot.out(frame).name for frame in FRAMES]


def test_a_png_becomes_linear_and_keeps_its_alpha(command: Command, shot: Shot) -> None:
    spec = part_spec(("R", "G", "B", "A"), DISPLAY, DISPLAY, "uint8")
    pixels = np.random.default_rng(0).integers(0, 255, (60, 64, 4), np.uint8)
    plate = write_file(shot.folder / "still.png", spec, pixels)
    out = shot.folder / "still.exr"
    ending = command("apply", shot.model, "--input", plate, "--output", out, *CPU)
    assert ending.code == 0, ending
    seen = read_image(plate, layer="rgb")
    np.testing.assert_allclose(stored(out, *RGB), shot.answer(seen.pixels), rtol=1e-3)
    np.testing.assert_allclose(stored(out, "A")[..., 0], pixels[..., 3] / 255, atol=1e-3)
    command("apply", shot.model, "--input", plate, "--output", out, "--layer-out", "clean", *CPU)
    np.testing.assert_allclose(stored(out, *RGB), seen.pixels, rtol=1e-3)


def test_a_view_of_one_part_is_replaced_in_its_own_channels(command: Command, shot: Shot) -> None:
    names = (*RGB, "right.R", "right.G", "right.B")
    spec = part_spec(names, DATA, DISPLAY)
    spec.attribute("multiView", "string[2]", ("left", "right"))
    pixels = np.random.default_rng(1).random((DATA.height, DATA.width, 6), np.float32)
    plate, out = write_file(shot.folder / "stereo.exr", spec, pixels), shot.folder / "out.exr"
    words = ("apply", shot.model, "--input", plate, "--output", out, "--view", "right", "--layer-in", "rgb", *CPU)
    ending = command(*words)
    assert ending.code == 0, ending
    np.testing.assert_array_equal(stored(out, *RGB), stored(plate, *RGB))
    right = stored(plate, *names[3:])
    np.testing.assert_allclose(stored(out, *names[3:]), shot.answer(right), rtol=1e-3)


SCRIPT = """Root {
 inputs 0
 first_frame 1001
 last_frame 1003
}
Read {
 inputs 0
 file plate.####.exr
 first 1001
 last 1004
 name Read1
}
Grade {
 multiply 0.5
 name Grade1
}
Inference {
 modelFile %s
%s name Inference1
}
"""


def script(shot: Shot, model: str = "model.safetensors", knobs: str = "") -> str:
    path = shot.folder / "shot.nk"
    path.write_text(SCRIPT % (model, knobs))
    return str(path)


def script_words(shot: Shot, path: str, *more: str) -> list[str]:
    return ["apply", "--script", path, "--output", str(shot.folder / "out" / "result.####.exr"), *CPU, *more]


def test_from_a_script_its_tree_is_evaluated_over_its_range(command: Command, shot: Shot) -> None:
    ending = command(*script_words(shot, script(shot), "--node", "Inference1"))
    assert ending.code == 0, ending
    for frame in (1001, 1002, 1003):
        out, plate = shot.out(frame), shot.plate(frame)
        np.testing.assert_allclose(stored(out, *RGB), shot.answer(stored(plate, *RGB) * np.float32(0.5)), rtol=1e-3)
        np.testing.assert_array_equal(stored(out, "A", "Z"), stored(plate, "A", "Z"))
        assert types_of(out) == types_of(plate)
        assert read_header(out).parts[0].data_window == DATA
        assert read_header(out).metadata["smpte:TimeCode"] == f"01:02:03:0{frame % 10}"
        assert open_image(out).spec().get_string_attribute("compression") == "zips"
    assert not shot.out(1004).exists()
    assert command(*script_words(shot, script(shot), "--frames", "1004", "--only-result")).code == 0
    assert set(types_of(shot.out(1004))) == {*RGB}


def test_knobs_of_the_node_and_flags_over_them(command: Command, shot: Shot) -> None:
    knobs = " inputChannels rgba.blue,rgba.green,rgba.red\n outputChannels clean\n halfPrecision true\n"
    ending = command(*script_words(shot, script(shot, knobs=knobs), "--frames", "1001"))
    assert ending.code == 0, ending
    assert "half" in ending.out
    wanted = shot.answer(stored(shot.plate(1001), "B", "G", "R") * np.float32(0.5))
    np.testing.assert_allclose(stored(shot.out(1001), "clean.R", "clean.G", "clean.B"), wanted, rtol=2e-2, atol=2e-2)
    again = command(*script_words(shot, script(shot, knobs=knobs), "--layer-out", "rgb", "--precision", "float32"))
    assert again.code == 0
    assert "half" not in again.out
    assert set(types_of(shot.out(1001))) == {*CHANNELS}


def test_a_node_that_follows_a_reading_is_told_of(command: Command, shot: Shot) -> None:
    path = Path(script(shot))
    path.write_text(path.read_text().replace("Grade {\n multiply 0.5", "EdgeBlur {\n size 5"))
    ending = command(*script_words(shot, str(path), "--frames", "1001"))
    assert ending.code == 0, ending
    said = "warning: Grade1 (EdgeBlur): evaluated by our reading of Foundry's page, not compared with Nuke: an edge is "
    assert sum(line.startswith(said) for line in ending.out.splitlines()) == 1


def test_a_cat_file_stands_for_the_model_that_it_was_made_of(command: Command, shot: Shot) -> None:
    export = shot.folder / "model.nuke"
    (export / "comp").mkdir(parents=True)
    (export / "comp" / "comp.cat").write_bytes(b"only Nuke reads this")
    (export / "export.json").write_text(json.dumps({"model": "model.safetensors"}))
    ending = command(*script_words(shot, script(shot, "model.nuke/comp/comp.cat"), "--frames", "1001"))
    assert ending.code == 0, ending
    assert f"Applying {shot.model} to 1 frames" in ending.out
    shutil.rmtree(export)
    fault = command.refused(*script_words(shot, script(shot, "elsewhere/comp.cat")))
    assert "comp.cat: can only be run by Nuke" in fault
    assert "understudy apply MODEL --script" in fault
    words = script_words(shot, script(shot, "elsewhere/comp.cat"), "--frames", "1001")
    assert command("apply", str(shot.model), *words[1:]).code == 0


def test_frames_that_the_script_lacks_are_told_and_not_made(command: Command, shot: Shot) -> None:
    shot.plate(1002).unlink()
    ending = command(*script_words(shot, script(shot)))
    assert ending.code == 0, ending
    assert "has no frames 1002; they are not made" in ending.out
    assert not shot.out(1002).exists()
    fault = command.refused(*script_words(shot, script(shot), "--frames", "1001-1002"))
    assert "Read1 (Read), line 6: frame 1002 is missing" in fault
