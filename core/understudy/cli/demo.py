"""demo: make a shot, train on its five painted frames, apply the model to all, and show what came of it"""

from __future__ import annotations

import argparse
from pathlib import Path

from understudy.errors import EXIT_DONE

NODE = "CopyCat1"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=Path("demo"), metavar="DIR", help="where everything goes (default ./demo)"
    )


def run(arguments: argparse.Namespace) -> int:
    from understudy.demo.measure import psnr_over
    from understudy.demo.script import DemoTraining
    from understudy.demo.shot import DemoShot
    from understudy.demo.write import write_demo
    from understudy.runs import find_model, find_run

    shot = DemoShot()
    files = write_demo(arguments.folder, shot, DemoTraining(), say=print)
    commands = (
        ["-F", "1", "-X", NODE, str(files.script)],
        ["apply", str(files.data_directory), "--input", files.plate, "--output", files.result],
    )
    for words in commands:
        print(f"\n$ understudy {' '.join(words)}", flush=True)
        code: int = arguments.main(words)
        if code != EXIT_DONE:
            return code
    kept = find_run(files.data_directory)
    unpainted = shot.unpainted_frames
    before = psnr_over(unpainted, files.plate, files.truth)
    after = psnr_over(unpainted, files.result, files.truth)
    rows = {
        "Contact sheet": kept.contact_sheet(kept.contact_sheet_steps()[-1]),
        "Graph": kept.graph(".png"),
        "Model": find_model(files.data_directory),
        "Plate": files.plate,
        "Result": files.result,
        "PSNR": f"{before:.2f} dB before, {after:.2f} dB after, on the {len(unpainted)} frames that nobody painted",
    }
    print()
    for name, value in rows.items():
        print(f"{name + ':':16}{value}")
    return EXIT_DONE
