"""What the evaluator of Nuke scripts costs: a tree of ten classes over 4K plates, beside the same work done by hand.

    python benchmarks/evaluator.py [--rounds 7] [--pulls 5] [--size 4096 2160] [--crop 256] [--whole 1]

A crop is pulled through Read, Grade, Transform, Merge2, ColorCorrect, Blur, Saturation, Copy, Premult and Crop, each
time of another frame, so that nothing is there from before. By hand the same calls are made on the crop and the margins
that Blur and Transform need: OpenImageIO reads the rows, numpy does the rest, with the evaluator's own resampler and
sums, since OpenImageIO's take ten times as long. Rounds of the two alternate; their pictures must be equal. Times are
of the processor, on one thread, so that other programs do not count; figures are of one run on one machine.

Training pulls no crops: it evaluates both sides of all pairs at its start, each frame whole, on all cores, and keeps
them in memory. The time of one such pair is printed last.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import OpenImageIO as oiio

from understudy.frames.image import FloatPixels, Image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.script.evaluate import Evaluator
from understudy.script.graph import Node, parse_script
from understudy.script.nodes.base import Reading, Request, Tree
from understudy.script.nodes.blur import blur_weights
from understudy.script.nodes.homography import moved, scaled, turned
from understudy.script.nodes.kernels import KERNELS
from understudy.script.nodes.read import Read
from understudy.script.nodes.resample import Resampling
from understudy.script.nodes.sums import summed_under
from understudy.script.nodes.transform import y_up
from understudy.script.paths import PathRules

RGBA = ("R", "G", "B", "A")
BLUR, GAMMA, SATURATION = 6.0, 1.1, 0.85
TREE = """Read {{
 inputs 0
 file {folder}/element.####.exr
 last 9999
 raw true
 name Element
}}
Transform {{
 translate {{40 -25}}
 rotate 3
 scale 1.1
 center {{{middle}}}
 name Transform1
}}
Read {{
 inputs 0
 file {folder}/plate.####.exr
 last 9999
 raw true
 name Plate
}}
set Nplate [stack 0]
Grade {{
 whitepoint 0.9
 multiply {{1.1 1 0.95 1}}
 gamma {gamma}
 name Grade1
}}
Merge2 {{
 inputs 2
 name Merge1
}}
ColorCorrect {{
 saturation 1.1
 contrast 1.05
 gain 1.02
 shadows.gain 1.1
 name ColorCorrect1
}}
Blur {{
 size {blur}
 name Blur1
}}
Saturation {{
 saturation {saturation}
 name Saturation1
}}
push $Nplate
Copy {{
 inputs 2
 from0 rgba.alpha
 to0 rgba.alpha
 name Copy1
}}
Premult {{
 name Premult1
}}
Crop {{
 box {{16 16 {box}}}
 name Crop1
}}
"""
SWAPPED = ("push $Nplate\nCopy {", "set Nbelow [stack 0]\npush $Nplate\npush $Nbelow\nCopy {")
"""Input 0 of Copy is what lies on top of the stack."""


@dataclass
class Clock:
    """Seconds of the processor, all and those of reading files."""

    all: float = 0.0
    reading: float = 0.0

    @contextmanager
    def running(self, *, is_reading: bool = False) -> Iterator[None]:
        begin = time.process_time()
        yield
        seconds = time.process_time() - begin
        if is_reading:
            self.reading += seconds
        else:
            self.all += seconds

    @property
    def without_reading(self) -> float:
        return self.all - self.reading


@dataclass(frozen=True, kw_only=True)
class Shot:
    """Two sequences on disk, and the place of the crop."""

    folder: Path
    display: Window
    crop: Window

    def file(self, name: str, frame: int) -> Path:
        return self.folder / f"{name}.{frame:04d}.exr"


@dataclass
class ByTheEvaluator:
    """One evaluator for all frames, as in training."""

    shot: Shot
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        display = self.shot.display
        text = TREE.format(
            folder=self.shot.folder.as_posix(),
            middle=f"{display.width / 2:g} {display.height / 2:g}",
            box=f"{display.width - 16} {display.height - 16}",
            gamma=GAMMA,
            blur=BLUR,
            saturation=SATURATION,
        )
        script = parse_script(text.replace(*SWAPPED), self.shot.folder / "shot.nk")
        self.evaluator = Evaluator(script, Reading(paths=PathRules(script=script)))
        self.node = script.nodes[-1]
        self.evaluator.check([self.node])

    def pull(self, frame: int) -> FloatPixels:
        with self.clock.running():
            return self.evaluator.pull(self.node, frame, RGBA, self.shot.crop).pixels


@dataclass
class ByHand:
    """What a person would write for this one tree and nothing else."""

    shot: Shot
    clock: Clock = field(default_factory=Clock)

    def pull(self, frame: int) -> FloatPixels:
        with self.clock.running(), np.errstate(all="ignore"):
            return self._made(frame)

    def _made(self, frame: int) -> FloatPixels:
        crop = self.shot.crop
        weights = blur_weights("gaussian", BLUR)
        far = len(weights) // 2
        around = Window(crop.x0 - far, crop.y0 - far, crop.x1 + far, crop.y1 + far)
        plate = self._rows("plate", frame, around)
        merged = plate.copy()
        merged[..., :3] = _graded(plate[..., :3])
        above = self._transformed(frame, around)
        merged = above + merged * (1 - above[..., 3:])
        merged[..., :3] = _corrected(merged[..., :3])
        colour = merged[..., :3]  # alpha is replaced below, so that nobody would blur it
        colour = summed_under(np.ascontiguousarray(colour), weights)
        colour = summed_under(np.ascontiguousarray(colour.transpose(1, 0, 2)), weights).transpose(1, 0, 2)
        light = _luminance(colour)[..., None]
        colour = light + (colour - light) * np.float32(SATURATION)
        alpha = plate[far:-far, far:-far, 3:]
        return np.concatenate((colour * alpha, alpha), axis=2)

    def _transformed(self, frame: int, around: Window) -> FloatPixels:
        display = self.shot.display
        x, y = display.width / 2, display.height / 2
        matrix = moved(-x, -y).then(scaled(1.1, 1.1)).then(turned(3)).then(moved(x + 40, y - 25))
        up = y_up(display)
        back = up.then(matrix).then(up.inverse()).inverse()
        resampling = Resampling(back=back, kernel=KERNELS["Cubic"], repeats_edges=False)
        part = resampling.part(around, display)
        return resampling.pixels(self._rows("element", frame, part), part, around)

    def _rows(self, name: str, frame: int, window: Window) -> FloatPixels:
        with self.clock.running(is_reading=True):
            opened = oiio.ImageInput.open(str(self.shot.file(name, frame)))
            assert opened is not None
            rows = opened.read_scanlines(0, 0, window.y0, window.y1, 0, 0, 4, oiio.FLOAT)
            return np.asarray(rows).reshape(window.height, -1, 4)[:, window.x0 : window.x1]


def _graded(pixels: FloatPixels) -> FloatPixels:
    slopes = np.array([1.1, 1.0, 0.95], np.float32) / np.float32(0.9)
    line = np.maximum(pixels * slopes, 0)
    bent = np.clip(line, 0, 1) ** np.float32(1 / GAMMA)
    graded: FloatPixels = np.where(line > 1, 1 + (line - 1) * np.float32(1 / GAMMA), bent)
    return graded


def _corrected(pixels: FloatPixels) -> FloatPixels:
    light = _luminance(pixels)[..., None]
    place = np.clip(light / np.float32(0.09), 0, 1)
    shadows = 1 - place * place * (3 - 2 * place)
    mixed = pixels * np.float32(1.1) + light * np.float32(1 - 1.1)
    bent = np.where(mixed > 0, np.maximum(mixed, 0) ** np.float32(1.05), mixed)
    corrected: FloatPixels = bent * (np.float32(0.18 ** (1 - 1.05) * 1.02) * (1 + np.float32(0.1) * shadows))
    return corrected


def _luminance(pixels: FloatPixels) -> FloatPixels:
    light: FloatPixels = pixels[..., 0] * np.float32(0.2125)
    light = light + pixels[..., 1] * np.float32(0.7154) + pixels[..., 2] * np.float32(0.0721)
    return light


def lay_out(folder: Path, width: int, height: int, crop: int, frames: int) -> Shot:
    """Plates with grain, as half floats in ZIP blocks; every frame is a link to one file of each sequence."""
    display = Window.of_size(width, height)
    chance = np.random.default_rng(0)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    shade = 0.4 + 0.3 * np.sin(x / 97) * np.cos(y / 53)
    for name in ("plate", "element"):
        pixels = shade[..., None] * np.array([1.2, 0.9, 0.6, 1.0], np.float32)
        pixels += chance.normal(0, 0.02, pixels.shape).astype(np.float32)
        image = Image(pixels=pixels, channels=RGBA, data_window=display, display_window=display)
        write_image(folder / f"{name}.exr", image)
        for frame in range(1, frames + 1):
            (folder / f"{name}.{frame:04d}.exr").hardlink_to(folder / f"{name}.exr")
    left, top = (width - crop) // 2, (height - crop) // 2
    return Shot(folder=folder, display=display, crop=Window(left, top, left + crop, top + crop))


@contextmanager
def reads_timed(clock: Clock) -> Iterator[None]:
    """What Reads take of the evaluator's time."""
    decode = Read.pixels

    def timed(self: Read, tree: Tree, node: Node, request: Request) -> FloatPixels:
        with clock.running(is_reading=True):
            return decode(self, tree, node, request)

    Read.pixels = timed  # type: ignore[method-assign]
    yield
    Read.pixels = decode  # type: ignore[method-assign]


def measure(shot: Shot, rounds: int, pulls: int) -> None:
    evaluator, hand = ByTheEvaluator(shot), ByHand(shot)
    difference = np.abs(evaluator.pull(1) - hand.pull(1)).max()
    assert difference < 1e-4, f"the pictures differ by {difference}"
    ratios, ratios_without = [], []
    print("milliseconds a crop    evaluator          by hand            ratio")
    print("                       all   but reading  all   but reading  all   but reading")
    for number in range(rounds):
        evaluator.clock, hand.clock = Clock(), Clock()
        frames = range(2 + number * pulls, 2 + (number + 1) * pulls)
        with reads_timed(evaluator.clock):
            pull_all([evaluator.pull, hand.pull], frames)
        ours, theirs = evaluator.clock, hand.clock
        ratios.append(ours.all / theirs.all)
        ratios_without.append(ours.without_reading / theirs.without_reading)
        shown = (ours.all, ours.without_reading, theirs.all, theirs.without_reading)
        cells = "".join(f"{seconds / pulls * 1e3:9.1f}" for seconds in shown)
        print(f"round {number + 1:2}          {cells}{ratios[-1]:9.2f}{ratios_without[-1]:9.2f}")
    print(f"middle of {rounds}: ratio {statistics.median(ratios):.2f}, ", end="")
    print(f"{statistics.median(ratios_without):.2f} but for reading; pictures differ by at most {difference:.1e}")


def pull_all(ways: list[Callable[[int], FloatPixels]], frames: range) -> None:
    for frame in frames:
        for way in ways if frame % 2 else ways[::-1]:
            way(frame)


def measure_whole(shot: Shot, frames: range) -> None:
    """What training waits for of each pair, were there one core."""
    evaluator = ByTheEvaluator(shot)
    begin, begin_wall = time.process_time(), time.perf_counter()
    for frame in frames:
        evaluator.evaluator.pull(evaluator.node, frame, RGBA)
        evaluator.evaluator.pull(evaluator.evaluator.script.nodes[2], frame, RGBA)
    seconds, wall = (time.process_time() - begin) / len(frames), (time.perf_counter() - begin_wall) / len(frames)
    print(f"a whole pair, the tree and a plain Read: {seconds:.2f} s of the processor, {wall:.2f} s on one thread")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pulls", type=int, default=5, help="of each in every round")
    parser.add_argument("--size", type=int, nargs=2, default=(4096, 2160), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--crop", type=int, default=256)
    parser.add_argument("--whole", type=int, default=1, help="pairs pulled whole")
    arguments = parser.parse_args()
    last = 1 + arguments.rounds * arguments.pulls
    with tempfile.TemporaryDirectory() as folder:
        width, height = arguments.size
        shot = lay_out(Path(folder), width, height, arguments.crop, last + arguments.whole)
        measure(shot, arguments.rounds, arguments.pulls)
        measure_whole(shot, range(last + 1, last + 1 + arguments.whole))


if __name__ == "__main__":
    main()
