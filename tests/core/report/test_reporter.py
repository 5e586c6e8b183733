from __future__ import annotations

import io
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import UnderstudyError
from understudy.frames.colour import ColourRules
from understudy.report.contact_sheet import Sheet, SheetRow
from understudy.report.metrics import MetricsLog
from understudy.report.progress import Progress
from understudy.report.reporter import MAX_WAITING, Reporter
from understudy.runs import RunFiles
from understudy.settings import Settings


def sheet(step: int) -> Sheet:
    pixels = np.full((32, 32, 3), 0.18, np.float32)
    return Sheet(
        run_name="run",
        step=step,
        total_steps=100,
        rows=(SheetRow(title="crop 1", input=pixels, target=pixels, output=pixels, is_validation=False),),
        input_channels=("R", "G", "B"),
        target_channels=("R", "G", "B"),
        loss=0.5,
    )


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    folder = tmp_path / "data"
    folder.mkdir()
    return RunFiles(folder, "run")


def reporter(files: RunFiles, stream: io.StringIO | None = None, settings: Settings | None = None) -> Reporter:
    return Reporter(
        files=files,
        settings=settings or Settings(),
        colour=ColourRules(),
        progress=Progress("plain", stream or io.StringIO()),
    )


def give_sheets(drawing: Reporter, number: int) -> None:
    for step in range(number):
        drawing.contact_sheet(sheet(step))


def test_draws_and_announces_in_order(files: RunFiles) -> None:
    with MetricsLog(files.metrics) as log:
        log.step(1, loss=0.5, learning_rate=1e-3, scale=1, seconds=1)
    stream = io.StringIO()
    with reporter(files, stream, Settings(contact_sheet_exr=True)) as drawing:
        for step in range(1, 11):  # more than may wait at once
            drawing.contact_sheet(sheet(step))
        drawing.graph()
    announced = [
        f" [*] Contactsheet saved at {files.contact_sheet(step, ending)}"
        for step in range(1, 11)
        for ending in (".png", ".exr")
    ]
    assert stream.getvalue().splitlines() == [*announced, f" [*] Graph saved at {files.graph('.png')}"]
    assert all(files.contact_sheet(step, ".exr").exists() for step in range(1, 11))
    assert files.graph(".svg").exists()


def test_flush_waits(files: RunFiles) -> None:
    drawing = reporter(files)
    drawing.contact_sheet(sheet(1))
    drawing.flush()
    assert files.contact_sheet(1).exists()
    drawing.close()
    drawing.close()


class HeldStream(io.StringIO):
    """A terminal that takes nothing until it is let go: the drawing thread stands still at its first announcement."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def write(self, text: str) -> int:
        self.let_go.wait()
        return super().write(text)


def test_giving_does_not_wait_for_drawing(files: RunFiles) -> None:
    stream = HeldStream()
    with reporter(files, stream) as drawing:
        give_sheets(drawing, MAX_WAITING)  # would never return if it waited for the first
        assert stream.getvalue() == ""
        stream.let_go.set()
        drawing.flush()
    assert stream.getvalue().count("Contactsheet saved") == MAX_WAITING


def test_a_deleted_folder_is_raised_in_the_training_thread(files: RunFiles) -> None:
    drawing = reporter(files)
    shutil.rmtree(files.directory)
    for raising in (drawing.flush, drawing.close):
        drawing.contact_sheet(sheet(1))
        with pytest.raises(UnderstudyError, match=r"run\.1\.png: cannot be written"):
            raising()


def test_a_fault_is_raised_at_the_next_call(files: RunFiles) -> None:
    drawing = reporter(files)
    shutil.rmtree(files.directory)
    with pytest.raises(UnderstudyError, match=r"run\.\d\.png: cannot be written"):
        give_sheets(drawing, MAX_WAITING + 3)  # for the last to be taken, the thread has met the fault
    with pytest.raises(UnderstudyError, match=r"run\.\d\.png: cannot be written"):
        drawing.close()


def test_leaving_by_an_exception_keeps_that_exception(files: RunFiles) -> None:
    def train() -> None:
        with reporter(files) as drawing:
            drawing.graph()  # there are no metrics
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train()
