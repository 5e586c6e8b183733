"""Transfer functions by the names that Nuke gives them: what a code value of 0 to 1 means in linear light, and back.

The numbers are those of Sony Imageworks' nuke-default OpenColorIO config, which was made after Nuke's own curves, and
for S-Log3 those that Sony publishes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.frames.image import FloatPixels
from understudy.script.nodes.arithmetic import Power
from understudy.script.nodes.pixels import Tone

_CODES = 1023.0
"""The largest of ten bits, in which film counts."""
_DARKEST = 1e-10
"""What has no logarithm is taken for this, as the published formula of PLogLin does."""


class Transfer(ABC):
    """One curve, in both directions. Equal where it is the same."""

    @abstractmethod
    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        """Any shape."""

    @abstractmethod
    def from_linear(self, light: FloatPixels) -> FloatPixels:
        """Any shape."""


@dataclass(frozen=True, kw_only=True)
class Straight(Transfer):
    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        return codes

    def from_linear(self, light: FloatPixels) -> FloatPixels:
        return light


@dataclass(frozen=True, kw_only=True)
class Film(Transfer):
    """light = (10 ** ((1023 code - reference) / decade) - black) * grey / (1 - black)."""

    reference: float
    """Code, of ten bits, that means `grey`."""
    decade: float
    """Codes for ten times the light."""
    black: float = 0.0
    """What the power comes to where light is 0."""
    grey: float = 1.0

    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        exponents = codes * np.float32(_CODES / self.decade) - np.float32(self.reference / self.decade)
        light: FloatPixels = (_ten_to(exponents) - np.float32(self.black)) * np.float32(self.grey / (1 - self.black))
        return light

    def from_linear(self, light: FloatPixels) -> FloatPixels:
        lifted = light * np.float32(1 - self.black) + np.float32(self.black * self.grey)
        decades = np.log10(np.maximum(lifted, np.float32(_DARKEST)) / np.float32(self.grey))
        codes: FloatPixels = decades * np.float32(self.decade / _CODES) + np.float32(self.reference / _CODES)
        return codes


@dataclass(frozen=True, kw_only=True)
class Camera(Transfer):
    """code = c log10(a light + b) + d above `cut`, a straight line e light + f below."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float
    cut: float
    """In linear light."""

    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        bent = (_ten_to((codes - np.float32(self.d)) / np.float32(self.c)) - np.float32(self.b)) / np.float32(self.a)
        return _either(codes > self.e * self.cut + self.f, bent, (codes - np.float32(self.f)) / np.float32(self.e))

    def from_linear(self, light: FloatPixels) -> FloatPixels:
        inside = np.maximum(light * np.float32(self.a) + np.float32(self.b), np.float32(_DARKEST))
        bent = np.log10(inside) * np.float32(self.c) + np.float32(self.d)
        return _either(light > self.cut, bent, light * np.float32(self.e) + np.float32(self.f))


@dataclass(frozen=True, kw_only=True)
class Video(Transfer):
    """code = (1 + offset) light ** (1 / power) - offset, a straight line of slope `slope` below the code `cut`."""

    offset: float
    power: float
    slope: float
    cut: float

    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        above = (np.maximum(codes, np.float32(self.cut)) + np.float32(self.offset)) / np.float32(1 + self.offset)
        return _either(codes < self.cut, codes / np.float32(self.slope), np.power(above, np.float32(self.power)))

    def from_linear(self, light: FloatPixels) -> FloatPixels:
        cut = np.float32(self.cut / self.slope)
        bent = np.power(np.maximum(light, cut), np.float32(1 / self.power)) * np.float32(1 + self.offset)
        return _either(light < cut, light * np.float32(self.slope), bent - np.float32(self.offset))


@dataclass(frozen=True, kw_only=True)
class Display(Transfer):
    """light = code ** gamma; what is negative stays."""

    gamma: float

    def to_linear(self, codes: FloatPixels) -> FloatPixels:
        return Power(exponent=self.gamma).of(codes)

    def from_linear(self, light: FloatPixels) -> FloatPixels:
        return Power(exponent=1 / self.gamma).of(light)


def film(black: float, white: float, decade: float) -> Film:
    """The curve of a film scanner: codes of ten bits for a light of 0 and of 1, and for ten times the light."""
    return Film(reference=white, decade=decade, black=10 ** ((black - white) / decade))


REC709 = Video(offset=0.099, power=1 / 0.45, slope=4.5, cut=0.081)
TRANSFERS: dict[str, Transfer] = {
    "Linear": Straight(),
    "sRGB": Video(offset=0.055, power=2.4, slope=12.92, cut=0.04045),
    "rec709": REC709,
    "Cineon": film(black=95, white=685, decade=300),
    **{f"Gamma{gamma}": Display(gamma=gamma) for gamma in (1.8, 2.2, 2.4, 2.6)},
    "Panalog": film(black=64, white=681, decade=444),
    "REDLog": film(black=0, white=1023, decade=511),
    "PLogLin": Film(reference=445, decade=300, grey=0.18),
    "SLog": Film(reference=0.646596 * _CODES, decade=0.432699 * _CODES, black=0.037584, grey=1 - 0.037584),
    "AlexaV3LogC": Camera(
        a=5.555556, b=0.052272, c=0.24719, d=0.385537, e=5.367655, f=0.092809, cut=0.010591
    ),  # exposure index 800
    "SLog3": Camera(
        a=1 / 0.19,
        b=0.01 / 0.19,
        c=261.5 / _CODES,
        d=420 / _CODES,
        e=(171.2102946929 - 95) / (0.01125 * _CODES),
        f=95 / _CODES,
        cut=0.01125,
    ),
}
"""By Nuke's names."""


@dataclass(frozen=True, kw_only=True)
class Decoded(Tone):
    """Code values as linear light."""

    transfer: Transfer

    def of(self, values: FloatPixels) -> FloatPixels:
        return self.transfer.to_linear(values)


@dataclass(frozen=True, kw_only=True)
class Encoded(Tone):
    """Linear light as code values."""

    transfer: Transfer

    def of(self, values: FloatPixels) -> FloatPixels:
        return self.transfer.from_linear(values)


def _ten_to(exponents: FloatPixels) -> FloatPixels:
    powers: FloatPixels = np.power(np.float32(10), exponents)
    return powers


def _either(test: NDArray[np.bool_], yes: FloatPixels, no: FloatPixels) -> FloatPixels:
    chosen: FloatPixels = np.where(test, yes, no)
    return chosen
