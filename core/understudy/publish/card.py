"""The card: Markdown that tells a compositor what a model does, what it was trained on, and how to load it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from understudy.frames.sequence import format_frames
from understudy.publish.facts import Facts, RunFacts
from understudy.publish.loading import Loading, sections
from understudy.publish.markdown import bullet, code, link, paragraph, table
from understudy.publish.result import Result
from understudy.report.course import spoken_time
from understudy.report.run_record import RunRecord
from understudy.settings import from_record
from understudy.train.export.hosts import Host

NO_LICENCE = "none stated: ask whoever published it before you use it elsewhere"

_ABOUT_SHEETS = (
    "Each row is a crop: input, ground truth, the model's output, and the difference times 4. Rows under an ochre "
    "strip are validation frames, which training never saw: judge by them."
)
_ABOUT_GRAPHS = "Above the loss, below the learning rate; between them, if it was validated, the PSNR of that."
_ABOUT_SECTIONS = (
    "Paths are those from this folder. The lines for understudy, onnxruntime and torch are run by understudy's own "
    "tests; those for Nuke, Flame and Houdini follow the documents of these programs and were not seen in them."
)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What lies beside the card, by its path from there; empty: there is no such."""

    title: str
    model: str
    thumbnail: str = ""
    contact_sheet: str = ""
    graph: str = ""
    pairs: str = ""
    """The timeline of the pairs."""
    result: str = ""
    """Folder of the result's frames."""
    result_timeline: str = ""
    exports: Mapping[Host, tuple[str, ...]] = field(default_factory=dict)
    """The files of each."""
    left_out: Mapping[Host, str] = field(default_factory=dict)
    """Exports that were not made, and why."""


def card_text(facts: Facts, contents: Contents, *, licence: str = "", result: Result | None = None) -> str:
    """The whole card."""
    spec = facts.model.spec
    loading = Loading(
        model=contents.model,
        inputs=spec.input_channels,
        targets=spec.target_channels,
        space=facts.model.card.working_space,
        exports=contents.exports,
        left_out=contents.left_out,
    )
    lines = [f"# {contents.title}", ""]
    lines += [f"![thumbnail]({quote(contents.thumbnail)})", ""] if contents.thumbnail else []
    lines += [*_in_short(facts), "", *table(_rows(facts, licence)), ""]
    lines += ["## How to load it", "", *paragraph(_ABOUT_SECTIONS), "", *sections(loading), ""]
    lines += ["## What it was trained on", "", *_trained_on(facts, contents), ""]
    lines += ["## The result", "", *_result(result, contents), ""] if result else []
    lines += [*_pictures(contents), "## Where it comes from", "", *_history(facts)]
    return "\n".join(lines) + "\n"


def _in_short(facts: Facts) -> list[str]:
    spec, frames = facts.model.spec, facts.training_frames
    return paragraph(
        f"Makes {', '.join(spec.target_channels)} from {', '.join(spec.input_channels)}, frame by frame. It has learnt "
        f"that from {_counted(frames, 'painted frame')}: expect it to work on the shot they are of, and elsewhere only "
        f"after a look. Pixels go in and come out scene-linear, in `{facts.model.card.working_space}`, at any size; "
        "what is brighter than white stays so, but in mattes."
    )


def _rows(facts: Facts, licence: str) -> dict[str, str]:
    rows, run = dict(facts.model.rows()), facts.run
    if facts.validation_frames:
        rows["Validation PSNR"] += f", {_numbered(facts.validation_frames)}, which training never saw"
    elif run and facts.model.card.validation_psnr is not None:
        rows["Validation PSNR"] += ", on small squares of the painted frames that training never saw"
    if run and run.seconds is not None:
        by_clock = from_record(run.record.settings).minutes
        rows["Steps"] = f"{facts.model.card.step}, by the clock" if by_clock else rows["Steps"]
        rows["Training time"] = f"{spoken_time(run.seconds)} on {run.record.device}"
    if run and run.record.colour.get("config"):
        rows["OCIO config"] = run.record.colour["config"]
    return {**rows, "Licence": licence or NO_LICENCE}


def _trained_on(facts: Facts, contents: Contents) -> list[str]:
    frames = facts.training_frames
    lines = bullet(f"Training: {_counted(frames, 'pair')}, {_numbered(frames)}")
    if frames := facts.validation_frames:
        lines += bullet(f"Validation: {_counted(frames, 'pair')}, {_numbered(frames)}")
    if facts.run is None:
        lines += bullet("The run's record did not lie beside the model, so that no more is known.")
    else:
        for name, side in (("Input", "input"), ("Ground truth", "target")):
            for pattern, numbers in facts.run.files_of(side).items():
                lines += bullet(f"{name}: `{pattern}` {format_frames(numbers)}")
    if contents.pairs:
        lines += ["", *paragraph(f"{link(contents.pairs)} names every file of every pair, as a timeline.")]
    return lines


def _history(facts: Facts) -> list[str]:
    card = facts.model.card
    if facts.run is None:
        return bullet(f"Step {card.step} of the run `{card.run_name}`, by understudy {card.understudy_version}.")
    record = facts.run.record
    settings = from_record(record.settings)
    begun = f"the weights of `{settings.initial_weights}`" if settings.initial_weights else "nothing"
    versions = [f"{name} {record.versions[name]}" for name in ("understudy", "torch") if name in record.versions]
    return [
        *bullet(f"The run `{card.run_name}` began from {begun}, {record.started}; this is its step {card.step}."),
        *bullet(_source(facts.run)),
        *bullet(
            f"Batches of {_sizes(record)}, crops of {settings.crop_size} x {settings.crop_size} pixels, seed "
            f"{settings.seed}; {', '.join(versions)}."
        ),
        "",
        *code("", record.command),
    ]


def _sizes(record: RunRecord) -> str:
    first = record.first_steps
    return f"{record.batch_size}" + (f" ({first.size} in the first {first.steps} steps)" if first else "")


def _source(run: RunFacts) -> str:
    """How the pairs were named."""
    about = run.order.source.record()
    ways = {
        "script": f"The pairs are those of node {about.get('node')} in the Nuke script `{about.get('original')}`, "
        "by the numbers of its timeline.",
        "sequences": f"The pairs are of two sequences, `{about.get('input')}` and `{about.get('target')}`.",
        "timeline": "The pairs were named by a timeline.",
    }
    return ways[str(about["kind"])]


def _pictures(contents: Contents) -> list[str]:
    lines: list[str] = []
    if contents.contact_sheet:
        picture = f"![contact sheet]({quote(contents.contact_sheet)})"
        lines += ["## How well it has learnt", "", picture, "", *paragraph(_ABOUT_SHEETS), ""]
    if contents.graph:
        lines += [f"![graph of the training]({quote(contents.graph)})", "", *paragraph(_ABOUT_GRAPHS), ""]
    return lines


def _result(result: Result, contents: Contents) -> list[str]:
    text = f"`{result.pattern}`, {_numbered(result.frames)}, {result.fps:g} a second."
    text += f" Missing: {format_frames(result.missing)}." if result.missing else ""
    text += f" A copy of them lies in `{contents.result}`." if contents.result else ""
    lines = paragraph(text)
    text = (
        f"{link(contents.result_timeline)} opens in viewers of OpenTimelineIO. Its tracks are input, ground truth and, "
        "on top, the result; on that the painted frames are marked, green for training, orange for validation."
    )
    return [*lines, "", *paragraph(text)]


def _counted(frames: tuple[int, ...], what: str) -> str:
    return f"{len(frames)} {what}{'s' * (len(frames) != 1)}"


def _numbered(frames: tuple[int, ...]) -> str:
    return f"frame{'s' * (len(frames) != 1)} {format_frames(frames)}"
