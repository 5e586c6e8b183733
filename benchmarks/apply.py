"""How fast `understudy apply` is beside a bare forward pass on the same frames, and how much memory it takes.

    python benchmarks/apply.py [--sizes small medium large] [--width 1920] [--height 1080] [--frames 12] [--rounds 3]
    python benchmarks/apply.py --memory [--sizes small medium large]

A round runs three processes, one after the other, each on all cores: the bare forward pass on whole frames that are in
memory already (no file, no conversion, inference mode), as PyTorch comes; the same with the allocator set as apply sets
it; and apply, from EXR files to EXR files. The bare pass takes the layout of the frames that is faster. What is told is
the frame rate of apply over that of the bare passes, round by round and in the middle, and the same of seconds of CPU,
which other programs on the machine disturb less. Starting Python and loading the model are left out of all.

With --memory the whole command runs on one frame of 6144 x 3160 with RGBA, and the most memory it had is told.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from understudy.settings import ModelSize

# What makes threads is imported where it is needed: apply chooses its heap before.

RGB = ("R", "G", "B")
LAYOUTS = ("channels last", "channels first")
SIZES: tuple[ModelSize, ...] = ("small", "medium", "large")
MEMORY_SIZE = (6144, 3160)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Of one process."""

    seconds: float
    """For a frame."""
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", nargs="+", choices=("small", "medium", "large"), default=["small", "medium", "large"]
    )
    parser.add_argument("--width", type=int, default=1920)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--role", choices=("bare", "apply"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--layout", choices=LAYOUTS, help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.role:
        pace = bare(arguments) if arguments.role == "bare" else applied(arguments)
        print(json.dumps([pace.seconds, pace.cpu_seconds]))
        return
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_model(folder, size)
            measure_memory(folder, size) if arguments.memory else compare(folder, size, arguments)


def compare(folder: Path, size: str, arguments: argparse.Namespace) -> None:
    write_frames(folder, arguments.width, arguments.height, arguments.frames, RGB)
    words = ["--frames", str(arguments.frames), "--precision", arguments.precision, "--folder", str(folder)]
    layout = min(LAYOUTS, key=lambda layout: pace_of(["--role", "bare", "--layout", layout, *words]).cpu_seconds)
    print(f"\n{size}, {arguments.precision}, {arguments.width}x{arguments.height}: the bare pass is faster {layout}")
    rounds = []
    for _ in range(arguments.rounds):
        plain = pace_of(["--role", "bare", "--layout", layout, *words])
        kept = pace_of(["--role", "bare", "--layout", layout, "--keep", *words])
        apply = pace_of(["--role", "apply", *words])
        rounds.append((plain, kept, apply))
        told = ", ".join(f"{pace.seconds:.3f} s ({pace.cpu_seconds:.3f} of CPU)" for pace in rounds[-1])
        print(f"  bare, bare with apply's allocator, apply: {told}", flush=True)
    for name, place in (("the bare pass", 0), ("the bare pass with apply's allocator", 1)):
        by_clock = statistics.median(one[place].seconds / one[2].seconds for one in rounds)
        by_cpu = statistics.median(one[place].cpu_seconds / one[2].cpu_seconds for one in rounds)
        print(f"  frame rate of apply over that of {name}: {by_clock:.2f} (by seconds of CPU: {by_cpu:.2f})")


def pace_of(words: Sequence[str]) -> Pace:
    """Of this program in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True, check=True)
    seconds, cpu_seconds = json.loads(done.stdout.splitlines()[-1])
    return Pace(seconds=seconds, cpu_seconds=cpu_seconds)


def bare(arguments: argparse.Namespace) -> Pace:
    """The model on tensors, and nothing else."""
    import torch

    from understudy.allocator import large_blocks_kept
    from understudy.cores import cores_given

    torch.set_num_threads(cores_given())
    with large_blocks_kept(math.inf) if arguments.keep else nullcontext():
        return bare_passes(arguments)


def bare_passes(arguments: argparse.Namespace) -> Pace:
    import torch

    from understudy.frames.read import read_image
    from understudy.train.model_file import load_model

    model = load_model(arguments.folder / "model.safetensors").model.eval()
    pixels = torch.from_numpy(read_image(arguments.folder / "plate.0001.exr").pixels).permute(2, 0, 1)[None]  # 1 C H W
    is_last = arguments.layout == LAYOUTS[0]
    scene = pixels.contiguous(memory_format=torch.channels_last if is_last else torch.contiguous_format)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=arguments.precision == "bfloat16"):
        model(scene)
        began, cpu_began = time.perf_counter(), time.process_time()
        for _ in range(arguments.frames):
            model(scene)
        return _pace(began, cpu_began, arguments.frames)


def applied(arguments: argparse.Namespace) -> Pace:
    """The command, from files to files."""
    from understudy.allocator import use_one_heap

    use_one_heap()  # as the command does before it loads torch
    import torch

    from understudy.cli.main import main as command

    torch.zeros(1)
    pattern, result = str(arguments.folder / "plate.####.exr"), str(arguments.folder / "out" / "result.####.exr")
    words = ["apply", str(arguments.folder / "model.safetensors"), "--input", pattern, "--output", result]
    began, cpu_began = time.perf_counter(), time.process_time()
    assert command([*words, "--device", "cpu", "--precision", arguments.precision]) == 0
    return _pace(began, cpu_began, arguments.frames)


def _pace(began: float, cpu_began: float, frames: int) -> Pace:
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    return Pace(seconds=seconds / frames, cpu_seconds=cpu_seconds / frames)


def measure_memory(folder: Path, size: str) -> None:
    """What Linux counts as the most that the process had in memory."""
    write_frames(folder, *MEMORY_SIZE, 2, (*RGB, "A"))
    words = [str(folder / "model.safetensors"), "--input", str(folder / "plate.####.exr"), "--device", "cpu"]
    program = (
        "import sys\nfrom pathlib import Path\nfrom understudy.cli.main import main\n"
        "code = main(['apply', *sys.argv[1:]])\n"
        "print(next(line for line in Path('/proc/self/status').read_text().splitlines() if 'VmHWM' in line))\n"
        "sys.exit(code)"
    )
    output = ["--output", str(folder / "out" / "result.####.exr")]
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program, *words, *output], capture_output=True, text=True, check=True)
    peak = int(done.stdout.split("VmHWM:")[1].split()[0]) / 2**20
    manner = next(line for line in done.stdout.splitlines() if line.startswith("Applying")).split(" on ", 1)[1]
    print(f"{size}: {peak:.2f} GiB at most, {time.perf_counter() - began:.0f} seconds ({manner})", flush=True)


def write_model(folder: Path, size: ModelSize) -> None:
    """Of that size, with weights as they are before a training, but for the last layer, which is zero then."""
    import numpy as np
    import torch

    from understudy.train.model_file import ModelCard, save_model
    from understudy.train.network import NetworkSpec, Understudy
    from understudy.train.transfer import choose_curve

    torch.manual_seed(0)
    model = Understudy(NetworkSpec(input_channels=RGB, target_channels=RGB, model_size=size))
    torch.nn.init.normal_(model.leave.weight, std=0.01)
    for transfer in (model.input_transfer, model.target_transfer):
        transfer.set_curves([choose_curve(channel, np.zeros(1, np.float32)) for channel in RGB])
    model.guess_matrix.copy_(torch.eye(3))
    card = ModelCard(
        run_name="benchmark",
        step=0,
        total_steps=0,
        loss=0.0,
        validation_psnr=None,
        working_space="lin_rec709_scene",
        input_layer="",
        target_layer="",
        trained_on=(),
        crop_size=256,
        understudy_version="",
    )
    save_model(folder / "model.safetensors", model, card)


def write_frames(folder: Path, width: int, height: int, count: int, channels: tuple[str, ...]) -> None:
    """A lit wall with grain, as half with zip: noise compresses as that of a camera does."""
    import numpy as np

    from understudy.frames.image import Image
    from understudy.frames.window import Window
    from understudy.frames.write import write_image

    random = np.random.default_rng(0)
    across, down = np.linspace(0.02, 1.2, width, dtype=np.float32), np.linspace(0.2, 1.0, height, dtype=np.float32)
    wall = down[:, None, None] * across[None, :, None] * np.linspace(1.0, 0.6, len(channels), dtype=np.float32)
    window = Window.of_size(width, height)
    for frame in range(1, count + 1):
        grain = random.normal(0.0, 0.01, wall.shape).astype(np.float32) * np.sqrt(wall)
        image = Image(pixels=wall + grain, channels=channels, data_window=window, display_window=window)
        write_image(folder / f"plate.{frame:04d}.exr", image)


if __name__ == "__main__":
    main()
