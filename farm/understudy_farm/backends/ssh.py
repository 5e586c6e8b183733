"""ssh: machines from a list, reached by ssh; no service runs on them, and nothing stays on them."""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import understudy
from understudy.files import write_private
from understudy.frames.sequence import Sequence as FileSequence
from understudy.ranks.contract import MAIN_ADDR, MAIN_PORT
from understudy.ranks.hosts import HostEntry
from understudy.ranks.launch import SECRET
from understudy.ranks.place import AUTO
from understudy.remap import PATH_RULES, rules_text
from understudy.report.run_record import read_record
from understudy.runs import RunFiles
from understudy.settings import STARTING_WEIGHTS
from understudy_farm.backend import FarmError, Option, Site
from understudy_farm.backends.seats import HOSTS, KILLED, Seat, SeatedFarm, seat_script, seats_of, try_hosts
from understudy_farm.commands import Command
from understudy_farm.folder import JobFolder
from understudy_farm.plan import APPLY, BAKE
from understudy_farm.shell import ask
from understudy_farm.spec import Job, Step

MAIN_PORT_WITHOUT_STORAGE = "30000"
"""Where nothing is shared, rank 0 cannot say which port it took."""
SECONDS_BETWEEN_FETCHES = 10.0
KEEP_ALIVE = ("-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3")
MEND = "see whether `ssh HOST true` works from here without a password"


class SshFarm(SeatedFarm):
    """Every task a process of a remote machine, tied to an ssh process of this one: the end of one ends the other."""

    name = "ssh"
    doc = "machines of a list, by ssh"
    options: tuple[Option, ...] = (
        HOSTS,
        Option(name="ssh", doc="the ssh command and its words", default="ssh"),
        Option(
            name="sync_dir",
            doc="folder on every host ({host}: its name) for code, frames and run, where no storage is shared",
        ),
    )

    def command(self, job: Job, step: Step, number: int, seats: tuple[Seat, ...], site: Site) -> Command:
        if step.name == BAKE and site["sync_dir"]:
            raise FarmError(
                "--bake: without shared storage its files would stay on one host; leave it out, bake before"
            )
        return _command(job, step, number, seats, site)

    def habits(self, job: Job, site: Site) -> SshHabits:
        """For the watcher."""
        return SshHabits(job, site, seats_of(self.name, job, site))


class SshHabits:
    """Tries every host first; where no storage is shared, carries files there and back."""

    def __init__(self, job: Job, site: Site, seats: tuple[Seat, ...]) -> None:
        self._job = job
        self._site = site
        self._seats = seats
        self._next_fetch = 0.0

    def is_worth_another_start(self, code: int) -> bool:
        return code < 0 or code > KILLED

    def prepare(self) -> None:
        """Raises Problems naming every host that cannot be reached, or to which files cannot be copied."""
        if self._site["sync_dir"]:
            secret = JobFolder(self._job.run_directory).farm / "secret"
            if not secret.exists():
                write_private(secret, secrets.token_hex(32).encode())
        try_hosts(self._seats, self._make_ready)

    def look(self) -> None:
        if self._site["sync_dir"] and time.monotonic() >= self._next_fetch:
            self._fetch(self._seats[:1])
            self._next_fetch = time.monotonic() + SECONDS_BETWEEN_FETCHES

    def task_ended(self) -> None:
        if self._site["sync_dir"]:
            self._fetch(self._seats)

    def _make_ready(self, host: str) -> None:
        folder = _sync_dir(self._site, host)
        remote = f"mkdir -p {shlex.quote(folder)}" if folder else "true"
        ask([*_ssh(self._site), host, remote], mend=f"host {host}: {MEND}")
        if folder:
            listed = "\n".join(map(str, self._files_to_send())) + "\n"
            words = ["rsync", "--archive", "--recursive", "--relative", "--files-from=-", *self._by_ssh()]
            ask([*words, "--exclude=__pycache__", "/", f"{host}:{folder}/"], mend=f"host {host}: {MEND}", stdin=listed)

    def _files_to_send(self) -> list[Path]:
        """Absolute: the run, our code, and every file that the run names."""
        files = RunFiles(self._job.run_directory, self._job.run_name)
        record = read_record(files.record)
        sides = [Path(side.path) for pair in record.pairs for side in (pair.input, pair.target)]
        stated = [record.settings.get("initial_weights"), record.colour.get("config")]
        named = [path for path in map(str, filter(None, stated)) if "://" not in path and path not in STARTING_WEIGHTS]
        return [
            *_packages(),
            self._job.run_directory,
            *dict.fromkeys(sides),
            *map(Path, named),
            *self._frames_to_apply(),
        ]

    def _frames_to_apply(self) -> list[Path]:
        pattern = _word_after(self._job, "--input")
        sequence = FileSequence(pattern)
        return [sequence.path(frame) for frame in sequence.frames_on_disk()] if pattern else []

    def _fetch(self, seats: Iterable[Seat]) -> None:
        """A host that is gone has nothing more to give."""
        result = _word_after(self._job, "--output")
        wanted = [self._job.run_directory, *([Path(result).parent] if result else [])]
        for host in dict.fromkeys(seat.entry.name for seat in seats):
            for folder in wanted:
                place = f"{host}:{_sync_dir(self._site, host)}/.{folder}/"
                words = ["rsync", "--archive", "--update", "--exclude=farm", *self._by_ssh(), place, f"{folder}/"]
                with suppress(FarmError):
                    folder.mkdir(parents=True, exist_ok=True)
                    ask(words, mend=MEND)

    def _by_ssh(self) -> list[str]:
        return ["-e", shlex.join(_ssh(self._site))]


def _command(job: Job, step: Step, number: int, seats: tuple[Seat, ...], site: Site) -> Command:
    seat = seats[number % len(seats)]
    sync_dir = _sync_dir(site, seat.entry.name)
    script = seat_script(
        step,
        number,
        seat,
        folder=Path(f"{sync_dir}{job.run_directory}"),
        variables=_without_storage(step, seats[0].entry, number, sync_dir) if sync_dir else {},
        before=[f"{SECRET}=$(cat farm/secret); export {SECRET}"] if sync_dir else [],
    )
    return Command(
        step=step.name,
        number=number,
        host=seat.entry.name,
        argv=(*_ssh(site), seat.entry.name, f"exec /bin/sh -c {shlex.quote(script)}"),
        environment={},
    )


def _without_storage(step: Step, first: HostEntry, number: int, sync_dir: str) -> dict[str, str]:
    """Rank 0 cannot publish where it is met; paths begin with the folder; our code is the copy."""
    stated = step.environment_of(number)
    words = {PATH_RULES: rules_text([{"submitted": "/", "linux": f"{sync_dir}/", "macos": f"{sync_dir}/"}])}
    words["PYTHONPATH"] = ":".join(f"{sync_dir}{package.parent}" for package in _packages())
    if stated.get(MAIN_ADDR) == AUTO:
        words[MAIN_ADDR] = first.local_address or first.name
    if stated.get(MAIN_PORT) == AUTO:
        words[MAIN_PORT] = MAIN_PORT_WITHOUT_STORAGE
    return words


def _sync_dir(site: Site, host: str) -> str:
    """Empty where storage is shared."""
    return site["sync_dir"].rstrip("/").replace("{host}", host)


def _packages() -> tuple[Path, ...]:
    return Path(str(understudy.__file__)).resolve().parent, Path(__file__).resolve().parents[1]


def _ssh(site: Site) -> list[str]:
    return [*shlex.split(site["ssh"]), *KEEP_ALIVE]


def _word_after(job: Job, flag: str) -> str:
    """The value of a flag of the step that applies the model; empty when there is no such step."""
    for step in job.steps:
        if step.name == APPLY and flag in step.argv:
            return step.argv[step.argv.index(flag) + 1]
    return ""
