"""Channels of one image file in the working space, wherever in it they lie and whatever Nuke calls its colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.frames.colour import RAW, ColourRules, colour_triplets
from understudy.frames.image import FloatPixels, Image
from understudy.frames.layers import Header
from understudy.frames.read import read_image
from understudy.frames.window import Window
from understudy.script.channels import component, layer_of
from understudy.script.nodes.base import Reading
from understudy.script.nodes.transfer import REC709

ALPHA = "A"
_LINEAR_NAMES = ("linear", "scene_linear", "raw", "none")
"""Nuke's names for numbers that are in the working space already."""
_OCIO_NAMES = {
    "srgb": ("srgb_rec709_scene", "sRGB - Texture", "Utility - sRGB - Texture"),
    "gamma1.8": ("g18_rec709", "Utility - Gamma 1.8 - Rec.709 - Texture"),
    "gamma2.2": ("g22_rec709", "Utility - Gamma 2.2 - Rec.709 - Texture"),
    "gamma2.4": ("g24_rec709", "Gamma 2.4 Rec.709 - Texture"),
}
"""Nuke's own curves, and what configs call the same."""
_REC709 = "rec709"
"""The camera curve of ITU-R BT.709, which no usual config has."""


@dataclass(frozen=True, kw_only=True)
class Loader:
    """Reads channels of one file, wherever in it they lie."""

    header: Header
    stored: Mapping[str, str]
    """As `stored_channels` gives them."""
    reading: Reading
    space: str
    """As `known_space` gives it."""
    is_premultiplied: bool
    """Colour is converted as it was before it was multiplied by the file's alpha."""

    def load(self, channels: tuple[str, ...], region: Window) -> Image:
        """One image of channels that may lie in several parts, over the rows of those parts that `region` meets."""
        images = [self._of_one_part(group, region) for group in self._groups(channels)]
        if len(images) == 1:
            return with_channels(images[0], channels)
        window = images[0].data_window
        for image in images[1:]:
            window = window.union(image.data_window)
        joined = replace(
            images[0],
            pixels=np.concatenate([image.over(window) for image in images], axis=2),  # H W C
            channels=tuple(channel for image in images for channel in image.channels),
            data_window=window,
        )
        return with_channels(joined, channels)

    def _groups(self, channels: tuple[str, ...]) -> list[tuple[str, ...]]:
        groups: dict[int, list[str]] = {}
        for channel in self._with_siblings(channels):
            home = next(part.index for part in self.header.parts if self.stored[channel] in part.channels)
            groups.setdefault(home, []).append(channel)
        return [tuple(group) for group in groups.values()]

    def _with_siblings(self, channels: tuple[str, ...]) -> tuple[str, ...]:
        """Red, green and blue of a layer are converted together, also where only one of them is asked for."""
        layers = {layer_of(channel) for channel in channels if component(channel) in (0, 1, 2)}
        siblings = [name for name in self.stored if layer_of(name) in layers and component(name) in (0, 1, 2)]
        return channels if self.space == RAW else tuple(dict.fromkeys((*channels, *siblings)))

    def _of_one_part(self, channels: tuple[str, ...], region: Window) -> Image:
        needs_own_conversion = self.is_premultiplied or self.space == _REC709
        if not needs_own_conversion or self.space in ("", RAW):
            return self._read(channels, self.space, region)
        asked = (*channels, ALPHA) if self.is_premultiplied and ALPHA not in channels else channels
        image = self._read(asked, RAW, region)
        if not self.is_premultiplied:
            return self._to_working(image)
        alpha = image.pixels[..., [asked.index(ALPHA)]]  # H W 1
        alpha = np.where(alpha == 0, np.float32(1.0), alpha).astype(np.float32)
        straight = self._scaled(image, np.float32(1.0) / alpha)
        return self._scaled(self._to_working(straight), alpha)

    def _read(self, channels: tuple[str, ...], space: str, region: Window) -> Image:
        names = [self.stored[channel] for channel in channels]
        image = read_image(
            self.header.path,
            channels=names,
            view=self.reading.view,
            colorspace=space,
            colour=self.reading.colour,
            region=region,
        )
        return replace(image, channels=channels)

    def _to_working(self, image: Image) -> Image:
        if self.space != _REC709:
            return self.reading.colour.to_working(image, self.space)
        pixels = image.pixels.copy()  # H W C
        for triplet in colour_triplets(image.channels):
            pixels[..., triplet] = REC709.to_linear(pixels[..., triplet])
        return replace(image, pixels=pixels)

    @staticmethod
    def _scaled(image: Image, factor: FloatPixels) -> Image:
        pixels = image.pixels.copy()  # H W C
        for triplet in colour_triplets(image.channels):
            pixels[..., triplet] *= factor
        return replace(image, pixels=pixels)


def with_channels(image: Image, channels: tuple[str, ...]) -> Image:
    """The image with exactly these channels, black where it has none of that name."""
    if image.channels == channels:
        return image
    pixels = np.zeros((*image.pixels.shape[:2], len(channels)), np.float32)  # H W C
    for place, channel in enumerate(channels):
        if channel in image.channels:
            pixels[..., place] = image.pixels[..., image.channels.index(channel)]
    return replace(image, pixels=pixels, channels=channels)


def stored_channels(header: Header, view: str) -> dict[str, str]:
    """Names in the file by names without the view, of the view's channels; of equal names the first part's counts."""
    views = header.all_views()
    hero = view or ("left" if "left" in views else next(iter(views), ""))
    prefix = f"{hero}." if header.views and hero != header.views[0] else ""
    others = tuple(f"{other}." for other in header.views if f"{other}." != prefix)
    stored: dict[str, str] = {}
    for part in header.parts:
        if part.view in ("", hero):
            for channel in part.channels:
                if channel.startswith(prefix) and not (others and channel.startswith(others)):
                    stored.setdefault(channel.removeprefix(prefix), channel)
    return stored


def known_space(colour: ColourRules, stated: str) -> str | None:
    """What Nuke's knob colorspace means: empty for the file's own, RAW, a space of the config, or rec709.

    None where neither the config nor Nuke's own list has it.
    """
    name = stated.removeprefix("default").strip(" ()") if stated.startswith("default") else stated
    role = name.partition(" (")[0]
    if role.lower() in _LINEAR_NAMES:
        return RAW
    if not name or colour.knows(name):
        return name
    if role.lower() == _REC709:
        return _REC709
    return next(filter(colour.knows, (*_OCIO_NAMES.get(role.lower(), ()), role)), None)
