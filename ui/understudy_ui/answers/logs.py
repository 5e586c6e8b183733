"""What a rank has said, piece by piece."""

from __future__ import annotations

from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.runs import run_of
from understudy_farm.folder import JobFolder
from understudy_farm.plan import TRAIN
from understudy_ui.answers.asking import Asking
from understudy_ui.protocol import LogShown

MOST_BYTES = 256 * 1024


def log(asking: Asking) -> LogShown:
    """The run's own log of that rank; where it never came so far, what its task printed beside the job."""
    files, rank = run_of(Path(asking.text("place"))), asking.whole("rank")
    path = files.log(rank)
    return lines_from(
        path if path.exists() else JobFolder(files.directory).task_log(TRAIN, rank), asking.whole("offset")
    )


def lines_from(path: Path, offset: int) -> LogShown:
    """Whole lines; from the beginning where no line begins at `offset`, since the file began anew."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, offset - 1))
            begin = offset if offset > 0 and file.read(1) == b"\n" else 0
            file.seek(begin)
            read = file.read(MOST_BYTES)
    except FileNotFoundError:
        return {"text": "", "offset": 0}
    except OSError as error:
        raise UnderstudyError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    whole = read[: read.rfind(b"\n") + 1] or (read if len(read) == MOST_BYTES else b"")
    return {"text": whole.decode("utf-8", errors="replace"), "offset": begin + len(whole)}
