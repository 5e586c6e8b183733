"""RQD's way of running a frame: its command in a file that a shell reads, a session of its own, a log that rotates."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass
class RunningFrame:
    """A process group and its log."""

    process: subprocess.Popen[bytes]
    log: BinaryIO

    def kill(self) -> None:
        """SIGKILL to all of its processes, as RQD does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def ended(self) -> int | None:
        """The exit status as RQD reports it: 1 for a signal."""
        code = self.process.poll()
        if code is None:
            return None
        if not self.log.closed:
            self.log.write(f"\nRenderQ Job Complete\nexitStatus {code}\n".encode())
            self.log.close()
        return 1 if code < 0 else code


def start_frame(command: str, environment: Mapping[str, str], log: Path) -> RunningFrame:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists():
        count = 1
        while Path(f"{log}.{count}").exists():
            count += 1
        log.rename(f"{log}.{count}")
    script = log.with_suffix(".command")
    script.write_text(command)
    file = log.open("wb")
    file.write(f"RenderQ JobSpec\ncommand {command}\n".encode())
    file.flush()
    process = subprocess.Popen(
        ["/bin/sh", str(script)],
        env={"PATH": os.environ["PATH"], "TERM": "unknown", "USER": "tester", **environment},
        cwd=log.parent,
        stdin=subprocess.DEVNULL,
        stdout=file,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    return RunningFrame(process, file)
