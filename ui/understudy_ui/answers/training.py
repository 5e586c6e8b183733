"""Before anything is sent: what the words of a submission name, and whether it can be trained on; and the sending."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy.cli.main import parsed
from understudy.cli.options import settings_of
from understudy.cli.source_options import ChosenSource, build_source
from understudy.errors import ProblemList, UnderstudyError
from understudy.frames.sequence import Sequence as FileSequence
from understudy.pairs import Pair
from understudy.report.run_record import PairRecord, SideRecord, pair_records
from understudy.script.copycat import TRAINING_CLASSES, training_nodes
from understudy.script.graph import read_script
from understudy.settings import Settings
from understudy.survey import survey
from understudy_farm.backend import names_on
from understudy_farm.cli.submit import keep_in_mind, request_of, what_would_be_sent
from understudy_farm.submission import Request, send, title_of
from understudy_ui.answers.asking import Asking
from understudy_ui.protocol import (
    CheckShown,
    FarmNames,
    Json,
    PairShown,
    PreviewShown,
    SentShown,
    Side,
    SourceShown,
    TrainingNode,
)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What the words of a training came to, without the farm."""

    named: ChosenSource
    settings: Settings


def chosen_by(words: list[str]) -> Chosen:
    """Raises UnderstudyError, or Problems, for words that name no training."""
    arguments = _arguments_of(words)
    named = build_source(arguments)
    return Chosen(named=named, settings=settings_of(arguments, named.settings))


def request_by(words: list[str]) -> Request:
    """As `understudy submit --detach` makes it. Raises UnderstudyError, or Problems."""
    return dataclasses.replace(request_of(_arguments_of(words)), is_held=False)


def nodes(asking: Asking) -> list[TrainingNode]:
    script = read_script(Path(asking.text("script")))
    return [
        {"name": node.path, "kind": "CopyCat" if node.class_name == TRAINING_CLASSES[0] else "Understudy"}
        for node in training_nodes(script)
    ]


def source(asking: Asking) -> SourceShown:
    chosen = chosen_by(asking.words())
    about = chosen.named.source.record()
    shot = FileSequence(str(about.get("input", "")))
    frames = shot.frames_on_disk()
    return {
        "title": title_of(about),
        "knobs": {name: _as_json(value) for name, value in chosen.named.settings.items()},
        "pairs": pairs_shown(pair_records(chosen.named.source.pairs())),
        "data_directory": str(chosen.settings.data_directory.absolute()),
        "frames_of_input": list(frames),
        "input_pattern": shot.pattern if frames else "",
    }


def check(asking: Asking) -> CheckShown:
    """Pairs that cannot even be named are problems too; words that say nothing are faults."""
    chosen = chosen_by(asking.words())
    missing = ProblemList()
    pairs: tuple[Pair, ...] = ()
    with missing.collecting():
        pairs = chosen.named.source.pairs()
    if missing.lines:
        return {"problems": [{"frame": None, "line": line} for line in missing.lines], "remarks": []}

    def tell(num_done: int) -> None:
        asking.tell(f"{num_done} of {len(pairs)} frames")

    found = survey(pairs, crop_size=chosen.settings.crop_size, tell=tell)
    problems = found.problems.items()
    return {"problems": [{"frame": frame, "line": line} for line, frame in problems], "remarks": [*found.remarks]}


def preview(asking: Asking) -> PreviewShown:
    words, found = asking.words(), list[str]()
    job, files = what_would_be_sent(request_by(words), found.append, asking.tell)
    return {
        "command": shlex.join(["understudy", "submit", *words]),
        "run_directory": str(job.run_directory),
        "files": files,
        "remarks": found,
    }


def submit(asking: Asking) -> SentShown:
    """The job is nobody's but the farm's: it goes on when this process has ended."""
    request = request_by(asking.words())
    sent = send(request, asking.tell)
    keep_in_mind(sent, request)
    return {"run_directory": str(sent.job.run_directory), "farm": sent.farm, "link": sent.receipt.link}


def farm_names(asking: Asking) -> FarmNames:
    request = request_by(asking.words())
    names = names_on(request.farm, request.site)
    return {
        "pool": [*names.pools],
        "group": [*names.groups],
        "limits": [*names.limits],
        "machines": [*names.machines],
    }


def pairs_shown(records: Iterable[PairRecord]) -> list[PairShown]:
    return [
        {"frame": pair.frame, "use": pair.use, "input": _side(pair.input), "target": _side(pair.target)}
        for pair in records
    ]


def _side(side: SideRecord) -> Side:
    return {"label": side.label, "path": side.path, "layer": side.layer}


def _arguments_of(words: list[str]) -> argparse.Namespace:
    try:
        return parsed(["submit", *words])
    except SystemExit as asked_for_help:
        raise UnderstudyError("--help: is no choice of a training; leave it out") from asked_for_help


def _as_json(value: object) -> Json:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
