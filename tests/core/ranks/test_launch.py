"""One command and its ranks: real processes that end well, fail, are killed, or lose the command that started them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from understudy import __version__
from understudy.ranks.hosts import places_alone
from understudy.ranks.launch import environment_of, words_of_one_rank

SECONDS_OF_PATIENCE = 60.0

RANK = """
import json, os, signal, sys, time
from pathlib import Path

folder = Path(sys.argv[1])
rank = int(os.environ["COPYCAT_RANK"])

def come(name="here"):
    \"\"\"Leave one more file that says so; returns how many there are.\"\"\"
    count = len(list(folder.glob(f"{name}.{rank}.*"))) + 1
    (folder / f"{name}.{rank}.{count}").touch()
    return count

def wait_for(name):
    while not list(folder.glob(f"{name}.*")):
        time.sleep(0.02)

def end_on(number, code):
    signal.signal(number, lambda *_: (come(f"told{number}"), os._exit(code)))

def stay():
    come()
    while True:
        time.sleep(0.02)

"""
LAUNCHER = """
import os, sys
from dataclasses import replace
from understudy.ranks.hosts import places_alone
from understudy.ranks.launch import run_ranks

places = places_alone({num_ranks})
program = [sys.executable, "-u", {rank_file!r}, {folder!r}]
sys.exit(run_ranks({places}, {words!r}, os.environ, program=program, seconds_to_end={seconds_to_end}))
"""
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


class Stage:
    """A folder in which ranks leave files, and the launchers begun there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._begun: list[subprocess.Popen[str]] = []

    def begin(
        self,
        *acts: str,
        places: str = "places",
        words: tuple[str, ...] = (),
        seconds_to_end: float = 30.0,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a launcher; rank i does what the Python in `acts[i]` says."""
        rank_file = self.folder / "rank.py"
        rank_file.write_text(RANK + f"exec({acts!r}[rank])\n")
        program = LAUNCHER.format(
            num_ranks=len(acts),
            rank_file=str(rank_file),
            folder=str(self.folder),
            places=places,
            words=words,
            seconds_to_end=seconds_to_end,
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self._begun.append(process)
        return process

    def wait_for(self, *names: str) -> None:
        self.wait_until(lambda: all((self.folder / name).exists() for name in names))

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS_OF_PATIENCE
        while not is_so():
            assert time.monotonic() < deadline, sorted(path.name for path in self.folder.iterdir())
            time.sleep(0.02)

    def living(self) -> list[psutil.Process]:
        """Ranks of this stage in the process table, whoever their parent is."""
        mine = str(self.folder / "rank.py")
        return [process for process in psutil.process_iter() if mine in _words_of(process)]

    def clear(self) -> None:
        for process in self._begun:
            process.kill()
            with process:  # closes its pipes
                pass
        for rank in self.living():
            rank.kill()


def _words_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() if process.status() != psutil.STATUS_ZOMBIE else []
    except psutil.Error:
        return []


def end_of(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """(Exit code, what it printed, its lines on stderr)."""
    out, faults = process.communicate(timeout=SECONDS_OF_PATIENCE)
    return process.returncode, out, faults.splitlines()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.clear()


@pytest.mark.parametrize(
    ("codes", "code"), [((0, 0, 0), 0), ((3, 3, 3), 3), ((4, 4), 4), ((0, 3), 3), ((3, 4), 4), ((0,), 0)]
)
def test_the_command_ends_as_its_ranks_did(stage: Stage, codes: tuple[int, ...], code: int) -> None:
    assert end_of(stage.begin(*(f"sys.exit({own})" for own in codes))) == (code, "", [])


def test_every_rank_knows_its_place(stage: Stage) -> None:
    act = "(folder / f'{rank}.json').write_text(json.dumps([dict(os.environ), sys.argv[2:]]))"
    hosts = {"UNDERSTUDY_HOSTS": "hosts.toml", "COPYCAT_RANK": "7", "COPYCAT_LOCAL_ADDR": "eth7"}
    words = ("train", "--ranks", "2", "shot.nk")
    assert end_of(stage.begin(act, act, words=words, environment=hosts))[0] == 0
    told = [json.loads((stage.folder / f"{rank}.json").read_text()) for rank in (0, 1)]
    for rank, (environment, given) in enumerate(told):
        assert given == ["train", "shot.nk"]
        assert environment["COPYCAT_RANK"] == environment["UNDERSTUDY_RANK_GPU"] == str(rank)
        assert environment["COPYCAT_WORLD_SIZE"] == environment["UNDERSTUDY_RANKS_HERE"] == "2"
        assert environment["COPYCAT_MAIN_ADDR"] == environment["COPYCAT_LOCAL_ADDR"] == "127.0.0.1"
        assert environment["COPYCAT_MAIN_PORT"] == "auto"
        assert environment["UNDERSTUDY_LAUNCHED"] == "1"
        assert "UNDERSTUDY_HOSTS" not in environment
    secrets = {environment["UNDERSTUDY_SECRET"] for environment, _ in told}
    assert len(secrets) == 1
    assert len(secrets.pop()) == 64


def test_what_a_place_does_not_say_is_not_said() -> None:
    place = replace(places_alone(1)[0], gpu=None, local_address="")
    told = environment_of(place, {"COPYCAT_LOCAL_ADDR": "eth7", "UNDERSTUDY_RANK_GPU": "7", "PATH": "/bin"})
    assert {"COPYCAT_LOCAL_ADDR", "UNDERSTUDY_RANK_GPU"} & set(told) == set()
    assert told["PATH"] == "/bin"


@pytest.mark.parametrize(
    ("places", "given", "secret"),
    [
        ("places[:1]", {}, ""),
        ("places[:1]", {"UNDERSTUDY_SECRET": "s" * 64}, "s" * 64),
        ("places", {"UNDERSTUDY_SECRET": "s" * 64}, "s" * 64),
    ],
)
def test_a_secret_is_made_only_when_nobody_else_needs_it(
    stage: Stage, places: str, given: dict[str, str], secret: str
) -> None:
    act = "sys.stdout.write(os.environ.get('UNDERSTUDY_SECRET', ''))"
    assert end_of(stage.begin(act, "", places=places, environment=given)) == (0, secret, [])


def test_rank_0_speaks_and_the_others_complain_by_name(stage: Stage) -> None:
    act = "sys.stdout.write(f'out {rank}\\n'); sys.stderr.write(f'fault {rank}\\n')"
    code, out, faults = end_of(stage.begin(act, act, act))
    assert (code, out) == (0, "out 0\n")
    assert {line for line in faults if "fault" in line} >= {"[rank 1] fault 1", "[rank 2] fault 2"}


@posix
@pytest.mark.parametrize("code", [1, 2])
def test_a_rank_that_fails_ends_the_others(stage: Stage, code: int) -> None:
    failing = f"wait_for('here.0'); wait_for('here.2'); sys.stderr.write('because\\n' * 5000); sys.exit({code})"
    staying = "end_on(signal.SIGTERM, 3); stay()"
    ended, _, faults = end_of(stage.begin(staying, failing, staying))
    assert ended == code
    assert faults == [
        *["[rank 1] because"] * 5000,
        f"understudy: rank 1 failed with exit code {code}; the other ranks are told to stop",
    ]
    assert (stage.folder / f"told{signal.SIGTERM}.0.1").exists()
    assert (stage.folder / f"told{signal.SIGTERM}.2.1").exists()
    assert stage.living() == []


@posix
def test_a_rank_that_does_not_end_is_killed(stage: Stage) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); stay()"
    code, _, faults = end_of(stage.begin(deaf, "wait_for('here.0'); sys.exit(2)", seconds_to_end=0.2))
    assert (code, len(faults)) == (2, 1)
    assert stage.living() == []


@posix
def test_a_rank_that_was_killed_is_started_again(stage: Stage) -> None:
    act = f"come() > 2 or {KILLED}; come('done')"
    code, _, faults = end_of(stage.begin("wait_for('done.1')", act))
    assert code == 0
    killed = "understudy: rank 1 was killed (Killed); it is started again"
    assert faults == [f"{killed} ({time} of at most 3 times)" for time in (1, 2)]
    assert (stage.folder / "here.1.3").exists()


@posix
def test_a_rank_that_is_killed_every_time_stays_away(stage: Stage) -> None:
    process = stage.begin("wait_for('enough')", f"come(); {KILLED}")
    stage.wait_for("here.1.4")
    stage.wait_until(lambda: len(stage.living()) == 1)
    assert process.stderr is not None
    said = [process.stderr.readline() for _ in range(4)]
    assert said[-1] == "understudy: rank 1 was killed (Killed) again; it stays away\n"
    (stage.folder / "enough.0").touch()
    assert end_of(process) == (0, "", [])
    assert not (stage.folder / "here.1.5").exists()


@posix
def test_when_no_rank_is_left_the_fault_is_ours(stage: Stage) -> None:
    assert end_of(stage.begin(KILLED))[0] == 1


@posix
def test_no_rank_is_started_again_once_rank_0_has_ended(stage: Stage) -> None:
    late = f"""
import psutil
(leader,) = [one.pid for one in psutil.Process(os.getppid()).children() if one.pid != os.getpid()]
come()
while psutil.pid_exists(leader):
    time.sleep(0.02)
{KILLED}"""
    code, _, faults = end_of(stage.begin("wait_for('here.1'); sys.exit(0)", late))
    assert (code, faults) == (0, [])
    assert [path.name for path in stage.folder.glob("here.*")] == ["here.1.1"]


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_passed_on(stage: Stage, number: signal.Signals) -> None:
    process = stage.begin(*[f"end_on({number}, 3); stay()"] * 2)
    stage.wait_for("here.0.1", "here.1.1")
    process.send_signal(number)
    assert end_of(process) == (3, "", [])
    assert {path.name for path in stage.folder.glob("told*")} == {f"told{number}.0.1", f"told{number}.1.1"}
    assert stage.living() == []


@posix
def test_ranks_that_do_not_heed_a_signal_are_killed(stage: Stage) -> None:
    process = stage.begin(*["signal.signal(signal.SIGTERM, signal.SIG_IGN); stay()"] * 2, seconds_to_end=0.2)
    stage.wait_for("here.0.1", "here.1.1")
    process.send_signal(signal.SIGTERM)
    assert end_of(process) == (3, "", [])
    assert stage.living() == []


@posix
def test_a_terminal_interrupts_each_rank_once(stage: Stage) -> None:
    """Ctrl-C goes to every process of the terminal's foreground group; a second one would end the ranks at once."""
    process = stage.begin("end_on(signal.SIGINT, 3); stay()")
    stage.wait_for("here.0.1")
    (rank,) = stage.living()
    assert os.getpgid(rank.pid) != os.getpgid(process.pid)


WATCHING = "from understudy.ranks import launch; launch.SECONDS_TO_END_AS_ORPHAN = 0.5; launch.end_with_parent(); "


@posix
@pytest.mark.parametrize(
    "act",
    [
        "end_on(signal.SIGTERM, 3); stay()",
        "end_on(signal.SIGTERM, 3); come(); time.sleep(1000)",
        "stay()",
        "come(); time.sleep(1000)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); stay()",
        "come(); import threading; threading.Event().wait()",
    ],
    ids=["heeds", "heeds asleep", "knows nothing", "sleeps", "is deaf", "is blocked"],
)
def test_no_rank_outlives_a_command_that_was_killed(stage: Stage, act: str) -> None:
    process = stage.begin(*[WATCHING + act] * 3)
    stage.wait_for("here.0.1", "here.1.1", "here.2.1")
    assert len(stage.living()) == 3
    process.kill()
    stage.wait_until(lambda: stage.living() == [])
    told = len(list(stage.folder.glob(f"told{signal.SIGTERM}.*")))
    assert told == (3 if "end_on" in act else 0)


@posix
def test_a_rank_whose_command_lives_is_left_alone(stage: Stage) -> None:
    program = "sys.stdout.write(sys.stdin.read() + 'nothing to read')"
    assert end_of(stage.begin(WATCHING + "time.sleep(1); " + program)) == (0, "nothing to read", [])


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("train --ranks 2 shot.nk", "train shot.nk"),
        ("train --ranks=2 shot.nk", "train shot.nk"),
        ("train shot.nk --hosts farm.toml", "train shot.nk"),
        ("train --hosts=farm.toml --steps 4 shot.nk", "train --steps 4 shot.nk"),
        ("train --hosts --ranks shot.nk", "train shot.nk"),
        ("-X CopyCat1 --rank 2 --ranks-of-mine 3 shot.nk", "-X CopyCat1 --rank 2 --ranks-of-mine 3 shot.nk"),
        ("train shot.nk --ranks", "train shot.nk"),
    ],
)
def test_the_ranks_words_are_those_of_one_rank(words: str, kept: str) -> None:
    assert words_of_one_rank(words.split()) == kept.split()


def test_the_program_is_understudy_itself() -> None:
    program = "import os, sys\nfrom understudy.ranks.hosts import places_alone\n"
    program += "from understudy.ranks.launch import run_ranks\n"
    program += "sys.exit(run_ranks(places_alone(2), ['--version', '--ranks', '2'], os.environ))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"understudy {__version__}\n", "")
