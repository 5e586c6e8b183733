"""panel: open the window in which a shot is trained, watched and taken back"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from understudy.errors import UnderstudyError


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shot",
        nargs="*",
        metavar="SHOT",
        help="a Nuke script, a timeline (.otio), two sequences, or a data directory; empty: what was open last",
    )


def run(arguments: argparse.Namespace) -> int:
    try:
        from understudy_ui.panel.alone import show
    except ImportError as error:
        raise UnderstudyError(f"the panel needs PySide6 ({error}); pip install 'understudy[panel]'") from error
    return show([str(Path.cwd() / path) for path in arguments.shot], os.environ)
