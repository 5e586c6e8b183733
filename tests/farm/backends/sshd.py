"""An sshd of our own that plays several hosts: h1, h2 and h3, each with its own idea of where it is."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SSHD = shutil.which("sshd") or ("/usr/sbin/sshd" if Path("/usr/sbin/sshd").exists() else "")
DEADLINE_SECONDS = 30.0

needs_sshd = pytest.mark.skipif(
    not SSHD or not shutil.which("ssh") or not shutil.which("rsync"),
    reason="hosts to reach by ssh take Debian's openssh-server, openssh-client and rsync",
)

SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
MaxStartups 100
MaxSessions 100
"""
CLIENT = """
Host h*
  HostName 127.0.0.1
  Port {port}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


@contextmanager
def sshd(folder: Path) -> Iterator[str]:
    """The ssh command that reaches the hosts, while the server runs."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    for key in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
    (folder / "sshd_config").write_text(SERVER.format(port=port, folder=folder))
    (folder / "ssh_config").write_text(CLIENT.format(port=port, folder=folder))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with (folder / "sshd.log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stdout=log, stderr=log)
    try:
        _wait_until_it_listens(port, folder / "sshd.log")
        yield shlex.join(["ssh", "-F", str(folder / "ssh_config")])
    finally:
        server.terminate()
        server.wait()


def _wait_until_it_listens(port: int, log: Path) -> None:
    give_up = time.monotonic() + DEADLINE_SECONDS
    while True:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < give_up, log.read_text()
        time.sleep(0.05)
