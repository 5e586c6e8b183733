"""A whole Slurm cluster on this machine: munge, slurmctld and one slurmd for each node, all in one folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
DEADLINE_SECONDS = 30.0

needs_slurm = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)) or not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="a Slurm cluster takes root and Debian's munge, slurmctld, slurmd and slurm-client",
)

CONFIGURATION = """
ClusterName=understudy
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=10
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first_port}-{last_port}] CPUs=1 RealMemory=4000
PartitionName=farm Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""


class SlurmCluster:
    """Running until closed. `environment` is what Slurm's commands need."""

    def __init__(self, folder: Path, num_nodes: int) -> None:
        self._folder = folder
        self.nodes = tuple(f"n{number}" for number in range(1, num_nodes + 1))
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o711)
        first = _free_ports(num_nodes + 1)
        text = CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            folder=folder,
            port=first,
            nodes=num_nodes,
            first_port=first + 1,
            last_port=first + num_nodes,
        )
        (folder / "slurm.conf").write_text(text)

    def start(self) -> None:
        key = self._folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        munge = [
            *("munged", "--foreground", f"--key-file={key}", f"--socket={self._folder}/munge.socket"),
            *(f"--pid-file={self._folder}/munged.pid", f"--log-file={self._folder}/munged.log"),
            *(f"--seed-file={self._folder}/munge.seed", "--num-threads=2"),
        ]
        self._start(munge)
        self._until(lambda: (self._folder / "munge.socket").exists())
        self._start(["slurmctld", "-D", "-f", str(self._folder / "slurm.conf")])
        for node in self.nodes:
            (self._folder / "spool" / node).mkdir()
            self.start_node(node)
        self._until(lambda: self("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").count("\n") == len(self.nodes))

    def start_node(self, node: str) -> None:
        self._start(["slurmd", "-D", "-f", str(self._folder / "slurm.conf"), "-N", node])

    def kill_node(self, node: str) -> None:
        """Everything of the node dies at once, as when its power fails: the daemon, its step managers, their tasks."""
        for process in self._processes_of(node):
            with suppress(psutil.Error):
                process.kill()

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            words, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False, timeout=30
        )
        return done.stdout

    def close(self) -> None:
        self("scancel", "--full", "--state=RUNNING")
        for node in self.nodes:
            self.kill_node(node)
        for daemon in reversed(self._daemons):
            daemon.kill()
            daemon.wait()

    def _processes_of(self, node: str) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                environment = process.environ()
                is_here = environment.get("SLURM_CONF") == self.environment["SLURM_CONF"]
                words = process.cmdline()
                is_daemon = bool(words) and words[0].endswith("slurmd") and words[-1] == node
                if is_here and (is_daemon or environment.get("SLURMD_NODENAME") == node):
                    found.append(process)
                    found += process.children(recursive=True)
        return found

    def _start(self, words: list[str]) -> None:
        log = (self._folder / "daemons.log").open("ab")
        with log:
            self._daemons.append(
                subprocess.Popen(words, stdout=log, stderr=log, env={**os.environ, **self.environment})
            )

    def _until(self, holds: object) -> None:
        assert callable(holds)
        give_up = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            logs = [path.read_text(errors="replace")[-2000:] for path in self._folder.glob("*.log")]
            assert time.monotonic() < give_up, "\n".join(logs)
            time.sleep(0.1)


@contextmanager
def slurm_cluster(num_nodes: int) -> Iterator[SlurmCluster]:
    """In a folder that everybody may pass through, as munge wants it."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        cluster = SlurmCluster(Path(folder), num_nodes)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.close()


def _free_ports(count: int) -> int:
    """The first of so many neighbouring ports that nobody has now."""
    for first in range(20000 + os.getpid() % 9000, 32000, count):
        with suppress(OSError):
            for port in range(first, first + count):
                with socket.socket() as trial:
                    trial.bind(("127.0.0.1", port))
            return first
    raise AssertionError("no free ports")
