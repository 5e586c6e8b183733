"""A shot goes all the way by hand: nothing but clicks and keys on a real screen, and what is seen there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.screens import Pixels, needs_screen, open_screen
from tests.ui.panel.artist import Artist, Seen

from understudy.demo.files import DemoFiles
from understudy.demo.script import DemoTraining
from understudy.demo.shot import DemoShot
from understudy.demo.write import write_demo

SHOT = DemoShot(width=240, height=135, last_frame=1006, painted_frames=(1001, 1003, 1006))
TRAINING = DemoTraining(epochs=100_000, batch_size=2, crop_size=64, model_size="small")
MINUTES = 0.4
"""Of training: by the clock, so that there is time to stop on a machine of any speed."""
INTERVAL = 10
"""Steps between checkpoints, and between contact sheets."""

pytestmark = [needs_screen, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def files(tmp_path: Path) -> DemoFiles:
    return write_demo(tmp_path / "shot", SHOT, TRAINING, say=lambda _line: None)


@pytest.fixture
def artist(tmp_path: Path) -> Iterator[Artist]:
    with open_screen(tmp_path, 1280, 860) as screen:
        somebody = Artist(screen, tmp_path, {"UNDERSTUDY_HOME": str(tmp_path / "home")})
        try:
            yield somebody
        finally:
            somebody.give_up()


def test_a_shot_goes_all_the_way_by_hand(artist: Artist, files: DemoFiles) -> None:
    choose(artist, files)
    set_knobs(artist)
    look_at_dry_run(artist)
    train_and_watch(artist)
    stop_and_resume(artist)
    apply(artist, files)
    artist.screen.press("ctrl+q")
    artist.wait()


def choose(artist: Artist, files: DemoFiles) -> None:
    artist.enter("Script", str(files.script), "PathLine")
    artist.read("3 pairs")
    artist.enter("Validation Frames", "2")
    artist.read("1 for validation")
    artist.until(lambda _seen: is_picture(artist.pixels("Pairs")), "thumbnails")
    artist.keep("1_chosen")


def set_knobs(artist: Artist) -> None:
    artist.enter("Checkpoint Interval", str(INTERVAL))
    artist.enter("Contact Sheet Interval", str(INTERVAL))
    artist.choose("Farm", "local")
    artist.enter("Ranks", "2")
    artist.click("Further settings")
    artist.enter("Minutes", str(MINUTES))
    artist.choose("Device", "cpu")
    artist.enter("Threads", "1")
    artist.read("about 24 s")
    artist.keep("3_knobs")


def look_at_dry_run(artist: Artist) -> None:
    artist.click("Dry Run")
    assert "--ranks 2" in artist.read("understudy submit").text
    artist.click("commands.json", "Item")
    assert "understudy" in artist.read("argv").text
    artist.keep("4_dry_run")
    artist.screen.press("Escape")
    artist.until(lambda seen: not [one for one in seen if one.text == "Copy Command"], "the dry run, gone")


def train_and_watch(artist: Artist) -> None:
    """Curve and contact sheet move, in the panel's data and on the screen."""
    artist.click("Train on This Machine")
    first = artist.until(steps_on_view, "curve and contact sheet")
    graph, sheet = artist.pixels("Loss graph"), artist.pixels("Contact sheet")
    artist.keep("5_training")
    assert artist.find("Runs", "RunsTable").has_focus, "keys would be written into a path"
    are_later(artist, first)
    artist.click("Loss graph")
    artist.until(lambda seen: [one for one in seen if one.name == "Loss graph" and one.has_focus], "the graph's frame")
    assert is_other(artist.pixels("Loss graph"), graph)
    assert not is_other(artist.pixels("Loss graph"), graph, 0.3), "most of it stays as dark as it was"
    assert is_other(artist.pixels("Contact sheet"), sheet)
    artist.keep("6_training_on")


def stop_and_resume(artist: Artist) -> None:
    artist.click("Stop")
    artist.find("stopped", "QLabel")
    stopped_at = steps_on_view(artist.look())
    artist.keep("7_stopped")
    artist.click("Resume")
    artist.find("training", "QLabel")
    artist.find("finished", "QLabel")
    are_later(artist, stopped_at)
    artist.keep("8_finished")


def apply(artist: Artist, files: DemoFiles) -> None:
    artist.screen.press("ctrl+3")
    artist.enter("Output", files.result, "PathLine")
    artist.enter("Frames", "1002-1004")
    artist.keep("9_before_apply")
    artist.click("Apply")
    artist.read("3 frames")
    results = Path(files.result).parent
    assert sorted(path.name for path in results.iterdir()) == [f"result.{frame}.exr" for frame in (1002, 1003, 1004)]
    artist.until(lambda seen: [one for one in seen if "result" in one.facts], "the result beside the input")
    artist.read(" dB")
    artist.keep("10_result")
    wipe_to_the_left(artist)
    artist.keep("11_wiped")


def wipe_to_the_left(artist: Artist) -> None:
    """The line is dragged from the picture's middle, so that more of the result is seen."""
    picture, (x, y) = artist.pixels("Frame", "PictureView"), artist.find("Frame", "PictureView").middle
    assert is_picture(picture)
    artist.screen.drag((x, y), (x - 200, y))
    artist.until(lambda _seen: is_other(artist.pixels("Frame", "PictureView"), picture), "the wipe, further left")
    assert is_picture(artist.pixels("Frame", "PictureView"))


def steps_on_view(seen: list[Seen]) -> list[int]:
    """Last step of the curve, and step of the contact sheet; empty until there are both."""
    curve = [step for one in seen if one.kind == "LossGraph" for step in one.facts["steps"]]
    said = [one.text for one in seen if one.kind == "QLabel" and one.text.startswith("step ")]
    sheet = [int(text.removeprefix("step ").replace("\u2009", "")) for text in said]
    return [*curve, *sheet] if curve and sheet else []


def are_later(artist: Artist, before: list[int]) -> None:
    """Waits until curve and contact sheet have gone on."""

    def is_later(seen: list[Seen]) -> bool:
        steps = steps_on_view(seen)
        return bool(steps) and all(map(int.__gt__, steps, before))

    artist.until(is_later, f"a later step than {before}")


def is_picture(pixels: Pixels) -> bool:
    """Many colours: neither text nor an empty place."""
    return len(np.unique(pixels.reshape(-1, 3), axis=0)) > 2000


def is_other(pixels: Pixels, before: Pixels, share: float = 0.002) -> bool:
    """More than that share of them; usually, of more than a few."""
    return bool((pixels != before).any(axis=2).mean() > share)
