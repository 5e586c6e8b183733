"""What is known of a model: its file says most, its run's record the rest. Every telling of it begins here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from understudy.errors import UnderstudyError
from understudy.frames.sequence import sequences_of
from understudy.orders import Order, remembered
from understudy.pairs import PairUse
from understudy.remap import Remap
from understudy.report.metrics import read_metrics
from understudy.report.run_record import PairRecord, RunRecord, read_record
from understudy.runs import RunFiles, find_model, find_run

if TYPE_CHECKING:
    from understudy.train.model_file import ModelCard
    from understudy.train.network import NetworkSpec


Role = Literal["contact sheet", "graph", "pairs", "record", "script"]
"""What a file of a run is for."""


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the run's record and metrics add."""

    files: RunFiles
    record: RunRecord
    order: Order
    """As the run was asked for; paths are those of this system."""
    seconds: float | None
    """Training time up to the model's step; None when it was not recorded."""

    def frames(self, use: PairUse) -> tuple[int, ...]:
        return tuple(sorted(pair.frame for pair in self.record.pairs if pair.use == use))

    def files_of(self, side: str) -> dict[str, tuple[int, ...]]:
        """Patterns of the files of `input` or `target`, each with its frames."""
        return sequences_of(_path_of(pair, side) for pair in self.record.pairs)


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """What the model file says."""

    path: Path
    spec: NetworkSpec
    card: ModelCard
    num_weights: int

    def rows(self) -> Mapping[str, str]:
        """What everybody is told, by name, in order."""
        spec, card = self.spec, self.card
        psnr = "none" if card.validation_psnr is None else f"{card.validation_psnr:.2f} dB"
        return {
            "Channels": f"{', '.join(spec.input_channels)} -> {', '.join(spec.target_channels)}",
            "Input layer": card.input_layer or "main picture",
            "Target layer": card.target_layer or "main picture",
            "Model Size": f"{spec.model_size} ({self.num_weights:,} weights)",
            "Colour space": card.working_space,
            "Run": card.run_name,
            "Steps": f"{card.step} of {card.total_steps}",
            "Loss": f"{card.loss:.6f}",
            "Validation PSNR": psnr,
            "Crop Size": str(card.crop_size),
            "Made by": f"understudy {card.understudy_version}",
        }


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A model and its run."""

    model: ModelFacts
    run: RunFacts | None
    """None for a model file that lies away from its run."""

    @property
    def training_frames(self) -> tuple[int, ...]:
        if self.run:
            return self.run.frames("train")
        named = (pair.partition(":")[0] for pair in self.model.card.trained_on)
        return tuple(sorted(int(frame) for frame in named if frame.lstrip("-").isdecimal()))

    @property
    def validation_frames(self) -> tuple[int, ...]:
        """Empty also when nobody knows."""
        return self.run.frames("validation") if self.run else ()

    def files(self) -> dict[Role, Path | None]:
        """What the run has left beside the model; None for what it has not. The sheet is the newest up to its step."""
        if self.run is None:
            return {}
        files = self.run.files
        sheets = [step for step in files.contact_sheet_steps() if step <= self.model.card.step]
        named: dict[Role, Path | None] = {
            "contact sheet": files.contact_sheet(sheets[-1]) if sheets else None,
            "graph": files.graph(".png"),
            "pairs": files.timeline,
            "record": files.record,
            "script": files.script,
        }
        return {role: path if path and path.is_file() else None for role, path in named.items()}


def model_facts_of(place: Path) -> ModelFacts:
    """Of a model file, or of a run's newest model.

    Raises UnderstudyError when there is none, or it is damaged.
    """
    path = find_model(place)
    from understudy.train.model_file import load_model  # torch: only now

    saved = load_model(path)
    return ModelFacts(
        path=path,
        spec=saved.model.spec,
        card=saved.card,
        num_weights=sum(parameter.numel() for parameter in saved.model.parameters()),
    )


def facts_of(place: Path, remap: Remap = ()) -> Facts:
    """Of a model and its run; `remap`: for paths that another system wrote.

    Raises UnderstudyError as `model_facts_of` does, or when the run's record or metrics are damaged.
    """
    model = model_facts_of(place)
    return Facts(model=model, run=_run_facts(model.path, model.card.step, remap))


def _run_facts(model: Path, step: int, remap: Remap) -> RunFacts | None:
    try:
        files = find_run(model)
    except UnderstudyError:
        return None
    record = read_record(files.record)
    return RunFacts(
        files=files,
        record=record,
        order=remembered(record, files, {}, remap),
        seconds=_seconds_up_to(step, files.metrics),
    )


def _seconds_up_to(step: int, path: Path) -> float | None:
    if not path.is_file():
        return None
    metrics = read_metrics(path)
    known: list[float] = metrics.seconds[metrics.steps <= step].tolist()
    return max(known, default=None)


def _path_of(pair: PairRecord, side: str) -> str:
    return (pair.input if side == "input" else pair.target).path
