"""python -m tests.fuzz KIND SEED: writes the file of one case again, and reads it in this process."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.kind import damaged_case
from tests.fuzz.kinds import BY_NAME

from understudy.errors import UnderstudyError


def main(words: Sequence[str]) -> None:
    kind, seed = BY_NAME[words[0]], int(words[1])
    folder = Path("build", "fuzz", f"{kind.name}.{seed}").absolute()
    if folder.exists():
        raise SystemExit(f"{folder}: is there already; remove it first")
    folder.mkdir(parents=True)
    os.chdir(folder)
    os.environ["UNDERSTUDY_HOME"] = "home"
    files = [(path, path.read_bytes()) for path in kind.lay_out()]
    path, _, damaged = damaged_case(kind, files, seed)
    path.write_bytes(damaged)
    sys.stdout.write(f"{folder / path}\n")
    sys.stdout.flush()
    faulthandler.enable()
    try:
        kind.read(path)
        sys.stdout.write("is read\n")
    except UnderstudyError as error:
        sys.stdout.write(f"{error}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
