"""What this user submitted: the run directories, by which jobs are found again without typing a path."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder, naming_the_file
from understudy.versions import newest_version
from understudy_farm.folder import JobFolder, Sent, read_sent
from understudy_farm.presets import home

MOST_JOBS = 200


def note(sent: Sent, environment: Mapping[str, str]) -> None:
    """Add a job to the list. A home that cannot be written is no fault."""
    path = _path(environment)
    with suppress(UnderstudyError):
        make_folder(path.parent)
        with naming_the_file(path), path.open("a", encoding="utf-8") as file:
            file.write(f"{sent.job.run_directory}\n")


def listed(environment: Mapping[str, str]) -> list[Sent]:
    """The jobs that still lie where they were submitted, newest first."""
    with suppress(OSError):
        lines = _path(environment).read_text(encoding="utf-8").splitlines()[-MOST_JOBS:]
        found = []
        for line in dict.fromkeys(reversed(lines)):
            with suppress(UnderstudyError):
                found.append(read_sent(Path(line)))
        return found
    return []


def find_job(text: str, environment: Mapping[str, str]) -> Sent:
    """The job that `text` names: a run directory, a data directory (its newest version), a name, or a farm's id.

    Raises UnderstudyError when there is none, or several of that name.
    """
    place = Path(text)
    if place.is_dir():
        newest = place.absolute() / f"v{newest_version(place):03}"
        return read_sent(newest if not JobFolder(place).job.exists() and newest.is_dir() else place.absolute())
    named = [sent for sent in listed(environment) if text == sent.job.name or text in _ids(sent)]
    if len(named) == 1:
        return named[0]
    if named:
        places = ", ".join(str(sent.job.run_directory) for sent in named)
        raise UnderstudyError(f"{text}: several jobs have this name; give one of {places}")
    raise UnderstudyError(f"{text}: no job of that name or id; give its run directory, or see `understudy jobs`")


def _ids(sent: Sent) -> list[str]:
    """All that a farm knows the job by; a step that was requeued may have several, by commas."""
    return [one for own in sent.receipt.ids.values() for one in own.split(",")]


def _path(environment: Mapping[str, str]) -> Path:
    return home(environment) / "jobs.txt"
