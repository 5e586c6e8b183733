"""The batches of a run, step by step: gathered between the steps or ahead of the loop on a thread, or cut by a GPU."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from understudy.train.crops import Share
from understudy.train.device_frames import device_frames
from understudy.train.drawn import Batch, Drawn
from understudy.train.gather import gather, locate
from understudy.train.misses import Misses
from understudy.train.run import Run

STEPS_AT_ONCE = 8
"""Whose crops are gathered together, and grain laid over them: what is to be begun for each is begun once, with
Python's code in the cache.

Up to seven ahead, where Prefetch has three; Misses allows for that (STEPS_AHEAD).
"""


@contextmanager
def batches_from(step: int, run: Run, misses: Misses, share: Share) -> Iterator[Iterator[Drawn]]:
    """Those of step, step + 1, and so on, this rank's `share` of each.

    A GPU cuts them out of frames in its own memory. Of others a thread gathers them ahead, where that costs the loop
    nothing, or spares it a disk, as what is mapped may lie there. For a CPU a few are gathered when one is asked for:
    the thread would take a core and Python's lock away from the step.
    """
    samples = (share.computed(run.batch.samples(each)) for each in itertools.count(step))
    if frames := device_frames(run.training, run.machine):
        yield (locate(run.training, run.crops, misses, some, frames) for some in samples)
        return
    pin = run.machine.device.type == "cuda"

    def gathered(num_steps: int) -> Iterator[Batch]:
        while steps := list(itertools.islice(samples, num_steps)):
            together = [sample for some in steps for sample in some]
            batch = gather(run.training, run.crops, misses, together, encoded=run.encoded, pin=pin)
            if run.grain and batch.is_encoded:  # of others a step lays it, when it has encoded them
                batch = run.grain.over(batch, 1)
            yield from batch.split([len(some) for some in steps])

    if run.machine.device.type == "cpu" and all(pair.is_in_memory for pair in run.training):
        yield gathered(STEPS_AT_ONCE)
        return
    prefetch = Prefetch(gathered(1))
    try:
        yield iter(prefetch)
    finally:
        prefetch.close()


class Prefetch:
    """Iterates over what another iterator makes, on a thread, up to three ahead."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._ready: queue.Queue[Batch | BaseException] = queue.Queue(maxsize=2)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(batches,), name="prefetch", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item

    def close(self) -> None:
        """Stop the thread; returns when it has ended."""
        self._closing.set()
        while self._thread.is_alive():
            try:
                self._ready.get_nowait()  # it may be waiting for room
            except queue.Empty:
                self._thread.join(timeout=0.01)

    def _work(self, batches: Iterator[Batch]) -> None:
        # Of this thread. One that has helpers makes the program have more threads than there are cores, and then none
        # keeps awake any more between two operations: a step of the loop takes half as long again.
        torch.set_num_threads(1)
        try:
            for batch in batches:
                self._ready.put(batch)
                if self._closing.is_set():
                    return
        except BaseException as error:
            self._ready.put(error)  # raised in the loop's thread, which owns the run
