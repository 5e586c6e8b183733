"""demo: make a shot, train on its five painted frames, apply the model to all, and show what came of it"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import EXIT_DONE, UnderstudyError

if TYPE_CHECKING:
    from understudy.demo.files import DemoFiles

NODE = "CopyCat1"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", type=Path, default=Path("demo"), metavar="DIR", help="where everything goes (default ./demo)"
    )

    parser.add_argument("--farm", default="", metavar="NAME", help="submit it to a farm instead of training here")
    parser.add_argument("--ranks", type=int, default=1, metavar="N", help="with --farm: rank tasks (default 1)")


def run(arguments: argparse.Namespace) -> int:
    from understudy.demo.measure import psnr_over
    from understudy.demo.script import DemoTraining
    from understudy.demo.shot import DemoShot
    from understudy.demo.write import write_demo
    from understudy.runs import find_model, find_run

    if arguments.ranks != 1 and not arguments.farm:
        raise UnderstudyError("--ranks: needs a farm to run on; give --farm local for this machine")
    shot = DemoShot()
    files = write_demo(arguments.folder, shot, DemoTraining(), say=print)
    for words in _commands(files, arguments):
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


def _commands(files: DemoFiles, arguments: argparse.Namespace) -> list[list[str]]:
    """What a user would type, one after the other."""
    script, data = str(files.script), str(files.data_directory)
    if not arguments.farm:
        apply = ["apply", data, "--input", files.plate, "--output", files.result]
        return [["-F", "1", "-X", NODE, script], apply]
    where = ["--farm", arguments.farm, "--ranks", str(arguments.ranks), "--follow"]
    return [["submit", *where, "-X", NODE, script, "--apply-input", files.plate, "--apply-output", files.result]]
