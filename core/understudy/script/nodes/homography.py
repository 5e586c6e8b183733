"""Maps of the plane that keep straight lines straight: what moves, scales, turns, skews and perspective make of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import cos, radians, sin


@dataclass(frozen=True, kw_only=True)
class Homography:
    """x' = (xx x + xy y + x0) / w, y' = (yx x + yy y + y0) / w, w = wx x + wy y + w0; by default nothing moves.

    Without wx and wy it is affine. Where w is not above 0, a place lies beyond the horizon and goes nowhere.
    """

    xx: float = 1.0
    xy: float = 0.0
    yx: float = 0.0
    yy: float = 1.0
    x0: float = 0.0
    y0: float = 0.0
    wx: float = 0.0
    wy: float = 0.0
    w0: float = 1.0

    @property
    def is_affine(self) -> bool:
        return (self.wx, self.wy, self.w0) == (0.0, 0.0, 1.0)

    @property
    def determinant(self) -> float:
        """Of an affine one what becomes of an area of 1; negative where it is mirrored."""
        return (
            self.xx * (self.yy * self.w0 - self.y0 * self.wy)
            - self.xy * (self.yx * self.w0 - self.y0 * self.wx)
            + self.x0 * (self.yx * self.wy - self.yy * self.wx)
        )

    def w(self, x: float, y: float) -> float:
        """How far the place is from the horizon, in a measure of its own; 1 everywhere where it is affine."""
        return self.wx * x + self.wy * y + self.w0

    def of(self, x: float, y: float) -> tuple[float, float]:
        w = self.w(x, y)
        return (self.xx * x + self.xy * y + self.x0) / w, (self.yx * x + self.yy * y + self.y0) / w

    def then(self, after: Homography) -> Homography:
        """First this, then the other."""
        return Homography(
            xx=after.xx * self.xx + after.xy * self.yx + after.x0 * self.wx,
            xy=after.xx * self.xy + after.xy * self.yy + after.x0 * self.wy,
            yx=after.yx * self.xx + after.yy * self.yx + after.y0 * self.wx,
            yy=after.yx * self.xy + after.yy * self.yy + after.y0 * self.wy,
            x0=after.xx * self.x0 + after.xy * self.y0 + after.x0 * self.w0,
            y0=after.yx * self.x0 + after.yy * self.y0 + after.y0 * self.w0,
            wx=after.wx * self.xx + after.wy * self.yx + after.w0 * self.wx,
            wy=after.wx * self.xy + after.wy * self.yy + after.w0 * self.wy,
            w0=after.wx * self.x0 + after.wy * self.y0 + after.w0 * self.w0,
        )

    def inverse(self) -> Homography:
        """The way back, where the determinant is not 0."""
        by = 1 / self.determinant
        if self.is_affine:
            linear = Homography(xx=self.yy * by, xy=-self.xy * by, yx=-self.yx * by, yy=self.xx * by)
            x, y = linear.of(self.x0, self.y0)
            return linear.then(moved(-x, -y))
        return Homography(
            xx=(self.yy * self.w0 - self.y0 * self.wy) * by,
            xy=(self.x0 * self.wy - self.xy * self.w0) * by,
            x0=(self.xy * self.y0 - self.x0 * self.yy) * by,
            yx=(self.y0 * self.wx - self.yx * self.w0) * by,
            yy=(self.xx * self.w0 - self.x0 * self.wx) * by,
            y0=(self.x0 * self.yx - self.xx * self.y0) * by,
            wx=(self.yx * self.wy - self.yy * self.wx) * by,
            wy=(self.xy * self.wx - self.xx * self.wy) * by,
            w0=(self.xx * self.yy - self.xy * self.yx) * by,
        )

    def bounds(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """The smallest upright box around what becomes of a box, none of it beyond the horizon: x0, y0, x1, y1."""
        return box_around([self.of(x, y) for x, y in product((x0, x1), (y0, y1))])

    def nearest_w(self, x0: float, y0: float, x1: float, y1: float) -> float:
        """The smallest w within a box."""
        return min(self.w(x, y) for x, y in product((x0, x1), (y0, y1)))


def box_around(places: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1."""
    across, down = zip(*places, strict=True)
    return min(across), min(down), max(across), max(down)


def moved(x: float, y: float) -> Homography:
    return Homography(x0=x, y0=y)


def scaled(x: float, y: float) -> Homography:
    return Homography(xx=x, yy=y)


def turned(degrees: float) -> Homography:
    """From the x axis towards the y axis."""
    across, up = cos(radians(degrees)), sin(radians(degrees))
    return Homography(xx=across, xy=-up, yx=up, yy=across)
