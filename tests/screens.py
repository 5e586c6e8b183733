"""A screen that nobody sees, with a mouse and a keyboard: for tests of windows with real clicks."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest
from numpy.typing import NDArray

TOOLS = ("Xvfb", "xdotool")
MILLISECONDS_BETWEEN_KEYS = 4
NUM_HEADER_WORDS = 25
BYTES_PER_COLOUR = 12
"""Both of the X window dump, as Xvfb keeps its pixels in a file."""

Pixels = NDArray[np.uint8]
"""H W 3."""

needs_screen = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason=f"needs {' and '.join(TOOLS)}: a screen, and something that clicks"
)


class Screen:
    """What is on it, and what a hand does there; places are pixels from the upper left corner."""

    def __init__(self, name: str, folder: Path) -> None:
        self.environment = {**os.environ, "DISPLAY": name}
        self._dump = folder / "Xvfb_screen0"

    def point(self, x: int, y: int) -> None:
        self._do("mousemove", str(x), str(y))

    def click(self, x: int, y: int) -> None:
        self._do("mousemove", str(x), str(y), "click", "1")

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """By way of the middle: a hand does not jump."""
        middle = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
        moves = [["mousemove", str(x), str(y)] for x, y in (start, middle, end)]
        self._do(*moves[0], "mousedown", "1", *moves[1], *moves[2], "mouseup", "1")

    def write(self, text: str) -> None:
        """Key by key, into what has the focus."""
        self._do("type", "--delay", str(MILLISECONDS_BETWEEN_KEYS), "--", text)

    def press(self, *keys: str) -> None:
        """One after the other, by X's names: Tab, ctrl+a."""
        self._do("key", "--delay", str(MILLISECONDS_BETWEEN_KEYS), *keys)

    def grab(self) -> Pixels:
        """Everything on the screen."""
        dump = self._dump.read_bytes()
        header = struct.unpack(f">{NUM_HEADER_WORDS}I", dump[: NUM_HEADER_WORDS * 4])
        header_size, width, height, bytes_per_line, num_colours = (header[place] for place in (0, 4, 5, 12, 19))
        start = header_size + num_colours * BYTES_PER_COLOUR
        rows = np.frombuffer(dump, np.uint8, height * bytes_per_line, start).reshape(height, bytes_per_line)
        return np.ascontiguousarray(rows[:, : width * 4].reshape(height, width, 4)[..., 2::-1])  # B G R _ -> R G B

    def _do(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self.environment, check=True)


@contextmanager
def open_screen(folder: Path, width: int = 1600, height: int = 900) -> Iterator[Screen]:
    """An X server under a number that is free; its pixels lie in a file of `folder`."""
    listen, tell = os.pipe()
    command = ["Xvfb", "-displayfd", str(tell), "-fbdir", str(folder)]
    command += ["-screen", "0", f"{width}x{height}x24", "+extension", "GLX"]
    server = subprocess.Popen(command, pass_fds=(tell,), stderr=subprocess.DEVNULL)
    os.close(tell)
    try:
        with os.fdopen(listen) as number:
            yield Screen(f":{number.readline().strip()}", folder)
    finally:
        server.terminate()
        server.wait(10)


def save_picture(pixels: Pixels, path: Path) -> None:
    height, width, num_channels = pixels.shape
    picture = oiio.ImageBuf(oiio.ImageSpec(width, height, num_channels, "uint8"))
    picture.set_pixels(oiio.ROI(), pixels)
    assert picture.write(str(path)), picture.geterror()
