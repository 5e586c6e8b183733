"""Pairs from a Nuke script: a tree as artists put it before CopyCat, against values worked out by hand."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import numbered_shot, write_exr
from tests.core.script.training_comp import COMP, HEIGHT, HELD, WIDTH

from understudy.errors import Problems, UnderstudyError
from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.runs import RunFiles
from understudy.sources.record import from_record
from understudy.sources.script import ScriptSource


@pytest.fixture
def comp(tmp_path: Path) -> Path:
    """The script in tmp_path with plate frames 1 to 10 (rgb) and paint frames (rgba)."""
    numbered_shot(tmp_path / "plate", range(1, 11), WIDTH, HEIGHT)
    numbered_shot(tmp_path / "paint", range(1, 11), WIDTH, HEIGHT, "RGBA")
    script = tmp_path / "shot.nk"
    script.write_text(COMP, encoding="utf-8")
    return script


def _by_hand(frame: int) -> tuple[FloatPixels, FloatPixels]:
    """Input and target of one pair, H W C over the cropped format."""
    x = np.arange(1, 7)[None, :, None] / 10
    y = np.arange(4, 0, -1)[:, None, None] / 100
    stored = frame + x + y + np.array([0.0, 0.001, 0.002])
    return stored * [2.0, 0.5, 1.0] + 0.25, stored


def test_pairs_have_the_pixels_worked_out_by_hand(comp: Path) -> None:
    pairs = ScriptSource(script=comp).pairs()
    assert [pair.frame for pair in pairs] == [1, 2, 3, 4, 5]
    for pair, held in zip(pairs, HELD, strict=True):
        shown, wanted = pair.input.read(), pair.target.read()
        for image, expected in zip((shown, wanted), _by_hand(held), strict=True):
            assert image.channels == ("R", "G", "B")
            assert image.display_window == image.data_window == Window(0, 0, 6, 4)
            np.testing.assert_allclose(image.pixels, expected, atol=1e-5)


def test_every_question_is_answered_of_the_script_as_it_was_first_read(comp: Path) -> None:
    source = ScriptSource(script=comp)
    knobs = source.knob_overrides()
    comp.write_text("not a script")
    assert source.knob_overrides() == knobs
    assert len(source.outline()) > len(source.pairs()) > 0


def test_labels_media_and_knobs(comp: Path) -> None:
    source = ScriptSource(script=comp, node="CopyCat1", validation_frames=(2,))
    pair = source.pairs()[1]
    assert pair.use == "validation"
    assert pair.input.label == "Crop1 at frame 2 of shot.nk"
    assert (pair.input.media.path, pair.input.media.frame) == (comp.parent / "plate" / "plate.0003.exr", 3)
    assert pair.target.media.path == comp.parent / "paint" / "plate.0003.exr"
    assert source.knob_overrides() == {"data_directory": comp.parent / "runs", "epochs": 20, "batch_size": 2}


def test_a_record_gives_the_same_pairs_also_from_a_copy_of_the_script(comp: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    copy = Path(shutil.copy(comp, run / "snapshot.nk"))
    moved = ScriptSource(script=copy, original=comp, remap=(("/a", "/b"),), validation_frames=(1, 3), node="CopyCat1")
    again = from_record(moved.record())
    assert again == moved
    assert [pair.input.media for pair in again.pairs()] == [pair.input.media for pair in moved.pairs()]
    assert again.record() == moved.record()


def test_a_run_remembers_where_its_gizmos_were_found(
    comp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of $NUKE_PATH, and beside the script as it was, not beside the copy."""
    (tmp_path / "gizmos").mkdir()
    for folder, name in ((tmp_path / "gizmos", "There"), (tmp_path, "Here")):
        gizmo = f"Gizmo {{ }}\n Input {{ }}\n Grade {{ add {len(name)} }}\n Output {{ }}\nend_group\n"
        (folder / f"{name}.gizmo").write_text(gizmo)
    comp.write_text(COMP.replace(" Dot {\n  name Dot1\n }\n", " Here {\n }\n There {\n }\n"))
    monkeypatch.setenv("NUKE_PATH", str(tmp_path / "gizmos"))
    files = RunFiles(tmp_path / "run", "first")
    files.directory.mkdir()
    kept = ScriptSource(script=comp).kept_beside(files)
    monkeypatch.delenv("NUKE_PATH")
    again = from_record(kept.record())
    assert dict(kept.environment)["NUKE_PATH"] == str(tmp_path / "gizmos")
    plain, _ = _by_hand(HELD[0])
    np.testing.assert_allclose(again.pairs()[0].input.read().pixels, plain + 9, atol=1e-5)


def test_remap_leads_to_moved_footage(comp: Path, tmp_path: Path) -> None:
    (tmp_path / "plate").rename(tmp_path / "moved")
    remap = ((f"{tmp_path.as_posix()}/plate", f"{tmp_path.as_posix()}/moved"),)
    assert ScriptSource(script=comp, remap=remap).pairs()[0].input.media.path.parent.name == "moved"


def test_missing_files_of_both_sides_are_named_at_once(comp: Path, tmp_path: Path) -> None:
    for name in ("plate/plate.0003.exr", "plate/plate.0006.exr", "paint/plate.0009.exr", "plate/plate.0002.exr"):
        (tmp_path / name).unlink()
    with pytest.raises(Problems) as fault:
        ScriptSource(script=comp).pairs()
    named = [(line.split(" ")[0], line.partition("frame ")[2].split(" ")[0]) for line in fault.value.lines]
    assert named == [("Read1", "3"), ("Read1", "6"), ("Read2", "9")]
    assert all("no such file; render it" in line for line in fault.value.lines)


def test_nodes_that_cannot_be_evaluated_are_named_on_both_sides(comp: Path) -> None:
    comp.write_text(COMP.replace(" Dot {\n  name Dot1", " Keylight {\n  name Key1").replace("Remove {", "Denoise2 {"))
    with pytest.raises(Problems) as fault:
        ScriptSource(script=comp).pairs()
    assert [line.split(",")[0] for line in fault.value.lines] == ["Group1.Key1 (Keylight)", "Remove1 (Denoise2)"]
    assert "e.g. with a Write after Group1.Output1" in fault.value.lines[0]
    assert "e.g. with a Write after Crop2" in fault.value.lines[1]


def test_ranges_without_a_common_frame_are_shown(comp: Path) -> None:
    comp.write_text(
        COMP.replace("Crop {\n box {1 1 7 5}\n reformat true\n name Crop1", "TimeOffset {\n time_offset 50\n name T")
    )
    with pytest.raises(
        UnderstudyError, match=r"CopyCat1 .*no frame in common: Input \(T\) has 51-55, Ground Truth \(Crop2\) has 1-5"
    ):
        ScriptSource(script=comp).pairs()
    comp.write_text(
        COMP.replace("AppendClip {\n inputs 5", "FrameRange {\n first_frame 1\n last_frame 999999999\n inputs 5")
    )
    with pytest.raises(UnderstudyError, match="over 100000 frames"):
        ScriptSource(script=comp).pairs()


def test_an_input_that_is_not_connected_is_named(comp: Path) -> None:
    comp.write_text(COMP.replace("CopyCat {\n inputs 2", "push 0\nCopyCat {\n inputs 2"))
    with pytest.raises(
        UnderstudyError, match=r"CopyCat1 \(CopyCat\), line \d+: nothing is connected to its input Input"
    ):
        ScriptSource(script=comp).pairs()


@pytest.mark.parametrize(
    ("remove", "channels"),
    [
        ("operation keep channels alpha", ("A",)),
        ("operation keep channels depth", ("Z",)),
        ("channels none", tuple("RGBA")),
    ],
)
def test_channels_are_inferred_from_what_is_there(tmp_path: Path, remove: str, channels: tuple[str, ...]) -> None:
    write_exr(tmp_path / "a.exr", np.zeros((2, 2, 5), np.float32), tuple("RGBAZ"))
    (tmp_path / "shot.nk").write_text(
        f"Read {{ file a.exr }}\nset N1 [stack 0]\nRemove {{ {remove} }}\npush $N1\nCopyCat {{ inputs 2 }}\n"
    )
    (pair,) = ScriptSource(script=tmp_path / "shot.nk").pairs()
    assert (pair.input.read().channels, pair.target.read().channels) == (tuple("RGBA"), channels)


def test_no_channels_and_an_unknown_colour_config_are_named(tmp_path: Path) -> None:
    write_exr(tmp_path / "a.exr", np.zeros((2, 2, 3), np.float32))
    script = tmp_path / "shot.nk"
    script.write_text("Read { file a.exr }\nset N1 [stack 0]\nRemove { name R }\npush $N1\nCopyCat { inputs 2 }\n")
    with pytest.raises(UnderstudyError, match=r"R \(Remove\), line 3: no channel is left here"):
        ScriptSource(script=script).pairs()
    with pytest.raises(UnderstudyError, match=r"shot2\.nk: cannot be read"):
        ScriptSource(script=tmp_path / "shot2.nk").pairs()


_JUNK = (
    "{",
    "}",
    "[",
    '"',
    "\\",
    "\n",
    "0",
    "-1",
    "1e308",
    "9" * 20,
    "nan",
    "{{curve}}",
    "{parent.x}",
    "end_group\n",
    "",
)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_scripts_give_pairs_or_clear_errors(comp: Path, seed: int) -> None:
    chance = random.Random(seed)
    outcomes = set()
    for _ in range(40):
        words = COMP.split(" ")
        words[chance.randrange(len(words))] = chance.choice(_JUNK)
        comp.write_text(" ".join(words), encoding="utf-8")
        outcomes.add(_outcome(comp))
    assert outcomes == {"pairs", "error"}


def _outcome(script: Path) -> str:
    try:
        source = ScriptSource(script=script)
        source.knob_overrides()
        for pair in source.pairs()[:2]:
            pair.input.read()
            pair.target.read()
    except UnderstudyError:
        return "error"
    return "pairs"
