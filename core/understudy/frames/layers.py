"""Layers: which channels of which part a layer name means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy.errors import UnderstudyError, listed
from understudy.frames.window import Window

MAX_MAIN_CHANNELS = 4
"""A file without R, G, B and with more channels than this has no picture that could be meant by an empty layer."""
_MAIN_LAYERS = {"rgb": ("R", "G", "B"), "rgba": ("R", "G", "B", "A"), "alpha": ("A",)}


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part (subimage) of a file; a file that is not multi-part has one."""

    index: int
    """Its place in the file, from 0."""
    name: str
    """Empty when the file gives none."""
    view: str
    """left, right ...; empty when the part belongs to no view."""
    channels: tuple[str, ...]
    data_window: Window
    display_window: Window
    pixel_type: str
    """uint8, uint16, half, float ...; of several, the widest."""
    colorspace: str
    """The colour space that the file states; empty when it states none."""
    has_depth: bool = False
    """Deep or volume pixels, which are not read."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file holds, without its pixels."""

    path: Path
    format_name: str = "openexr"
    """As OpenImageIO calls it: openexr, png, dpx ..."""
    parts: tuple[Part, ...]
    views: tuple[str, ...] = ()
    """Views of a single-part stereo file, the hero (whose channels have no prefix) first."""
    pixel_aspect: float = 1.0
    """Width over height of one pixel."""
    metadata: dict[str, int | float | str] = field(default_factory=dict)
    """Header fields that a result written beside the file should keep."""

    def all_views(self) -> tuple[str, ...]:
        return self.views or tuple(dict.fromkeys(part.view for part in self.parts if part.view))

    def layers(self) -> list[str]:
        """Names to offer: parts, layers, keywords and channels, each of which `select` accepts as a layer."""
        names = [part.name for part in self.parts if part.name]
        for part in self.parts:
            names += [channel.rpartition(".")[0] for channel in part.channels if "." in channel]
            names += ["rgb"] if _indices(part, ("R", "G", "B")) else []
            names += ["rgba"] if _indices(part, ("R", "G", "B", "A")) else []
            names += ["alpha"] if _indices(part, ("A",)) else []
            names += [channel for channel in part.channels if "." not in channel]
        return list(dict.fromkeys(names))


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The channels that a layer name means."""

    part: Part
    indices: tuple[int, ...]
    """Channel numbers within the part, in the order wanted."""

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(self.part.channels[index] for index in self.indices)


def select(header: Header, layer: str = "", channels: Sequence[str] = (), view: str = "") -> Selection:
    """The channels meant; `read_image` documents the names.

    Raises UnderstudyError listing what the file has when nothing fits.
    """
    candidates = _parts_of_view(header, view)
    if channels:
        return _exact_channels(header, candidates, tuple(channels))
    prefixes = _view_prefixes(header, view)
    for prefix in prefixes:
        found = _main_picture(candidates, prefix) if not layer else _named_layer(header, candidates, layer, prefix)
        if found:
            return found
    if layer and "," in layer:
        return _exact_channels(header, candidates, tuple(name.strip() for name in layer.split(",")))
    if layer:
        raise UnderstudyError(f"{header.path}: has no layer {layer!r}{_in_view(view)}; {_offer(header)}")
    if len(candidates[0].channels) > MAX_MAIN_CHANNELS:
        raise UnderstudyError(
            f"{header.path}: has no R, G, B and {len(candidates[0].channels)} channels; "
            f"say which layer is meant; {_offer(header)}"
        )
    return Selection(part=candidates[0], indices=tuple(range(len(candidates[0].channels))))


def names_in_layer(layer: str, channels: Sequence[str]) -> tuple[str, ...]:
    """Under which names a picture of these channels goes into a layer: the reverse of `select`.

    rgb, rgba and alpha are those channels; as many names with commas as there are channels are the channels' own, and
    so is one with a dot, or of one letter, for a single channel; anything else is a layer: `diffuse` makes R diffuse.R.
    Raises UnderstudyError for another number of channels.
    """
    names = _MAIN_LAYERS.get(layer) or tuple(name.strip() for name in layer.split(","))
    is_channel = layer in _MAIN_LAYERS or (len(channels) == 1 and ("." in layer or len(layer) == 1))
    if len(names) == 1 and not is_channel:
        names = tuple(f"{layer}.{channel.rpartition('.')[2]}" for channel in channels)
    if len(set(names)) == len(channels) and all(names):
        return names
    raise UnderstudyError(
        f"layer {layer!r} has place for {len(set(filter(None, names)))} channels, and {len(channels)} are to go there "
        f"({', '.join(channels)}); give a layer's name, or as many channels with commas"
    )


def _parts_of_view(header: Header, view: str) -> list[Part]:
    """Parts in the order searched: those of the view, then those of no view; never those of another view."""
    views = header.all_views()
    if not views or header.views:
        known = header.views or (view,)
        if view and view not in known:
            raise UnderstudyError(f"{header.path}: has no view {view!r}; its views are {', '.join(known)}")
        return list(header.parts)
    if view and view not in views:
        raise UnderstudyError(f"{header.path}: has no view {view!r}; its views are {', '.join(views)}")
    hero = view or ("left" if "left" in views else views[0])
    order = [hero, ""] if view else [hero, "", *views]
    return sorted((part for part in header.parts if part.view in order), key=lambda part: order.index(part.view))


def _view_prefixes(header: Header, view: str) -> list[str]:
    """Beginnings of channel names in which the view is looked for: a single-part stereo file has one per view."""
    if not header.views or not view:
        return [""]
    return [f"{view}.", ""] if view == header.views[0] else [f"{view}."]


def _main_picture(candidates: Sequence[Part], prefix: str) -> Selection | None:
    return _first(candidates, tuple(prefix + name for name in ("R", "G", "B")))


def _named_layer(header: Header, candidates: Sequence[Part], layer: str, prefix: str) -> Selection | None:
    bare_view = prefix.rstrip(".")
    of_view = [part for part in candidates if _is_named(part, layer)]
    searched = [*of_view, *(part for part in candidates if part not in of_view)]
    return (
        _keyword(searched, layer, prefix)
        or next((_everything(part) for part in header.parts if part.name == layer), None)
        or next((_everything(part) for part in of_view), None)
        or _first_beginning(candidates, f"{prefix}{layer}.")
        or (_first_beginning(candidates, f"{layer}.{bare_view}.") if bare_view else None)
        or _first(candidates, (prefix + layer,))
    )


def _is_named(part: Part, layer: str) -> bool:
    return bool(part.name) and part.name in (layer, f"{layer}_{part.view}", f"{layer}.{part.view}")


def _keyword(parts: Sequence[Part], layer: str, prefix: str) -> Selection | None:
    rgb = tuple(prefix + name for name in ("R", "G", "B"))
    if layer == "alpha":
        return _first(parts, (prefix + "A",))
    if layer == "rgba":
        return _first(parts, (*rgb, prefix + "A")) or _first(parts, rgb)
    return _first(parts, rgb) if layer == "rgb" else None


def _exact_channels(header: Header, candidates: Sequence[Part], names: tuple[str, ...]) -> Selection:
    found = _first(candidates, names)
    if found:
        return found
    has = {channel for part in candidates for channel in part.channels}
    missing = [name for name in names if name not in has]
    fault = f"has no channel {', '.join(missing)}" if missing else f"has {', '.join(names)} in no part together"
    raise UnderstudyError(f"{header.path}: {fault}; {_offer(header)}")


def _everything(part: Part) -> Selection:
    return Selection(part=part, indices=tuple(range(len(part.channels))))


def _beginning_with(part: Part, beginning: str) -> Selection | None:
    within = [i for i, channel in enumerate(part.channels) if channel.startswith(beginning)]
    direct = tuple(i for i in within if "." not in part.channels[i][len(beginning) :])
    return Selection(part=part, indices=direct) if direct else None


def _first_beginning(parts: Sequence[Part], beginning: str) -> Selection | None:
    return next(filter(None, (_beginning_with(part, beginning) for part in parts)), None)


def _first(parts: Sequence[Part], names: tuple[str, ...]) -> Selection | None:
    found = ((part, _indices(part, names)) for part in parts)
    return next((Selection(part=part, indices=indices) for part, indices in found if indices), None)


def _indices(part: Part, names: tuple[str, ...]) -> tuple[int, ...]:
    """Channel numbers of all `names` in the part (exact, else ignoring case), or none if one is missing."""
    exact = {channel: index for index, channel in enumerate(part.channels)}
    lowered = {channel.lower(): index for index, channel in enumerate(part.channels)}
    found = [exact.get(name, lowered.get(name.lower(), -1)) for name in names]
    return () if -1 in found else tuple(found)


def _in_view(view: str) -> str:
    return f" in view {view!r}" if view else ""


def _offer(header: Header) -> str:
    return f"it has {listed(header.layers())}"
