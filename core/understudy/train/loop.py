"""The training loop."""

from __future__ import annotations

from understudy.errors import RanksMissing
from understudy.ranks.roster import Go
from understudy.train.batches import batches_from
from understudy.train.collector import old_objects_left_alone
from understudy.train.company import Company, Evicted, Parted, Regroup
from understudy.train.elbow_room import ElbowRoom
from understudy.train.recorder import Pen
from understudy.train.recordings import learn_for
from understudy.train.run import Run
from understudy.train.schedule import Pace
from understudy.train.sharing import Sharing
from understudy.train.state import TrainingState
from understudy.train.step import train_step

NOTHING_AGREED = Go(stop="", elapsed_seconds=0.0, regroup=False)
"""Between the steps at which the ranks meet."""


def train(run: Run, state: TrainingState, pen: Pen, company: Company) -> str:
    """Train until the schedule is over or a stop is asked for; a checkpoint is written either way.

    Returns why it stopped early, or an empty string when the run is finished. When ranks come or go, those that are
    there meet again and go on from the newest state.
    Raises UnderstudyError when a file cannot be written, the loss is no longer a number, or too few ranks are left.
    """
    while True:
        try:
            with old_objects_left_alone(), company.assembled(run, state) as sharing:
                pen.ranks_changed(company.take_generation())
                reason = _train_together(run, state, pen, company, sharing)
            company.conclude(reason)
            return reason
        except Parted as parted:
            company.part(parted)
        except Evicted as eviction:
            pen.checkpoint()
            return str(eviction)
        except RanksMissing:
            pen.checkpoint()
            raise


def _train_together(run: Run, state: TrainingState, pen: Pen, company: Company, sharing: Sharing) -> str:
    """Train as long as the same ranks are there. Raises Parted when they must meet again."""
    if run.schedule.is_over(state.step, state.elapsed_seconds):  # only its last files may be missing
        pen.checkpoint()
        return ""
    pace = Pace(step=state.step, elapsed_seconds=state.elapsed_seconds)
    learn = learn_for(state, run.machine, sharing, run.measure, run.grain)
    elbow_room = ElbowRoom(run.machine)
    with batches_from(state.step + 1, run, state.misses, sharing.share) as batches:
        for batch in batches:
            step = state.step + 1
            plan = run.schedule.plan(step, pace.elapsed_at(step - 1))
            is_expected_last = run.schedule.is_over(step, pace.elapsed_at(step))
            is_meeting_point = sharing.begin_step(step, plan.reduction, is_last=is_expected_last)
            if is_meeting_point:
                company.arrive(step)
            loss = train_step(state, batch, plan, sharing, learn)
            agreed = company.agreed(step) if is_meeting_point else NOTHING_AGREED
            if is_meeting_point:
                pace.agree(step, agreed.elapsed_seconds)
                if state.misses.is_change_due(step):
                    state.misses.change(step, run.batch, sharing)
            state.elapsed_seconds = pace.elapsed_at(step)
            pen.after_step(loss, plan)
            elbow_room.look()
            is_over = is_meeting_point and run.schedule.is_over(step, state.elapsed_seconds)
            is_last = is_over or bool(agreed.stop)
            if is_last or agreed.regroup:
                sharing.flush(state)
            if is_last or pen.is_checkpoint_due():
                pen.checkpoint()
            if is_last:
                return "" if is_over else agreed.stop
            if agreed.regroup:
                raise Regroup("a rank waits to join")
    raise AssertionError("the batches never end")
