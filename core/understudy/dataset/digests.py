"""Short texts by which machines find out that they decoded different pixels, and from which frames."""

from __future__ import annotations

import zlib

import numpy as np

from understudy.dataset.decoded import Dataset, DecodedPair


def pair_digests(dataset: Dataset) -> dict[str, str]:
    """For each pair, `frame 1043 train` -> its window, channels and a CRC-32 of all its pixels.

    Equal on every machine that decoded the same pixels, whether they lie in memory or in a file.
    """
    return {f"frame {one.facts.frame} {one.pair.use}": _digest(one) for one in dataset.pairs}


def _digest(one: DecodedPair) -> str:
    checksum = 0
    for array in (one.input, one.target, one.valid):
        if array is not None:
            checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    channels = f"{','.join(one.facts.input_channels)} -> {','.join(one.facts.target_channels)}"
    return f"{one.window} {channels} {checksum:08x}"
