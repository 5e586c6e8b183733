"""What a submission may choose besides the training itself, in one frozen table: flags, presets and README follow."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from understudy.cli.apply import MOST_PASSES
from understudy.errors import Problems, quoted
from understudy_farm.spec import NUMBER

Value = TypeVar("Value")

DEFAULT_FARM = "local"


def choice(
    default: Value,
    doc: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    sticky: bool = True,
) -> Value:
    """A field of Choices: its documentation, unit, limits (both allowed), and whether the next submission may take it
    over."""
    about = {"doc": doc, "unit": unit, "low": low, "high": high, "sticky": sticky}
    declared: Value = dataclasses.field(default=default, metadata=about)
    return declared


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Where and how a job is to run."""

    farm: str = choice(DEFAULT_FARM, "which farm; `understudy farms` lists them")
    ranks: int = choice(1, "rank tasks that train together", low=1, high=4096)
    main_address: str = choice("auto", "where rank 0 is met; auto: it writes that into the run directory")
    main_port: str = choice("auto", "its port; auto: a free one")
    name: str = choice("", "of the job; empty: the training node or sequence, and the version", sticky=False)
    batch: str = choice("", "groups jobs in the farm's monitor; empty: the script or folder", sticky=False)
    comment: str = choice("", "for people who read the farm's monitor", sticky=False)
    department: str = choice("", "for the farm's monitor")
    priority: int = choice(50, "100 goes first", low=0, high=100)
    pool: str = choice("", "pool, partition or queue")
    secondary_pool: str = choice("", "pool to take workers from besides")
    group: str = choice("", "group, account or tag")
    limits: tuple[str, ...] = choice((), "limits or licences that every task counts against")
    machines: tuple[str, ...] = choice((), "the only machines that may take tasks")
    depends_on: tuple[str, ...] = choice((), "ids of jobs on this farm to wait for", sticky=False)
    suspended: bool = choice(False, "send it, but do not start it", sticky=False)
    retries: int = choice(5, "starts of a task that failed, besides the first", low=0, high=1000)
    timeout_minutes: float = choice(0.0, "longest time of a task; 0: no limit", unit="minutes", low=0.0, high=1e6)
    cores_per_task: int = choice(0, "CPU cores of a task; 0: the farm's rule", low=0, high=4096)
    gpus_per_task: int = choice(0, "GPUs of a task", low=0, high=64)
    memory_per_task: float = choice(0.0, "of a task; 0: the farm's rule", unit="GiB", low=0.0, high=1e5)
    python: str = choice("", "Python on the workers that has understudy; empty: the one that submits")
    rez: tuple[str, ...] = choice((), "rez packages from which the workers take understudy and torch instead")
    conda: str = choice("", "conda environment from which the workers take understudy instead")
    path_rules: str = choice("", "windows=P:/show/,linux=/mnt/show/,macos=/Volumes/show/; ...: one folder's names")
    bake: str = choice(
        "", "command that makes the files of the pairs first; {number} in it stands for the task's", sticky=False
    )
    bake_tasks: int = choice(1, "tasks of the bake, side by side", low=1, high=100000, sticky=False)
    bake_limits: tuple[str, ...] = choice((), "limits or licences that the bake counts against besides")
    apply_input: str = choice("", "pattern of the frames to apply it to; empty: the run's own input", sticky=False)
    apply_colorspace: str = choice("", "OCIO space of these frames; empty: the run's own input's", sticky=False)
    apply_output: str = choice("", "pattern of EXR files: apply the model when it is trained", sticky=False)
    apply_frames: str = choice("", "which of them; empty: all", sticky=False)
    apply_tasks: int = choice(1, "parts in which the frames are applied side by side", low=1, high=100000)
    apply_passes: int = choice(
        1, "answers to each frame, whose mean is nearer; each takes as long", low=1, high=MOST_PASSES
    )
    publish: str = choice(
        "", "command at the end, such as understudy publish; UNDERSTUDY_RUN, _OUTPUT, _INPUT tell where", sticky=False
    )


def field_doc(field: dataclasses.Field[object]) -> str:
    """The documentation of one field with its unit and default, as --help shows it."""
    default = field.default
    unit = f" [{field.metadata['unit']}]" if field.metadata["unit"] else ""
    shown = "" if default in ("", ()) or isinstance(default, bool) else f" (default {default})"
    return str(field.metadata["doc"]) + unit + shown


def check(choices: Choices) -> None:
    """Raise Problems with one line for every value of the wrong kind or out of its range, or for two that exclude."""
    problems = []
    for field in dataclasses.fields(choices):
        value = getattr(choices, field.name)
        if not _is_of_kind(value, field.default):
            problems.append(f"{field.name}: {quoted(value)} is no value like {field.default!r}; give one")
        elif isinstance(value, int | float) and field.metadata["low"] is not None:
            low, high = field.metadata["low"], field.metadata["high"]
            if not low <= value <= high:
                problems.append(f"{field.name}: {value} is out of range; give between {low} and {high}")
    packages = [name for name in ("python", "rez", "conda") if getattr(choices, name)]
    if len(packages) > 1:
        problems.append(f"{' and '.join(packages)} exclude each other; say one way in which workers find understudy")
    for name in ("bake", "publish"):
        try:
            shlex.split(str(getattr(choices, name)))
        except ValueError as error:
            problems.append(f"{name}: {quoted(getattr(choices, name))} is no command ({error}); give one")
    if choices.bake and choices.bake_tasks != 1 and NUMBER not in str(choices.bake):
        problems.append(f"bake_tasks: {choices.bake_tasks} tasks would all do the same; say {NUMBER} in bake")
    needing = [name for name in ("apply_input", "apply_frames") if getattr(choices, name)]
    if needing and not choices.apply_output:
        problems.append(f"{' and '.join(needing)}: nothing is applied without apply_output")
    if problems:
        raise Problems(problems)


def changed(choices: Choices, values: Mapping[str, object], origin: str) -> Choices:
    """`choices` with some values replaced, texts read as their field's kind.

    Raises Problems that begin with `origin` for names or values that do not fit.
    """
    fields = {field.name: field for field in dataclasses.fields(Choices)}
    problems = [f"{origin}: {name} is no choice of a submission; leave it out" for name in values if name not in fields]
    read: dict[str, object] = {}
    for name, value in values.items():
        if name in fields:
            try:
                read[name] = _read(value, fields[name].default)
            except (ValueError, OverflowError):
                problems.append(f"{origin}: {name} {quoted(value)} is no value like {fields[name].default!r}; give one")
    if problems:
        raise Problems(problems)
    result = dataclasses.replace(choices, **read)  # type: ignore[arg-type]
    try:
        check(result)
    except Problems as several:
        raise Problems(f"{origin}: {line}" for line in several.lines) from None
    return result


def _read(value: object, default: object) -> object:
    if isinstance(default, tuple):
        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, Iterable):
            raise ValueError
        return tuple(word for word in (str(word).strip() for word in words) if word)
    if isinstance(default, bool) and isinstance(value, str):
        if value.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise ValueError
        return value.lower() in ("true", "1", "yes")
    if isinstance(value, str) and isinstance(default, int | float):
        return type(default)(value)
    return float(value) if isinstance(default, float) and isinstance(value, int) else value


def _is_of_kind(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    return isinstance(value, type(default))
