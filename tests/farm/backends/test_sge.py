"""Grid Engine: the scripts it gets, and a real one that runs them."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.shots import SmallShot
from tests.farm.backends.sge_cluster import NUM_SLOTS, SgeCluster, needs_sge, sge_cluster
from tests.farm.cli.test_submit import submit_words
from tests.farm.golden_files import matches_golden
from tests.farm.jobs import EVERYTHING, RANKS, job_for

from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy_farm.backend import FarmBackend, FarmError, Site, TaskState, names_on
from understudy_farm.backends.sge import SgeFarm
from understudy_farm.choices import Choices
from understudy_farm.spec import Placement, Resources
from understudy_farm.testing import HELLO, SLEEP, FarmContract, SentJob, python_step

DEFAULTS = {option.name: option.default for option in SgeFarm.options}
ARRAY = Site(values=DEFAULTS)
CORES = Site(values={**DEFAULTS, "smp_pe": "cores", "qsub": "-l scratch=20G"})
AS_ROOT = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
GANG = Site(values={**DEFAULTS, "pe": "ranks", "mpirun": f"env {AS_ROOT} mpirun --bind-to none --oversubscribe"})
BELOW_ORDINARY = replace(EVERYTHING, priority=30)

needs_mpi = pytest.mark.skipif(not shutil.which("mpirun"), reason="ranks of a parallel job take Debian's openmpi-bin")


def _payload(choices: Choices, site: Site) -> dict[str, str]:
    farm = SgeFarm()
    return dict(farm.payload(job_for(choices, farm.capabilities(site)), site))


@pytest.mark.parametrize(
    ("name", "choices", "site"),
    [("array", BELOW_ORDINARY, CORES), ("gang", replace(RANKS, timeout_minutes=90.0), GANG), ("one", Choices(), GANG)],
)
def test_the_scripts_are_as_they_were_looked_at(name: str, choices: Choices, site: Site) -> None:
    matches_golden(f"sge/{name}", _payload(choices, site))


@pytest.mark.parametrize(
    ("choices", "site", "says"),
    [
        (EVERYTHING, CORES, r"^--priority 70: Grid Engine lets nobody but its operators go above the ordinary 50"),
        (BELOW_ORDINARY, ARRAY, r"^--cores-per-task 8: Grid Engine gives cores by a parallel environment; name it by"),
        (replace(BELOW_ORDINARY, bake=""), GANG, r"^--cores-per-task 8: a rank in the environment ranks has one slot"),
    ],
)
def test_what_grid_engine_cannot_do_is_refused(choices: Choices, site: Site, says: str) -> None:
    with pytest.raises(FarmError, match=says):
        _payload(choices, site)


@pytest.mark.parametrize(("priority", "words"), [(50, []), (49, ["#$ -p -20"]), (0, ["#$ -p -1000"])])
def test_priorities_are_lowered(priority: int, words: list[str]) -> None:
    script = _payload(Choices(priority=priority), ARRAY)["train.qsub.sh"]
    assert [line for line in script.splitlines() if line.startswith("#$ -p ")] == words


def test_names_hold_no_sign_that_grid_engine_refuses() -> None:
    script = _payload(Choices(name="3D: it's / *mine*"), ARRAY)["train.qsub.sh"]
    assert "#$ -N _3D_it_s_mine_train\n" in script


def test_a_folder_that_grid_engine_misreads_is_refused(tmp_path: Path) -> None:
    job = job_for(RANKS, SgeFarm().capabilities(ARRAY), tmp_path / "mia's" / "v001")
    with pytest.raises(FarmError, match=r"/mia's/v001: Grid Engine misreads ' in a path; choose another folder$"):
        SgeFarm().payload(job, ARRAY)


def test_without_grid_engine_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    job = job_for(RANKS, SgeFarm().capabilities(ARRAY), tmp_path)
    (tmp_path / "farm").mkdir()
    with pytest.raises(FarmError, match=r"^qsub: no such program here; see whether Grid Engine's commands work here$"):
        SgeFarm().send(job, tmp_path, ARRAY)


def test_a_job_that_was_sent_half_is_taken_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse = 'case "$*" in *apply*) echo "no such queue" >&2; exit 1;; esac; echo 71.1-3:1'
    for name, then in (("qsub", refuse), ("qdel", "true")):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/asked\n{then}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    job = job_for(BELOW_ORDINARY, SgeFarm().capabilities(CORES), tmp_path / "v001")
    (tmp_path / "v001" / "farm").mkdir(parents=True)
    with pytest.raises(FarmError, match=r"^qsub -terse: no such queue; "):
        SgeFarm().send(job, tmp_path, CORES)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0].startswith("qsub -terse -hold_jid 41,42 ")
    assert [line.startswith("qsub -terse -hold_jid 71 ") for line in asked[1:3]] == [True, True]
    assert asked[3:] == ["qdel 71 71"]


@pytest.fixture(scope="module")
def running_cluster() -> Iterator[SgeCluster]:
    with sge_cluster() as started:
        yield started


@pytest.fixture
def cluster(running_cluster: SgeCluster, monkeypatch: pytest.MonkeyPatch) -> SgeCluster:
    for name, value in running_cluster.environment.items():
        monkeypatch.setenv(name, value)
    return running_cluster


@needs_sge
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestSgeFarm(FarmContract):
    @pytest.fixture
    def farm(self) -> FarmBackend:
        return SgeFarm()

    @pytest.fixture
    def tmp_path(self, tmp_path: Path) -> Path:
        """With a blank, which has to come through qsub and the scripts."""
        folder = tmp_path / "a show"
        folder.mkdir()
        return folder

    def test_queues_and_machines_are_listed(self, farm: FarmBackend, site: Site, cluster: SgeCluster) -> None:
        names = names_on(farm, site)
        assert [*names.pools] == cluster("qconf", "-sql").split()
        assert len(names.machines) == 1

    def test_a_task_that_was_killed_is_started_again(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        job = sent(python_step("train", SLEEP, str(tmp_path), num_tasks=1, retries=1))
        pid = tmp_path / "0.pid"
        job.wait_until(lambda: pid.exists() and pid.read_text() != "")
        first = pid.read_text()
        os.kill(int(first), signal.SIGKILL)
        job.wait_until(lambda: pid.read_text() not in ("", first))
        os.kill(int(pid.read_text()), signal.SIGKILL)
        job.wait_until(lambda: job.states("train") == ["failed"])
        assert job.log("train", 0).count("asleep") == 2
        assert job.tasks()[0].note == "exit code 137"

    def test_a_step_that_is_requeued_is_followed_again(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        fail_once = "import pathlib, sys; m = pathlib.Path(sys.argv[2], 'm'); m.exists() or (m.touch(), sys.exit(7))"
        job = sent(
            python_step("train", fail_once, str(tmp_path), num_tasks=1),
            python_step("apply", HELLO, environment={"US_WORD": "x"}, after=("train",)),
            python_step("publish", HELLO, environment={"US_WORD": "y"}, num_tasks=1, after=("apply",)),
        )
        job.wait_until_ended()
        assert [(task.state, task.note) for task in job.tasks()] == [
            ("failed", "exit code 7"),
            ("cancelled", "train did not succeed"),
            ("cancelled", "train did not succeed"),
            ("cancelled", "apply did not succeed"),
        ]
        job.requeue("train", 0)
        job.wait_until_ended()
        assert {task.state for task in job.tasks()} == {"done"}

    def test_a_time_limit_leaves_time_for_a_checkpoint(self, sent: Callable[..., SentJob], tmp_path: Path) -> None:
        step = python_step("train", _SAVES_AT_THE_END, str(tmp_path), num_tasks=1)
        job = sent(replace(step, resources=Resources(timeout_minutes=0.1)))
        job.wait_until_ended()
        assert (tmp_path / "saved").exists()
        assert (job.states("train"), job.tasks()[0].note) == (["failed"], "exit code 3, timeout")

    def test_a_task_that_runs_is_ended_and_sent_anew(
        self, sent: Callable[..., SentJob], cluster: SgeCluster, tmp_path: Path
    ) -> None:
        """The step behind it waits for its new id, too."""
        job = sent(
            python_step("train", SLEEP, str(tmp_path)),
            python_step("apply", HELLO, num_tasks=1, after=("train",)),
        )
        job.wait_until(lambda: job.log("train", 0).count("asleep") == job.log("train", 1).count("asleep") == 1)
        before = [(tmp_path / f"{number}.pid").read_text() for number in range(2)]
        job.requeue("train", 1)
        job.wait_until(lambda: job.log("train", 1).count("asleep") == 2)
        assert (tmp_path / "0.pid").read_text() == before[0]
        job.wait_until(lambda: job.states("train") == ["running", "running"])
        known = cluster("qstat", "-j", job.receipt.ids["apply"])
        waits_for = next(line for line in known.splitlines() if line.startswith("jid_predecessor_list"))
        assert set(waits_for.split()[-1].split(",")) == set(job.receipt.ids["train"].split(","))

    def test_a_job_that_is_held_waits(self, farm: FarmBackend, site: Site, cluster: SgeCluster, tmp_path: Path) -> None:
        job = replace(
            job_for(RANKS, farm.capabilities(site), tmp_path / "v001"), placement=Placement(is_suspended=True)
        )
        held = SentJob(farm, site, job)
        held.send()
        assert "hqw" in cluster("qstat")
        assert held.states("train") == ["waiting"] * 3
        held.cancel()
        assert held.states("train") == ["cancelled"] * 3

    def test_workers_are_slots(self, farm: FarmBackend, site: Site, tmp_path: Path) -> None:
        def count(placement: Placement) -> int:
            job = job_for(RANKS, farm.capabilities(site), tmp_path)
            return len(farm.workers(replace(job, placement=placement), site))

        assert count(Placement()) == count(Placement(pool="farm.q")) == NUM_SLOTS
        assert count(Placement(machines=("elsewhere",))) == 0
        with pytest.raises(FarmError, match=r"^--pool dusk: Grid Engine has no queue of that name; there are farm\.q$"):
            count(Placement(pool="dusk"))


@needs_mpi
@needs_sge
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
class TestRanksTogether:
    """As one parallel job, whose ranks mpirun starts."""

    @pytest.fixture
    def gang(self, tmp_path: Path) -> Iterator[Callable[..., SentJob]]:
        sent: list[SentJob] = []

        def send(program: str, retries: int = 0) -> SentJob:
            step = replace(python_step("train", program, str(tmp_path), num_tasks=3, retries=retries), at_once=True)
            base = job_for(RANKS, SgeFarm().capabilities(GANG), tmp_path / "v001")
            sent.append(SentJob(SgeFarm(), GANG, replace(base, steps=(step,))))
            sent[-1].send()
            return sent[-1]

        yield send
        for job in sent:
            job.cancel()

    def test_they_start_at_the_same_time(self, gang: Callable[..., SentJob]) -> None:
        """Each waits for the others' signs."""
        job = gang(_MEET)
        job.wait_until_ended()
        assert job.states("train") == ["done"] * 3

    def test_they_end_with_a_checkpoint(self, gang: Callable[..., SentJob], tmp_path: Path) -> None:
        job = gang(_SAVES_AT_THE_END)
        job.wait_until((tmp_path / "up").exists)
        job.wait_until(lambda: job.states("train") == ["running"] * 3)
        job.cancel()
        job.wait_until(lambda: job.states("train") == ["cancelled"] * 3)
        assert (tmp_path / "saved").exists()

    def test_one_that_is_lost_leaves_the_others(self, gang: Callable[..., SentJob]) -> None:
        job = gang("import os, sys, time; sys.argv[1] == '2' and os.kill(os.getpid(), 9); time.sleep(2)")
        job.wait_until_ended()
        states: list[TaskState] = ["done", "done", "failed"]
        assert job.states("train") == states

    def test_all_start_again_when_the_first_is_lost(self, gang: Callable[..., SentJob], tmp_path: Path) -> None:
        job = gang(
            f"import os, pathlib, sys; open({str(tmp_path / 'starts')!r}, 'a').write('x')\n{_DIE_ONCE}", retries=1
        )
        job.wait_until_ended()
        assert job.states("train") == ["done"] * 3
        assert (tmp_path / "starts").read_text().count("x") > 3


@needs_mpi
@needs_sge
@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_two_ranks_together_train_and_their_model_is_applied(command: Command, shot: SmallShot) -> None:
    result = shot.folder / "result" / "r.####.exr"
    gang = ("--farm", "sge", "-O", "pe=ranks", "-O", f"mpirun={GANG['mpirun']}", "--ranks", "2")
    assert command(*submit_words(shot, *gang, "--apply-output", str(result))).code == 0
    ending = command("wait", shot.data)
    assert ending.code == 0, ending
    assert "Ranks: 0, 1 of 2 train" in find_run(shot.data).log(1).read_text()
    assert read_record(find_run(shot.data).record).state == "finished"
    assert len(list(result.parent.iterdir())) == 4


_SAVES_AT_THE_END = """
import pathlib, signal, sys, time
def end(*_):
    time.sleep(1)
    pathlib.Path(sys.argv[2], 'saved').touch()
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
pathlib.Path(sys.argv[2], 'up').touch()
time.sleep(600)
"""
_MEET = """
import pathlib, sys, time
folder = pathlib.Path(sys.argv[2])
(folder / f'here.{sys.argv[1]}').touch()
while len(list(folder.glob('here.*'))) < 3:
    time.sleep(0.1)
"""
_DIE_ONCE = """
import os, pathlib, sys
mark = pathlib.Path(sys.argv[2], 'mark')
if sys.argv[1] == '0' and not mark.exists():
    mark.touch()
    os.kill(os.getpid(), 9)
"""
