"""A whole Grid Engine on this machine: qmaster and execd with a cell of their own, all in one folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

PROGRAMS = Path("/usr/lib/gridengine")
DEFAULTS = Path("/usr/share/gridengine")
"""Where Debian puts them."""
DEADLINE_SECONDS = 30.0
NUM_SLOTS = 4

needs_sge = pytest.mark.skipif(
    not all((PROGRAMS / name).exists() for name in ("sge_qmaster", "sge_execd", "spoolinit"))
    or not all(map(shutil.which, ("qsub", "qstat", "qconf")))
    or not hasattr(os, "geteuid")
    or os.geteuid() != 0,
    reason="a Grid Engine takes root and Debian's gridengine-master, gridengine-exec and gridengine-client",
)

BOOTSTRAP = """
admin_user none
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params {spool}
binary_path {folder}/bin
qmaster_spool_dir {folder}/spool/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
jvm_threads 0
"""
ENVIRONMENT = """
pe_name {name}
slots 99
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule {rule}
control_slaves TRUE
job_is_first_task TRUE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""


class SgeCluster:
    """Running until closed. `environment` is what Grid Engine's commands need."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._host = socket.gethostname().split(".")[0]
        self._daemons: list[subprocess.Popen[bytes]] = []
        port = _free_port()
        self.environment = {
            "SGE_ROOT": str(folder),
            "SGE_CELL": "default",
            "SGE_QMASTER_PORT": str(port),
            "SGE_EXECD_PORT": str(_free_port(other_than=port)),
        }

    def start(self) -> None:
        self._lay_out_cell()
        self._start("sge_qmaster")
        self._until(lambda: self._succeeds("qconf", "-sh"))
        self._configure()
        self._start("sge_execd")
        self._until(lambda: "lx-" in self("qhost", "-h", self._host))

    def __call__(self, *words: str) -> str:
        done = subprocess.run(words, env=self._variables, capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def close(self) -> None:
        with suppress(AssertionError):
            self("qdel", "-f", "-u", "*")
        for daemon in reversed(self._daemons):
            for process in psutil.Process(daemon.pid).children(recursive=True):
                with suppress(psutil.Error):
                    process.kill()
            daemon.kill()
            daemon.wait()

    @property
    def _variables(self) -> dict[str, str]:
        return {**os.environ, **self.environment}

    def _lay_out_cell(self) -> None:
        self._folder.chmod(0o755)
        common, spool = self._folder / "default" / "common", self._folder / "spool" / "qmaster"
        for folder in (common, spool, self._folder / "spool" / "execd"):
            folder.mkdir(parents=True)
        for name in ("bin", "lib", "utilbin"):
            (self._folder / name).mkdir()
            (self._folder / name / "lx-amd64").symlink_to(PROGRAMS)
        (self._folder / "util").symlink_to(DEFAULTS / "util")
        where = f"{common};{spool}"
        (common / "bootstrap").write_text(BOOTSTRAP.format(folder=self._folder, spool=where))
        (common / "act_qmaster").write_text(self._host + "\n")
        (common / "host_aliases").write_text(f"{self._host} localhost\n")
        defaults = (DEFAULTS / "default-configuration").read_text()
        own = {"execd_spool_dir": f"{self._folder}/spool/execd", "min_uid": "0", "min_gid": "0"}
        own |= {"load_report_time": "00:00:01"}
        configuration = self._file("configuration", _changed(defaults, own))
        self(str(PROGRAMS / "spoolinit"), "classic", "libspoolc", where, "init")
        resources = DEFAULTS / "util" / "resources"
        for words in (
            ("configuration", configuration),
            ("complexes", str(resources / "centry")),
            ("usersets", str(resources / "usersets")),
            ("managers", "root"),
        ):
            self(str(PROGRAMS / "spooldefaults"), *words)

    def _configure(self) -> None:
        self("qconf", "-as", self._host)
        for name, rule in (("ranks", "$fill_up"), ("cores", "$pe_slots")):
            self("qconf", "-Ap", self._file(name, ENVIRONMENT.format(name=name, rule=rule)))
        own = {"qname": "farm.q", "hostlist": self._host, "slots": str(NUM_SLOTS), "pe_list": "ranks cores"}
        own |= {"load_thresholds": "NONE", "notify": "00:00:20"}
        self("qconf", "-Aq", self._file("queue", _changed(self("qconf", "-sq"), own)))
        soon = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1"}
        soon |= {"job_load_adjustments": "NONE", "load_formula": "slots"}
        self("qconf", "-Msconf", self._file("scheduler", _changed(self("qconf", "-ssconf"), soon)))

    def _file(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_text(text.lstrip())
        return str(path)

    def _succeeds(self, *words: str) -> bool:
        return subprocess.run(words, env=self._variables, capture_output=True, check=False).returncode == 0

    def _start(self, name: str) -> None:
        with (self._folder / f"{name}.log").open("ab") as log:
            words = [str(PROGRAMS / name)]
            environment = {**self._variables, "SGE_ND": "1"}  # in the foreground
            self._daemons.append(subprocess.Popen(words, stdout=log, stderr=log, env=environment))

    def _until(self, holds: Callable[[], bool]) -> None:
        give_up = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            logs = [path.read_text(errors="replace")[-2000:] for path in self._folder.glob("*.log")]
            assert time.monotonic() < give_up, "\n".join(logs)
            time.sleep(0.1)


@contextmanager
def sge_cluster() -> Iterator[SgeCluster]:
    """In a folder that every user may pass through."""
    with tempfile.TemporaryDirectory(prefix="sge-", ignore_cleanup_errors=True) as folder:
        cluster = SgeCluster(Path(folder))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.close()


def _changed(text: str, values: Mapping[str, str]) -> str:
    """Lines of `NAME VALUE` with these values."""
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return "".join(f"{name} {values.get(name, value)}\n" for name, value in lines)


def _free_port(other_than: int = 0) -> int:
    while True:
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            port = int(trial.getsockname()[1])
        if port != other_than:
            return port
