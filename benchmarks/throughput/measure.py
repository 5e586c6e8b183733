"""What understudy makes of a machine: its steps beside bare PyTorch, its arithmetic, its data path, its start.

    python -m benchmarks.throughput.measure [--parts steps data start apply] [--model-size small] [--crop-size 96]
        [--batch-size 4] [--precision auto] [--threads 0] [--device auto] [--steps 0] [--rounds 0] [--matte]
    python -m benchmarks.throughput.measure --parts set [--pairs 50]
    python -m benchmarks.throughput.measure --parts otherwise [--way "last layer of 3 x 3"]
    python -m benchmarks.throughput.measure --parts casts pages beside

steps: the whole program trains (crops, contact sheets, metrics, looks at its validation squares) and, in the same
process, gives way to the bare loop every --steps steps: forward, mean squared error, backward and Muon on one batch in
memory. Ratios are in the middle of the rounds, by the clock and by seconds of CPU, which other programs on the machine
disturb less; and over all rounds together, contact sheets and looks included, which a run as short as this has more of.
A checkpoint comes too seldom for that and is told apart. Without --steps and --rounds, whole and bare take turns 100
times on a CPU, whose speed drifts within seconds, by the eight steps over which all steps' work is spread, and 5 times
300 steps on a GPU, which works ahead. With --matte what is learnt is a matte, whose steps have more to do: half of
its crops are moved by parts of a pixel, and the error is a sharper one.
data: frames a second decoded, crops a second gathered. start: a process of its own, on the demo's shot, to its first
step. apply: benchmarks/apply.py. set: as many pairs of 4096 x 2160 half EXR, made for it, once in memory and once in
the mapped file. otherwise: the bare loop of the network as it is, in turns with that of one with a choice undone.
casts: that loop with weights cast to bfloat16 all at once, as a run does, and each by itself, as the bare loop does.
pages: that loop on a CPU, in a process whose memory lies in large pages, as a run's does, and in one where it does not.
beside: that loop while another program keeps a core busy, with as many threads as a run has then, and with all.
"""

from __future__ import annotations

import argparse
import platform
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import torch
from benchmarks.throughput.asked import CPU_ROUNDS, CPU_STEPS, bare_loop, settings_of, spread, wanted
from benchmarks.throughput.bare import BareLoop, middle, peak_flops, quickest
from benchmarks.throughput.bound import least_seconds, measured_speeds, operations_of
from benchmarks.throughput.data import bare_decode_seconds, data_pace
from benchmarks.throughput.shots import write_pairs
from benchmarks.throughput.startup import beginning_of, demo_shot
from benchmarks.throughput.turns import NETWORKS, beside, casts, otherwise, pages
from benchmarks.throughput.whole import WARM_UP_STEPS, Watch, train_seen

from understudy.settings import Settings
from understudy.train.device import Machine, choose_machine
from understudy.train.recorder import SHEET_SECONDS, SHEET_STEPS

ALONE = ("set", "otherwise", "casts", "pages", "beside")
"""Parts that are measured when they are asked for."""
PARTS = ("steps", "data", "start", "apply", *ALONE)
FRAME, LARGE_FRAME = (1920, 1080), (4096, 2160)
PAIRS = 5
SET_STEPS = 300
STARTS = 3
GPU_STEPS, GPU_ROUNDS = 300, 5
APPLY = Path(__file__).parents[1] / "apply.py"


def main(words: list[str] | None = None) -> None:
    arguments = _parser().parse_args(words)
    measures = {"steps": steps, "data": data, "start": start, "apply": apply}
    measures |= {"set": large_set, "otherwise": otherwise, "casts": casts, "pages": pages, "beside": beside}
    for part in arguments.parts:
        with tempfile.TemporaryDirectory() as folder:
            measures[part](Path(folder), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[: -len(ALONE)])
    parser.add_argument("--model-size", choices=("small", "medium", "large"), default="small")
    parser.add_argument("--crop-size", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"), default="auto")
    steps = f"of a round; 0: {CPU_STEPS} on a CPU, {GPU_STEPS} on a GPU"
    parser.add_argument("--steps", type=int, default=0, help=steps)
    parser.add_argument("--rounds", type=int, default=0, help=f"0: {CPU_ROUNDS} on a CPU, {GPU_ROUNDS} on a GPU")
    parser.add_argument(
        "--matte", action="store_true", help="steps, otherwise, casts, pages and beside learn a matte, not a picture"
    )
    parser.add_argument("--pairs", type=int, default=50, help="of the large set")
    parser.add_argument("--way", choices=NETWORKS, default=NETWORKS[0], help="that the network is built otherwise")
    return parser


def steps(folder: Path, arguments: argparse.Namespace) -> None:
    make_bare = partial(bare_loop, arguments=arguments)
    is_cpu = choose_machine(settings_of(arguments, folder, 1), print).device.type == "cpu"
    steps_a_round = arguments.steps or (CPU_STEPS if is_cpu else GPU_STEPS)
    num_steps = WARM_UP_STEPS + steps_a_round * (arguments.rounds or (CPU_ROUNDS if is_cpu else GPU_ROUNDS)) + 1
    watch = Watch(steps_a_round=steps_a_round, make_bare=make_bare)
    train_seen(watch, write_pairs(folder, *FRAME, PAIRS, wanted(arguments)), settings_of(arguments, folder, num_steps))
    assert watch.machine
    step_seconds = tell_steps(watch, arguments)
    tell_arithmetic(make_bare(watch.machine), watch.machine, step_seconds)
    tell_memory(watch.machine)


def tell_steps(watch: Watch, arguments: argparse.Namespace) -> float:
    """Gives the seconds of a bare step."""
    print(
        f"\n{watch.machine}; {arguments.model_size}, {arguments.batch_size} crops of {arguments.crop_size}"
        f"{' of a matte' if arguments.matte else ''}; "
        f"{len(watch.rounds)} rounds, steps in each: {watch.steps_a_round}"
    )
    by_clock = [one.whole.seconds / one.bare.seconds for one in watch.rounds]
    by_cpu = [one.whole.cpu_seconds / one.bare.cpu_seconds for one in watch.rounds]
    bare = middle([one.bare.seconds for one in watch.rounds]) / watch.steps_a_round
    whole = middle([one.whole.seconds for one in watch.rounds]) / watch.steps_a_round
    inside = sum(watch.insides) / len(watch.insides)
    print(
        f"bare step {1e3 * bare:.1f} ms, whole {1e3 * whole:.1f} ms, of which inside train_step {1e3 * inside:.1f} ms"
    )
    print(f"whole over bare, by the clock: {spread(by_clock)}")
    print(f"whole over bare, by seconds of CPU: {spread(by_cpu)}")
    together = sum(one.whole.cpu_seconds for one in watch.rounds) / sum(one.bare.cpu_seconds for one in watch.rounds)
    print(f"all rounds together, by seconds of CPU: {together:.3f}")
    sheets = watch.sheet_cpu_seconds
    if sheets:
        share = middle(sheets) / max(SHEET_SECONDS, SHEET_STEPS * bare)
        print(f"drawing a contact sheet: {middle(sheets):.2f} s of CPU beside the training, {100 * share:.1f} % of it")
    saving, interval = middle(watch.checkpoint_seconds), Settings().checkpoint_interval
    print(f"a checkpoint: {saving:.2f} s, {100 * saving / (interval * bare):.1f} % of the steps between two")
    waited = sum(watch.waits[1:])
    print(f"waiting for crops after the first batch: {waited:.3f} s in {len(watch.waits) - 1} steps")
    return float(bare)


def tell_arithmetic(bare: BareLoop, machine: Machine, step_seconds: float) -> None:
    bare.step()  # the first makes room for momentum
    network, optimizer = operations_of(bare.backward), operations_of(bare.optimize)
    peak, flops = peak_flops(machine), sum(operation.flops for operation in network)
    backward = flops / quickest(bare.backward, machine)
    print(
        f"peak (matrix product) {peak / 1e9:.0f} GFLOP/s; forward and backward {flops / 1e9:.1f} GFLOP, "
        f"{100 * backward / peak:.0f} % of the peak; bare step {100 * flops / step_seconds / peak:.0f} %"
    )
    speeds = measured_speeds(machine, peak)
    moved, least = sum(operation.bytes_moved for operation in network), least_seconds(network, speeds)
    launches = (len(network) + len(optimizer)) * speeds.launch_seconds
    print(
        f"forward and backward move {moved / 1e6:.0f} MB, {speeds.bytes_moved / 1e9:.0f} GB/s (a copy): from memory, "
        f"{1e3 * least:.2f} ms at least, {100 * flops / peak / least:.0f} % of the peak at most; {len(network)} + "
        f"{len(optimizer)} operations of network and optimizer take {1e3 * launches:.2f} ms to begin"
    )


def tell_memory(machine: Machine) -> None:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if platform.system() == "Darwin" else 2**20)
    print(f"most memory of the process: {most:.2f} GiB")
    if machine.device.type == "cuda":
        print(f"most memory on the GPU: {torch.cuda.max_memory_allocated(machine.device) / 2**30:.2f} GiB")
    elif machine.device.type == "mps":
        print(f"memory on the GPU: {torch.mps.driver_allocated_memory() / 2**30:.2f} GiB")


def data(folder: Path, arguments: argparse.Namespace) -> None:
    pace = data_pace(write_pairs(folder, *FRAME, PAIRS), arguments.crop_size, arguments.batch_size)
    width, height = FRAME
    print(
        f"\ndata path: {pace.frames_a_second:.1f} frames/s of {width} x {height} decoded, "
        f"{pace.crops_a_second:.0f} pairs of crops/s of {arguments.crop_size}"
    )


def start(folder: Path, arguments: argparse.Namespace) -> None:
    script = demo_shot(folder)
    words = ["-X", "CopyCat1", str(script), "--device", arguments.device, "--threads", str(arguments.threads)]
    print("\nfrom the command line to the first step, on the demo's shot")
    for number in range(1, STARTS + 1):
        print(f"  start {number}: {beginning_of([*words, '--steps', '1'])}", flush=True)


def apply(folder: Path, arguments: argparse.Namespace) -> None:  # noqa: ARG001
    precision = "float32" if arguments.precision == "auto" else arguments.precision
    words = ["--sizes", arguments.model_size, "--precision", precision]
    subprocess.run([sys.executable, str(APPLY), *words], check=True)


def large_set(folder: Path, arguments: argparse.Namespace) -> None:
    width, height = LARGE_FRAME
    source = write_pairs(folder, width, height, arguments.pairs)
    files = sorted(folder.glob("*.exr"))
    size = sum(path.stat().st_size for path in files) / 2**30
    print(f"\n{arguments.pairs} pairs of {width} x {height}: {len(files)} files, {size:.2f} GiB", flush=True)
    words = ["--input", source.input, "--target", source.target, "--data-directory", str(folder / "data")]
    words += ["--model-size", arguments.model_size, "--crop-size", str(arguments.crop_size)]
    words += ["--batch-size", str(arguments.batch_size), "--steps", str(SET_STEPS), "--no-multi-resolution"]
    words += ["--device", arguments.device, "--threads", str(arguments.threads)]
    for place, memory_gib in (("in memory", Settings().memory_gib), ("in the mapped file", 0.5)):
        bare = bare_decode_seconds(files)
        beginning = beginning_of([*words, "--memory-gib", str(memory_gib)])
        print(f"  {place}: {beginning}")
        print(f"    to read the files alone {bare:.1f} s; the first step {beginning.seconds - bare:.1f} s later")
        print(f"    waited for crops after the first: {beginning.waited:.3f} s in {SET_STEPS} steps", flush=True)


if __name__ == "__main__":
    main()
