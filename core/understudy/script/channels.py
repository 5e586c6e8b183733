"""Channel names: Nuke's rgba.red and OpenEXR's R are one channel, and a channel knob selects some of those present."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAIN_LAYER = "rgba"
_COMPONENTS = {"r": "red", "g": "green", "b": "blue", "a": "alpha"}
_EXR_NAMES = {"depth.Z": "Z", **{f"{MAIN_LAYER}.{last}": first.upper() for first, last in _COMPONENTS.items()}}
_MAIN_WORDS = {
    "rgb": ("rgba.red", "rgba.green", "rgba.blue"),
    "rgba": ("rgba.red", "rgba.green", "rgba.blue", "rgba.alpha"),
    "alpha": ("rgba.alpha",),
    "red": ("rgba.red",),
    "green": ("rgba.green",),
    "blue": ("rgba.blue",),
}


@dataclass(frozen=True, kw_only=True)
class ChannelSet:
    """What a channel knob selects."""

    is_all: bool = False
    layers: frozenset[str] = frozenset()
    """Whole layers by Nuke's name."""
    names: frozenset[str] = frozenset()
    """Single channels by Nuke's full name."""

    def __contains__(self, channel: object) -> bool:
        if not isinstance(channel, str):
            return False
        full = nuke_name(channel)
        return self.is_all or full in self.names or full.rpartition(".")[0] in self.layers

    def __or__(self, other: ChannelSet) -> ChannelSet:
        return ChannelSet(
            is_all=self.is_all or other.is_all, layers=self.layers | other.layers, names=self.names | other.names
        )

    def of(self, channels: Sequence[str]) -> tuple[str, ...]:
        """Those of `channels` (as OpenEXR names them) that are selected, in their order."""
        return tuple(channel for channel in channels if channel in self)


def channel_set(words: Sequence[str]) -> ChannelSet:
    """The selection that the words of a knob state: rgb, all, diffuse, rgba.red; `-rgba.red` and none add nothing."""
    chosen = [word for word in words if not word.startswith("-") and word not in ("none", "0")]
    mains = [name for word in chosen for name in _MAIN_WORDS.get(word, ())]
    rest = [word for word in chosen if word not in _MAIN_WORDS and word != "all"]
    return ChannelSet(
        is_all="all" in chosen,
        layers=frozenset(word for word in rest if "." not in word),
        names=frozenset(mains + [_spelled_out(word) for word in rest if "." in word]),
    )


def places_of(channels: Sequence[str], among: Sequence[str]) -> slice | list[int]:
    """Where the channels lie; of neighbours a slice, which copies nothing."""
    places = [among.index(channel) for channel in channels]
    first = places[0] if places else 0
    return slice(first, first + len(places)) if places == list(range(first, first + len(places))) else places


def nuke_name(channel: str) -> str:
    """R -> rgba.red, Z -> depth.Z, diffuse.R -> diffuse.red; other names as they are."""
    if "." in channel:
        return _spelled_out(channel)
    if channel.upper() == "Z":
        return "depth.Z"
    component = _COMPONENTS.get(channel.lower(), channel.lower())
    return f"{MAIN_LAYER}.{component}" if component in _COMPONENTS.values() else f"other.{channel}"


def exr_name(full: str, there: Sequence[str] = ()) -> str:
    """Nuke's full name as a channel of it is called already among `there`, else as OpenEXR calls it."""
    wanted = nuke_name(full)
    return next((channel for channel in there if nuke_name(channel) == wanted), _EXR_NAMES.get(wanted, full))


def layer_of(channel: str) -> str:
    """R -> rgba, diffuse.R -> diffuse, Z -> depth."""
    return nuke_name(channel).rpartition(".")[0]


def colours_of(layer: str, there: Sequence[str]) -> tuple[str, str, str]:
    """The layer's red, green and blue, each as it is called among `there` if it is there."""
    red, green, blue = (exr_name(f"{layer}.{colour}", there) for colour in ("red", "green", "blue"))
    return red, green, blue


def is_main(channel: str) -> bool:
    """Whether it is one of R, G, B, A."""
    return nuke_name(channel).startswith(MAIN_LAYER + ".")


def has_alpha(channels: Iterable[str]) -> bool:
    return any(nuke_name(channel) == f"{MAIN_LAYER}.alpha" for channel in channels)


def component(channel: str) -> int | None:
    """0 to 3 for the red, green, blue or alpha of any layer; None for every other channel."""
    last = nuke_name(channel).rpartition(".")[2]
    order = tuple(_COMPONENTS.values())
    return order.index(last) if last in order else None


def _spelled_out(full: str) -> str:
    layer, _, last = full.rpartition(".")
    return f"{layer}.{_COMPONENTS.get(last.lower(), last.lower() if last.lower() in _COMPONENTS.values() else last)}"
