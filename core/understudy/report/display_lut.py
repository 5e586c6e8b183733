"""The display transform at a price that a contact sheet can pay: baked once into a 3D table, applied by OpenColorIO."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import lru_cache
from pathlib import Path

import numpy as np
import OpenImageIO as oiio

from understudy.errors import UnderstudyError
from understudy.files import naming_the_file
from understudy.frames.colour import BUILT_IN_CONFIG, ColourRules
from understudy.frames.image import FloatPixels

GRID = 48
"""Lattice points per axis: 0.1/255 off on average in the built-in view, and within 3/255 but for the purest colours."""
BRIGHTEST = 128.0
"""Scene-linear values beyond it are shown as this one."""
TOE = 0.01
"""Scene-linear value at which the lattice turns from even steps to even stops."""


class DisplayLut:
    """Approximates ColourRules.to_display; costs a tenth of the built-in ACES view. Negative values show as black."""

    def __init__(self, colour: ColourRules) -> None:
        """Bake the table, about 0.2 s. Raises UnderstudyError when the rules name something unknown."""
        axis = _from_lattice(np.linspace(0, 1, GRID, dtype=np.float32))
        blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")  # in a .cube red runs fastest
        lattice = np.stack([red, green, blue], axis=-1).reshape(GRID * GRID, GRID, 3)  # H W 3
        table = colour.to_display(lattice).reshape(-1, 3)
        rows = "".join(f"{r:.5f} {g:.5f} {b:.5f}\n" for r, g, b in table.tolist())
        self._cube = _in_temporary_folder(self, f"LUT_3D_SIZE {GRID}\n{rows}")

    def apply(self, rgb: FloatPixels) -> FloatPixels:
        """Encode finite scene-linear H W 3 pixels for the display, 0..1."""
        shown = oiio.ImageBufAlgo.ociofiletransform(
            oiio.ImageBuf(_to_lattice(rgb)), str(self._cube), colorconfig=BUILT_IN_CONFIG
        )
        if shown.has_error:
            raise UnderstudyError(f"{self._cube}: the contact sheet's display table was refused ({shown.geterror()})")
        return pixels_of(shown)


@lru_cache(maxsize=2)
def display_lut(colour: ColourRules) -> DisplayLut:
    return DisplayLut(colour)


def pixels_of(buffer: oiio.ImageBuf) -> FloatPixels:
    """H W C of a buffer that OpenImageIO has made in memory."""
    pixels = buffer.get_pixels(oiio.FLOAT)
    assert pixels is not None, buffer.geterror()
    return pixels


def _in_temporary_folder(owner: DisplayLut, cube: str) -> Path:
    """Write the table to a file that lasts as long as its owner."""
    with naming_the_file(Path(tempfile.gettempdir())):
        folder = Path(tempfile.mkdtemp(prefix="understudy_lut_"))
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
        path = folder / "display.cube"
        path.write_text(cube, encoding="ascii")
    return path


def _to_lattice(linear: FloatPixels) -> FloatPixels:
    position = np.maximum(linear, 0, dtype=np.float32, order="C")
    position *= np.float32(1 / TOE)
    np.log1p(position, out=position)
    position *= np.float32(1 / np.log1p(BRIGHTEST / TOE))
    return position


def _from_lattice(position: FloatPixels) -> FloatPixels:
    linear: FloatPixels = TOE * np.expm1(position * np.float32(np.log1p(BRIGHTEST / TOE)))
    return linear
