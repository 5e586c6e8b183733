"""How much of the training loop is forward, backward and optimizer, and what a step costs beside a bare PyTorch loop.

    python benchmarks/step_loop.py [--steps 300] [--crop-size 256] [--batch-size 2] [--model-size medium]

The whole program trains (crops gathered, contact sheets, checkpoint, graph, metrics) on a shot made for it; the bare
loop runs the same network and optimizer on one batch held in memory, half of its steps before and half after, so that
a machine whose speed drifts treats both alike. Ratios are of one run on one machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from understudy.frames.colour import ColourRules
from understudy.frames.image import Image
from understudy.frames.window import Window
from understudy.frames.write import write_image
from understudy.orders import Order
from understudy.settings import Settings
from understudy.sources.sequences import SequenceSource
from understudy.train import loop
from understudy.train.batches import Batch
from understudy.train.device import Machine
from understudy.train.network import NetworkSpec, Understudy, in_channels_last
from understudy.train.schedule import StepPlan
from understudy.train.session import train_new
from understudy.train.sharing import Sharing
from understudy.train.sitting import Manner
from understudy.train.state import TrainingState
from understudy.train.step import train_step

WARM_UP_STEPS = 5
RGB = ("R", "G", "B")


@dataclass
class Stopwatch:
    """Times train_step inside the real loop, device waits included."""

    inside: list[float] = field(default_factory=list)
    """Seconds in each step."""
    first_begin: float = 0.0
    last_end: float = 0.0
    device: str = ""

    def timed_step(
        self, state: TrainingState, batch: Batch, plan: StepPlan, machine: Machine, sharing: Sharing
    ) -> Tensor:
        begin = time.perf_counter()
        loss = train_step(state, batch, plan, machine, sharing)
        if machine.device.type == "cuda":
            torch.cuda.synchronize()
        self.last_end = time.perf_counter()
        self.device = str(machine)
        if state.step == WARM_UP_STEPS:
            self.first_begin = self.last_end
        elif state.step > WARM_UP_STEPS:
            self.inside.append(self.last_end - begin)
        return loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--crop-size", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--model-size", default="medium")
    arguments = parser.parse_args()
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_steps(arguments, arguments.steps // 2)
        run_understudy(Path(folder), arguments, watch)
        bare += bare_steps(arguments, arguments.steps // 2)
    whole = watch.last_end - watch.first_begin
    steps = len(watch.inside)
    print(f"\n{watch.device}; {arguments.model_size}, batch {arguments.batch_size}, crop {arguments.crop_size}")
    share = 100 * sum(watch.inside) / whole
    print(f"forward, backward, optimizer (with curves, clipping, averaging): {share:.1f} % of the loop, {steps} steps")
    print(
        f"step in the loop: median {1e3 * np.median(watch.inside):.1f} ms, loop per step {1e3 * whole / steps:.1f} ms"
    )
    print(f"bare PyTorch step: median {1e3 * np.median(bare):.1f} ms")
    print(f"loop per step over bare step (means): {whole / steps / np.mean(bare):.3f}")


def bare_steps(arguments: argparse.Namespace, steps: int) -> list[float]:
    """Seconds of forward, backward and AdamW on one batch in memory."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    spec = NetworkSpec(input_channels=RGB, target_channels=RGB, model_size=arguments.model_size)
    model = in_channels_last(Understudy(spec).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    shape = (arguments.batch_size, 3, arguments.crop_size, arguments.crop_size)
    scene = torch.rand(shape, device=device).to(memory_format=torch.channels_last)
    seconds = []
    for _ in range(steps + WARM_UP_STEPS):
        begin = time.perf_counter()
        with torch.autocast(device.type, torch.bfloat16):
            answer = model.encoded_answer(scene)
        (answer - scene).square().mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return seconds[WARM_UP_STEPS:]


def run_understudy(folder: Path, arguments: argparse.Namespace, watch: Stopwatch) -> None:
    """A whole run, its steps timed from inside."""
    random = np.random.default_rng(0)
    window = Window.of_size(960, 540)
    for frame in range(1, 6):
        for name in ("plate", "paint"):
            pixels = random.random((540, 960, 3), np.float32)
            image = Image(pixels=pixels, channels=RGB, data_window=window, display_window=window)
            write_image(folder / f"{name}.{frame:04d}.exr", image)
    settings = Settings(
        data_directory=folder / "data",
        steps=arguments.steps + WARM_UP_STEPS,
        batch_size=arguments.batch_size,
        crop_size=arguments.crop_size,
        model_size=arguments.model_size,
        precision="bfloat16",
        multi_resolution=False,
    )
    source = SequenceSource(input=str(folder / "plate.####.exr"), target=str(folder / "paint.####.exr"))
    with patch.object(loop, "train_step", watch.timed_step):
        train_new(
            Order(settings=settings, source=source, colour=ColourRules()),
            Manner(progress_style="plain", verbosity=0, command="benchmark"),
        )


if __name__ == "__main__":
    main()
