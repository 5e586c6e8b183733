"""What the words of a command line ask for: settings, loops, and how many turns they take."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from benchmarks.shots.shot import MATTE, RGB
from benchmarks.throughput.bare import BareLoop

from understudy.settings import Settings
from understudy.train.batches import STEPS_AT_ONCE
from understudy.train.device import Machine
from understudy.train.waking import STEPS_APART

CPU_STEPS = math.lcm(STEPS_AT_ONCE, STEPS_APART)
"""Of a round there: some work is done for several steps at once."""
CPU_ROUNDS = 100


def settings_of(arguments: argparse.Namespace, folder: Path, steps: int, memory_gib: float = 8.0) -> Settings:
    return Settings(
        data_directory=folder / "data",
        steps=steps,
        batch_size=arguments.batch_size,
        crop_size=arguments.crop_size,
        model_size=arguments.model_size,
        precision=arguments.precision,
        threads=arguments.threads,
        device=arguments.device,
        memory_gib=memory_gib,
        multi_resolution=False,  # so that each step is a whole one
    )


def bare_loop(machine: Machine, arguments: argparse.Namespace, *, casts_once: bool = False) -> BareLoop:
    return BareLoop(
        machine,
        model_size=arguments.model_size,
        batch_size=arguments.batch_size,
        crop_size=arguments.crop_size,
        wanted=wanted(arguments),
        casts_once=casts_once,
    )


def wanted(arguments: argparse.Namespace) -> tuple[str, ...]:
    """The channels that are learnt."""
    return MATTE if arguments.matte else RGB


def spread(values: list[float]) -> str:
    lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75))
    return f"middle {median:.3f}, half of the rounds {lower:.3f} to {upper:.3f}"
