"""Colour, declared once: the OpenColorIO config, the working space and the display that every room uses."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

import numpy as np
import OpenImageIO as oiio

from understudy.errors import ProblemList, UnderstudyError, quoted
from understudy.frames.image import FloatPixels, Image

BUILT_IN_CONFIG = "ocio://default"
BUILT_IN_WORKING_SPACE = "lin_rec709_scene"
RAW = "raw"
"""The colour space that means: take the numbers as they are."""

_EVERYDAY_NAMES = ("sRGB", "ACEScg", "Rec709")
_PRIMARIES = (("r", "g", "b"), ("red", "green", "blue"))


class _StatedConfig(TypedDict, total=False):
    colorconfig: str


@dataclass(frozen=True, kw_only=True)
class ColourRules:
    """Which config, working space and display apply. Empty fields stand for the documented defaults."""

    config: str = ""
    """Path of an OpenColorIO config or an ocio:// name; empty: $OCIO, else OpenImageIO's built-in config."""
    working_space: str = ""
    """Scene-linear space of all pixels; empty: lin_rec709_scene, or the config's scene_linear role."""
    display: str = ""
    """Empty: the config's default display."""
    view: str = ""
    """Empty: the display's default view."""

    def to_working(self, image: Image, colorspace: str) -> Image:
        """Convert R, G, B (also layer.R, layer.red ...) from `colorspace`; every other channel stays as it is.

        Nothing is clamped. Raises UnderstudyError when `colorspace` or the rules name something unknown.
        """
        source, working = self._resolved(colorspace), self._resolved(self.working_space_name)
        if source == working or self._config().isData(source) or self._config().equivalent(source, working):
            return image
        pixels = image.pixels.copy()  # H W C
        for triplet in colour_triplets(image.channels):
            pixels[..., triplet] = self._converted(pixels[..., triplet], source, working)
        return replace(image, pixels=pixels)

    def to_display(self, rgb: FloatPixels) -> FloatPixels:
        """Encode scene-linear H W 3 pixels of the working space for the display, 0..1; not a number becomes black."""
        display, view = self._display_and_view()
        shown = oiio.ImageBufAlgo.ociodisplay(
            _buffer(np.nan_to_num(rgb, nan=0.0, posinf=65504.0, neginf=0.0)),
            display,
            view,
            fromspace=self._resolved(self.working_space_name),
            **self._stated_config(),
        )
        return np.clip(_pixels_of(shown, f"display {display!r}, view {view!r}"), 0.0, 1.0)

    def converted(self, rgb: FloatPixels, source: str, target: str) -> FloatPixels:
        """H W 3 pixels of one colour space in another; unchanged where either holds data, or both are the same.

        Raises UnderstudyError when the config lacks one of them.
        """
        source, target = self._resolved(source), self._resolved(target)
        config = self._config()
        if source == target or config.isData(source) or config.isData(target) or config.equivalent(source, target):
            return rgb
        return self._converted(rgb, source, target)

    def displayed(self, rgb: FloatPixels, source: str, display: str, view: str, is_inverse: bool) -> FloatPixels:
        """H W 3 pixels of the space `source` as the view encodes them for the display, or such pixels brought back.

        Empty display and view are the config's own. Values are not clamped. Raises UnderstudyError for unknown names.
        """
        display, view = replace(self, display=display, view=view)._display_and_view()
        shown = oiio.ImageBufAlgo.ociodisplay(
            _buffer(rgb),
            display,
            view,
            fromspace=self._resolved(source),
            inverse=is_inverse,
            **self._stated_config(),
        )
        return _pixels_of(shown, f"display {display!r}, view {view!r}")

    def check_display(self, display: str, view: str) -> None:
        """Raise UnderstudyError if the config lacks the display or its view; empty ones are the config's own."""
        replace(self, display=display, view=view)._display_and_view()

    def file_rule(self, path: str) -> str:
        """The colour space that the config's file rules give for this path; empty when only the default rule fits."""
        config = self._config()
        return "" if config.filepathOnlyMatchesDefaultRule(path) else config.getColorSpaceFromFilepath(path)

    def knows(self, colorspace: str) -> bool:
        """Whether the config has a colour space, alias or role of that name."""
        return self._config().getColorSpaceIndex(colorspace) >= 0

    def check(self) -> None:
        """Raise Problems if the config cannot be loaded or lacks the working space, display or view."""
        problems = ProblemList()
        with problems.collecting():
            self._config()
            with problems.collecting():
                self._resolved(self.working_space_name)
            with problems.collecting():
                self._display_and_view()
        problems.raise_if_any()

    def _config_name(self) -> str:
        return self.config or os.environ.get("OCIO", "") or BUILT_IN_CONFIG

    def _stated_config(self) -> _StatedConfig:
        """The config as OpenImageIO's calls take it: one that is named they load each time, their own they keep."""
        name = self._config_name()
        return {} if name == oiio.ColorConfig.default_colorconfig().configname() else {"colorconfig": name}

    def _config(self) -> oiio.ColorConfig:
        return _load_config(self._config_name())

    @property
    def working_space_name(self) -> str:
        """The space of all pixels, `working_space` or its default."""
        if self.working_space:
            return self.working_space
        return BUILT_IN_WORKING_SPACE if self._config_name() == BUILT_IN_CONFIG else "scene_linear"

    def _resolved(self, colorspace: str) -> str:
        if self.knows(colorspace):
            return self._config().resolve(colorspace)
        config = self._config()
        names = [*filter(self.knows, _EVERYDAY_NAMES), *config.getColorSpaceNames(), *config.getRoles()]
        names += [alias for name in config.getColorSpaceNames() for alias in config.getAliases(name)]
        raise UnderstudyError(
            f"colour space {quoted(colorspace)} is not in the OCIO config {self._config_name()}; "
            f"use {RAW}, or {_nearest(colorspace, names)}"
        )

    def _display_and_view(self) -> tuple[str, str]:
        config = self._config()
        display = self.display or config.getDefaultDisplayName()
        if display not in config.getDisplayNames():
            raise UnderstudyError(
                f"display {quoted(display)} is not in the OCIO config {self._config_name()}; "
                f"use {_nearest(display, config.getDisplayNames())}"
            )
        view = self.view or config.getDefaultViewName(display)
        if view not in config.getViewNames(display):
            raise UnderstudyError(
                f"view {quoted(view)} is not a view of display {display!r} in the OCIO config {self._config_name()}; "
                f"use {_nearest(view, config.getViewNames(display))}"
            )
        return display, view

    def _converted(self, rgb: FloatPixels, source: str, target: str) -> FloatPixels:
        converted = oiio.ImageBufAlgo.colorconvert(_buffer(rgb), source, target, **self._stated_config())
        return _pixels_of(converted, f"colour space {source!r}")


DEFAULT_COLOUR = ColourRules()


@dataclass(frozen=True, kw_only=True)
class FileTransform:
    """A lookup table, matrix or colour decision list in a file, applied as OpenColorIO does."""

    path: str
    """Absolute, with /."""
    interpolation: str = "linear"
    """nearest, linear, tetrahedral or best."""
    entry: str = ""
    """The id in a file that holds several; empty: the first."""
    is_inverse: bool = False

    def of(self, rgb: FloatPixels) -> FloatPixels:
        """H W 3. Raises UnderstudyError for a file that OpenColorIO cannot read."""
        config = _file_of(self._config())
        changed = oiio.ImageBufAlgo.colorconvert(_buffer(rgb), "before", "after", colorconfig=config)
        return _pixels_of(changed, self.path)

    def _config(self) -> str:
        """A config for it alone: OpenImageIO's own call for files takes no interpolation and no entry."""
        words = {"src": self.path, "interpolation": self.interpolation, "cccid": self.entry}
        stated = [f"{name}: {json.dumps(word)}" for name, word in words.items() if word]
        stated.append("direction: " + ("inverse" if self.is_inverse else "forward"))
        return (
            "ocio_profile_version: 2\n"
            "roles: {default: before}\n"
            "file_rules: [!<Rule> {name: Default, colorspace: before}]\n"
            "displays: {none: [!<View> {name: none, colorspace: before}]}\n"
            "colorspaces:\n"
            "  - !<ColorSpace> {name: before}\n"
            f"  - !<ColorSpace> {{name: after, from_scene_reference: !<FileTransform> {{{', '.join(stated)}}}}}\n"
        )


def colour_triplets(channels: Sequence[str]) -> list[list[int]]:
    """Indices of red, green and blue of every layer among `channels` that has all three."""
    places = {channel.lower(): index for index, channel in enumerate(channels)}
    prefixes = dict.fromkeys(channel.lower().rpartition(".")[:2] for channel in channels)
    found = (
        [places.get(prefix + dot + name, -1) for name in names] for prefix, dot in prefixes for names in _PRIMARIES
    )
    return [triplet for triplet in found if -1 not in triplet]


@lru_cache(maxsize=8)
def _load_config(name: str) -> oiio.ColorConfig:
    config = oiio.ColorConfig(name)
    reason = config.geterror()
    if reason:
        raise UnderstudyError(f"OCIO config {name} cannot be loaded ({' '.join(reason.split())}); mend it or $OCIO")
    return config


@lru_cache(maxsize=1)
def _config_folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="understudy-ocio-")


@lru_cache(maxsize=256)
def _file_of(text: str) -> str:
    """A file that holds the config, for as long as the program runs: OpenImageIO takes configs from files only."""
    path = Path(_config_folder().name) / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.ocio"
    path.write_text(text, encoding="utf-8")
    return path.as_posix()


def _nearest(wanted: str, names: Sequence[str]) -> str:
    lowered = {name.lower(): name for name in names}
    near = difflib.get_close_matches(wanted.lower(), list(lowered), n=3, cutoff=0.5)
    return "one of " + ", ".join([lowered[name] for name in near] or list(names)[:8])


def _buffer(rgb: FloatPixels) -> oiio.ImageBuf:
    return oiio.ImageBuf(np.ascontiguousarray(rgb, np.float32))


def _pixels_of(buffer: oiio.ImageBuf, what: str) -> FloatPixels:
    if buffer.has_error:
        raise UnderstudyError(f"{what}: OpenColorIO refused the conversion ({' '.join(buffer.geterror().split())})")
    return np.asarray(buffer.get_pixels(oiio.FLOAT), np.float32)  # H W 3
