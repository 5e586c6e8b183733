"""On a screen with several pixels a unit, graph and pictures use all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).parents[3]


def test_graph_and_pictures_are_as_fine_as_the_screen() -> None:
    environment = {**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(REPO)}
    program = Path(__file__).with_name("high_dpi.py")
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=True)
    shares = json.loads(done.stdout)
    assert shares["graph"] > 0.02, "lines and letters are finer than a unit"
    assert shares["picture"] > 0.95, "each pixel of the picture is one of the screen"
