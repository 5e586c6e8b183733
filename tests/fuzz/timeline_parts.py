"""Damage to timelines: what only an .otio can have wrong, besides what any JSON can."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence

from tests.fuzz.trees import Deed, Spot, damaged_json

_SCHEMA = "OTIO_SCHEMA"
_KNOWN = (
    *("Timeline", "Stack", "Track", "Clip", "Gap", "Transition", "Marker", "Effect", "LinearTimeWarp", "FreezeFrame"),
    *("ExternalReference", "ImageSequenceReference", "MissingReference", "GeneratorReference", "SerializableObjectRef"),
    *("V2d", "Box2d", "TimeRange", "RationalTime", "TimeTransform", "SerializableCollection", "UnknownSchema"),
)
SCHEMAS = (*(f"{name}.1" for name in _KNOWN), "Clip.2", "Clip.99", "Clip.-1", "Clip.x", "Clip", ".1", "", "Käse.1")
NUMBERS = (0, -1, -24, 0.5, 1e-300, 1e308, float("nan"), float("inf"), -float("inf"), 2**31, 2**63, 1e15, "24", None)
URLS = (
    *("", "/", "..", "#", "file:", "file:///", "file://host/plate.exr", "file://[::1", "http://x/plate.exr", "%zz%00"),
    *(
        "plate.%04d.exr",
        "plate.####.exr",
        "file:plate.1001.exr",
        "\0",
        "a\nb.exr",
        "file:///\x00",
        "\ud800",
        "x" * 5000,
    ),
)


def damaged_timeline(content: bytes, chance: random.Random) -> bytes:
    return damaged_json(content, chance, DEEDS)


def _another_schema(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    _one_of(_SCHEMA, spot, others, chance).put(chance.choice(SCHEMAS))


def _another_time(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    _one_of(chance.choice(("rate", "rate", "value")), spot, others, chance).put(chance.choice(NUMBERS))


def _another_reference(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    names = ("target_url", "target_url_base", "name_prefix", "name_suffix")
    _one_of(chance.choice(names), spot, others, chance).put(chance.choice(URLS))


def _another_number_of_a_sequence(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    names = ("start_frame", "frame_step", "frame_zero_padding", "rate", "missing_frame_policy")
    _one_of(chance.choice(names), spot, others, chance).put(chance.choice((*NUMBERS, 1, 2, 300, "hold", "black")))


def _within_itself(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    """Children of a track become those of tracks within tracks."""
    found = _one_of("children", spot, others, chance)
    if isinstance(found.value, list):
        inner = copy.deepcopy(found.value)
        for _ in range(chance.choice((1, 2, 30))):
            inner = [{_SCHEMA: chance.choice(("Stack.1", "Track.1")), "children": inner}]
        found.put(chance.choice((inner, inner, ["@stacks@", *inner])))


def _many(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    found = _one_of("children", spot, others, chance)
    if isinstance(found.value, list):
        found.put(copy.deepcopy(found.value) * chance.choice((0, 2, 50)))


def _other_kind(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    """A whole object in the place of another."""
    objects = [one for one in others if isinstance(one.value, dict)]
    (spot if not objects else chance.choice(objects)).put(copy.deepcopy(chance.choice(objects or others).value))


def _other_words_of_ours(spot: Spot, others: Sequence[Spot], chance: random.Random) -> None:
    name = chance.choice(("role", "use", "frame", "layer", "view", "colorspace", "name", "understudy", "kind"))
    _one_of(name, spot, others, chance).put(
        chance.choice(("input", "target", "val", 7, -1, 2**70, 1.5, None, True, [], {}, "\0"))
    )


def _one_of(name: str, otherwise: Spot, spots: Sequence[Spot], chance: random.Random) -> Spot:
    return chance.choice([spot for spot in spots if spot.key == name] or [otherwise])


DEEDS: tuple[Deed, ...] = (
    *(_another_schema, _another_schema, _another_time, _another_time, _another_time, _another_reference),
    *(_another_number_of_a_sequence, _within_itself, _many, _other_kind, _other_kind, _other_words_of_ours),
)
