from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import OpenImageIO as oiio
import pytest

from understudy.errors import UnderstudyError
from understudy.report.events import EventWriter

pytest.importorskip("tensorboard")


def test_tensorboard_reads_scalars_and_pictures(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    png = tmp_path / "sheet.png"
    oiio.ImageBuf(np.full((20, 30, 3), 128, np.uint8)).write(str(png))
    with EventWriter(tmp_path / "run.tensorboard") as events:
        events.scalars(10, {"loss": 0.5, "learning_rate": 0.25})
        events.scalars(20, {"loss": 0.125})
        events.image(20, png)
    read = EventAccumulator(str(tmp_path / "run.tensorboard"))
    read.Reload()
    assert [(event.step, event.value) for event in read.Scalars("loss")] == [(10, 0.5), (20, 0.125)]
    assert [(event.step, event.value) for event in read.Scalars("learning_rate")] == [(10, 0.25)]
    (picture,) = read.Images("contact sheet")
    assert (picture.step, picture.width, picture.height) == (20, 30, 20)
    assert picture.encoded_image_string == png.read_bytes()


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(UnderstudyError, match=r"pip install understudy\[tensorboard\]"):
        EventWriter(tmp_path)


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnderstudyError, match="file"):
        EventWriter(tmp_path / "file")
