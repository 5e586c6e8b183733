"""AppendClip's fades and dissolves, FrameBlend and TimeEcho: against sums written out frame by frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.core.script.fixtures import evaluator_of, numbered_shot, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window

WIDTH, HEIGHT = 6, 5


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """A Read of frames 1 to 9; the channels are R, G, B, A."""
    pattern = numbered_shot(tmp_path / "plate", range(1, 10), WIDTH, HEIGHT, "RGBA")
    return f'Read {{\n inputs 0\n file "{pattern}"\n last 9\n name Read1\n}}\n'


def _frame(frame: int) -> FloatPixels:
    """What the Read shows there, by the rule of `numbered_shot`: H W 4."""
    frame = min(max(frame, 1), 9)
    rows = [
        [[frame + x / 10 + y / 100 + c / 1000 for c in range(4)] for x in range(WIDTH)] for y in reversed(range(HEIGHT))
    ]
    return np.asarray(rows, np.float32)


def _clips(shot: str, knobs: str) -> str:
    """Frames 1 to 4, then 6 to 9."""
    return (
        f"{shot}set N [stack 0]\nFrameRange {{ first_frame 6 last_frame 9 }}\n"
        f"push $N\nFrameRange {{ first_frame 1 last_frame 4 }}\nAppendClip {{ inputs 2 {knobs} }}\n"
    )


def _span(text: str) -> str:
    evaluator, last = evaluator_of(text)
    return str(evaluator.span(last))


def _is(text: str, frame: int, expected: NDArray[np.floating]) -> None:
    np.testing.assert_allclose(pull(text, frame, tuple("RGBA")).pixels, expected, rtol=2e-6)


def test_clips_dissolve_into_one_another(shot: str) -> None:
    """Over two frames: thirds of the way, smoothed by 3w^2 - 2w^3."""
    text = _clips(shot, "dissolve 2 firstFrame 11")
    assert _span(text) == "11-16"
    _is(text, 12, _frame(2))
    more, less = 20 / 27, 7 / 27  # of w = 2/3 and 1/3
    _is(text, 13, _frame(3) * more + _frame(6) * less)
    _is(text, 14, _frame(4) * less + _frame(7) * more)
    _is(text, 15, _frame(8))
    _is(text, 16, _frame(9))
    _is(text, 17, _frame(9))
    evaluator, last = evaluator_of(text)
    assert [file.frame for file in evaluator.files(last, 13)] == [3, 6]


def test_clips_fade_from_black_and_to_black(shot: str) -> None:
    text = _clips(shot, "fadeIn 2 fadeOut 1")
    assert _span(text) == "1-8"
    for frame, expected in ((1, 1 / 9), (2, 4 / 9), (3, 1), (8, 1 / 4)):
        _is(text, frame, _frame(frame if frame < 5 else frame + 1) * expected)
    assert not pull(text, 0).pixels.any()
    assert not pull(text, 9).pixels.any()
    _is(_clips(shot, "fadeIn 0 fadeOut 0 dissolve 0"), 9, _frame(9))


def test_black_is_black_though_the_clip_is_infinite(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.full((2, 2, 1), np.inf, np.float32), ("R",))
    text = f'Read {{ inputs 0 file "{tmp_path}/a.exr" }}\nAppendClip {{ fadeIn 1 }}'
    assert not pull(text, 0).pixels.any()
    assert np.isinf(pull(text, 1).pixels).all()


def test_equal_frames_that_fade_differently_are_not_mistaken_for_one_another(shot: str) -> None:
    evaluator, last = evaluator_of(f"{shot}FrameHold {{ first_frame 5 }}\nset N [stack 0]\n" + _held_clips())
    evaluator.check([last])
    first, second = (evaluator.pull(last, frame, ("R",)).pixels for frame in (2, 3))
    np.testing.assert_allclose(second / first, 20 / 27 / 1, rtol=1e-5)


def _held_clips() -> str:
    return (
        "Multiply { value 0 channels all }\nFrameRange { first_frame 1 last_frame 4 }\n"
        "push $N\nFrameRange { first_frame 1 last_frame 4 }\nAppendClip { inputs 2 dissolve 2 }\n"
    )


def test_windows_are_joined_while_two_clips_are_seen(shot: str) -> None:
    text = (
        f"{shot}set N [stack 0]\nCrop {{ box {{3 0 6 2}} }}\nFrameRange {{ first_frame 1 last_frame 2 }}\npush $N\n"
        "Crop { box {0 3 2 5} }\nFrameRange { first_frame 1 last_frame 2 }\nAppendClip { inputs 2 dissolve 1 }\n"
    )
    assert [pull(text, frame).data_window for frame in (1, 2, 3)] == [
        Window(0, 0, 2, 2),
        Window(0, 0, 6, 5),
        Window(3, 3, 6, 5),
    ]


def test_metadata_are_those_of_the_clip_that_is_seen_or_of_the_first(tmp_path: Path) -> None:
    import OpenImageIO as oiio

    for name in ("a", "b"):
        spec = oiio.ImageSpec(2, 2, 1, "float")
        spec.channelnames = ("R",)
        spec["slate"] = name
        output = oiio.ImageOutput.create("x.exr")
        assert output is not None
        assert output.open(str(tmp_path / f"{name}.exr"), spec)
        assert output.write_image(np.zeros((2, 2, 1), np.float32))
        output.close()
    reads = "".join(f'Read {{ inputs 0 file "{tmp_path}/{name}.exr" name {name} }}\n' for name in "ba")
    for knob, slates in (("", ["a", "b"]), ("meta_from_first true", ["a", "a"])):
        text = reads + f"AppendClip {{ inputs 2 {knob} }}"
        assert [pull(text, frame).metadata["slate"] for frame in (1, 2)] == slates


def test_dissolves_longer_than_the_clips_are_refused(shot: str) -> None:
    with pytest.raises(UnderstudyError, match=r"AppendClip1 .* has dissolves longer than all its clips together"):
        _span(_clips(shot, "dissolve 9"))


def test_frameblend_is_the_mean_of_this_frame_and_those_before(shot: str) -> None:
    _is(shot + "FrameBlend { }", 7, sum(_frame(frame) for frame in range(3, 8)) / np.float32(5))
    _is(shot + "FrameBlend { numframes 3 }", 2, (_frame(1) * 2 + _frame(2)) / 3)
    _is(shot + "FrameBlend { numframes 1 }", 4, _frame(4))
    alpha = _frame(5).copy()
    alpha[..., 3] = ((_frame(4) + _frame(5)) / 2)[..., 3]
    _is(shot + "FrameBlend { channels alpha numframes 2 }", 5, alpha)
    evaluator, last = evaluator_of(shot + "FrameBlend { numframes 3 }")
    assert sorted(file.frame for file in evaluator.files(last, 6)) == [4, 5, 6]


def test_frameblend_takes_a_range_of_its_own(shot: str) -> None:
    _is(shot + "FrameBlend { userange true numframes 3 startframe {{frame-2}} endframe {{frame+2}} }", 5, _frame(5))
    own = "FrameBlend { userange true numframes 3 startframe 2 endframe 6 }"
    _is(shot + own, 9, (_frame(2) + _frame(4) + _frame(6)) / 3)
    _is(shot + "FrameBlend { userange true numframes 1 startframe 8 endframe 8 }", 1, _frame(8))
    for knobs in (
        "numframes 4 startframe 2 endframe 6",
        "numframes 2 startframe 6 endframe 2",
        "numframes 1 startframe 1",
    ):
        with pytest.raises(UnderstudyError, match=r"FrameBlend1 .*knob numframes spreads \d over the frames"):
            pull(shot + f"FrameBlend {{ userange true {knobs} }}", 1)
    with pytest.raises(UnderstudyError, match="knob numframes is 0; set it from 1 to 1000"):
        pull(shot + "FrameBlend { numframes 0 }", 1)
    with pytest.raises(UnderstudyError, match=r"knob inputmask set to 'rgba\.alpha' cannot be evaluated"):
        pull(shot + "FrameBlend { inputmask rgba.alpha }", 1)


def test_frameblend_keeps_to_its_mask_and_mix(shot: str, tmp_path: Path) -> None:
    mask = np.zeros((HEIGHT, WIDTH, 1), np.float32)
    mask[:, 3:] = 1
    write_exr(tmp_path / "mask.exr", mask, ("A",))
    text = f'Read {{ inputs 0 file "{tmp_path}/mask.exr" name Mask }}\n{shot}'
    mean = (_frame(4) + _frame(5)) / 2
    _is(text + "FrameBlend { inputs 1+1 numframes 2 }", 5, np.where(mask == 1, mean, _frame(5)))
    mixed = _frame(5) * 0.75 + mean * 0.25
    _is(text + "FrameBlend { inputs 1+1 numframes 2 mix 0.25 }", 5, np.where(mask == 1, mixed, _frame(5)))


def test_frames_of_other_windows_are_blended_over_all_of_them(shot: str) -> None:
    """The crop moves one column a frame."""
    text = shot + "Crop { box {{frame-1} 0 {frame} 5} }\nFrameBlend { numframes 2 }"
    image = pull(text, 3, ("R",))
    assert image.data_window == Window(1, 0, 3, 5)
    np.testing.assert_allclose(image.pixels[..., 0], np.stack([_frame(2)[:, 1, 0], _frame(3)[:, 2, 0]], 1) / 2)


def test_timeecho_shows_the_largest_of_the_frames_behind(shot: str) -> None:
    _is(shot + "TimeEcho { }", 4, _frame(4))
    _is(shot + "TimeEcho { framesbehind 3 }", 4, np.maximum(np.maximum(_frame(2), _frame(3)), _frame(4)))
    backwards = shot + "TimeOffset { reverse_input true }\nTimeEcho { framesbehind 3 }"
    _is(backwards, 5, _frame(7))


def test_timeecho_adds_averages_and_fades_the_oldest(shot: str) -> None:
    three = _frame(3) + _frame(4) + _frame(5)
    _is(shot + "TimeEcho { mode Plus framesbehind 3 }", 5, three)
    _is(shot + "TimeEcho { mode Average framesbehind 3 }", 5, three / 3)
    faded = _frame(2) / 3 + _frame(3) * 2 / 3 + _frame(4) + _frame(5)
    _is(shot + "TimeEcho { mode Plus framesbehind 4 frmaesfade 3 }", 5, faded)
    _is(shot + "TimeEcho { mode 0 framesbehind 4 framesfade 3 }", 5, faded)
    with pytest.raises(UnderstudyError, match="knob frmaesfade is 5, and framesbehind 2; set it from 1 to that"):
        pull(shot + "TimeEcho { framesbehind 2 frmaesfade 5 }", 5)
    with pytest.raises(UnderstudyError, match="knob framesbehind is 0; set it from 1 to 1000"):
        pull(shot + "TimeEcho { framesbehind 0 }", 5)


NODES = {
    "dissolve": "AppendClip { inputs 2 dissolve 3 fadeIn 2 }",
    "blend": "FrameBlend { numframes 3 channels rgb }",
    "echo": "TimeEcho { framesbehind 3 mode Plus }",
}


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_a_region_is_the_whole_picture_cut(shot: str, node: str) -> None:
    """Windows that move, lie beside the format and may be empty."""
    text = (
        f"{shot}FrameRange {{ first_frame 1 last_frame 4 }}\nset N [stack 0]\npush $N\n"
        f"Crop {{ box {{{{frame-3}} -2 {{frame+1}} 3}} intersect true }}\n{node}"
    )
    for frame in (2, 3, 5):
        whole = pull(text, frame)
        for region in (Window(0, 0, 6, 5), Window(1, 2, 3, 4), Window(-3, -3, 9, 9), Window(20, 20, 22, 22)):
            evaluator, last = evaluator_of(text)
            part = evaluator.pull(last, frame, ("A", "R"), region)
            np.testing.assert_array_equal(part.over(region), whole.over(region)[..., [3, 0]])
