"""An export without a window: what is asked, where it goes, and which run an answer belongs to."""

from __future__ import annotations

from typing import cast, get_args

import pytest
from tests.ui.panel.fake_desk import FakeDesk, FakeVoice
from tests.ui.panel.stand_in_answers import StandIn, parse

from understudy.train.export.hosts import Host
from understudy_ui.panel.model.export import HOSTS, Export
from understudy_ui.panel.model.result import Result
from understudy_ui.protocol import RunShown

PLAYED = StandIn(parse(["--state", "finished"]))


class Place:
    """An export, its desk and its voice."""

    def __init__(self) -> None:
        self.desk, self.voice = FakeDesk(), FakeVoice()
        self.result = Result(self.desk, self.voice)
        self.export = Export(self.desk, self.voice, self.result)
        self.show(0)

    def show(self, number: int) -> None:
        run = PLAYED.answer("run", {"place": PLAYED._place_of(number)})
        self.result.show(cast(RunShown, run))

    def play(self) -> None:
        self.desk.answer("export", PLAYED.answer("export", self.desk.open("export")[0].about))


@pytest.fixture
def place() -> Place:
    return Place()


def test_every_host_of_the_command_line_can_be_chosen() -> None:
    assert set(HOSTS) == set(get_args(Host))


def test_the_folder_is_the_one_that_the_command_line_takes(place: Place) -> None:
    assert place.export.folder(1500, "flame") == "/show/sh010/comp/runs/Training.1500.flame"
    assert place.export.folder(77, "flame") == ""
    place.result.show(None)
    assert place.export.folder(1500, "flame") == ""


def test_what_was_written_is_known_until_another_run_is_shown(place: Place) -> None:
    place.export.begin(1500, "nuke", "/delivery/comp")
    assert place.desk.open("export")[0].about == {
        "place": PLAYED._place_of(0),
        "checkpoint": 1500,
        "to": "nuke",
        "folder": "/delivery/comp",
    }
    place.play()
    exported = place.export.exported
    assert exported is not None
    assert (exported["folder"], len(exported["proofs"]), place.export.exporting) == ("/delivery/comp", 2, "")
    assert place.voice.said[-1] == exported["said"]
    place.show(0)
    assert place.export.exported == exported
    place.show(1)
    assert place.export.exported is None


def test_an_answer_about_another_run_is_said_and_not_shown(place: Place) -> None:
    place.export.begin(1500, "nuke", "/delivery/comp")
    place.show(1)
    place.play()
    assert place.export.exported is None
    assert "/delivery/comp" in place.voice.said[-1]


def test_a_fault_is_said_and_the_button_comes_back(place: Place) -> None:
    place.export.begin(1500, "nuke", "/taken")
    place.desk.fail("export", "/taken: holds something else than an export; choose another --folder")
    assert place.voice.complaints == ["/taken: holds something else than an export; choose another --folder"]
    assert (place.export.exporting, place.export.exported) == ("", None)


def test_giving_up_drops_the_question(place: Place) -> None:
    place.export.begin(1500, "nuke", "")
    place.export.give_up()
    assert place.desk.open("export") == []
    assert (place.export.exporting, place.export.exported) == ("", None)
