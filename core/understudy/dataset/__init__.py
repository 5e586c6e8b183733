"""The data set: every pair decoded once into two arrays in display coordinates, ready to draw crops from."""

from __future__ import annotations

from understudy.dataset.decoded import Dataset, DecodedPair, PairFacts, StoredPixels
from understudy.dataset.decoding import decode, decode_pair, on_all_cores
from understudy.dataset.digests import pair_digests
from understudy.dataset.faults import FEWEST_PIXELS, find_problems, remarks, remarks_of_sources
from understudy.dataset.shared import decode_once_per_host

__all__ = [
    "FEWEST_PIXELS",
    "Dataset",
    "DecodedPair",
    "PairFacts",
    "StoredPixels",
    "decode",
    "decode_once_per_host",
    "decode_pair",
    "find_problems",
    "on_all_cores",
    "pair_digests",
    "remarks",
    "remarks_of_sources",
]
