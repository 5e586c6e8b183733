"""Tables come back from plain data as they were; what does not fit is named."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from understudy.plain import table_of


@dataclass(frozen=True, kw_only=True)
class Inner:
    name: str
    size: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Outer:
    place: Path
    state: Literal["on", "off"]
    number: int
    is_whole: bool
    inner: Inner
    several: tuple[Inner, ...]
    pairs: tuple[tuple[str, str], ...]
    words: Mapping[str, str]
    maybe: Inner | None = None


TABLE = Outer(
    place=Path("/shot"),
    state="on",
    number=7,
    is_whole=True,
    inner=Inner(name="a", size=2.5),
    several=(Inner(name="b"), Inner(name="c")),
    pairs=(("A", "1"),),
    words={"a": "b"},
)
DATA: dict[str, object] = json.loads(json.dumps({**dataclasses.asdict(TABLE), "place": "/shot"}))


def test_a_table_comes_back() -> None:
    assert table_of(Outer, DATA) == TABLE
    assert table_of(Outer, {name: value for name, value in DATA.items() if name != "maybe"}) == TABLE
    assert table_of(Outer, {**DATA, "maybe": {"name": "d", "size": 3}}).maybe == Inner(name="d", size=3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("place", 3),
        ("state", "asleep"),
        ("state", []),
        ("number", 1.5),
        ("number", True),
        ("is_whole", 1),
        ("inner", None),
        ("inner", {"name": "a", "size": "large"}),
        ("inner", {}),
        ("several", {"name": "a"}),
        ("several", [1]),
        ("pairs", [["A"]]),
        ("pairs", [["A", 1]]),
        ("words", {"a": 1}),
        ("words", [["a", "b"]]),
        ("maybe", "d"),
        ("unheard_of", 1),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"^field '\w+' .*(of another kind|is unknown|is missing)"):
        table_of(Outer, {**DATA, name: value})


@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_what_is_no_table_is_said(data: object) -> None:
    with pytest.raises(ValueError, match="is no table of Outer"):
        table_of(Outer, data)
