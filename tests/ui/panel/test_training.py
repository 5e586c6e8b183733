"""The Train place without a window."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.ui.panel.fake_desk import FakeDesk, FakeVoice
from tests.ui.panel.stand_in_answers import StandIn, parse

from understudy_ui.panel.model.remembered import Remembered
from understudy_ui.panel.model.source import Source
from understudy_ui.panel.model.training import Training
from understudy_ui.protocol import SentShown

NODE = Source(script="/show/shot.nk", node="CopyCat1")


class Place:
    """A training, its desk and its voice."""

    def __init__(self, home: Path) -> None:
        self.desk, self.voice, self.played = FakeDesk(), FakeVoice(), StandIn(parse([]))
        self.training = Training(self.desk, Remembered(home / "panel.json"), self.voice)
        self.training.start()
        self.play("fields")
        self.play("farms")

    def play(self, question: str) -> None:
        asked = self.desk.open(question)[0]
        self.desk.answer(question, self.played.answer(question, asked.about))

    def choose(self, source: Source) -> None:
        self.training.choose(source)
        self.desk.pass_time()
        self.play("source")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_source_brings_the_nodes_knobs_and_an_estimate(place: Place) -> None:
    place.choose(NODE)
    assert place.training.form.value("epochs") == 2400
    place.desk.pass_time()
    place.play("estimate")
    assert place.training.spoken_estimate().startswith("about 12\u2009000 steps")


def test_a_choice_of_the_default_against_the_node_stays(place: Place, tmp_path: Path) -> None:
    place.choose(NODE)
    place.training.form.set("epochs", 10000)
    place.choose(dataclasses.replace(NODE, validation_frames="1013"))
    assert place.training.form.chosen() == {"epochs": 10000}
    place.training.note()
    again = Place(tmp_path)
    again.choose(NODE)
    assert again.training.form.chosen() == {"epochs": 10000}
    again.choose(Source(script="/show/other.nk", node="CopyCat1"))
    assert (again.training.form.chosen(), again.training.form.value("epochs")) == ({}, 2400)


def test_the_values_of_a_shot_come_back_with_it(place: Place) -> None:
    place.choose(NODE)
    place.training.form.set("ranks", 2)
    place.choose(Source(script="/show/other.nk", node="CopyCat1"))
    assert place.training.form.value("ranks") == 1
    place.choose(NODE)
    assert place.training.form.value("ranks") == 2


def test_typing_asks_once_when_it_rests(place: Place) -> None:
    for name in ("/show/a.nk", "/show/ab.nk", "/show/abc.nk"):
        place.training.choose(Source(script=name))
    place.desk.pass_time()
    assert [asked.about for asked in place.desk.open("source")] == [{"words": ["/show/abc.nk"]}]


def test_words_are_those_of_submit(place: Place) -> None:
    place.choose(NODE)
    place.training.form.set("crop_size", 64)
    place.training.form.set("farm", "slurm")
    place.training.form.set("ranks", 3)
    place.training.farm_forms["slurm"].set("qos", "high")
    assert place.training.words() == [
        *("-X", "CopyCat1", "/show/shot.nk", "--crop-size", "64", "--farm", "slurm"),
        *("--ranks", "3", "-O", "qos=high"),
    ]


def test_here_is_one_process_without_the_farms_words(place: Place) -> None:
    place.choose(NODE)
    for name, value in (("farm", "slurm"), ("ranks", 3), ("pool", "gpu"), ("crop_size", 64), ("comment", "try")):
        place.training.form.set(name, value)
    words = place.training.words_here()
    assert words == [*NODE.words(), "--crop-size", "64", "--comment", "try", "--farm", "local"]


def test_values_are_remembered_by_shot(place: Place, tmp_path: Path) -> None:
    place.choose(NODE)
    place.training.form.set("crop_size", 64)
    place.training.note()
    place.training.choose(Source(script="/show/other.nk"))
    assert place.training.form.value("crop_size") == 96
    again = Place(tmp_path)
    again.training.open_newest()
    assert again.training.form.value("crop_size") == 64


def test_a_farm_that_is_gone_is_said_and_the_button_comes_back(place: Place) -> None:
    place.choose(NODE)
    sent: list[SentShown] = []
    place.training.send(place.training.words(), sent.append)
    assert place.training.sending
    place.desk.fail("submit", "slurm: sbatch does not answer; submit again later")
    assert place.voice.complaints == ["slurm: sbatch does not answer; submit again later"]
    assert place.training.is_ready()
    assert not sent


def test_giving_up_drops_the_question(place: Place) -> None:
    place.choose(NODE)
    place.training.check()
    place.training.shot.give_up_check()
    assert place.desk.open("check") == []


def test_a_snapshot_is_read_instead_of_the_script(place: Place) -> None:
    place.training.choose(NODE, "/tmp/shot.snapshot.nk")
    place.desk.pass_time()
    assert place.desk.open("source")[0].about == {"words": ["-X", "CopyCat1", "/tmp/shot.snapshot.nk"]}
    assert place.training.shot.source.key() == "/show/shot.nk CopyCat1"
