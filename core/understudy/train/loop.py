"""The training loop."""

from __future__ import annotations

import time

from understudy.stopping import StopRequests
from understudy.train.batches import Prefetch
from understudy.train.recorder import Recorder
from understudy.train.run import Run
from understudy.train.state import TrainingState
from understudy.train.step import train_step


def train(run: Run, state: TrainingState, recorder: Recorder, stop: StopRequests) -> str:
    """Train until the schedule is over or a stop is asked for; a checkpoint is written either way.

    Returns why it stopped early, or an empty string when the run is finished.
    Raises UnderstudyError when a file cannot be written or the loss is no longer a number.
    """
    begin = time.monotonic() - state.elapsed_seconds
    device = run.machine.device
    batches = Prefetch(
        run.training, run.crops, batch_size=run.batch_size, first_step=state.step + 1, pin=device.type == "cuda"
    )
    try:
        for batch in batches:
            plan = run.schedule.plan(state.step + 1, state.elapsed_seconds)
            loss = train_step(state, batch.to(device), plan, run.machine)
            state.elapsed_seconds = time.monotonic() - begin
            recorder.after_step(loss, plan)
            is_over = run.schedule.is_over(state.step, state.elapsed_seconds)
            reason = "" if is_over else stop.reason()
            if is_over or reason or recorder.is_checkpoint_due():
                recorder.checkpoint()
            if is_over or reason:
                return reason
    finally:
        batches.close()
    raise AssertionError("the batches never end")
