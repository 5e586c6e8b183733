"""mpi: machines from a list, reached by mpirun where that is the way to the nodes; storage is shared.

Every task has an `mpirun -n 1` of its own: one mpirun for all of them would end all when one is lost. So a rank that is
lost with its node leaves the others alone, and the watcher starts it again.
"""

from __future__ import annotations

import shlex

from understudy_farm.backend import Option, Site
from understudy_farm.backends.seats import HOSTS, KILLED, Seat, SeatedFarm, seat_script, seats_of, try_hosts
from understudy_farm.commands import Command
from understudy_farm.shell import ask
from understudy_farm.spec import Job, Step


class MpiFarm(SeatedFarm):
    """Every task a process of a remote machine, tied to an mpirun of this one: the end of one ends the other."""

    name = "mpi"
    doc = "machines of a list, by mpirun"
    options: tuple[Option, ...] = (
        HOSTS,
        Option(
            name="mpirun",
            doc="the mpirun command and its words; Open MPI ties a rank to one core unless told not to",
            default="mpirun --bind-to none",
        ),
    )

    def command(self, job: Job, step: Step, number: int, seats: tuple[Seat, ...], site: Site) -> Command:
        return _command(job, step, number, seats[number % len(seats)], site)

    def habits(self, job: Job, site: Site) -> MpiHabits:
        """For the watcher."""
        return MpiHabits(seats_of(self.name, job, site), site)


class MpiHabits:
    """Tries every host first."""

    def __init__(self, seats: tuple[Seat, ...], site: Site) -> None:
        self._seats = seats
        self._site = site

    def is_worth_another_start(self, code: int) -> bool:
        return code < 0 or code > KILLED

    def prepare(self) -> None:
        """Raises Problems naming every host that cannot be reached."""
        try_hosts(self._seats, self._reach)

    def look(self) -> None: ...

    def task_ended(self) -> None: ...

    def _reach(self, host: str) -> None:
        words = _mpirun(self._site, host)
        ask([*words, "true"], mend=f"host {host}: see whether `{shlex.join(words)} true` works from here")


def _command(job: Job, step: Step, number: int, seat: Seat, site: Site) -> Command:
    """The environment travels in the script: MPIs differ in how they take one along."""
    script = seat_script(step, number, seat, folder=job.run_directory, variables={})
    words = [*_mpirun(site, seat.entry.name), "/bin/sh", "-c", script]
    return Command(
        step=step.name,
        number=number,
        host=seat.entry.name,
        argv=("/bin/sh", "-c", _ended_gently(shlex.join(words))),
        environment={},
    )


def _ended_gently(mpirun: str) -> str:
    """Shell text that runs mpirun out of reach of SIGTERM, after which it would kill the task within a second.

    The signal ends `cat` instead, and with it the line to the task, which then has its time for a checkpoint.
    """
    return f"trap : TERM; exec 3<&0; {{ cat <&3 3<&- & }} | setsid {mpirun} 3<&-; exit $?"


def _mpirun(site: Site, host: str) -> list[str]:
    return [*shlex.split(site["mpirun"]), "-n", "1", "--host", host]
