"""The card of models that are not the usual one, and what of it is told of a model alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.core.records import RECORD
from tests.core.train.export.models import RGB, lively_model, save_lively_model

from understudy.frames.colour import ColourRules
from understudy.orders import Order
from understudy.publish.card import NO_LICENCE, Contents, card_text
from understudy.publish.exports import possible_hosts
from understudy.publish.facts import Facts, RunFacts, facts_of
from understudy.report.run_record import FirstSteps
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy.train.export.hosts import Host
from understudy.train.network import NetworkSpec

FactsOf = Callable[..., Facts]


@pytest.fixture
def facts(tmp_path: Path) -> FactsOf:
    """Of a model without a run: (channels in, channels out, colour space)."""

    def made(inputs: tuple[str, ...] = RGB, targets: tuple[str, ...] = RGB, space: str = "") -> Facts:
        found = facts_of(save_lively_model(tmp_path / "comp.40.safetensors", lively_model(inputs, targets)))
        card = dataclasses.replace(found.model.card, working_space=space or found.model.card.working_space)
        return dataclasses.replace(found, model=dataclasses.replace(found.model, card=card))

    return made


def text_of(facts: Facts, exports: Mapping[Host, tuple[str, ...]] | None = None, **left_out: str) -> str:
    contents = Contents(title="comp_v001", model="comp v001.safetensors", exports=exports or {}, left_out=left_out)  # type: ignore[arg-type]
    return card_text(facts, contents)


def plain(text: str) -> str:
    return " ".join(text.split())


def test_a_model_alone_tells_what_it_knows(facts: FactsOf) -> None:
    card = text_of(facts())
    assert "- Training: 1 pair, frame 1001\n- The run's record did not lie beside the model" in card
    assert "Step 40 of the run `comp`, by understudy 0.1.0." in card
    assert f"| Licence | {NO_LICENCE} |" in card
    assert "Validation:" not in card
    assert "](" not in card
    assert card.count("Not made yet:") == 5
    assert "understudy export 'comp v001.safetensors' --to houdini" in card


def test_a_batch_that_grew_is_told(facts: FactsOf, tmp_path: Path) -> None:
    source = SequenceSource(input="plate.####.exr", target="paint.####.exr", frames=(1001,))
    order = Order(settings=Settings(), source=source, colour=ColourRules())
    for first_steps, said in ((None, "4"), (FirstSteps(steps=400, size=2), "4 (2 in the first 400 steps)")):
        record = dataclasses.replace(RECORD, first_steps=first_steps)
        run = RunFacts(files=RunFiles(tmp_path, "comp"), record=record, order=order, seconds=None)
        assert f"Batches of {said}, crops of" in plain(text_of(dataclasses.replace(facts(), run=run)))


def test_another_colour_space_is_said_to_understudy_and_to_every_host(facts: FactsOf) -> None:
    exports: dict[Host, tuple[str, ...]] = {"nuke": ("n/comp.nk",), "onnx": ("o/comp.onnx",), "torch": ("t/comp.pt",)}
    card = text_of(facts(space="ACES - ACEScg"), exports)
    assert "--output 'result.####.exr' --working-space 'ACES - ACEScg'\n" in card
    assert "Give it scene-linear `ACES - ACEScg`." in plain(card)
    assert card.count("scene-linear ACES - ACEScg, any height and width") == 2
    assert "--working-space" not in text_of(facts())


def test_a_cat_file_that_is_made_needs_no_making(facts: FactsOf) -> None:
    made: tuple[str, ...] = ("exports/nuke/comp.nk", "exports/nuke/comp.pt", "exports/nuke/comp/comp.gizmo")
    without = plain(text_of(facts(), {"nuke": made}))
    card = plain(text_of(facts(), {"nuke": (*made, "exports/nuke/comp/comp.cat")}))
    assert "1. Make the `.cat` file" in without
    assert "4. Or in an Inference of your own" in without
    assert "1. To try it: in `exports/nuke/comp.nk`" in card
    assert "make_cat.py" not in card


def test_a_fourth_channel_for_flame_is_a_second_node(facts: FactsOf) -> None:
    files = ("f/comp.json", "f/comp.matte.json", "f/comp.matte.onnx", "f/comp.onnx")
    card = plain(text_of(facts((*RGB, "A"), (*RGB, "A")), {"flame": files}))
    assert "load `f/comp.onnx`;" in card
    assert "The matte comes from a second node, with `f/comp.matte.onnx`." in card


@pytest.mark.parametrize(
    ("inputs", "targets", "left_out"),
    [
        (RGB, RGB, {}),
        (RGB, ("A",), {}),
        (
            (*RGB, "Z"),
            RGB,
            {"flame": "the model sees R, G, B, Z; Flame feeds a model RGB, RGB and a matte, or a matte"},
        ),
        (
            tuple(f"aov.x{number}" for number in range(20)),
            ("A",),
            {"nuke": "the model has 20 channels, Nuke's Inference takes 19", "flame": "the model sees aov.x0, "},
        ),
    ],
)
def test_hosts_that_cannot_take_a_model_are_told_apart(
    inputs: tuple[str, ...], targets: tuple[str, ...], left_out: dict[Host, str]
) -> None:
    hosts, refused = possible_hosts(NetworkSpec(input_channels=inputs, target_channels=targets, model_size="small"))
    assert {*hosts} == {"nuke", "onnx", "flame", "houdini", "torch"} - {*left_out}
    assert refused.keys() == left_out.keys()
    assert all(refused[host].startswith(why) for host, why in left_out.items())


def test_why_an_export_is_not_there_is_told(facts: FactsOf) -> None:
    assert "### Flame\n\nNot made: the model sees Z\n\n### Houdini" in text_of(facts(), flame="the model sees Z")
