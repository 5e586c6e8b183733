"""The job's place on disk: a new version of the run's folder for every submission, and what lies in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder, write_text
from understudy.plain import table_of
from understudy.versions import made, next_version, unmade_if_it_fails
from understudy_farm.backend import Receipt
from understudy_farm.spec import Job, from_text, to_text


@dataclass(frozen=True)
class JobFolder:
    """Every path of a job, in its run directory."""

    run_directory: Path

    @property
    def job(self) -> Path:
        return self.run_directory / "job.json"

    @property
    def farm(self) -> Path:
        """What is sent to the farm, and what the farm leaves."""
        return self.run_directory / "farm"

    @property
    def sent(self) -> Path:
        """Which farm has the job, and by which ids."""
        return self.farm / "sent.json"

    def task_log(self, step: str, number: int | str) -> Path:
        """What a task prints, where the farm leaves that to us."""
        return self.farm / f"{step}.{number}.log"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A job that a farm has."""

    job: Job
    farm: str
    options: Mapping[str, str]
    """The site's values by which it was sent."""
    receipt: Receipt

    @property
    def folder(self) -> JobFolder:
        return JobFolder(self.job.run_directory)


@dataclass(frozen=True, kw_only=True)
class _SentFile:
    """sent.json: what a Sent says besides the job."""

    farm: str
    options: Mapping[str, str]
    ids: Mapping[str, str]
    link: str


@contextmanager
def new_version(data_directory: Path) -> Iterator[Path]:
    """The next vNNN in the data directory, absolute; two submitters at once never get the same.

    When the body fails, it is removed with every folder that was made for it. Raises UnderstudyError when it cannot be
    written, or removed.
    """
    place = data_directory.absolute()
    with unmade_if_it_fails(place):
        folder = next_version(place, lambda version: made(version.place)).place
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                raise UnderstudyError(f"{folder}: was not sent, and cannot be removed; remove it by hand") from None
            raise


def write_job(folder: JobFolder, job: Job, payload: Mapping[str, str]) -> None:
    """Everything that will be sent, before it is."""
    make_folder(folder.farm)
    write_text(folder.job, to_text(job))
    write_payload(folder.farm, payload)


def write_payload(folder: Path, payload: Mapping[str, str]) -> None:
    for name, text in payload.items():
        make_folder((folder / name).parent)
        write_text(folder / name, text)
        if text.startswith("#!"):
            with suppress(OSError):  # a share may not know modes
                (folder / name).chmod(0o755)


def write_sent(sent: Sent) -> None:
    receipt = sent.receipt
    about = _SentFile(farm=sent.farm, options=dict(sent.options), ids=dict(receipt.ids), link=receipt.link)
    write_text(sent.folder.sent, json.dumps(asdict(about), indent=2) + "\n")


def read_sent(run_directory: Path) -> Sent:
    """The job that lies in a run directory. Raises UnderstudyError when none was sent from there."""
    folder = JobFolder(run_directory)
    job = read_job(folder)
    text = _text_of(folder.sent)
    try:
        sent = table_of(_SentFile, json.loads(text))
    except (ValueError, RecursionError) as error:
        raise UnderstudyError(f"{folder.sent}: is damaged ({error}); ask the farm's own monitor for the job") from error
    return Sent(job=job, farm=sent.farm, options=sent.options, receipt=Receipt(ids=sent.ids, link=sent.link))


def read_job(folder: JobFolder) -> Job:
    """Raises UnderstudyError when no job lies there."""
    return from_text(_text_of(folder.job), folder.job)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); give the run directory of a job") from error
    except UnicodeDecodeError as error:
        raise UnderstudyError(f"{path}: is damaged ({error}); submit the job again") from error
