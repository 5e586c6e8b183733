"""A knob's raw text as the sources of its numbers: numbers themselves, curves, expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from understudy.errors import UnderstudyError
from understudy.script.tokens import read_list
from understudy.script.values.curves import NUMBER, Curve, curve_of, number_of
from understudy.script.values.fault import Unreadable, shortened
from understudy.script.values.formula import Formula, formula_of

_TRUE = ("true", "on", "yes")
_FALSE = ("false", "off", "no")
_OF_KEYS = re.compile(r"i|x[-+.\deE]+|[stuv][-+.\deE]+|[A-Z]|[-+]?[.\d][-+.\deE]*")
"""What may follow the expression of a knob that has keys, too."""
_LINK = re.compile(r"\{+\s*(?P<path>[A-Za-z_]\w*(?:\.\w+)*)(?:\s+(?:i|x[-+.\deE]+|[-+.\deE]+))*\s*\}+")
_NO_LINKS = ("frame", "t", "curve")


@dataclass(frozen=True, kw_only=True)
class Driven:
    """A value that an expression gives."""

    formula: Formula
    curve: Curve | None
    """What `curve` means in it."""


Source: TypeAlias = "float | Curve | Driven"


@lru_cache(maxsize=4096)
def sources_of(raw: str) -> tuple[Source, ...]:
    """What gives each number of a knob, in their order. Raises Unreadable."""
    words = words_of(raw)
    if words[:1] == ["curve"]:
        return (curve_of(words[1:]),)
    return tuple(map(_source, words))


def whole_source(raw: str) -> Source:
    """What gives the one number of a knob that has no other; an expression may have spaces. Raises Unreadable."""
    words = words_of(raw)
    if len(words) == 1 or words[:1] == ["curve"]:
        return sources_of(raw)[0]
    return _source(raw)


def linked_words(raw: str) -> tuple[str, ...]:
    """The name that a knob of words consists of, where it is a link: `{{parent.Blur1.channels}}`; none where not."""
    found = _LINK.fullmatch(raw.strip())
    return tuple(found["path"].split(".")) if found and found["path"] not in _NO_LINKS else ()


def _source(word: str) -> Source:
    if NUMBER.fullmatch(word):
        return number_of(word)
    if word.lower() in (*_TRUE, *_FALSE):
        return float(word.lower() in _TRUE)
    inner = words_of(word)
    if not inner:
        raise Unreadable(f"holds {shortened(word)} where a number is needed")
    if inner[0] == "curve" and all(map(_OF_KEYS.fullmatch, inner[1:])):
        return curve_of(inner[1:])
    if len(inner) > 1 and not NUMBER.fullmatch(inner[1]) and all(map(_OF_KEYS.fullmatch, inner[1:])):
        return Driven(formula=formula_of(inner[0]), curve=_keys(inner[1:]))
    return Driven(formula=formula_of(inner[0] if len(inner) == 1 else word), curve=None)


def _keys(words: list[str]) -> Curve | None:
    return None if set(words) <= {"i"} else curve_of(words)


def words_of(raw: str) -> list[str]:
    """The words of a list as Tcl has them. Raises Unreadable."""
    try:
        return [word.text for word in read_list(raw, "", 0)]
    except UnderstudyError:
        raise Unreadable(f"holds unbalanced text {shortened(raw)}") from None
