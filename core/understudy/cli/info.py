"""info: print what a model takes, gives, and was trained on"""

from __future__ import annotations

import argparse
from pathlib import Path

from understudy.runs import find_model


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="model file, or a run's data directory for its newest"
    )


def run(arguments: argparse.Namespace) -> int:
    path = find_model(arguments.model)
    from understudy.train.model_file import load_model  # torch: only now

    saved = load_model(path)
    spec, card = saved.model.spec, saved.card
    num_weights = sum(parameter.numel() for parameter in saved.model.parameters())
    validation = "none" if card.validation_psnr is None else f"{card.validation_psnr:.2f} dB"
    rows = {
        "Model": path,
        "Channels": f"{', '.join(spec.input_channels)} -> {', '.join(spec.target_channels)}",
        "Input layer": card.input_layer or "main picture",
        "Target layer": card.target_layer or "main picture",
        "Model Size": f"{spec.model_size} ({num_weights:,} weights)",
        "Colour space": card.working_space,
        "Run": card.run_name,
        "Steps": f"{card.step} of {card.total_steps}",
        "Loss": f"{card.loss:.6f}",
        "Validation PSNR": validation,
        "Crop Size": card.crop_size,
        "Made by": f"understudy {card.understudy_version}",
        "Pairs": len(card.trained_on),
    }
    for name, value in rows.items():
        print(f"{name + ':':17}{value}")
    for pair in card.trained_on:
        print(f"  {pair}")
    return 0
