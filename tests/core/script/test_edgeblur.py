"""EdgeBlur by our reading: against Blur and plain arithmetic, and an edge worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.filter_fixtures import noise, read
from tests.core.script.fixtures import pull

from understudy.errors import UnderstudyError
from understudy.frames.image import FloatPixels


def _edge(folder: Path) -> str:
    """Six columns: red 0.2 and no alpha, then red 0.8 and alpha 1."""
    return read(folder, "Edge", [[[0.2, 0]] * 3 + [[0.8, 1]] * 3], "RA")


def test_an_edge_by_hand(tmp_path: Path) -> None:
    """A box of three moves the alpha of the two columns at the edge by a third, and red by 0.2."""
    text = _edge(tmp_path) + "EdgeBlur { size {3 0} filter box %s }"
    for knobs, share in (
        ("", 2 / 3),
        ("edge_mult 1", 1 / 3),
        ("edge_mult 3", 1),
        ("edge_mult 50", 1),
        ("edge_mult 0", 0),
    ):
        red, alpha = pull(text % knobs, 1, ("R", "A")).pixels[0].T
        np.testing.assert_allclose(red, [0.2, 0.2, 0.2 + share / 5, 0.8 - share / 5, 0.8, 0.8], atol=1e-6)
        np.testing.assert_allclose(alpha, [0, 0, share / 3, 1 - share / 3, 1, 1], atol=1e-6)


def test_brightness_and_tint_act_on_the_edge(tmp_path: Path) -> None:
    """At full share the edge is the blurred picture, 0.4 and 0.6, times both; alpha has no tint."""
    text = _edge(tmp_path) + "EdgeBlur { size {3 0} filter box edge_mult 3 brightness 0.5 tint {0.6 1 1} }"
    red, alpha = pull(text, 1, ("R", "A")).pixels[0].T
    np.testing.assert_allclose(red, [0.2, 0.2, 0.4 * 0.3, 0.6 * 0.3, 0.8, 0.8], atol=1e-6)
    np.testing.assert_allclose(alpha, [0, 0, 1 / 6, 1 / 3, 1, 1], atol=1e-6)


def _by_hand(plain: FloatPixels, blurred: FloatPixels, matte: int, edge_mult: float) -> FloatPixels:
    share = np.clip(np.abs(blurred - plain)[..., [matte]] * edge_mult, 0, 1)
    mixed: FloatPixels = plain + (blurred - plain) * share
    return mixed


@pytest.mark.parametrize("blur", ["size 3", "size {4 2.5} filter triangle", "size 70"])
def test_it_is_the_blur_as_far_as_that_changes_the_matte(tmp_path: Path, blur: str) -> None:
    plate = read(tmp_path, "Plate", noise(40, 30, 4), "RGBA")
    plain, blurred = pull(plate).pixels, pull(plate + f"Blur {{ {blur} }}").pixels
    found = pull(plate + f"EdgeBlur {{ {blur} quality 15 }}").pixels
    np.testing.assert_allclose(found, _by_hand(plain, blurred, 3, 2.0), atol=5e-6)
    green = f'EdgeBlur {{ {blur} "control channel" rgba.green edge_mult {{{{frame/2}}}} }}'
    np.testing.assert_allclose(pull(plate + green).pixels, _by_hand(plain, blurred, 1, 0.5), atol=5e-6)


def test_the_size_that_is_left_out_is_3_and_without_a_matte_there_is_no_edge(tmp_path: Path) -> None:
    plate = read(tmp_path, "Plate", noise(9, 8, 4), "RGBA")
    np.testing.assert_array_equal(pull(plate + "EdgeBlur { }").pixels, pull(plate + "EdgeBlur { size 3 }").pixels)
    for matte in ("none", "depth"):
        unchanged = pull(plate + f'EdgeBlur {{ "control channel" {matte} }}').pixels
        np.testing.assert_array_equal(unchanged, pull(plate).pixels)


def test_the_matte_decides_and_is_not_changed_where_it_is_not_chosen(tmp_path: Path) -> None:
    plate = read(tmp_path, "Plate", noise(9, 8, 4), "RGBA")
    everything = pull(plate + "EdgeBlur { }").pixels
    red = pull(plate + "EdgeBlur { channels {rgba.red} }").pixels
    np.testing.assert_array_equal(red[..., 0], everything[..., 0])
    np.testing.assert_array_equal(red[..., 1:], pull(plate).pixels[..., 1:])
    np.testing.assert_array_equal(pull(plate + "EdgeBlur { }", 1, ("G",)).pixels[..., 0], everything[..., 1])


@pytest.mark.parametrize(
    ("knobs", "what"),
    [
        ("size -1", "knob size is -1; make it 0 or more"),
        ("output mask.a", "knob output set to 'mask.a' cannot be evaluated"),
        ('"control channel" rgb', r"knob control channel selects 3 channels \(R, G, B\); choose one"),
    ],
)
def test_what_cannot_be_evaluated_is_named(tmp_path: Path, knobs: str, what: str) -> None:
    with pytest.raises(UnderstudyError, match=rf"EdgeBlur1 \(EdgeBlur\), line 2: {what}"):
        pull(read(tmp_path, "Plate", noise(3, 3, 3), "RGB") + f"EdgeBlur {{ {knobs} }}")
