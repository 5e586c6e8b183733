"""Affine maps of the plane: what moves, scales, turns and skews make of coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin


@dataclass(frozen=True, kw_only=True)
class Affine:
    """x' = xx x + xy y + x0, y' = yx x + yy y + y0; by default everything stays where it is."""

    xx: float = 1.0
    xy: float = 0.0
    yx: float = 0.0
    yy: float = 1.0
    x0: float = 0.0
    y0: float = 0.0

    @property
    def determinant(self) -> float:
        """What becomes of an area of 1; negative where it is mirrored."""
        return self.xx * self.yy - self.xy * self.yx

    def of(self, x: float, y: float) -> tuple[float, float]:
        return self.xx * x + self.xy * y + self.x0, self.yx * x + self.yy * y + self.y0

    def then(self, after: Affine) -> Affine:
        """First this, then the other."""
        x0, y0 = after.of(self.x0, self.y0)
        return Affine(
            xx=after.xx * self.xx + after.xy * self.yx,
            xy=after.xx * self.xy + after.xy * self.yy,
            yx=after.yx * self.xx + after.yy * self.yx,
            yy=after.yx * self.xy + after.yy * self.yy,
            x0=x0,
            y0=y0,
        )

    def inverse(self) -> Affine:
        """The way back, where the determinant is not 0."""
        by = 1 / self.determinant
        linear = Affine(xx=self.yy * by, xy=-self.xy * by, yx=-self.yx * by, yy=self.xx * by)
        x, y = linear.of(self.x0, self.y0)
        return linear.then(moved(-x, -y))

    def bounds(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """The smallest upright box around what becomes of a box: x0, y0, x1, y1."""
        corners = [self.of(x, y) for x in (x0, x1) for y in (y0, y1)]
        across, down = zip(*corners, strict=True)
        return min(across), min(down), max(across), max(down)


def moved(x: float, y: float) -> Affine:
    return Affine(x0=x, y0=y)


def scaled(x: float, y: float) -> Affine:
    return Affine(xx=x, yy=y)


def turned(degrees: float) -> Affine:
    """From the x axis towards the y axis."""
    across, up = cos(radians(degrees)), sin(radians(degrees))
    return Affine(xx=across, xy=-up, yx=up, yy=across)
