"""Small shots on disk for whole runs: a plate with a mark, painted out on some frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.frames.write import write_image

WIDTH, HEIGHT = 96, 64


@dataclass(frozen=True)
class SmallShot:
    """A plate of some frames and its painted version of fewer."""

    folder: Path

    @property
    def plate(self) -> str:
        return str(self.folder / "plate.####.exr")

    @property
    def paint(self) -> str:
        return str(self.folder / "paint.####.exr")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def train_words(self, *more: str, steps: int = 12) -> list[str]:
        """The words of a run of a second or two."""
        return [
            *("train", "--input", self.plate, "--target", self.paint, "--data-directory", str(self.data)),
            *("--steps", str(steps), "--crop-size", "32", "--batch-size", "2", "--model-size", "small"),
            *(
                "--checkpoint-interval",
                "6",
                "--contact-sheet-interval",
                "6",
                "--device",
                "cpu",
                "--threads",
                "1",
                *more,
            ),
        ]


def make_shot(folder: Path, frames: range = range(1001, 1005), painted: tuple[int, ...] = (1001, 1003)) -> SmallShot:
    """Noise that drifts, a dark square to be painted out, a highlight of 12."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(5)
    texture = random.random((HEIGHT, WIDTH + len(frames), 3), np.float32)
    for number, frame in enumerate(frames):
        clean = texture[:, number : number + WIDTH].copy()  # H W 3
        clean[4:8, 4:8] = 12.0
        marked = clean.copy()
        marked[20:30, 40 + number : 50 + number] = 0.02
        write_picture(folder / f"plate.{frame}.exr", marked)
        if frame in painted:
            write_picture(folder / f"paint.{frame}.exr", clean)
    return SmallShot(folder)


def write_picture(path: Path, pixels: FloatPixels, channels: tuple[str, ...] = ("R", "G", "B")) -> None:
    """An EXR whose data and display windows are the picture."""
    window = Window.of_size(pixels.shape[1], pixels.shape[0])
    write_image(path, Image(pixels=pixels, channels=channels, data_window=window, display_window=window))
