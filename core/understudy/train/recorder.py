"""What a run tells and leaves behind, and when: lines, metrics, contact sheets, validation, checkpoints, graphs."""

from __future__ import annotations

import logging
import math
import time
from typing import Protocol

from torch import Tensor

from understudy import __version__
from understudy.errors import UnderstudyError
from understudy.ranks.roster import Generation
from understudy.report.contact_sheet import Sheet, SheetRow
from understudy.report.progress import Progress
from understudy.train.checkpoint import prune_checkpoints, save_checkpoint
from understudy.train.gather import gather
from understudy.train.infer import answer_for
from understudy.train.judge import Judge
from understudy.train.loss import reduce_pixels
from understudy.train.losses import Losses, Stand
from understudy.train.model_file import ModelCard
from understudy.train.run import Run
from understudy.train.schedule import StepPlan
from understudy.train.state import TrainingState
from understudy.train.voices import Voices

_LOG = logging.getLogger("understudy")

SHEET_STEPS, SHEET_SECONDS = 100, 10.0
"""Between two contact sheets, at least both, where nobody says how often."""
FEWEST_SHEET_CROPS = 3
"""Rows of a contact sheet when a step has fewer crops: those of the steps before are added."""
MOST_SHEET_CROPS = 8


class Pen(Protocol):
    """What the loop tells; it knows what is due."""

    def after_step(self, loss: Tensor, plan: StepPlan) -> None:
        """`loss` is a scalar, still on the device. Raises UnderstudyError when it is no longer a number."""

    def ranks_changed(self, generation: Generation | None) -> None:
        """Who trains from here on; None: this process alone."""

    def is_checkpoint_due(self) -> bool: ...

    def checkpoint(self) -> None:
        """Write what a resumed run needs, and what a person wants to see. Raises UnderstudyError on a full disk."""


class Recorder:
    """Rank 0's pen."""

    def __init__(self, run: Run, state: TrainingState, voices: Voices) -> None:
        self._run = run
        self._state = state
        self._voices = voices
        self._judge = Judge(run, state, voices)
        self._losses = Losses()
        self._loss = math.nan
        self._sheet_seconds = -math.inf
        """Of training, when the last contact sheet was made."""
        self._written_step = max(run.files.checkpoint_steps(), default=0)

    def ranks_changed(self, generation: Generation | None) -> None:
        if generation:
            members = " ".join(map(str, generation.members))
            self._voices.metrics.event(
                "ranks",
                step=self._state.step,
                ranks=members,
                from_rank=generation.donor,
                why="; ".join(generation.changes),
            )

    def after_step(self, loss: Tensor, plan: StepPlan) -> None:
        step = self._state.step
        self._tell(self._losses.add(loss, stand_of(self._state, plan)))
        since_last = self._state.elapsed_seconds - self._sheet_seconds
        if is_sheet_due(self._run.settings.contact_sheet_interval, step, since_last):
            self._sheet_seconds = self._state.elapsed_seconds
            self._voices.reporter.contact_sheet(self._sheet(plan.reduction))
        if self._judge.is_due() and not self.is_checkpoint_due():
            self._look()

    def is_checkpoint_due(self) -> bool:
        return self._state.step % self._run.settings.checkpoint_interval == 0

    def checkpoint(self) -> None:
        """Validate, write model and optimizer state, drop old ones, redraw the graph; not twice for one step."""
        if self._written_step == self._state.step:
            return
        state, files = self._state, self._run.files
        self._tell(self._losses.rest())
        psnr = self._validate() if self._judge.can_look else None
        begin = time.monotonic()
        save_checkpoint(files, state, self._card(psnr))
        _LOG.info(
            "checkpoint written in %.2f s after %.0f s of training", time.monotonic() - begin, state.elapsed_seconds
        )
        self._voices.progress.saved("Model", files.model(state.step))
        self._voices.progress.saved("Optimiser", files.state(state.step))
        prune_checkpoints(files, self._run.settings.max_checkpoints, state.best_step)
        self._voices.reporter.graph()
        self._written_step = state.step

    def conclude(self) -> None:
        """Say what can only be said at the end."""
        self._judge.conclude()

    def _tell(self, means: list[tuple[Stand, float]]) -> None:
        for stand, loss in means:
            say_step(self._run, self._voices.progress, stand, loss)
            self._loss = loss
            plan = stand.plan
            _LOG.debug("learning rate %.3g, resolution 1/%d", plan.learning_rate, plan.reduction)
            facts = {"loss": loss, "learning_rate": plan.learning_rate, "scale": 1 / plan.reduction}
            self._voices.metrics.step(stand.step, seconds=stand.elapsed_seconds, **facts)
            if self._voices.events:
                self._voices.events.scalars(stand.step, facts)

    def _look(self) -> None:
        """Between checkpoints."""
        self._tell(self._losses.rest())
        self._voices.progress.validated(self._judge.look())
        self._judge.tell_news()

    def _validate(self) -> float:
        """For a checkpoint: the best is one of those."""
        state = self._state
        psnr = self._judge.look()
        if psnr > state.best_psnr:
            state.best_step, state.best_psnr = state.step, psnr
        self._voices.progress.validated(psnr, f"best {state.best_psnr:.2f} at {state.best_step}")
        self._judge.tell_news()
        return psnr

    def _card(self, psnr: float | None) -> ModelCard:
        run = self._run
        pairs = [pair.pair for pair in run.training]
        return ModelCard(
            run_name=run.files.name,
            step=self._state.step,
            total_steps=run.schedule.total_steps,
            loss=self._loss,
            validation_psnr=psnr,
            working_space=run.colour.working_space_name,
            input_layer=pairs[0].input.media.layer,
            target_layer=pairs[0].target.media.layer,
            trained_on=tuple(f"{pair.frame}: {pair.input.label} -> {pair.target.label}" for pair in pairs),
            crop_size=run.settings.crop_size,
            understudy_version=__version__,
        )

    def _sheet(self, reduction: int) -> Sheet:
        spec = self._state.model.spec
        return Sheet(
            run_name=self._run.files.name,
            step=self._state.step,
            total_steps=self._run.schedule.total_steps,
            rows=(*self._crop_rows(reduction), *self._previewed_rows()),
            input_channels=spec.input_channels,
            target_channels=spec.target_channels,
            loss=self._loss,
        )

    def _crop_rows(self, reduction: int) -> list[SheetRow]:
        """The step's own crops, at the resolution it trained on."""
        run, own = self._run, self._run.batch.samples(self._state.step)
        num_crops = min(max(len(own), FEWEST_SHEET_CROPS), MOST_SHEET_CROPS, own.stop)
        batch = gather(run.training, run.crops, self._state.misses, range(own.stop - num_crops, own.stop))
        inputs = reduce_pixels(batch.input.float(), reduction).permute(0, 2, 3, 1).numpy()  # N h w Cin
        targets = reduce_pixels(batch.target.float(), reduction).permute(0, 2, 3, 1).numpy()  # N h w Cout
        return [
            SheetRow(
                title=f"crop {n + 1}, {run.training[crop.pair].pair.input.media.path.name}",
                input=inputs[n],
                target=targets[n],
                output=answer_for(self._state.averaged, inputs[n], run.machine),
                is_validation=False,
            )
            for n, crop in enumerate(batch.crops)
        ]

    def _previewed_rows(self) -> list[SheetRow]:
        return [
            SheetRow(
                title=f"validation, {preview.name}",
                input=preview.input,
                target=preview.target,
                output=answer_for(self._state.averaged, preview.input, self._run.machine),
                is_validation=True,
            )
            for preview in self._run.previews
        ]


class Follower:
    """The pen of every other rank: its own lines, and no file."""

    def __init__(self, run: Run, state: TrainingState, progress: Progress) -> None:
        self._run = run
        self._state = state
        self._progress = progress
        self._losses = Losses()

    def ranks_changed(self, generation: Generation | None) -> None:
        """Said already by the company; rank 0 writes it down."""

    def after_step(self, loss: Tensor, plan: StepPlan) -> None:
        self._tell(self._losses.add(loss, stand_of(self._state, plan)))

    def is_checkpoint_due(self) -> bool:
        return False

    def checkpoint(self) -> None:
        """Rank 0's to write; the last steps are told."""
        self._tell(self._losses.rest())

    def _tell(self, means: list[tuple[Stand, float]]) -> None:
        for stand, loss in means:
            say_step(self._run, self._progress, stand, loss)


def stand_of(state: TrainingState, plan: StepPlan) -> Stand:
    return Stand(step=state.step, elapsed_seconds=state.elapsed_seconds, plan=plan)


def say_step(run: Run, progress: Progress, stand: Stand, loss: float) -> None:
    """Its line, with how much of the run is done, by steps or by the clock, whichever is further.

    Raises UnderstudyError when training has come apart.
    """
    if not math.isfinite(loss):
        raise UnderstudyError(
            f"step {stand.step}: the loss is no longer a number; train again with --learning-rate "
            f"{run.schedule.knob_learning_rate / 4:g} (earlier checkpoints are whole)"
        )
    progress.step(stand.step, loss, run.schedule.progress(stand.step + 1, stand.elapsed_seconds))


def is_sheet_due(interval: int, step: int, seconds_since_last: float) -> bool:
    """`interval`: as in Settings; a small network on a GPU would draw more than it trains without the second rule."""
    if interval:
        return step % interval == 0
    return step % SHEET_STEPS == 0 and seconds_since_last >= SHEET_SECONDS
