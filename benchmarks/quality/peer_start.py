"""Runs in a peer's Python: its program as its own command line would, but with a seed.

    python peer_start.py SEED PROGRAM [WORD ...]

The peers seed nothing, so that without this each seed would begin with the same weights. Where TensorFlow is absent,
which one of them wants for a log that nothing here reads, a stand-in takes its calls.
"""

from __future__ import annotations

import importlib.util
import random
import runpy
import sys
import types
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import torch


class _Deaf(types.ModuleType):
    """Takes any call on any of its parts."""

    def __getattr__(self, name: str) -> _Deaf:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Deaf(name)

    def __call__(self, *_: object, **__: object) -> _Deaf:
        return self


def main() -> None:
    seed, program, *words = sys.argv[1:]
    torch.manual_seed(int(seed))
    random.seed(int(seed))
    np.random.seed(int(seed))
    if importlib.util.find_spec("tensorflow") is None:
        sys.modules["tensorflow"] = _Deaf("tensorflow")
        # torch looks where it lies.
        sys.modules["tensorflow"].__spec__ = ModuleSpec("tensorflow", None)
    sys.path[0] = str(Path(program).parent)
    sys.argv = [program, *words]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
