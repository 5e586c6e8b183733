"""The values of a form: what each field is, where that comes from, and the words of the command line that say it."""

from __future__ import annotations

from typing import Dict, List, Mapping, Sequence

from understudy_ui.panel.model.changes import Changes
from understudy_ui.panel.model.tongue import tr
from understudy_ui.protocol import Field, Json

OPTION = "-O "
"""How the flag of a farm's own option begins."""


class Form:
    """Fields with a value each: what a hand chose, else what the node says, else the default."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = list(fields)
        self.changed = Changes()
        self._by_name = {field["name"]: field for field in fields}
        self._of_node: Dict[str, Json] = {}
        self._chosen: Dict[str, Json] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def group(self, group: str) -> List[Field]:
        return [field for field in self.fields if field["group"] == group]

    def value(self, name: str) -> Json:
        return self._chosen.get(name, self.base(name))

    def base(self, name: str) -> Json:
        """What a reset gives: the node's value, else the default."""
        return self._of_node.get(name, self._by_name[name]["default"])

    def set(self, name: str, value: Json) -> None:
        if _same(value, self.value(name)):
            return
        self._chosen[name] = value
        if _same(value, self.base(name)):
            del self._chosen[name]
        self.changed.tell()

    def reset(self, name: str) -> None:
        self.set(name, self.base(name))

    def is_chosen(self, name: str) -> bool:
        return name in self._chosen and not _same(self._chosen[name], self.base(name))

    def is_of_node(self, name: str) -> bool:
        """Whether the node says it, otherwise than the default, and no hand went over it."""
        return name in self._of_node and not self.is_chosen(name)

    def take_node(self, knobs: Mapping[str, Json]) -> None:
        """The node's knobs lie under what was chosen. A choice that says the same is none."""
        self._of_node = {
            name: value
            for name, value in knobs.items()
            if name in self and not _same(value, self._by_name[name]["default"])
        }
        self.changed.tell()

    def take_chosen(self, chosen: Mapping[str, Json]) -> None:
        """What was remembered; fields that there are not any more, or of another kind now, are left out."""
        self._chosen = {
            name: value for name, value in chosen.items() if name in self and _fits(self._by_name[name], value)
        }
        self.changed.tell()

    def chosen(self) -> Dict[str, Json]:
        return {name: value for name, value in self._chosen.items() if self.is_chosen(name)}

    def words(self) -> List[str]:
        """Those fields that were chosen, in the order of the form."""
        said: List[str] = []
        for field in self.fields:
            if self.is_chosen(field["name"]):
                said += field_words(field, self._chosen[field["name"]])
        return said

    def tooltip(self, name: str) -> str:
        """The field's documentation, its default, and who says otherwise."""
        field = self._by_name[name]
        lines = [field["doc"], tr("Default: {value}").format(value=spoken_value(field["default"]))]
        if name in self._of_node:
            lines.append(tr("The node says {value}").format(value=spoken_value(self._of_node[name])))
        lines.append(field["flag"])
        return "\n".join(lines)


def field_words(field: Field, value: Json) -> List[str]:
    """--crop-size 128, --no-multi-resolution, -O NAME=VALUE"""
    flag, said = field["flag"], _as_word(value)
    if flag.startswith(OPTION):
        return [OPTION.strip(), flag[len(OPTION) :] + said]
    if field["kind"] == "flag":
        return [flag if value else flag.replace("--", "--no-", 1)]
    return [f"{flag}={said}"] if said.startswith("-") else [flag, said]


def spoken_value(value: Json) -> str:
    if isinstance(value, bool):
        return tr("on") if value else tr("off")
    said = _as_word(value)
    return said if said else tr("none")


def _as_word(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(str(word) for word in value)
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


def _fits(field: Field, value: Json) -> bool:
    """Whether it is a value that an editor of that kind gives."""
    if field["kind"] == "flag" or isinstance(value, bool):
        return field["kind"] == "flag" and isinstance(value, bool)
    if field["kind"] in ("whole", "number"):
        return isinstance(value, int if field["kind"] == "whole" else (int, float))
    return isinstance(value, list) if field["kind"] == "words" else value is None or isinstance(value, str)


def _same(one: Json, other: Json) -> bool:
    """Nothing, an empty text and an empty list are the same choice; yes is not 1."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return one == other or (one in (None, "", []) and other in (None, "", []))
