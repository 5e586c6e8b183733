"""A model's channels in Nuke: Inference takes 19 by name; what is called otherwise borrows one on its way through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.errors import UnderstudyError
from understudy.script.channels import nuke_name

KNOWN = (
    *("rgba.red", "rgba.green", "rgba.blue", "rgba.alpha", "depth.Z"),
    *("forward.u", "forward.v", "backward.u", "backward.v", "deep.front", "deep.back"),
    *("disparityL.x", "disparityL.y", "disparityR.x", "disparityR.y"),
    *("mask.a", "rotopaint_mask.a", "mask_planartrack.a", "mask_splinewarp.a"),
)
"""What CatFileCreator accepts, by its full names."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A channel of the picture, and the channel by which the model gets it."""

    name: str
    """In Nuke: rgba.red, diffuse.red, depth.Z ..."""
    slot: str
    """One of KNOWN."""

    @property
    def is_borrowed(self) -> bool:
        return self.name != self.slot


def passages(channels: Sequence[str]) -> tuple[Passage, ...]:
    """One for each channel, in the model's order, which is that of KNOWN: then no reader of a set can change it.

    Raises UnderstudyError for more channels than there are.
    """
    names = [_word_of(nuke_name(channel)) for channel in channels]
    if len(names) > len(KNOWN):
        raise UnderstudyError(
            f"--to nuke: the model has {len(names)} channels, Nuke's Inference takes {len(KNOWN)} at most; "
            "apply it with understudy apply"
        )
    in_order = [slot for slot in KNOWN if slot in names]
    slots = names if names == in_order else KNOWN[: len(names)]
    return tuple(Passage(name=name, slot=slot) for name, slot in zip(names, slots, strict=True))


def layers_to_declare(*sides: Sequence[Passage]) -> dict[str, tuple[str, ...]]:
    """Layers, with their channels, that a new script does not have."""
    names = dict.fromkeys(one.name for side in sides for one in side if one.name not in KNOWN)
    layers = dict.fromkeys(name.partition(".")[0] for name in names)
    return {layer: tuple(name for name in names if name.partition(".")[0] == layer) for layer in layers}


def _word_of(name: str) -> str:
    """Layer and channel as Nuke can write them: EXR allows blanks, dashes and more dots."""
    layer, _, last = name.rpartition(".")
    return ".".join(re.sub(r"\W", "_", word, flags=re.ASCII) for word in (layer, last))
