"""What the farms that take machines from a list share: who sits where, and the script that is a task over there."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import ProblemList, UnderstudyError
from understudy.ranks.contract import LOCAL_ADDR, RANK_GPU, RANKS_HERE
from understudy.ranks.hosts import HostEntry, entries_of, read_hosts
from understudy.ranks.place import LAUNCHED
from understudy_farm.backend import Capabilities, FarmError, Option, Site, Worker
from understudy_farm.backends.watched import WatchedFarm
from understudy_farm.commands import COMMANDS, Command, Commands, to_text
from understudy_farm.spec import Job, Step

HOSTS = Option(name="hosts", doc="a hosts file, or names as in a:2,b (two ranks on a, one on b)")
KILLED = 128
"""Codes above it: a shell's word for a process that a signal ended, and a launcher's own for a line that broke."""
SECONDS_TO_END_ALONE = 10
"""From being asked to being killed, when the line is gone: time for a checkpoint."""
MOST_TRIALS_AT_ONCE = 16


@dataclass(frozen=True, kw_only=True)
class Seat:
    """Where one rank computes."""

    entry: HostEntry
    gpu: int


class SeatedFarm(WatchedFarm):
    """The part of a back end that is the same for all of them. Others add name, options, command and habits."""

    def capabilities(self, site: Site) -> Capabilities:
        del site
        return Capabilities(can_gang=True, has_queue=False, knows_workers=True)

    def workers(self, job: Job, site: Site) -> tuple[Worker, ...]:
        return tuple(Worker(name=seat.entry.name) for seat in seats_of(self.name, job, site))

    def payload(self, job: Job, site: Site) -> Mapping[str, str]:
        self.refuse_what_has_no_place(job, but=("machines",))
        seats = seats_of(self.name, job, site)
        tasks = tuple(
            self.command(job, step, number, seats, site) for step in job.steps for number in range(step.num_tasks)
        )
        return {COMMANDS: to_text(Commands(farm=self.name, options=dict(site.values), tasks=tasks))}

    @abstractmethod
    def command(self, job: Job, step: Step, number: int, seats: tuple[Seat, ...], site: Site) -> Command:
        """How this task is started from here."""


def seats_of(farm: str, job: Job, site: Site) -> tuple[Seat, ...]:
    """One for every rank that the hosts can take, in the order of the list. Raises UnderstudyError for a wrong list."""
    text = site[HOSTS.name]
    if not text:
        raise FarmError(f"{farm}: no hosts; give -O hosts=a:2,b or -O hosts=HOSTS.toml")
    entries = read_hosts(Path(text))[0] if text.endswith(".toml") else entries_of("-O hosts", text)
    allowed = job.placement.machines
    strangers = sorted(set(allowed) - {entry.name for entry in entries})
    if strangers:
        raise FarmError(f"--machines {strangers[0]}: is not among the hosts; add it there")
    return tuple(
        Seat(entry=entry, gpu=gpu) for entry in entries if not allowed or entry.name in allowed for gpu in entry.gpus
    )


def try_hosts(seats: Iterable[Seat], trial: Callable[[str], None]) -> None:
    """Call the trial for every host, several at once. Raises Problems with all that it raised."""
    problems = ProblemList()
    with ThreadPoolExecutor(MOST_TRIALS_AT_ONCE) as several:
        for result in [several.submit(trial, host) for host in dict.fromkeys(seat.entry.name for seat in seats)]:
            with problems.collecting():
                result.result()
    problems.raise_if_any()


def seat_script(
    step: Step,
    number: int,
    seat: Seat,
    *,
    folder: Path,
    variables: Mapping[str, str],
    before: Sequence[str] = (),
) -> str:
    """Shell text that is the task on its seat: in `folder`, with its variables and `variables` over them."""
    own = {
        **step.environment_of(number),
        **({RANK_GPU: str(seat.gpu), RANKS_HERE: str(len(seat.entry.gpus))} if step.at_once else {}),
        **({LOCAL_ADDR: seat.entry.local_address} if seat.entry.local_address else {}),
        **variables,
        LAUNCHED: "1",
    }
    exports = [f"export {name}={shlex.quote(value)}" for name, value in own.items()]
    place = shlex.quote(str(folder))
    fault = f"echo understudy: {place} cannot be seen from this host >&2; exit {UnderstudyError.exit_code}"
    command = _tied_to_the_line(shlex.join(step.argv_of(number)))
    return "; ".join([f"cd {place} || {{ {fault}; }}", *exports, *before, command])


def _tied_to_the_line(command: str) -> str:
    """Shell text that runs the command, and ends it when stdin closes: the launcher over here, or the line, is gone.

    SIGTERM is passed on. Nothing of it outlives the command, or launchers wait for their pipes.
    """
    listen = 'cat <&3 3<&- & line=$!; exec 3<&-; trap "kill $line; exit" TERM; wait $line; trap - TERM'
    watch = f"{listen}; kill $task; sleep {SECONDS_TO_END_ALONE}; kill -9 $task"
    return (
        f"exec 3<&0; {command} <&3 3<&- & task=$!; {{ {watch}; }} >/dev/null 2>&1 & watch=$!; exec 3<&-; "
        "trap 'kill $task' TERM; wait $task; code=$?; "
        "while kill -0 $task 2>/dev/null; do wait $task; code=$?; done; kill $watch; exit $code"
    )
