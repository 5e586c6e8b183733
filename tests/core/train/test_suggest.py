"""The frame that differs is suggested, painted ones never, and several are spread over the shot."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from tests.core.train.shots import HEIGHT, WIDTH, SmallShot, make_shot, write_picture

from understudy.cli.main import main
from understudy.errors import UnderstudyError
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.settings import Settings
from understudy.train import looks, suggest
from understudy.train.need import Look, Need, needs_of, suggested
from understudy.train.suggest import Suggestion, SuggestOrder

FRAMES = range(1001, 1013)
PAINTED = (1001, 1006, 1012)
STRANGE = 1009


def look(frame: int, *, amount: float = 0.1, doubt: float = 0.0, turned: float = 0.0) -> Look:
    """Of a picture of one square and one place; `turned`: by so many radians it looks unlike others."""
    features = np.array([[np.cos(turned), np.sin(turned)]], np.float32)
    return Look(frame=frame, amounts=np.full(1, amount, np.float32), doubt=doubt, features=features)


def need(frame: int, score: float) -> Need:
    return Need(frame=frame, work=score, doubt=0.0, strangeness=0.0, score=score)


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (look(1007, amount=0.3), "painted otherwise than the painted frames"),
        (look(1007, doubt=0.2), "checkpoints disagree"),
        (look(1007, turned=1.0), "looks unlike the painted frames"),
    ],
)
def test_each_sign_alone_finds_the_frame_that_differs(odd: Look, why: str) -> None:
    seen = [odd if frame == 1007 else look(frame) for frame in FRAMES]
    first = suggested(needs_of(seen, PAINTED), 1)[0]
    assert (first.frame, first.why) == (1007, why)


def test_what_a_painted_frame_showed_is_not_strange() -> None:
    odd = {1006: look(1006, amount=0.3, turned=1.0), 1008: look(1008, amount=0.3, turned=1.0)}
    needs = needs_of([odd.get(frame, look(frame)) for frame in FRAMES], PAINTED)
    assert {need.strangeness for need in needs} == {0.0}
    unknown = needs_of([odd.get(frame, look(frame)) for frame in FRAMES], (1001, 1012))
    assert suggested(unknown, 1)[0].frame in odd


def test_painted_frames_are_never_suggested() -> None:
    needs = needs_of([look(frame, amount=0.01 * frame, doubt=0.1) for frame in FRAMES], PAINTED)
    assert {need.frame for need in suggested(needs, 100)} == {*FRAMES} - {*PAINTED}


def test_scores_are_shares_and_fall() -> None:
    random = np.random.default_rng(3)
    seen = [look(frame, amount=random.random(), doubt=random.random(), turned=random.random()) for frame in FRAMES]
    scores = [need.score for need in suggested(needs_of(seen, PAINTED), 100)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_of_equal_frames_the_first_is_suggested() -> None:
    needs = needs_of([look(frame) for frame in FRAMES], PAINTED)
    assert [need.score for need in needs] == [0.0] * len(needs)
    first = suggested(needs, 1)[0]
    assert (first.frame, first.why) == (1002, "nothing stands out")


def test_suggestions_are_spread_over_the_shot() -> None:
    needs = [need(frame, 0.9 if 1040 <= frame <= 1050 else 0.5) for frame in range(1001, 1101)]
    frames = [one.frame for one in suggested(needs, 3)]
    assert frames[0] == 1040
    assert min(abs(one - other) for one in frames for other in frames if one != other) >= 20


def test_a_much_needier_neighbour_still_comes_first() -> None:
    needs = [need(1001, 0.05), need(1050, 1.0), need(1052, 0.9), need(1100, 0.05)]
    assert [one.frame for one in suggested(needs, 2)] == [1050, 1052]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> SmallShot:
    """A run of a shot of which one frame shows something else, checkpoints at steps 6 and 12."""
    shot = make_shot(tmp_path_factory.mktemp("suggest"), FRAMES, PAINTED)
    strange = np.random.default_rng(9).random((HEIGHT, WIDTH, 3), np.float32)
    strange[:, ::3] = (4.0, 0.0, 0.0)
    write_picture(shot.folder / f"plate.{STRANGE}.exr", strange)
    assert main(shot.train_words("--run-name", "first")) == 0
    return shot


def ask(
    shot: SmallShot, run: Path | None = None, input: str = "", frames: tuple[int, ...] = (), count: int = 3
) -> Suggestion:
    order = SuggestOrder(
        run=run or shot.data, count=count, input=input, frames=frames, settings=Settings(device="cpu", threads=1)
    )
    return suggest.suggest(order, lambda _: None)


def test_the_frame_that_shows_something_else_is_suggested(trained: SmallShot) -> None:
    found = ask(trained)
    assert found.needs[0].frame == STRANGE
    assert found.painted == PAINTED
    assert found.left_out == ()
    assert found == ask(trained)


def test_with_a_single_checkpoint_nothing_is_doubted(trained: SmallShot) -> None:
    found = ask(trained, run=trained.data / "first.6.safetensors", count=100)
    assert found.needs[0].frame == STRANGE
    assert {need.doubt for need in found.needs} == {0.0}
    assert {need.frame for need in found.needs} == {*FRAMES} - {*PAINTED}


def test_only_frames_asked_for_are_suggested(trained: SmallShot) -> None:
    found = ask(trained, frames=(1002, 1003, 1006, 1015))
    assert {need.frame for need in found.needs} == {1002, 1003}
    assert [line for line in found.left_out if "has no frames 1015" in line]


@pytest.fixture
def copied(trained: SmallShot, tmp_path: Path) -> SmallShot:
    """The shot's plate again, to be damaged, and nothing else."""
    for path in trained.folder.glob("plate.*.exr"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return SmallShot(tmp_path)


def test_missing_and_damaged_frames_are_named_and_left_out(trained: SmallShot, copied: SmallShot) -> None:
    (copied.folder / "plate.1003.exr").unlink()
    (copied.folder / "plate.1004.exr").write_bytes(b"v/1\x01")
    (copied.folder / "plate.1012.exr").write_bytes(b"")
    found = ask(trained, input=copied.plate, count=100)
    assert {need.frame for need in found.needs} == {*FRAMES} - {*PAINTED, 1003, 1004}
    assert len(found.left_out) == 3
    for line, name in zip(found.left_out, ("has no frames 1003", "plate.1004.exr", "plate.1012.exr"), strict=True):
        assert name in line


def test_without_any_painted_frame_there_is_nothing_to_compare(trained: SmallShot, copied: SmallShot) -> None:
    for frame in PAINTED:
        (copied.folder / f"plate.{frame}.exr").unlink()
    with pytest.raises(UnderstudyError, match="holds none of the run's painted frames"):
        ask(trained, input=copied.plate)


def test_of_a_long_shot_some_frames_are_looked_at(trained: SmallShot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggest, "MOST_FRAMES", 4)
    found = ask(trained, count=100)
    assert [need.frame for need in sorted(found.needs, key=lambda need: need.frame)] == [1002, 1005, 1009]


def test_large_frames_are_looked_at_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "LOOK_PIXELS", 100)
    window = Window.of_size(60, 40)
    pixels = np.ones((40, 60, 3), np.float32)
    pixels[:20] = np.nan
    picture = Image(pixels=pixels, channels=("R", "G", "B"), data_window=window, display_window=window)
    small = looks.reduced(picture)
    assert small.shape == (8, 12, 3)
    np.testing.assert_array_equal(small, np.repeat([0.0, 1.0], 4)[:, None, None] * np.ones((8, 12, 3)))
    tiny = dataclasses.replace(picture, pixels=pixels[:1], data_window=Window.of_size(60, 1))
    assert looks.reduced(tiny).shape == small.shape
