"""Scripts that mean nothing, or too much: one clear line each, before a pixel is computed, and nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.core.script.fixtures import numbered_shot

from understudy.errors import UnderstudyError
from understudy.sources.script import ScriptSource
from understudy.survey import survey

OUT = "; bake it, or render the node first"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the current folder, with three frames and files that are no frames beside it."""
    monkeypatch.chdir(tmp_path)
    numbered_shot(tmp_path, range(1, 4))
    for name in ("a.mov", "a.r3d", "a.txt", "a.exr"):
        Path(name).write_text("not a picture")
    return tmp_path / "shot.nk"


def _read(name: str, file: str = "plate.####.exr", last: str = "3") -> str:
    return f"Read {{\n inputs 0\n file {file}\n last {last}\n name {name}\n}}\n"


def _lines(script: Path, upstream: str, plate: str = "") -> list[str]:
    """What is said of a script whose target goes through these nodes."""
    training = "set N [stack 0]\npush $Npaint\nCopyCat {\n inputs 2\n name CopyCat1\n}\n"
    script.write_text(_read("Read2") + "set Npaint [stack 0]\n" + (plate or _read("Read1")) + upstream + training)
    try:
        said = survey(ScriptSource(script=script).pairs(), crop_size=2).problems
    except UnderstudyError as fault:
        return str(fault).splitlines()
    return [line for line in said if "no pair is left" not in line]


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("Grade multiply {{curve}}", f"knob multiply is a curve without a key{OUT}"),
        ("FrameHold first_frame {{curve}}", f"knob first_frame is a curve without a key{OUT}"),
        (
            "Grade multiply {{frame%0}}",
            f"knob multiply holds 'frame%0', which comes to no number (a division by zero?){OUT}",
        ),
        (
            "Grade mix {{1/(frame-2)}}",
            f"knob mix holds '1/(frame-2)', which comes to no number (a division by zero?){OUT}",
        ),
        ("TimeWarp lookup {{1/(frame-2)}} filter none", "knob lookup holds '1/(frame-2)', which comes to no number"),
        ("Grade mix {{mix/2}}", f"knob mix depends on itself through X.mix{OUT}"),
        ("Crop box {0 0 {input.width/0} 3}", "knob box holds 'input.width/0', which comes to no number"),
        (
            'Multiply value {{"\\[exec rm -rf /]"}}',
            "knob value holds the command '[exec rm -rf /]', which is not evaluated",
        ),
        (r"Multiply value [exec\ touch\ bait]", "knob value holds the command '[exec', which is not evaluated"),
        (r'Switch which "\[python nuke.quit()]"', "knob which holds the command '[python"),
        ("Grade multiply {{{{{{1}}}}}}", "knob multiply holds the expression '{{{1}}}', which is not evaluated"),
        ("Grade multiply 1e99", f"knob multiply holds '1e99' where a number is needed{OUT}"),
        ("Grade gamma 0", "knob gamma is 0 or less, which leaves no picture; set it above 0"),
        ("Crop box {0 0 1e9 1e9}", "knob box is 0 0 1000000000 1000000000, over 65536 pixels, or 268435456 in all"),
        ('Reformat type "to box" box_width 99999999', "knob box_width makes a format of"),
        (
            "AdjBBox numpixels 1e9",
            "knob numpixels makes 2000000004x2000000003-1000000000-1000000000, over 65536 pixels",
        ),
        ("Blur size 1e9", "knob size reaches 1.5e+09 pixels far, over 2048; make it smaller"),
        ("Median channels rgb size 1e9", "knob size reaches 1e+09 pixels far, over 16; make it smaller"),
        ("Defocus defocus 1e9", "knob defocus reaches 1e+09 pixels far"),
        ("Transform translate 1e14", "places the picture at 4x3+100000000000000-100000000000000"),
        ("Transform scale 1e12", "over 65536 pixels, or 268435456 in all; set it, or crop first"),
        ("FrameBlend numframes 99999999", "knob numframes is 99999999; set it from 1 to 1000"),
        ("TimeEcho framesbehind 99999999", "knob framesbehind is 99999999; set it from 1 to 1000"),
        (
            "Retime filter none speed 1e-300",
            "is over 1000000000 frames long; mend its knobs, or shorten it with FrameRange",
        ),
        ("Retime filter none speed 0", "knob speed is 0; set it above 0, and reverse to run backwards"),
        (f"OCIOFileTransform file {'x' * 5000}.cube", "knob file "),
        ("Merge2 operation 99", "knob operation is '99', which is none of atop, average"),
        ("Keymix inputs 1", "nothing is connected to its input 1; connect it"),
        (
            "Keylight screenType green",
            "understudy cannot evaluate this class; render it first, e.g. with a Write after it",
        ),
    ],
)
def test_a_node_that_cannot_be_is_told_in_one_line(script: Path, node: str, said: str) -> None:
    kind, _, rest = node.partition(" ")
    lines = _lines(script, f"{kind} {{ {rest} name X }}\n")
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"X ({kind}), line 14: ")
    assert said in lines[0]
    assert not Path("bait").exists()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("a.mov", "a.mov: is a movie, which is not read; render it to an image sequence first"),
        ("a.r3d", "a.r3d: is a movie, which is not read; render it to an image sequence first"),
        ("a.txt", "a.txt: is not an image that can be read; give EXR, TIFF, DPX, PNG or JPEG"),
        ("a.exr", "a.exr: is not an image or is damaged"),
    ],
)
def test_a_read_of_what_is_no_frame_is_told_in_one_line(script: Path, file: str, said: str) -> None:
    lines = _lines(script, "Grade {\n}\n", _read("Read1", file))
    assert len(lines) == 1, lines
    assert lines[0].startswith("Read1 (Read), line 8: ")
    assert said in lines[0]


def test_ranges_that_nobody_means_are_told_in_one_line(script: Path) -> None:
    assert _lines(script, "", _read("Read1", last="99999999999")) == [
        "Read1 (Read), line 8: is over 1000000000 frames long; mend its knobs, or shorten it with FrameRange"
    ]
    assert _lines(script, "", _read("Read1", last="-5")) == [
        "Read1 (Read), line 8: knobs first and last give the range 1--5; swap or set them"
    ]


def test_knobs_of_two_nodes_that_ask_each_other_are_told_each_in_one_line(script: Path) -> None:
    text = "Grade {\n mix {{parent.H.mix}}\n name G\n}\nGrade {\n mix {{parent.G.mix}}\n name H\n}\n"
    assert sorted(_lines(script, text)) == [
        f"G (Grade), line 14: knob mix depends on itself through G.mix{OUT}",
        f"H (Grade), line 18: knob mix depends on itself through H.mix{OUT}",
    ]


def test_python_that_nuke_would_run_changes_nothing(script: Path) -> None:
    python = "open('bait', 'w')"
    text = f'Grade {{\n knobChanged "{python}"\n onCreate "{python}"\n beforeRender "{python}"\n name G\n}}\n'
    assert _lines(script, text) == []
    assert not Path("bait").exists()
