"""How good `understudy suggest` is: does it find badly served frames, and does painting them pay.

    python benchmarks/suggest.py [--rounds 10] [--minutes 30] [--steps 600] [--seed 0] [--shots street late light]

Three made shots whose every frame is known. A round draws three to five painted frames and the seed of a training,
trains, and measures every unpainted frame. It then asks for a suggestion, and trains twice more for the same steps:
with the suggested frame painted, and with the middle of the largest gap (between painted frames, or before the first
or after the last). A hit is a frame in the worst quarter; a random choice hits 2.5 times in 10. About a minute a round
on one core; figures are of one run on one machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from understudy.demo.filters import blur, float32, smooth_noise, smoothstep
from understudy.demo.scene import DemoShot, render_frame
from understudy.frames.colour import ColourRules
from understudy.frames.image import FloatPixels, Image
from understudy.frames.psnr import PooledPsnr
from understudy.frames.read import read_image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.orders import Order
from understudy.runs import find_model
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy.train.device import choose_machine
from understudy.train.infer import answer_for
from understudy.train.model_file import load_model
from understudy.train.need import Need
from understudy.train.session import train_new
from understudy.train.sitting import Manner
from understudy.train.suggest import SuggestOrder, suggest

RGB = ("R", "G", "B")
WIDTH, HEIGHT = 256, 144
FRAMES = range(1001, 1041)
CLOSEST = 3
"""Frames between two painted ones, at least."""
ALL = 10**6

Pictures = tuple[FloatPixels, FloatPixels]
"""Plate and truth, H W 3."""
Errors = dict[int, float]
"""Frame to mean squared error as an eye would see it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, help="for each shot")
    parser.add_argument("--minutes", type=float, default=math.inf, help="no round is begun later")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="draws the shots, the painted frames and the trainings")
    parser.add_argument("--shots", nargs="+", choices=SHOTS, default=list(SHOTS))
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        rounds = list(all_rounds(Path(folder), arguments, end))
    for name in (*arguments.shots, "all"):
        summarise(name, [one for one in rounds if name in (one.shot, "all")])


def all_rounds(folder: Path, arguments: argparse.Namespace, end: float) -> Iterator[Round]:
    """Every shot's first round, then every shot's second, ..., each told as it ends."""
    for name in arguments.shots:
        write_shot(folder / name, SHOTS[name], seed=1000 + arguments.seed)
    for number in range(arguments.rounds):
        for name in arguments.shots:
            if time.monotonic() < end:
                done = Bench(folder=folder / name, steps=arguments.steps).round(name, arguments.seed * 100 + number)
                print(done, flush=True)
                yield done


def street(shot: DemoShot, frame: int) -> Pictures:
    """The demo's own: markers and a wire before a moving camera."""
    return render_frame(shot, frame)


def late(shot: DemoShot, frame: int) -> Pictures:
    """A painted board with blue rings, to be painted out, is pushed in from the right in the last third."""
    plate, truth = render_frame(shot, frame)
    board, ringed = _board(shot.seed)
    height, width, _ = board.shape
    pushed = float(smoothstep(0.62, 0.92, float32(shot.progress(frame))))
    x, y = round(WIDTH - (width + 12) * pushed), HEIGHT - height - 6 + round(2 * math.sin(frame * 0.9))
    seen = min(width, WIDTH - x)
    plate[y : y + height, x : x + seen] = ringed[:, :seen]
    truth[y : y + height, x : x + seen] = board[:, :seen]
    return plate, truth


def light(shot: DemoShot, frame: int) -> Pictures:
    """The lamps go down and turn blue in the middle; towards the end the focus is pulled away."""
    part = float32(shot.progress(frame))
    dusk, softness = smoothstep(0.5, 0.65, part), 2.0 * float(smoothstep(0.75, 0.95, part))
    gain = 1 - dusk * float32([0.84, 0.74, 0.58])
    plate, truth = (blur(picture * gain, softness, softness) for picture in render_frame(shot, frame))
    return plate, truth


SHOTS: dict[str, Callable[[DemoShot, int], Pictures]] = {"street": street, "late": late, "light": light}


def _board(seed: int) -> Pictures:
    """The board without and with its rings."""
    rng = np.random.default_rng((seed, 5))
    height, width = int(0.62 * HEIGHT), int(0.42 * WIDTH)
    wood = smooth_noise(rng, (height, width), 20.0, 3)
    v, u = np.mgrid[0:height, 0:width] / width
    stripes = float32(np.sin((u + 0.6 * v) * 40) > 0)
    board = np.stack([0.5 * wood + 0.2 * stripes, 0.35 * wood + 0.1, 0.08 + 0.3 * (1 - stripes) * wood], axis=-1)
    ringed = board.copy()
    for at_u, at_v in ((0.15, 0.15), (0.5, 0.3), (0.85, 0.12), (0.3, 0.6), (0.7, 0.65), (0.5, 0.75), (0.12, 0.7)):
        radius = np.hypot(u - at_u, v - at_v)
        ringed[(np.abs(radius - 0.055) < 0.022) | (radius < 0.012)] = (0.02, 0.12, 0.75)
    return float32(board), float32(ringed)


def write_shot(folder: Path, made: Callable[[DemoShot, int], Pictures], seed: int) -> None:
    shot = DemoShot(width=WIDTH, height=HEIGHT, first_frame=FRAMES[0], last_frame=FRAMES[-1], seed=seed)
    window = Window.of_size(WIDTH, HEIGHT)
    folder.mkdir()
    for frame in FRAMES:
        for name, pixels in zip(("plate", "truth"), made(shot, frame), strict=True):
            picture = Image(pixels=float32(pixels), channels=RGB, data_window=window, display_window=window)
            write_image(folder / f"{name}.{frame}.exr", picture)


@dataclass(frozen=True, kw_only=True)
class Round:
    """What one set of painted frames showed."""

    shot: str
    painted: tuple[int, ...]
    middle: int
    """Of the largest gap."""
    needs: tuple[Need, ...]
    """Of every unpainted frame; the first is the suggestion."""
    before: Errors
    """Of every frame, with `painted` alone."""
    with_suggested: Errors
    with_middle: Errors

    @property
    def suggested(self) -> int:
        return self.needs[0].frame

    def hits(self, frame: int) -> bool:
        """Whether the frame is in the worst quarter of the unpainted."""
        unpainted = [self.before[need.frame] for need in self.needs]
        return sum(error > self.before[frame] for error in unpainted) < len(unpainted) / 4

    def ratio(self, frame: int) -> float:
        """Its error against the mean of all unpainted."""
        return self.before[frame] / _mean(self.before[need.frame] for need in self.needs)

    def gain(self, after: Errors, frames: Collection[int]) -> float:
        """dB over these frames together."""
        return 10 * math.log10(_mean(self.before[frame] for frame in frames) / _mean(after[frame] for frame in frames))

    def gains(self) -> tuple[float, float, float, float]:
        """Of the suggested frame and of the middle: over all frames unpainted before; over those still unpainted."""
        all_before = [need.frame for need in self.needs]
        still = [frame for frame in all_before if frame not in (self.suggested, self.middle)]
        after = (self.with_suggested, self.with_middle)
        whole, rest = ([self.gain(errors, frames) for errors in after] for frames in (all_before, still))
        return whole[0], whole[1], rest[0], rest[1]

    def __str__(self) -> str:
        whole_suggested, whole_middle, _, _ = self.gains()
        return (
            f"{self.shot:6} painted {','.join(map(str, self.painted))}: suggested {self.suggested}"
            f" ({'hit' if self.hits(self.suggested) else 'miss'}, {self.ratio(self.suggested):.2f} x mean error,"
            f" {whole_suggested:+.2f} dB), middle {self.middle}"
            f" ({'hit' if self.hits(self.middle) else 'miss'}, {self.ratio(self.middle):.2f} x, {whole_middle:+.2f} dB)"
        )


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Trains on a shot and measures against its truth."""

    folder: Path
    steps: int

    def round(self, shot: str, seed: int) -> Round:
        painted = draw_painted(seed)
        settings = self._settings(painted, seed)
        before = self._trained(settings, painted)
        order = SuggestOrder(run=settings.data_directory, count=ALL, settings=settings)
        needs = suggest(order, lambda _: None).needs
        middle = middle_of_largest_gap(painted)
        with_suggested = self._painting_too(needs[0].frame, painted, seed)
        same = middle == needs[0].frame
        with_middle = with_suggested if same else self._painting_too(middle, painted, seed)
        return Round(
            shot=shot,
            painted=painted,
            middle=middle,
            needs=needs,
            before=before,
            with_suggested=with_suggested,
            with_middle=with_middle,
        )

    def _painting_too(self, frame: int, painted: tuple[int, ...], seed: int) -> Errors:
        more = tuple(sorted({*painted, frame}))
        return self._trained(self._settings(more, seed), more)

    def _settings(self, painted: tuple[int, ...], seed: int) -> Settings:
        return Settings(
            data_directory=self.folder / "-".join(map(str, (seed, *painted))),
            steps=self.steps,
            batch_size=4,
            crop_size=64,
            model_size="small",
            learning_rate=3e-3,
            seed=seed,
            checkpoint_interval=max(1, self.steps // 3),
            contact_sheet_interval=ALL,
            device="cpu",
            threads=1,
        )

    def _trained(self, settings: Settings, painted: tuple[int, ...]) -> Errors:
        """Train, and measure every frame of the shot."""
        plate, truth = (str(self.folder / f"{name}.####.exr") for name in ("plate", "truth"))
        source = SequenceSource(input=plate, target=truth, frames=painted)
        manner = Manner(progress_style="plain", verbosity=0, command="benchmark")
        with contextlib.redirect_stdout(io.StringIO()):
            train_new(Order(settings=settings, source=source, colour=ColourRules()), manner)
        model, machine = load_model(find_model(settings.data_directory)).model, choose_machine(settings, print)
        errors: Errors = {}
        for frame in FRAMES:
            seen, wanted = (read_image(self.folder / f"{name}.{frame}.exr").pixels for name in ("plate", "truth"))
            pooled = PooledPsnr(RGB)
            pooled.add(answer_for(model, seen, machine), wanted)
            errors[frame] = 10 ** (-pooled.decibels() / 10)
        return errors


def draw_painted(seed: int) -> tuple[int, ...]:
    """Three to five frames, not too close."""
    rng = np.random.default_rng((seed, 3))
    count = int(rng.integers(3, 6))
    while True:
        drawn = np.sort(rng.choice(FRAMES, count, replace=False))
        if np.diff(drawn).min() >= CLOSEST:
            return tuple(int(frame) for frame in drawn)


def middle_of_largest_gap(painted: Sequence[int]) -> int:
    """The frame in the middle of the longest stretch without paint; the first of equal ones."""
    ends = [FRAMES[0] - 1, *painted, FRAMES[-1] + 1]
    gaps = [(after - before, before) for before, after in pairwise(ends)]
    length, before = max(gaps, key=lambda gap: gap[0])
    return before + length // 2


def summarise(name: str, rounds: Sequence[Round]) -> None:
    print(f"\n{name}: {len(rounds)} rounds")
    if not rounds:
        return
    choices: dict[str, Callable[[Round], int]] = {
        "suggested": lambda one: one.suggested,
        "work alone": lambda one: max(one.needs, key=lambda need: need.work).frame,
        "doubt alone": lambda one: max(one.needs, key=lambda need: need.doubt).frame,
        "strangeness alone": lambda one: max(one.needs, key=lambda need: need.strangeness).frame,
        "middle of gap": lambda one: one.middle,
        "the worst there is": lambda one: max(one.needs, key=lambda need: one.before[need.frame]).frame,
    }
    for choice, frame_of in choices.items():
        hits = sum(one.hits(frame_of(one)) for one in rounds)
        ratio = _mean(one.ratio(frame_of(one)) for one in rounds)
        print(f"  {choice:18}  in the worst quarter {hits:2} of {len(rounds)}, error {ratio:.2f} x the mean")
    print(f"  {'a random choice':18}  in the worst quarter {len(rounds) / 4:g} of {len(rounds)}, error 1.00 x the mean")
    gains = [_mean(column) for column in zip(*(one.gains() for one in rounds), strict=True)]
    ahead = sum(one.gains()[0] > one.gains()[1] for one in rounds)
    apart = sum(one.suggested != one.middle for one in rounds)
    print(f"  painting it, whole shot:       suggested {gains[0]:+.2f} dB, middle {gains[1]:+.2f} dB")
    print(f"  painting it, other frames:     suggested {gains[2]:+.2f} dB, middle {gains[3]:+.2f} dB")
    print(f"  suggested ahead in {ahead} of {apart} rounds in which they differ")


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


if __name__ == "__main__":
    main()
