"""What the farm's commands read: jobs, what was sent, how tasks fare, presets, hosts; and how ranks meet."""

from __future__ import annotations

import argparse
import dataclasses
import io
import os
import platform
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

from tests.core.records import RECORD, lay_run
from tests.farm.jobs import EVERYTHING, job_for
from tests.farm.test_presets import STUDIO
from tests.fuzz.damage import TEXT_DAMAGES, damaged
from tests.fuzz.kind import Kind
from tests.fuzz.trees import damaged_json

from understudy.cli.main import parsed
from understudy.ranks.hosts import read_hosts
from understudy.ranks.notice import Notice, desk_finder, read_notice, write_notice
from understudy.ranks.place import RankPlace
from understudy.report.run_record import RunRecord
from understudy_farm.backend import Capabilities, Receipt
from understudy_farm.choices import Choices
from understudy_farm.commands import COMMANDS, Command, Commands, read_commands, to_text
from understudy_farm.folder import Sent, read_sent, write_job, write_sent
from understudy_farm.history import listed, note
from understudy_farm.presets import PRESETS, chosen, remember
from understudy_farm.tasks import JobRecord, ProcessName, TaskRecord, write_job_record
from understudy_farm.watcher import TASKS


def _jobs() -> Sequence[Path]:
    return lay_job(Path("v001"), dataclasses.replace(RECORD, state="training"))


def lay_job(run: Path, record: RunRecord) -> Sequence[Path]:
    """A run that the farm local has, one of whose tasks ran; the job's own files."""
    job = dataclasses.replace(job_for(EVERYTHING, Capabilities(), run), run_name="run")
    lay_run(run, "run", record)
    sent = Sent(job=job, farm="local", options={"gpus": "auto"}, receipt=Receipt(ids={"train": "7,8"}, link="x"))
    command = Command(step="train", number=0, host="ws17", argv=("a", "b"), environment={"A": "b"})
    commands = Commands(farm="local", options={"gpus": "auto"}, tasks=(command,))
    write_job(sent.folder, job, {COMMANDS: to_text(commands)})
    write_sent(sent)
    watcher = ProcessName(pid=2**22 + 1, started=1.0, host=platform.node())
    tasks = (TaskRecord(step="train", number=0, process=watcher), TaskRecord(step="train", number=1))
    write_job_record(sent.folder.farm / TASKS, JobRecord(watcher=watcher, tasks=tasks))
    note(sent, os.environ)
    return [sent.folder.job, *(sent.folder.farm / name for name in ("sent.json", TASKS, COMMANDS))]


def _read_job(path: Path) -> None:
    listed(os.environ)
    if path.name == "commands.json":
        read_commands(path)
        return
    run = "v001"
    for words in (["status", run], ["status", run, "--json"], ["logs", run]):
        arguments = _parsed(*words)
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")):
            arguments.run(arguments)
    read_sent(Path(run))


@cache
def _parsed(*words: str) -> argparse.Namespace:
    """Once: a parser of all commands takes as long as many cases."""
    return parsed(words)


def _presets() -> Sequence[Path]:
    Path("studio.toml").write_text(STUDIO, encoding="utf-8")
    environment = _of_studio()
    remember(Choices(farm="slurm", ranks=6, pool="big", limits=("a", "b"), priority=3), environment)
    return [Path("studio.toml"), Path("home/last.slurm.json")]


def _of_studio() -> dict[str, str]:
    return {PRESETS: "studio.toml", "UNDERSTUDY_HOME": "home"}


def _read_presets(_: Path) -> None:
    chosen({}, {}, preset="overnight", take_last=True, environment=_of_studio())


def _hosts() -> Sequence[Path]:
    text = (
        'port = 29500\nhosts = [\n "render01",\n "render02:2",\n'
        ' {name = "10.0.0.3", ranks = 2, gpus = [1, 0], local_address = "eth0"},\n]\n'
    )
    Path("hosts.toml").write_text(text, encoding="utf-8")
    return [Path("hosts.toml")]


def _read_hosts(path: Path) -> None:
    read_hosts(path)


_PLACE = RankPlace(rank=1, world_size=2, main_address="", main_port=0, given_by="--ranks")


def _notices() -> Sequence[Path]:
    path = Path("run.meeting.json")
    write_notice(path, Notice(run_name="run", secret="s" * 32, address="10.0.0.3", port=29500, written_by="a, pid 7"))
    return [path]


def _read_notice(path: Path) -> None:
    desk_finder(_PLACE, path, "")()
    notice = read_notice(path)
    if notice is not None:
        assert isinstance(notice.port, int), notice
        assert 0 <= notice.port < 1 << 16, notice
        assert all(isinstance(text, str) for text in (notice.secret, notice.address, notice.written_by, notice.gave_up))


def _damage(path: Path, content: bytes, chance: random.Random) -> bytes:
    return damaged(content, chance, TEXT_DAMAGES) if path.suffix == ".toml" else damaged_json(content, chance)


JOB_KINDS = (
    Kind(name="job", cases=1500, lay_out=_jobs, damage=_damage, read=_read_job, names=("v001",)),
    Kind(name="presets", cases=800, lay_out=_presets, damage=_damage, read=_read_presets),
    Kind(name="hosts", cases=400, lay_out=_hosts, damage=_damage, read=_read_hosts),
    Kind(
        name="notice",
        cases=300,
        lay_out=_notices,
        damage=_damage,
        read=_read_notice,
        names=("rank 0",),
        is_forgiving=True,
    ),
)
