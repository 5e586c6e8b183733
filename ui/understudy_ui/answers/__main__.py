"""The process: questions on stdin, answers on stdout, and nothing else there; it ends with its stdin."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from understudy.errors import EXIT_DONE
from understudy_ui.answers.service import Service


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # whatever prints, also a library or a child, is heard on stderr
    sys.stdout = sys.stderr
    lines = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # no child may read questions, or keep us from seeing their end
    os.close(nothing)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C in the host's terminal is meant for the host
    folder = Path(tempfile.mkdtemp(prefix="understudy_answers_"))
    try:
        from understudy_ui.answers.table import answers_in  # after stdout is safe: libraries may print when they come

        Service(answers_in(folder), out).serve(lines)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(EXIT_DONE)  # threads that wait for a farm are not waited for


if __name__ == "__main__":
    main()
