"""Every choice that shapes a training run, in one frozen table: flags, knobs, checks and records come from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, get_args

from understudy.errors import Problems, UnderstudyError, quoted

ModelSize = Literal["small", "medium", "large"]
DeviceChoice = Literal["auto", "gpu", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float64"]
SyncMode = Literal["auto", "gradients", "accumulate", "average", "overlap", "outer"]
Compression = Literal["auto", "none", "fp16", "bf16", "powersgd"]
Eviction = Literal["stop", "leave"]
Task = Literal["auto", "matte", "cleanup", "look"]

Value = TypeVar("Value")

OF_ONE_RANK = frozenset({"data_directory", "initial_weights", "device", "gpu", "threads", "memory_gib", "tensorboard"})
"""Settings in which the ranks of one run may differ: paths and machines do."""

STARTING_WEIGHTS = ("denoise",)
"""Initial weights that come with understudy, by name."""

LONGEST_RUN_NAME = 150
"""Bytes: what a run appends to its name must fit into the 255 of a file name."""


def setting(
    default: Value,
    doc: str,
    *,
    knob: str = "",
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
) -> Value:
    """A field of Settings with its documentation, unit, limits (both allowed) and the CopyCat knob it answers to."""
    about = {"doc": doc, "knob": knob, "low": low, "high": high, "unit": unit}
    declared: Value = dataclasses.field(default=default, metadata=about)
    return declared


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One training run's choices. Built once, at the edge, and written beside every checkpoint."""

    data_directory: Path = setting(
        Path("understudy"), "folder for checkpoints, contact sheets, graphs and logs", knob="dataDirectory"
    )
    run_name: str = setting("", "name that begins every file of the run; empty: Training_YYMMDD_HHMMSS", knob="runName")
    epochs: int = setting(
        10000, "passes over the whole set; total steps = epochs x pairs / batch", knob="epochs", low=1
    )
    steps: int = setting(0, "total steps instead of epochs; 0: from epochs", unit="steps", low=0)
    minutes: float = setting(
        0.0,
        "train for this long instead: the learning rate and the stages follow the clock; 0: no limit",
        unit="minutes",
        low=0.0,
        high=1e6,
    )
    batch_size: int = setting(
        0, "crops a step, over all ranks; 0: chosen for the device", knob="batchSize", low=0, high=65536
    )
    crop_size: int = setting(96, "side of the random crops at full resolution", knob="cropSize", unit="pixels", low=16)
    model_size: ModelSize = setting("small", "how much the network can learn, and costs", knob="modelSize")
    task: Task = setting(
        "auto", "what is painted: a matte, corrections of a picture, or another look of all of it; auto: by the pairs"
    )
    multi_resolution: bool = setting(
        False, "train at quarter and half resolution first", knob="useMultiResolutionTraining"
    )
    initial_weights: Path | None = setting(
        None,
        f"model file, or run, to start from; or, by name, what comes with understudy: {', '.join(STARTING_WEIGHTS)}",
        knob="checkpointFile",
    )
    learning_rate: float = setting(
        0.002, "peak step size of the optimizer; mattes take half", knob="learningRate", low=1e-9, high=1.0
    )
    seed: int = setting(0, "draws every crop", knob="seed", low=0, high=2**63 - 1)
    checkpoint_interval: int = setting(
        1000, "a checkpoint and a graph every so many steps", knob="checkpointInterval", unit="steps", low=1
    )
    max_checkpoints: int = setting(
        10, "newest checkpoints kept, and the best by validation besides", knob="maxCheckpoints", low=1
    )
    validation_squares: bool = setting(
        True, "without validation frames, judge by small squares of the painted frames that are not learnt from"
    )
    contact_sheet_interval: int = setting(
        0,
        "a contact sheet every so many steps; 0: every 100, but not within 10 seconds",
        knob="imageInterval",
        unit="steps",
        low=0,
    )
    contact_sheet_exr: bool = setting(False, "write contact sheets as scene-linear EXR too")
    graph_log_scale: bool = setting(False, "loss axis of the graph logarithmic", knob="logScale")
    graph_smoothness: float = setting(0.6, "smoothing of the drawn loss, 0 none", knob="smoothness", low=0.0, high=0.99)
    graph_show_original: bool = setting(True, "draw the unsmoothed loss too", knob="showOriginal")
    tensorboard: bool = setting(False, "write TensorBoard events (needs the tensorboard extra)")
    device: DeviceChoice = setting(
        "auto",
        "where to compute; auto: CUDA, else Apple's GPU, else CPU; gpu: the same, and says so when there is none",
    )
    gpu: int = setting(0, "number of the CUDA device", low=0)
    precision: Precision = setting(
        "auto",
        "arithmetic of the convolutions; auto: bfloat16 where the device gains from it; float64: all of it, to compare",
    )
    threads: int = setting(
        0,
        "CPU threads; 0: all cores given to the process, in training but for those that other programs keep busy",
        low=0,
        high=1024,
    )
    memory_gib: float = setting(
        8.0, "frames held in memory; beyond that they go to a memory-mapped file", unit="GiB", low=0.0, high=1e6
    )
    sync_interval: int = setting(
        0,
        "steps between exchanges of the ranks; when not given, chosen for the link",
        knob="COPYCAT_SYNC_INTERVAL",
        unit="steps",
        low=0,
        high=100000,
    )
    sync_mode: SyncMode = setting(
        "auto",
        "what the ranks exchange: gradients of every step, or summed over the interval (accumulate); or the weights, "
        "averaged (average), while training goes on (overlap), or as an outer optimizer's step (outer)",
    )
    compress: Compression = setting("auto", "how that travels; powersgd for gradients only")
    scale_batch: bool = setting(False, "the batch is that of one rank: the whole grows with the world")
    min_ranks: int = setting(0, "fewest ranks to begin and to go on with; 0: all to begin, one to go on", low=0)
    join_minutes: float = setting(
        30.0, "how long to wait for ranks that are missing at the beginning", unit="minutes", low=0.01, high=1e6
    )
    hold_minutes: float = setting(
        30.0, "how long to wait for rank 0, or for enough ranks, once training", unit="minutes", low=0.01, high=1e6
    )
    silence_seconds: float = setting(
        5.0, "a rank not heard of for so long is left behind until it is back", unit="seconds", low=0.5, high=3600.0
    )
    eviction: Eviction = setting(
        "stop",
        "what SIGTERM to one rank means: all stop; or that rank leaves, the others go on, and whoever starts it again "
        "takes a stop by `understudy stop` for done",
    )


def field_doc(field: dataclasses.Field[object]) -> str:
    """The documentation of one field with its unit and CopyCat's knob name, as --help shows it."""
    about = field.metadata
    notes = [about["unit"]] if about["unit"] else []
    notes += [f"CopyCat: {about['knob']}"] if about["knob"] else []
    return str(about["doc"]) + (f" [{', '.join(notes)}]" if notes else "")


def field_choices(name: str) -> tuple[str, ...]:
    """The words that a field of a closed list of words accepts; empty for any other field."""
    return {
        "model_size": get_args(ModelSize),
        "device": get_args(DeviceChoice),
        "precision": get_args(Precision),
        "sync_mode": get_args(SyncMode),
        "compress": get_args(Compression),
        "eviction": get_args(Eviction),
        "task": get_args(Task),
    }.get(name, ())


def check(settings: Settings) -> None:
    """Raise Problems with one line for every value of the wrong kind or out of its range."""
    problems = []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        choices = field_choices(field.name)
        if not _is_of_kind(value, field.default):
            problems.append(f"{field.name}: {quoted(value)} is no value like {field.default!r}; correct it")
        elif choices and value not in choices:
            problems.append(f"{field.name}: {quoted(value)} is not one of {', '.join(choices)}; choose one")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            problems += _range_problem(field, value)
    if isinstance(settings.run_name, str) and not begins_file_names(settings.run_name):
        problems.append(f"run_name: {quoted(settings.run_name)} cannot begin a file name; use letters, digits, _ and -")
    if problems:
        raise Problems(problems)


def _is_of_kind(value: object, default: object) -> bool:
    if default is None:
        return value is None or isinstance(value, Path)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    return isinstance(value, (int, float) if isinstance(default, float) else type(default))


def begins_file_names(run_name: str) -> bool:
    is_short = len(run_name.encode()) <= LONGEST_RUN_NAME
    return is_short and not run_name.startswith(".") and not set(run_name) & set('/\\:*?"<>|[]\0')


def _range_problem(field: dataclasses.Field[object], value: float) -> list[str]:
    low, high = field.metadata["low"], field.metadata["high"]
    if (low is None or value >= low) and (high is None or value <= high):
        return []
    allowed = f"at least {low}" if high is None else f"between {low} and {high}"
    return [f"{field.name}: {value} is out of range; give {allowed}"]


def to_record(settings: Settings) -> dict[str, object]:
    """Plain JSON data; `from_record` gives equal settings back."""
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def from_record(record: Mapping[str, object]) -> Settings:
    """Settings from `to_record`'s data. Raises UnderstudyError naming keys that this version does not know."""
    known = {field.name for field in dataclasses.fields(Settings)}
    unknown = sorted(set(record) - known)
    if unknown:
        raise UnderstudyError(f"settings {', '.join(unknown)} are unknown to this version; it was written by another")
    paths = {name: Path(str(record[name])) for name in ("data_directory", "initial_weights") if record.get(name)}
    settings = dataclasses.replace(Settings(), **{**record, **paths})  # type: ignore[arg-type]
    check(settings)
    return settings


def total_steps(settings: Settings, num_pairs: int, batch_size: int) -> int:
    """Steps of the whole run: `steps` if given, else CopyCat's epochs x pairs / batch, rounded up."""
    if settings.steps:
        return settings.steps
    return -(-settings.epochs * num_pairs // batch_size)


def as_flag(name: str) -> str:
    """crop_size -> --crop-size"""
    return "--" + name.replace("_", "-")
