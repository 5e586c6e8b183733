"""How fast frames come from disk and crops from memory, and whether a large set keeps the loop waiting."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import OpenImageIO as oiio

from understudy.dataset import Dataset, decode
from understudy.dataset.decoding import MAX_THREADS
from understudy.sources.sequences import SequenceSource
from understudy.train.crops import CropPlan
from understudy.train.fit import interests_of
from understudy.train.gather import gather
from understudy.train.misses import Misses
from understudy.train.network import NetworkSpec, Understudy

BATCHES = 200


@dataclass(frozen=True, kw_only=True)
class DataPace:
    """Of one data set."""

    frames_a_second: float
    """Decoded, by all threads, ready to draw from."""
    crops_a_second: float
    """Cut out of input and target and joined to a batch, by one thread."""


def data_pace(source: SequenceSource, crop_size: int, batch_size: int) -> DataPace:
    begin = time.perf_counter()
    dataset = _decoded(source, crop_size)
    frames = 2 * len(dataset.pairs) / (time.perf_counter() - begin)
    plan = _plan(dataset, crop_size)
    misses = Misses(plan.interest)
    gather(dataset.training, plan, misses, range(batch_size))
    begin = time.perf_counter()
    for batch in range(BATCHES):
        gather(dataset.training, plan, misses, range(batch * batch_size, (batch + 1) * batch_size))
    return DataPace(frames_a_second=frames, crops_a_second=BATCHES * batch_size / (time.perf_counter() - begin))


def _decoded(source: SequenceSource, crop_size: int) -> Dataset:
    return decode(
        source.pairs(),
        crop_size=crop_size,
        memory_bytes=8 * 2**30,
        cache_folder=Path(tempfile.gettempdir()),
        warn=print,
    )


def _plan(dataset: Dataset, crop_size: int) -> CropPlan:
    spec = NetworkSpec(
        input_channels=dataset.input_channels, target_channels=dataset.target_channels, model_size="small"
    )
    model = Understudy(spec)
    interest = interests_of(model, dataset.training)
    return CropPlan(dataset.training, interest, crop_size=crop_size, seed=0)


def bare_decode_seconds(files: Sequence[Path]) -> float:
    """To read them with OpenImageIO into float and throw them away, by as many threads as understudy takes."""
    oiio.attribute("threads", 1)
    oiio.attribute("exr_threads", -1)

    def read(path: Path) -> None:
        opened = oiio.ImageInput.open(str(path))
        assert opened is not None
        assert opened.read_image(oiio.FLOAT) is not None
        opened.close()

    begin = time.perf_counter()
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_THREADS)) as pool:
        list(pool.map(read, files))
    return time.perf_counter() - begin
