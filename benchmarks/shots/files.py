"""Pairs as EXR files, float, in two sequences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.shots.shot import Example

from understudy.frames.image import FloatPixels, Image
from understudy.frames.sequence import Sequence
from understudy.frames.window import Window
from understudy.frames.write import write_image


@dataclass(frozen=True, kw_only=True)
class PairFiles:
    """Where they lie, and their channels."""

    folder: Path
    seen_channels: tuple[str, ...]
    wanted_channels: tuple[str, ...]

    @property
    def seen(self) -> str:
        return str(self.folder / "seen.####.exr")

    @property
    def wanted(self) -> str:
        return str(self.folder / "wanted.####.exr")

    def words(self) -> list[str]:
        """As `understudy train` is told of them."""
        layers = ["--input-layer", ",".join(self.seen_channels), "--target-layer", ",".join(self.wanted_channels)]
        return ["--input", self.seen, "--target", self.wanted, *layers]

    def write(self, frame: int, example: Example) -> None:
        write_pixels(Sequence(self.seen).path(frame), self.seen_channels, example.seen)
        write_pixels(Sequence(self.wanted).path(frame), self.wanted_channels, example.wanted)

    def write_answer(self, frame: int, way: str, seed: int, pixels: FloatPixels) -> None:
        """What a way has made of a frame; in place of what it made of it earlier."""
        write_pixels(self.folder / f"answer.{frame:04d}.{way}.{seed}.exr", self.wanted_channels, pixels)


def folder_of(shot: str, kept: Path) -> Path:
    """Of the files of a shot, by its name."""
    return kept / shot.replace(" ", "_").replace(",", "")


def write_pixels(path: Path, channels: tuple[str, ...], pixels: FloatPixels) -> None:
    """H W C, as float; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width, _ = pixels.shape
    window = Window.of_size(width, height)
    picture = Image(pixels=pixels, channels=channels, data_window=window, display_window=window)
    write_image(path, picture, pixel_type="float")
