"""Decoding: alignment, growth to the crop, non-finite pixels, the mapped cache, and every problem at once."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from tests.footage import FOOTAGE, needs_footage
from tests.picture_files import SMALL, ramp, write_plate

from understudy.dataset import Dataset, decode
from understudy.errors import Problems, UnderstudyError
from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.pairs import Media, Pair, PairUse
from understudy.sources.sequences import FileFrame, SequenceSource
from understudy.survey import survey

DISPLAY = Window.of_size(64, 48)


@dataclass(frozen=True)
class InMemory:
    """A FrameSource that is no file, as a script's evaluator gives."""

    image: Image
    label: str = "Crop1 at frame 1"
    media: Media = field(default=Media(path=Path("plate.exr"), frame=1))

    def read(self) -> Image:
        return self.image


def picture(data: Window = DISPLAY, display: Window = DISPLAY, channels: str = "RGB", scale: float = 1.0) -> Image:
    pixels = ramp(data, len(channels), scale) % 8
    return Image(pixels=pixels, channels=tuple(channels), data_window=data, display_window=display)


def pair_of(plate: Image, paint: Image, frame: int = 1, use: PairUse = "train") -> Pair:
    return Pair(frame=frame, input=InMemory(plate, f"plate {frame}"), target=InMemory(paint, f"paint {frame}"), use=use)


def decoded(*pairs: Pair, tmp_path: Path, memory_bytes: int = 1 << 30, warnings: list[str] | None = None) -> Dataset:
    said = [] if warnings is None else warnings
    return decode(pairs, crop_size=16, memory_bytes=memory_bytes, cache_folder=tmp_path / "cache", warn=said.append)


def test_both_sides_lie_over_one_window_black_outside_their_own(tmp_path: Path) -> None:
    plate, paint = picture(Window(10, 10, 30, 40)), picture(Window(20, 5, 50, 20), channels="A")
    only = decoded(pair_of(plate, paint), tmp_path=tmp_path).pairs[0]
    assert only.window == Window(10, 5, 50, 40)
    assert (only.input.shape, only.target.shape) == ((35, 40, 3), (35, 40, 1))
    assert only.input.dtype == only.target.dtype == np.float16
    np.testing.assert_array_equal(only.input[5:, :20], plate.pixels)
    np.testing.assert_array_equal(only.target[:15, 10:], paint.pixels)
    assert not only.input[:5].any()
    assert not only.target[:, :10].any()
    assert only.valid is None


def test_a_small_window_grows_to_the_crop_inside_the_display_window(tmp_path: Path) -> None:
    small = picture(Window(60, 20, 64, 24))
    assert decoded(pair_of(small, small), tmp_path=tmp_path).pairs[0].window == Window(48, 14, 64, 30)


def test_pixels_that_are_not_finite_are_marked_zeroed_and_warned_about(tmp_path: Path) -> None:
    plate, paint, warnings = picture(), picture(), list[str]()
    plate.pixels[3, 4, 1] = np.nan
    paint.pixels[3, 4, 0] = np.inf
    paint.pixels[7, 8, 2] = -np.inf
    only = decoded(pair_of(plate, paint, 1013), tmp_path=tmp_path, warnings=warnings).pairs[0]
    assert only.valid is not None
    assert np.argwhere(~only.valid).tolist() == [[3, 4], [7, 8]]
    assert only.input[3, 4, 1] == only.target[3, 4, 0] == only.target[7, 8, 2] == 0
    assert only.facts.num_nonfinite == 2
    assert only.facts.target_range == (0.0, float(picture().pixels.max()))
    assert [line[:22] for line in warnings] == ["frame 1013: 2 pixels o"]


def test_values_beyond_half_are_held_as_float_and_only_on_their_side(tmp_path: Path) -> None:
    plate, warnings = picture(), list[str]()
    plate.pixels[0, 0, 0] = 100_000.0
    only = decoded(pair_of(plate, picture()), tmp_path=tmp_path, warnings=warnings).pairs[0]
    assert (str(only.input.dtype), str(only.target.dtype)) == ("float32", "float16")
    assert only.input[0, 0, 0] == 100_000.0
    assert "plate 1 has values beyond 65504" in warnings[0]


def test_what_exceeds_memory_lies_in_a_file_that_leaves_no_trace(tmp_path: Path) -> None:
    pairs = [pair_of(picture(scale=n), picture(scale=n), n) for n in range(1, 5)]
    pairs[2].input.read().pixels[0, 0, 0] = np.nan
    in_memory = decoded(*pairs, tmp_path=tmp_path)
    mapped = decoded(*pairs, tmp_path=tmp_path, memory_bytes=0)
    for one, other in zip(in_memory.pairs, mapped.pairs, strict=True):
        assert isinstance(other.input.base, np.memmap)
        np.testing.assert_array_equal(one.input, other.input)
        np.testing.assert_array_equal(one.target, other.target)
        np.testing.assert_equal(one.valid, other.valid)
    del other, mapped
    gc.collect()
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_unwritable_cache_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(UnderstudyError, match="cache: a file is in the way of this folder"):
        decoded(pair_of(picture(), picture()), tmp_path=tmp_path, memory_bytes=0)


def test_training_and_validation_pairs_are_told_apart(tmp_path: Path) -> None:
    pairs = [pair_of(picture(), picture(), 1), pair_of(picture(), picture(), 2, "validation")]
    data = decoded(*pairs, tmp_path=tmp_path)
    assert [pair.facts.frame for pair in data.training] == [1]
    assert [pair.facts.frame for pair in data.validation] == [2]
    assert (data.input_channels, data.target_channels) == (("R", "G", "B"), ("R", "G", "B"))


def test_every_mismatch_is_listed_at_once(tmp_path: Path) -> None:
    pairs = [
        pair_of(picture(), picture(), 1),
        pair_of(picture(channels="RGBA"), picture(), 2),
        pair_of(picture(), picture(display=Window.of_size(32, 24)), 3),
        pair_of(picture(Window(5, 5, 5, 5)), picture(), 4),
    ]
    with pytest.raises(Problems) as refused:
        decoded(*pairs, tmp_path=tmp_path)
    channels, formats, empty = refused.value.lines
    assert channels.startswith("frame 2: plate 2 has channels R, G, B, A, but frame 1 has R, G, B")
    assert "64x48+0+0" in formats
    assert "32x24+0+0" in formats
    assert "Reformat or Crop" in formats
    assert empty.startswith("frame 4: plate 4 has an empty data window")
    assert survey(pairs, crop_size=16).problems == dict(zip(refused.value.lines, (2, 3, 4), strict=True))


def files(tmp_path: Path, *damaged: int) -> tuple[Pair, ...]:
    for frame in (1, 2, 3):
        path = write_plate(tmp_path / f"plate.{frame}.exr", ramp(DISPLAY, 3))
        if frame in damaged:
            path.write_bytes(path.read_bytes()[:100])
    pattern = str(tmp_path / "plate.#.exr")
    return SequenceSource(input=pattern, target=pattern).pairs()


def test_unreadable_files_are_all_named_or_left_out_on_request(tmp_path: Path) -> None:
    pairs, warnings = files(tmp_path, 1, 3), list[str]()
    with pytest.raises(Problems) as refused:
        decoded(*pairs, tmp_path=tmp_path)
    assert [line.split(": ")[0][-11:] for line in refused.value.lines] == ["plate.1.exr", "plate.3.exr"]
    data = decode(
        pairs, crop_size=16, memory_bytes=1 << 30, cache_folder=tmp_path, skip_unreadable=True, warn=warnings.append
    )
    assert [pair.facts.frame for pair in data.pairs] == [2]
    assert len(warnings) == 2
    assert all("left out" in line for line in warnings)


def test_something_must_be_left_to_train_on(tmp_path: Path) -> None:
    pairs = files(tmp_path, 1, 2, 3)
    with pytest.raises(Problems, match="no pair is left to train on") as refused:
        decode(pairs, crop_size=16, memory_bytes=0, cache_folder=tmp_path, skip_unreadable=True, warn=print)
    assert len(refused.value.lines) == 4


def test_the_survey_tells_facts_remarks_and_problems(tmp_path: Path) -> None:
    plate = picture(Window(10, 10, 30, 40))
    plate.pixels[0, 0] = np.nan
    pairs = (
        pair_of(plate, picture(channels="A")),
        *files(tmp_path, 2)[1:2],
        pair_of(plate, picture(), 9, "validation"),
    )
    report = survey(pairs, crop_size=16)
    assert len(report.table) == 1 + 2 * 2
    assert all(word in report.table[1] for word in ("train", "R,G,B", "64x48", "20x30+10+10", "0.01172 .. 7.", " 1 "))
    assert "validation" in report.table[3]
    assert "1 pixels of plate 1" in report.remarks[0]
    unreadable, mismatch = report.problems
    assert "plate.2.exr" in unreadable
    assert "frame 9: paint 9 has channels R, G, B, but frame 1 has A" in mismatch
    assert [*report.problems.values()] == [2, 9]
    assert str(report).count("\n") == len(report.table) + len(report.remarks) + len(report.problems) - 1


@needs_footage
def test_beachball_decodes_aligned() -> None:
    path = FOOTAGE / "beachball" / "multipart.0004.exr"
    ball = FileFrame(path=path, frame=4, layer="rgba_left")
    mask = FileFrame(path=path, frame=4, layer="whitebarmask_left")
    data = decode(
        [Pair(frame=4, input=ball, target=mask)], crop_size=256, memory_bytes=1 << 30, cache_folder=Path(), warn=print
    )
    only = data.pairs[0]
    assert only.input.shape[:2] == only.target.shape[:2] == (only.window.height, only.window.width)
    inside = only.target[..., 0] > 0.5
    assert only.input[inside][:, 3].mean() > 0.9  # the white bar lies on the ball


@needs_footage
def test_nan_and_infinite_pixels_of_a_photograph_change_nothing_else() -> None:
    path = FOOTAGE / "hdr" / "BrightRingsNanInf.exr"
    rings = FileFrame(path=path, frame=0)
    warnings: list[str] = []
    data = decode(
        [Pair(frame=1, input=rings, target=rings)],
        crop_size=256,
        memory_bytes=1 << 30,
        cache_folder=Path(),
        warn=warnings.append,
    )
    only, raw = data.pairs[0], rings.read().pixels
    assert only.valid is not None
    assert np.count_nonzero(~only.valid) == only.facts.num_nonfinite == 12
    kept: FloatPixels = raw[only.valid]
    np.testing.assert_array_equal(only.input[only.valid], kept)
    assert len(warnings) == 1


def test_sides_that_lie_too_far_apart_are_made_no_room_for(tmp_path: Path) -> None:
    far = Window.of_size(8, 6, 60_000, 60_000)
    plate = write_plate(tmp_path / "plate.exr", ramp(SMALL, 3))
    paint = write_plate(tmp_path / "paint.exr", ramp(SMALL, 3), data=far, display=far)
    pair = Pair(frame=7, input=FileFrame(path=plate, frame=7), target=FileFrame(path=paint, frame=7))
    with pytest.raises(UnderstudyError, match=r"frame 7: the data windows of .*plate\.exr and .*paint\.exr span"):
        decoded(pair, tmp_path=tmp_path)


def test_remarks_on_how_pairs_are_made_are_said_once(tmp_path: Path) -> None:
    said = ("Retime1 is read so", "EdgeBlur1 is read so")
    pairs = [replace(pair_of(picture(), picture(), frame), remarks=said) for frame in (1, 2)]
    warnings: list[str] = []
    decoded(*pairs, tmp_path=tmp_path, warnings=warnings)
    assert warnings == [*said]
    assert survey(pairs, crop_size=16).remarks == said
