"""What nodes that change pixels share: channels, mask, mix, unpremultiplying, disabling, regions and the store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import decoded_regions, evaluator_of, numbered_shot, pull, write_exr

from understudy.errors import UnderstudyError
from understudy.frames.window import Window


def _read(path: Path, pixels: list[list[float]], channels: str, name: str) -> str:
    """A Read of one row of pixels, a list of channels for each."""
    write_exr(path / f"{name}.exr", np.array([pixels], np.float32), tuple(channels))
    return f'Read {{ inputs 0 file "{path.as_posix()}/{name}.exr" name {name} }}\n'


@pytest.fixture
def plate(tmp_path: Path) -> str:
    return _read(tmp_path, [[1, 2, 4, 0.5], [1, 2, 4, 0], [3, 5, 7, 1]], "RGBA", "Plate")


@pytest.fixture
def matte(tmp_path: Path) -> str:
    return _read(tmp_path, [[0, 1], [0.5, 0.25], [1, 0]], "RA", "Matte")


def _row(text: str, frame: int = 1) -> list[list[float]]:
    return [[round(float(value), 5) for value in pixel] for pixel in pull(text, frame).pixels[0]]


def test_a_mask_input_lets_the_change_through_where_it_is(plate: str, matte: str) -> None:
    masked = matte + plate + "Grade { inputs 1+1 multiply 3 %s }"
    assert _row(masked % "") == [[3, 6, 12, 0.5], [1.5, 3, 6, 0], [3, 5, 7, 1]]  # 1, 0.25 and 0 of the change
    assert _row(masked % "maskChannelMask rgba.red") == [[1, 2, 4, 0.5], [2, 4, 8, 0], [9, 15, 21, 1]]
    assert _row(masked % "maskChannelMask rgba.red invert_mask true mix 0.5") == [
        [2, 4, 8, 0.5],
        [1.5, 3, 6, 0],
        [3, 5, 7, 1],
    ]
    assert _row(masked % "maskChannelMask none") == [[3, 6, 12, 0.5], [3, 6, 12, 0], [9, 15, 21, 1]]
    assert _row(masked % "maskChannelMask depth.Z") == [[1, 2, 4, 0.5], [1, 2, 4, 0], [3, 5, 7, 1]]


def test_a_mask_may_be_a_channel_of_the_picture_itself(plate: str) -> None:
    expected = [[2, 4, 8, 0.5], [1, 2, 4, 0], [9, 15, 21, 1]]
    assert _row(plate + "Grade { multiply 3 maskChannelInput rgba.alpha }") == expected
    assert _row("push 0\n" + plate + "Grade { inputs 1+1 multiply 3 maskChannelInput alpha }") == expected


def test_nothing_comes_through_where_the_mask_is_black(tmp_path: Path) -> None:
    mask = _read(tmp_path, [[0], [1]], "A", "Mask")
    endless = mask + _read(tmp_path, [[np.inf], [np.inf]], "R", "Endless") + "Grade { inputs 1+1 multiply %s }"
    assert _row(endless % "2") == [[np.inf], [np.inf]]
    assert np.isnan(_row(endless % "0")[1][0])
    assert _row(endless % "0")[0] == [np.inf]


def test_a_channel_of_the_picture_counts_before_the_mask_input(plate: str, matte: str) -> None:
    two = matte + plate + "Grade { inputs 1+1 multiply 3 maskChannelInput %s }"
    assert _row(two % "alpha") == [[2, 4, 8, 0.5], [1, 2, 4, 0], [9, 15, 21, 1]]
    assert _row(two % "-rgba.alpha") == [[3, 6, 12, 0.5], [1.5, 3, 6, 0], [3, 5, 7, 1]]


def test_masks_of_old_scripts_and_too_many_inputs_are_refused(plate: str, matte: str) -> None:
    with pytest.raises(UnderstudyError, match=r"Grade1 \(Grade\).*knob mask set to 'uv.u' cannot be evaluated"):
        pull(plate + "Grade { mask uv.u }")
    assert pull(plate + "Grade { maskChannel -rgba.alpha }").pixels.shape == (1, 3, 4)
    with pytest.raises(UnderstudyError, match=r"Grade1 \(Grade\).*has 3 inputs, more than are evaluated"):
        pull(matte + matte.replace("Matte", "Matte2", 1) + plate + "Grade { inputs 2+1 }")


def test_colour_is_changed_as_it_was_before_it_was_premultiplied(plate: str) -> None:
    """(value / alpha + 1) * alpha; alpha 0 leaves nothing."""
    added = plate + "Grade { add 1 black_clamp false unpremult rgba.alpha }"
    assert _row(added) == [[1.5, 2.5, 4.5, 0.5], [0, 0, 0, 0], [4, 6, 8, 1]]


def test_mix_channels_and_disable_may_move(plate: str) -> None:
    moving = plate + "Grade { multiply {1 {frame} 1 1} mix {{curve L x0 0 x4 1}} disable {{frame>4}} }"
    assert _row(moving, 2)[2] == [3, 7.5, 7, 1]
    assert _row(moving, 4)[2] == [3, 20, 7, 1]
    assert _row(moving, 5)[2] == [3, 5, 7, 1]


def test_a_node_disabled_now_and_then_is_checked_all_the_same(plate: str) -> None:
    evaluator, last = evaluator_of(plate + "Keylight { disable {{frame>4}} }")
    with pytest.raises(UnderstudyError, match="cannot evaluate this class"):
        evaluator.check([last])


def test_knobs_that_have_no_value_at_one_frame_are_named_before_any_pixel(plate: str) -> None:
    evaluator, last = evaluator_of(plate + "Grade { mix {{1/(frame-5)}} }\nGrade { name G gamma {{5-frame}} }")
    evaluator.check([last])
    assert len(evaluator.files(last, 4)) == 1
    with pytest.raises(UnderstudyError) as fault:
        evaluator.files(last, 5)
    assert [line.split(";")[0] for line in str(fault.value).splitlines()] == [
        "G (Grade), line 3: knob gamma is 0 or less, which leaves no picture",
        "Grade1 (Grade), line 2: knob mix holds '1/(frame-5)', which comes to no number (a division by zero?)",
    ]


COMPS = {
    "grade": "Grade { multiply 2 add 0.5 }",
    "crop": "Crop { box {1 1 5 4} }",
    "reformat": "Crop { box {1 1 5 4} reformat true }",
    "edges": "Crop { box {2 1 4 3} crop false }",
    "moved edges": "Crop { box {2 1 4 3} crop false reformat true }\nGrade { add 1 }",
    "chain": "Crop { box {1 1 5 4} }\nGrade { add 0.25 }\nCrop { box {0 0 4 2} intersect true }\nGrade { gamma 2 }",
}


@pytest.mark.parametrize("nodes", COMPS.values(), ids=COMPS)
def test_a_region_is_the_whole_picture_cut(tmp_path: Path, nodes: str) -> None:
    text = f'Read {{ file "{numbered_shot(tmp_path, range(1, 2), 6, 5)}" }}\n{nodes}'
    whole = pull(text)
    for region in (
        Window(0, 0, 6, 5),
        Window(1, 1, 3, 3),
        Window(-2, -3, 2, 9),
        Window(4, 0, 5, 1),
        Window(20, 20, 22, 22),
    ):
        evaluator, last = evaluator_of(text)
        part = evaluator.pull(last, 1, ("R", "B"), region)
        assert part.data_window == whole.data_window.intersect(region) or part.data_window.is_empty
        assert part.display_window == whole.display_window
        np.testing.assert_array_equal(part.over(region), whole.over(region)[..., [0, 2]])


def test_nothing_is_decoded_that_a_crop_does_not_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = decoded_regions(monkeypatch)
    text = f'Read {{ file "{numbered_shot(tmp_path, range(1, 2), 6, 5)}" }}\n'
    pull(text + "Grade { multiply 2 }\nCrop { box {1 1 3 2} }\nGrade { multiply 2 }")
    assert decoded == [Window(1, 3, 3, 4)]


def test_reads_of_one_file_and_nodes_that_do_the_same_share_their_pixels(tmp_path: Path) -> None:
    read = f'Read {{ inputs 0 file "{numbered_shot(tmp_path, range(1, 4))}" last 3 %s }}\nGrade {{ multiply %s }}\n'
    evaluator, last = evaluator_of(read % ("name A", "2") + read % ("name B xpos 5", "2") + read % ("name C", "3"))
    one, same, other = (evaluator.pull(evaluator.script.nodes[place], 1, ("R",)).pixels for place in (1, 3, 5))
    assert one is same
    assert one is not other
    assert evaluator.pull(last, 2, ("R",)).pixels is not other


def test_a_tall_tree_fits_on_the_stack(plate: str) -> None:
    tall = plate + "Grade { multiply {{frame}} unpremult alpha maskChannelInput alpha }\n" * 149
    assert pull(tall).pixels.shape == (1, 3, 4)


def test_knobs_inside_a_group_follow_the_group_and_its_neighbours(plate: str) -> None:
    group = (
        "Group { name G addUserKnob {7 gain l Gain} gain {{curve L x0 0 x4 4}} }\n"
        " Input { inputs 0 }\n"
        " Grade { name Inner multiply {{parent.gain} {parent.parent.Outer.multiply.g} {root.first_frame} 1} }\n"
        " Output { }\n"
        "end_group\nGrade { name Outer multiply {1 0.5 1 1} }\n"
    )
    text = "Root { first_frame 10 }\n" + plate + group
    assert _row(text, 2)[2] == [6, 1.25, 70, 1]  # green by Inner's half of Outer's half
    assert _row(text, 3)[0] == [3, 0.5, 40, 0.5]


def test_a_held_frame_may_move(tmp_path: Path) -> None:
    held = (
        f'Read {{ file "{numbered_shot(tmp_path, range(1, 10))}" last 9 }}\nFrameHold {{ first_frame {{{{frame*2}}}} }}'
    )
    assert [round(float(pull(held, frame, ("R",)).pixels[-1, 0, 0])) for frame in (1, 2, 4)] == [2, 4, 8]
    evaluator, last = evaluator_of(held)
    assert str(evaluator.span(last)) == "1-9"


def test_a_crop_may_move(tmp_path: Path) -> None:
    read = f'Read {{ file "{numbered_shot(tmp_path, range(1, 9))}" last 9 }}\n'
    crop = read + "Crop { box {{frame-1} 0 {frame+1} 2} }"
    assert [pull(crop, frame).data_window for frame in (1, 3)] == [Window(0, 1, 2, 3), Window(2, 1, 4, 3)]
    evaluator, last = evaluator_of(crop.replace("frame+1", "5-frame"))
    evaluator.check([last])
    with pytest.raises(UnderstudyError, match=r"Crop1 \(Crop\), line 2: knob box is 2 0 2 2, which holds no pixel"):
        evaluator.files(last, 3)
