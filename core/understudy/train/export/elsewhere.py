"""Run by a Python with another torch, such as a Nuke's, and without understudy: an exported model's answers.

python elsewhere.py MODEL.pt GIVEN.npz ANSWERED.npz    prints that torch's version
"""

import sys

import numpy as np
import torch


def main(model_path: str, given_path: str, answered_path: str) -> None:
    module = torch.jit.load(model_path, map_location="cpu")  # type: ignore[no-untyped-call]
    answers = []
    with np.load(given_path) as given, torch.no_grad():
        for number in range(len(given.files)):
            pixels = np.ascontiguousarray(given[f"arr_{number}"].transpose(2, 0, 1)[None])  # 1 Cin H W
            answers.append(module(torch.from_numpy(pixels))[0].permute(1, 2, 0).numpy())
    np.savez(answered_path, *answers)
    sys.stdout.write(torch.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
