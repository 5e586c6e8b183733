"""Colour rules: defaults, conversions, and one line for what the config does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.errors import Problems, UnderstudyError
from understudy.frames.colour import ColourRules, colour_triplets
from understudy.frames.image import Image
from understudy.frames.window import Window

CONFIG = """ocio_profile_version: 2
roles:
  default: lin
  scene_linear: lin
file_rules:
  - !<Rule> {name: logs, pattern: "*log*", extension: "png", colorspace: half_of}
  - !<Rule> {name: Default, colorspace: default}
displays:
  screen:
    - !<View> {name: plain, colorspace: half_of}
active_displays: []
active_views: []
colorspaces:
  - !<ColorSpace> {name: lin}
  - !<ColorSpace>
    name: half_of
    to_scene_reference: !<MatrixTransform> {matrix: [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]}
"""


@pytest.fixture(autouse=True)
def no_ocio_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OCIO", raising=False)


def image_of(value: float, channels: tuple[str, ...]) -> Image:
    window = Window.of_size(3, 2)
    pixels = np.full((2, 3, len(channels)), value, np.float32)  # H W C
    return Image(pixels=pixels, channels=channels, data_window=window, display_window=window)


def test_only_colour_is_converted_in_every_layer() -> None:
    channels = ("R", "G", "B", "A", "Z", "diffuse.red", "diffuse.green", "diffuse.blue", "mask.a")
    converted = ColourRules().to_working(image_of(0.5, channels), "sRGB")
    expected = [0.21404] * 3 + [0.5, 0.5] + [0.21404] * 3 + [0.5]
    np.testing.assert_allclose(converted.pixels[0, 0], expected, atol=1e-5)


def test_nothing_is_clamped_by_a_conversion() -> None:
    converted = ColourRules().to_working(image_of(20.0, ("R", "G", "B")), "ACEScg")
    assert converted.pixels.max() > 19.0
    negative = ColourRules().to_working(image_of(-0.5, ("R", "G", "B")), "sRGB")
    assert negative.pixels.max() < 0.0


def test_display_encoding_lies_between_0_and_1_and_survives_nan() -> None:
    rgb = np.array([[[np.nan, 0.18, 0.18], [500.0, -3.0, 0.0], [0.18, 0.18, 0.18]]], np.float32)  # H W 3
    shown = ColourRules().to_display(rgb)
    assert shown.shape == rgb.shape
    assert np.isfinite(shown).all()
    assert 0.0 <= shown.min() <= shown.max() <= 1.0
    assert 0.2 < shown[0, 2, 0] < 0.5


def test_a_config_of_the_studio_gives_working_space_view_and_file_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.ocio").write_text(CONFIG)
    monkeypatch.setenv("OCIO", str(tmp_path / "config.ocio"))
    rules = ColourRules()
    rules.check()
    np.testing.assert_allclose(rules.to_working(image_of(0.5, ("R", "G", "B")), "half_of").pixels, 1.0)
    np.testing.assert_allclose(rules.to_display(np.full((1, 1, 3), 0.5, np.float32)), 0.25, atol=1e-6)
    assert rules.file_rule("a_log.png") == "half_of"
    assert rules.file_rule("a.png") == ""


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (ColourRules(config="/nowhere/config.ocio"), ["/nowhere/config.ocio", "cannot be loaded"]),
        (ColourRules(working_space="ACEScgg"), ["'ACEScgg'", "ACEScg"]),
        (ColourRules(display="sRGB Display"), ["'sRGB Display'", "sRGB - Display"]),
        (ColourRules(view="Raww"), ["'Raww'", "Raw"]),
    ],
)
def test_check_names_what_the_config_lacks(rules: ColourRules, words: list[str]) -> None:
    with pytest.raises(Problems) as refused:
        rules.check()
    assert len(refused.value.lines) == 1
    assert all(word in str(refused.value) for word in words), refused.value


def test_check_lists_all_faults_at_once() -> None:
    with pytest.raises(Problems) as refused:
        ColourRules(working_space="nope", display="neither").check()
    assert len(refused.value.lines) == 2


def test_an_unknown_space_is_refused() -> None:
    with pytest.raises(UnderstudyError, match="'nope'"):
        ColourRules().to_working(image_of(0.5, ("A",)), "nope")


def test_triplets_are_found_per_layer_and_only_whole() -> None:
    assert colour_triplets(("B", "G", "R", "x.R", "x.G", "y.red", "y.green", "y.blue")) == [[2, 1, 0], [5, 6, 7]]
