"""Layers as knobs see them that hold channels in an order: red, green, blue, alpha come first, others by their names.

A knob for four channels names a layer, or each channel: `rgba.red -rgba.green -rgba.blue none`. A layer of one channel
stands in all four places, as `in depth` of a Shuffle fills red, green, blue and alpha.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from understudy.script.channels import MAIN_LAYER, component, exr_name, nuke_name

COLOURS = ("red", "green", "blue", "alpha")
Four = tuple[str, str, str, str]
"""Channels in the places of red, green, blue, alpha; empty where there is none."""

_LAYER = re.compile(r"[A-Za-z_]\w*")
_BUILT_IN = {
    MAIN_LAYER: tuple(f"{MAIN_LAYER}.{colour}" for colour in COLOURS),
    "rgb": tuple(f"{MAIN_LAYER}.{colour}" for colour in COLOURS[:3]),
    **{colour: (f"{MAIN_LAYER}.{colour}",) for colour in COLOURS},
    "depth": ("depth.Z",),
    "forward": ("forward.u", "forward.v"),
    "backward": ("backward.u", "backward.v"),
    "motion": ("forward.u", "forward.v", "backward.u", "backward.v"),
    "disparityL": ("disparityL.x", "disparityL.y"),
    "disparityR": ("disparityR.x", "disparityR.y"),
    "disparity": ("disparityL.x", "disparityL.y", "disparityR.x", "disparityR.y"),
    "mask": ("mask.a",),
    "rotopaint_mask": ("rotopaint_mask.a",),
    "mask_planartrack": ("mask_planartrack.a",),
    "mask_splinewarp": ("mask_splinewarp.a",),
}
"""Those that every script has, by Nuke's names."""


@dataclass(frozen=True, kw_only=True)
class Layers:
    """What is known of layers at one node. Channels are called as OpenEXR names them."""

    stated: Mapping[str, Sequence[str]]
    """Of the script, by Nuke's names."""
    there: Sequence[str]
    """The channels that the picture has."""

    def of(self, layer: str) -> tuple[str, ...]:
        """Its channels in Nuke's order; none of a layer that is not known."""
        if layer in _BUILT_IN:
            return tuple(exr_name(full, self.there) for full in _BUILT_IN[layer])
        members = [channel for channel in self.there if nuke_name(channel).rpartition(".")[0] == layer]
        stated = [exr_name(full, self.there) for full in self.stated.get(layer, ())]
        return tuple(dict.fromkeys((*stated, *sorted(members, key=_place_in_layer))))

    def unknown(self, words: Sequence[str]) -> list[str]:
        """The layers among the words of which no channel is known."""
        return [word for word in _chosen(words) if "." not in word and not self.of(word)]

    def named(self, words: Sequence[str]) -> tuple[str, ...]:
        """All channels that the words select by name, or as a layer that is known; none twice."""
        channels = [(exr_name(word, self.there),) if "." in word else self.of(word) for word in _chosen(words)]
        return tuple(dict.fromkeys(channel for several in channels for channel in several))

    def four(self, words: Sequence[str], *, is_made: bool = False) -> Four | None:
        """The channels in the four places of a knob. None: they are not known.

        `is_made`: a layer that is not known is a new one of four colours.
        """
        if len(words) == 1 and not _is_none(words[0]):
            members = () if "." in words[0] else self.of(words[0])
            if is_made and not members and _LAYER.fullmatch(words[0]) and words[0] != "all":
                members = tuple(f"{words[0]}.{colour}" for colour in COLOURS)
            if not members:
                return None
            found = members * 4 if len(members) == 1 else members
        elif all("." in word or _is_none(word) for word in words):
            found = tuple("" if _is_none(word) else exr_name(word, self.there) for word in words)
        else:
            return None
        first, second, third, fourth = (*found, "", "", "", "")[:4]
        return first, second, third, fourth


def _chosen(words: Sequence[str]) -> Iterator[str]:
    return (word for word in words if not _is_none(word))


def _is_none(word: str) -> bool:
    return word.startswith("-") or word in ("none", "0") or word.endswith(".none")


def _place_in_layer(channel: str) -> tuple[int, str]:
    colour = component(channel)
    return (len(COLOURS) if colour is None else colour, channel)
