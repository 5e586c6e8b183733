"""What one process of a host tells the others about the pairs that it decoded: everything but the pixels, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypedDict

from understudy.dataset.decoded import PairFacts
from understudy.dataset.decoding import ShelvedPair
from understudy.dataset.shelf import ArrayPlace
from understudy.frames.window import Window
from understudy.pairs import Pair


@dataclass(frozen=True, kw_only=True)
class Index:
    """How decoding ended."""

    pairs: tuple[ShelvedPair, ...] = ()
    """In frame order, all arrays in the file."""
    warnings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """When there are any, there are no pairs."""

    @property
    def num_bytes(self) -> int:
        """How long the file must be at least."""
        return max((place.end for one in self.pairs for place in _places(one) if place), default=0)


class _PlaceRecord(TypedDict):
    offset: int
    shape: list[int]
    dtype: str


class _PairRecord(TypedDict):
    pair: int
    window: list[int]
    places: list[_PlaceRecord | None]
    facts: dict[str, object]


class _IndexRecord(TypedDict):
    pairs: list[_PairRecord]
    warnings: list[str]
    problems: list[str]


def to_json(index: Index, pairs: Sequence[Pair]) -> str:
    """`pairs` are those that were asked for; the index says which of them each one is."""
    numbers = {id(pair): number for number, pair in enumerate(pairs)}
    record = _IndexRecord(
        pairs=[_pair_record(one, numbers[id(one.pair)]) for one in index.pairs],
        warnings=list(index.warnings),
        problems=list(index.problems),
    )
    return json.dumps(record)


def from_json(text: str, pairs: Sequence[Pair]) -> Index:
    """The index that another process wrote for equal `pairs`."""
    record: _IndexRecord = json.loads(text)
    return Index(
        pairs=tuple(_pair_from(one, pairs) for one in record["pairs"]),
        warnings=tuple(record["warnings"]),
        problems=tuple(record["problems"]),
    )


def _places(one: ShelvedPair) -> tuple[ArrayPlace, ArrayPlace, ArrayPlace | None]:
    assert isinstance(one.input, ArrayPlace)
    assert isinstance(one.target, ArrayPlace)
    assert one.valid is None or isinstance(one.valid, ArrayPlace)
    return one.input, one.target, one.valid


def _pair_record(one: ShelvedPair, number: int) -> _PairRecord:
    window = one.window
    return _PairRecord(
        pair=number,
        window=[window.x0, window.y0, window.x1, window.y1],
        places=[None if place is None else _place_record(place) for place in _places(one)],
        facts=asdict(one.facts),
    )


def _place_record(place: ArrayPlace) -> _PlaceRecord:
    return _PlaceRecord(offset=place.offset, shape=list(place.shape), dtype=place.dtype)


def _pair_from(record: _PairRecord, pairs: Sequence[Pair]) -> ShelvedPair:
    shown, wanted, valid = (
        place and ArrayPlace(offset=place["offset"], shape=tuple(place["shape"]), dtype=place["dtype"])
        for place in record["places"]
    )
    assert shown
    assert wanted
    return ShelvedPair(
        pair=pairs[record["pair"]],
        window=Window(*record["window"]),
        input=shown,
        target=wanted,
        valid=valid,
        facts=_facts_from(record["facts"]),
    )


def _facts_from(values: Mapping[str, object]) -> PairFacts:
    return PairFacts(**{name: _revived(value) for name, value in values.items()})  # type: ignore[arg-type]


def _revived(value: object) -> object:
    """JSON has neither windows nor tuples."""
    if isinstance(value, dict):
        return Window(**value)
    return tuple(value) if isinstance(value, list) else value
