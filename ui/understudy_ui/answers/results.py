"""What a trained model gives: the whole shot, files for other programs, and the frame to paint next."""

from __future__ import annotations

import json
import re
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.orders import remembered
from understudy.report.run_record import read_record
from understudy.runs import RunFiles, find_model, run_of
from understudy.train.export.folder import RECORD
from understudy_farm.submission import colour_words
from understudy_ui.answers.asking import Asking
from understudy_ui.answers.children import output_of
from understudy_ui.protocol import AppliedShown, ExportedShown, SuggestionShown

_MADE = re.compile(r"^Frame (-?\d+) ", re.MULTILINE)
"""Said by `understudy apply` of each frame."""
_SAVED = re.compile(r"^ \[\*\] Export saved at (.+)$", re.MULTILINE)
"""Said by `understudy export`."""
_WARNING = re.compile(r"^warning: (.+)$", re.MULTILINE)


def apply(asking: Asking) -> AppliedShown:
    """On this machine, with the colour rules and the view of the run; its own input where none is given."""
    files = run_of(Path(asking.text("place")))
    output = asking.text("output")
    if not output:
        raise UnderstudyError("--output: is empty; give a pattern such as result.####.exr")
    model = _model_of(files, asking.whole_or_none("checkpoint") or 0)
    words = ["apply", str(model), *_input_words(files, asking.text("input")), "--output", output]
    frames = asking.text("frames")
    words += ["--frames", frames] if frames else []
    passes = asking.whole("passes", 1)
    words += ["--passes", str(passes)] if passes > 1 else []
    said = output_of(asking, [*words, "--progress", "plain"], tells_stdout=True)
    made = [int(number) for number in _MADE.findall(said)]
    return {"said": f"{len(made)} frames were made by {model.name}: {output}", "frames": made}


def export(asking: Asking) -> ExportedShown:
    """What is told of it stands in the record that the export itself leaves."""
    files, host, folder = run_of(Path(asking.text("place"))), asking.text("to"), asking.text("folder")
    model = _model_of(files, asking.whole_or_none("checkpoint") or 0)
    words = ["export", str(model), "--to", host, *(["--folder", folder] if folder else [])]
    printed = output_of(asking, words, tells_stdout=True)
    try:
        place = Path(_SAVED.findall(printed)[-1])
        about = json.loads((place / RECORD).read_text(encoding="utf-8"))
        return {
            "said": f"{model.name} was exported for {host}: {place}",
            "folder": str(place),
            "files": [str(name) for name in about["files"]],
            "samples": [str(name) for name in about["samples"]],
            "proofs": [
                {"by": str(one["by"]), "difference": float(one["difference"]), "sample": str(one["sample"])}
                for one in about["proofs"]
            ],
            "remarks": _WARNING.findall(printed),
        }
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UnderstudyError(f"{model}: `understudy export` left no {RECORD} ({error!r}); update it") from error


def suggest(asking: Asking) -> list[SuggestionShown]:
    place, pattern = asking.text("place"), asking.text("input")
    words = ["suggest", place, "--json", "--count", str(asking.whole("count", 3))]
    words += ["--input", pattern] if pattern else []
    printed = output_of(asking, words, tells_stdout=False)
    try:
        found = json.loads(printed)["suggestions"]
        return [{"frame": int(one["frame"]), "score": float(one["score"]), "why": str(one["why"])} for one in found]
    except (ValueError, KeyError, TypeError) as error:
        raise UnderstudyError(f"{place}: `understudy suggest` gave no suggestions ({error!r}); update it") from error


def _model_of(files: RunFiles, step: int) -> Path:
    """0: the newest. Raises UnderstudyError when there is none."""
    return find_model(files.model(step) if step else files.record)


def _input_words(files: RunFiles, pattern: str) -> list[str]:
    """Raises UnderstudyError where no input is given and the run has no sequence of its own."""
    order = remembered(read_record(files.record), files, {})
    about = order.source.record()
    own = str(about.get("input", ""))
    if not pattern and not own:
        raise UnderstudyError("--input: give the pattern of the frames to apply to")
    is_own = pattern in ("", own)
    colorspace = str(about.get("input_colorspace", "")) if is_own else ""
    view = str(about.get("view", ""))
    words = ["--input", pattern or own, *colour_words(order.colour)]
    words += ["--input-colorspace", colorspace] if colorspace else []
    return words + (["--view", view] if view else [])
