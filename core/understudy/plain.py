"""Plain data back into frozen tables: what JSON gives, every field of the kind that its table says."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Literal, TypeVar, Union

from understudy.errors import quoted

Table = TypeVar("Table")

_KINDS: dict[object, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    NoneType: (NoneType,),
}


def table_of(kind: type[Table], data: object) -> Table:
    """The dataclass `kind` of what `dataclasses.asdict` and JSON made of one; fields with a default may be missing.

    Raises ValueError naming the field that is missing, unknown, or of another kind.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{quoted(data)} is no table of {kind.__name__}")
    table: object = kind  # which can be hashed
    hints = _hints_of(table)
    unknown = [name for name in data if name not in hints]
    if unknown:
        raise ValueError(f"field {quoted(unknown[0])} of {kind.__name__} is unknown")
    missing = [name for name in _required(table) if name not in data]
    if missing:
        raise ValueError(f"field {missing[0]!r} of {kind.__name__} is missing")
    return kind(**{name: _value_of(hints[name], value, name) for name, value in data.items()})


def _value_of(hint: object, value: object, name: str) -> object:
    """Lists become tuples, texts paths."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, UnionType):
        fitting = [one for one in inside if _fits(one, value)]
        return _value_of(fitting[0], value, name) if fitting else _refused(value, name)
    if not _fits(hint, value):
        return _refused(value, name)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return table_of(hint, value)
    if isinstance(value, list):
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        return tuple(_value_of(one, item, name) for one, item in zip(kinds, value, strict=True))
    if isinstance(value, dict):
        return {key: _value_of(inside[1], item, name) for key, item in value.items()}
    return Path(str(value)) if hint is Path else value


def _fits(hint: object, value: object) -> bool:
    """Whether it is of that kind on the outside."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return isinstance(value, str) and value in inside
    if origin is tuple:
        return isinstance(value, list) and (inside[1:] == (...,) or len(value) == len(inside))
    if origin is Mapping or dataclasses.is_dataclass(hint):
        return isinstance(value, dict)
    return type(value) in _KINDS.get(str if hint is Path else hint, ())


def _refused(value: object, name: str) -> typing.NoReturn:
    raise ValueError(f"field {name!r} is {quoted(value)}, which is of another kind")


@cache
def _hints_of(table: object) -> dict[str, object]:
    assert isinstance(table, type)
    return typing.get_type_hints(table)


@cache
def _required(table: object) -> tuple[str, ...]:
    assert isinstance(table, type)
    missing = dataclasses.MISSING
    fields = dataclasses.fields(table)
    return tuple(field.name for field in fields if field.default is missing and field.default_factory is missing)
