"""Runs of several ranks as a farm starts them: they agree, they share the work, and outlive each other."""

from __future__ import annotations

import functools
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
import torch
from tests.core.train.crew import OFTEN_ENOUGH, crew, rank_events, wait_until
from tests.core.train.shots import SmallShot, make_shot

from understudy.cli.main import main
from understudy.errors import EXIT_DONE, EXIT_STOPPED
from understudy.report.metrics import Metrics, read_metrics
from understudy.report.run_record import read_record
from understudy.runs import find_run
from understudy.train.losses import STEPS_PER_MEAN
from understudy.train.model_file import load_tensors

pytestmark = pytest.mark.slow
posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
SECONDS_OF_PATIENCE = 120.0
LAST_STEP, STEP_ALIKE = 50, 20
"""Until the second, runs in float32 are the same but for rounding; then a number falls on the other side of a ReLU."""
CALM = ("--learning-rate", "0.0002")
"""With the usual one rounding grows a hundredfold in five steps, in a lone run that is shaken by 1e-16, too."""

Train = Callable[[str, int], SmallShot]


@pytest.fixture
def shot(tmp_path: Path) -> SmallShot:
    return make_shot(tmp_path / "shot")


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Fifty steps in that precision by so many ranks, once for all tests that look at them."""

    @functools.cache
    def trained(precision: str, num_ranks: int) -> SmallShot:
        shot = make_shot(tmp_path_factory.mktemp(f"{precision}-{num_ranks}"))
        flags = ["--run-name", "r", "--batch-size", "4", "--sync-interval", "1", "--precision", precision]
        flags += ["--validation-frames", "1003", "--checkpoint-interval", "10", "--contact-sheet-interval", "50"]
        words = shot.train_words(*flags, *CALM, steps=LAST_STEP)
        assert end_of_ranks(words, num_ranks) == EXIT_DONE
        return shot

    return trained


def end_of_ranks(words: list[str], num_ranks: int) -> int:
    """The exit code of that command with --ranks."""
    if num_ranks == 1:
        return main([*words, "--ranks", "1"])
    with launched(words, num_ranks) as launcher:
        said, faults = launcher.communicate(timeout=SECONDS_OF_PATIENCE)
    assert (launcher.returncode, faults) == (EXIT_DONE, ""), f"{said}\n{faults}"
    return launcher.returncode


@contextmanager
def launched(words: list[str], num_ranks: int) -> Iterator[subprocess.Popen[str]]:
    """The command that starts ranks on this machine; it is gone after the block, and they with it."""
    command = [sys.executable, "-u", "-m", "understudy.cli.main", *words, "--ranks", str(num_ranks)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            yield launcher
        finally:
            launcher.kill()


@pytest.mark.parametrize("num_ranks", [2, 3])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-11), ("float32", 1e-3)])
def test_so_many_ranks_make_the_model_of_one(train: Train, precision: str, tolerance: float, num_ranks: int) -> None:
    """Batches of 4: the three ranks have 2, 1 and 1 crops of it."""
    step = LAST_STEP if precision == "float64" else STEP_ALIKE
    for suffix in (".safetensors", ".ost"):
        alone, shared = (weights_in(train(precision, ranks).data / f"r.{step}{suffix}") for ranks in (1, num_ranks))
        norm = torch.linalg.vector_norm
        assert norm(shared - alone) <= tolerance * norm(alone)


def weights_in(path: Path) -> torch.Tensor:
    """All that a checkpoint's file holds of the network, in one row."""
    tensors, beside = load_tensors(path)[0], ("momentum", "misses")
    return torch.cat([tensors[name].double().flatten() for name in sorted(tensors) if name.split("/")[0] not in beside])


def psnr_at(metrics: Metrics, step: int) -> float:
    return float(metrics.validation_psnrs[metrics.validation_steps.tolist().index(step)])


def test_rank_0_alone_writes_the_files_and_every_rank_a_log_that_says_where_it_ran(train: Train) -> None:
    alone, shared = (train("float32", num_ranks).data for num_ranks in (1, 3))
    logs = {f"r.rank{rank}.log" for rank in range(3)}
    assert {path.name for path in shared.iterdir()} == {path.name for path in alone.iterdir()} | logs
    host = re.escape(os.uname().nodename if hasattr(os, "uname") else socket.gethostname())
    for rank in range(3):
        first = (shared / f"r.rank{rank}.log").read_text(encoding="utf-8").splitlines()[0]
        expected = rf"host {host}, rank {rank} of 3, address 127\.0\.0\.1, device CPU, float32, 1 threads, pid \d+"
        assert re.search(expected, first), first
    one, several = (read_metrics(data / "r.metrics.jsonl") for data in (alone, shared))
    # looks come by the clock, and tell the step at which they come
    alike = [
        [step for step in metrics.steps.tolist() if step == 1 or step % STEPS_PER_MEAN == 0]
        for metrics in (one, several)
    ]
    assert alike[0] == alike[1]
    assert psnr_at(one, STEP_ALIKE) == pytest.approx(psnr_at(several, STEP_ALIKE), abs=0.01)
    assert [(event["step"], event["ranks"]) for event in rank_events(shared)] == [(0, "0 1 2")]


@pytest.mark.parametrize(
    ("mode", "compression", "said"),
    [
        ("gradients", "powersgd", "gradients every step, powersgd compression"),
        ("accumulate", "none", "gradients summed over the interval every 4 steps, none compression"),
        ("average", "fp16", "weights averaged every 4 steps, fp16 compression"),
        ("overlap", "bf16", "weights averaged while training goes on every 4 steps, bf16 compression"),
        ("outer", "fp16", "weights averaged by an outer optimizer every 4 steps, fp16 compression"),
    ],
)
def test_every_way_of_sharing_learns(shot: SmallShot, mode: str, compression: str, said: str) -> None:
    interval = "1" if mode == "gradients" else "4"
    how = ["--sync-mode", mode, "--sync-interval", interval, "--compress", compression]
    flags = ["--run-name", "r", "--no-multi-resolution", *OFTEN_ENOUGH]
    words = shot.train_words(*flags, *how, steps=102)
    assert end_of_ranks(words, 2) == EXIT_DONE
    assert f"Sync: {said}\n" in (shot.data / "r.rank0.log").read_text(encoding="utf-8")
    losses = read_metrics(shot.data / "r.metrics.jsonl").losses
    assert losses[-4:].mean() < 0.8 * losses[1:5].mean()


def torchrun_variables(port: int, rank: int, world_size: int) -> dict[str, str]:
    numbers = {"RANK": rank, "WORLD_SIZE": world_size, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": world_size}
    return {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port), **{name: str(n) for name, n in numbers.items()}}


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def test_ranks_start_by_torchruns_variables(shot: SmallShot) -> None:
    with crew(shot, world_size=2, steps=20, variables=functools.partial(torchrun_variables, free_port())) as ranks:
        ranks.start(1, 0)
        assert (ranks.code(0), ranks.code(1)) == (EXIT_DONE, EXIT_DONE)
        assert "Ranks: 0, 1 of 2 train\n" in ranks.said(0)


def test_ranks_start_by_a_list_of_hosts(shot: SmallShot, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text('hosts = [{name = "localhost", ranks = 2}]\n')
    command = [sys.executable, "-m", "understudy.cli.main", *shot.train_words("--hosts", str(hosts), steps=20)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_OF_PATIENCE)
    assert (ended.returncode, ended.stderr) == (EXIT_DONE, "")
    assert "Ranks: 0, 1 of 2 train\n" in ended.stdout
    assert "[Step:20/20]" in ended.stdout


@posix
def test_a_killed_rank_comes_back_and_sigterm_to_it_stops_all(shot: SmallShot) -> None:
    with crew(shot, world_size=2) as ranks:
        ranks.start(0, 1)
        ranks.wait_for(0, "[Step:10/")
        ranks.kill(1, signal.SIGKILL)
        ranks.wait_for(0, "Ranks: 0 of 2 train from step")
        ranks.start(1)
        ranks.wait_for(1, "Ranks: 0, 1 of 2 train from step")
        ranks.kill(1, signal.SIGTERM)
        assert (ranks.code(0), ranks.code(1)) == (EXIT_STOPPED, EXIT_STOPPED)
        stopped = re.search(r"Stopped by SIGTERM after step (\d+); go on with: understudy resume", ranks.said(0))
        assert stopped is not None
        assert f"Stopped by SIGTERM after step {stopped.group(1)}\n" in ranks.said(1)
        assert find_run(shot.data).checkpoint_steps() == [int(stopped.group(1))]
        assert read_record(find_run(shot.data).record).state == "stopped"
        assert ranks.left_behind() == []
    events = rank_events(shot.data)
    assert [(event["ranks"], event["from_rank"]) for event in events] == [("0 1", 0), ("0", 0), ("0 1", 0)]
    assert "left: " in str(events[1]["why"])
    assert "joined" in str(events[2]["why"])


@posix
def test_rank_0_comes_back_to_what_the_others_have_and_stop_and_resume_find_all_of_them(shot: SmallShot) -> None:
    """No checkpoint was written when rank 0 was killed; what it knew lives on in rank 1."""
    with crew(shot, world_size=2) as ranks:
        ranks.start(0, 1)
        ranks.wait_for(1, "[Step:30/")
        ranks.kill(0, signal.SIGKILL)
        ranks.wait_for(1, "rank 1 waits for rank 0")
        ranks.start(0)
        wait_until(lambda: len(rank_events(shot.data)) == 2, lambda: f"the ranks' meeting: {ranks.said(0)[-3000:]}")
        event = rank_events(shot.data)[-1]
        assert (event["ranks"], event["from_rank"]) == ("0 1", 1)
        assert int(str(event["step"])) >= 30
        assert main(["stop", str(shot.data), "--wait"]) == EXIT_DONE
        assert (ranks.code(0), ranks.code(1)) == (EXIT_STOPPED, EXIT_STOPPED)
        assert ranks.left_behind() == []
    step = find_run(shot.data).checkpoint_steps()[-1]
    assert step > int(str(event["step"]))
    assert end_of_ranks(["resume", str(shot.data), "--steps", str(step + 10)], 3) == EXIT_DONE
    assert [event["ranks"] for event in rank_events(shot.data)][-1] == "0 1 2"
    assert read_metrics(find_run(shot.data).metrics).steps[-1] == step + 10
    assert read_record(find_run(shot.data).record).state == "finished"


@posix
def test_an_evicted_rank_leaves_and_the_others_go_on(shot: SmallShot) -> None:
    """Rank 0 too: the other holds until it is back. Whoever starts ranks again takes a wished stop for done."""
    with crew(shot, "--eviction", "leave", world_size=2) as ranks:
        ranks.start(0, 1)
        ranks.wait_for(1, "[Step:1/")
        ranks.kill(1, signal.SIGTERM)
        assert ranks.code(1) == EXIT_STOPPED
        ranks.wait_for(0, "Ranks: 0 of 2 train from step")
        ranks.start(1)
        ranks.wait_for(1, "Ranks: 0, 1 of 2 train from step")
        ranks.kill(0, signal.SIGTERM)
        assert ranks.code(0) == EXIT_STOPPED
        assert find_run(shot.data).checkpoint_steps() != []
        ranks.start(0)
        ranks.wait_for(1, "Ranks: 0, 1 of 2 train from step", times=2)
        (shot.data / "stop").touch()
        assert (ranks.code(0), ranks.code(1)) == (EXIT_DONE, EXIT_DONE)


def test_a_late_rank_joins_and_all_have_its_part(shot: SmallShot) -> None:
    with crew(shot, "--min-ranks", "2", world_size=3) as ranks:
        ranks.start(0, 1)
        ranks.wait_for(1, "[Step:1/")
        ranks.start(2)
        for rank in range(3):
            ranks.wait_for(rank, "Ranks: 0, 1, 2 of 3 train from step")
        (shot.data / "r.stop").touch()
        assert [ranks.code(rank) for rank in range(3)] == [EXIT_STOPPED] * 3
        assert ranks.left_behind() == []
    assert [event["ranks"] for event in rank_events(shot.data)] == ["0 1", "0 1 2"]


SLOW_TO_PREPARE = """
import time
from pathlib import Path
from understudy.train import session
prepared = session.first_model
def first_model(settings, dataset, progress):
    model = prepared(settings, dataset, progress)
    while not Path({0!r}).exists(): time.sleep(0.02)
    return model
session.first_model = first_model
"""


def test_who_is_ready_only_when_the_run_is_over_has_done_nothing_wrong(shot: SmallShot, tmp_path: Path) -> None:
    over = tmp_path / "over"
    with crew(shot, "--min-ranks", "1", world_size=2, steps=200) as ranks:
        ranks.start(0)
        ranks.wait_for(0, "[Step:1/")
        ranks.start(1, python=SLOW_TO_PREPARE.format(str(over)))
        ranks.wait_for(0, "rank 1 of 2 is here")
        assert ranks.code(0) == EXIT_DONE
        over.touch()
        assert ranks.code(1) == EXIT_DONE
        assert "the run is over without this rank: finished" in ranks.said(1)


@posix
def test_nobody_outlives_a_killed_launcher(shot: SmallShot) -> None:
    with launched(shot.train_words("--checkpoint-interval", "100000", steps=10**6), 2) as launcher:
        assert launcher.stdout is not None
        assert any("[Step:10/" in line for line in launcher.stdout)
        ranks = psutil.Process(launcher.pid).children(recursive=True)
        assert len(ranks) == 2
        launcher.kill()
        wait_until(lambda: not any(is_alive(rank) for rank in ranks), lambda: f"the end of {ranks}")


def is_alive(process: psutil.Process) -> bool:
    """A zombie that nobody waits for is as dead as one can be here."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
