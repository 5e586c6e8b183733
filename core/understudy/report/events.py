"""TensorBoard events beside metrics.jsonl, for those who watch many runs there; needs the tensorboard extra only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import OpenImageIO as oiio

from understudy.errors import UnderstudyError
from understudy.files import naming_the_file

if TYPE_CHECKING:
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

RGB = 3
"""Summary.Image's number for it."""


def require_tensorboard() -> type[EventFileWriter]:
    """TensorBoard's own writer. Raises UnderstudyError if the package is missing."""
    try:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise UnderstudyError(
            "TensorBoard events need the tensorboard package: pip install understudy[tensorboard], "
            "or train without --tensorboard"
        ) from error
    writer: type[EventFileWriter] = EventFileWriter
    return writer


class EventWriter:
    """Appends scalars and pictures to a folder that TensorBoard reads. Any thread may write."""

    def __init__(self, folder: Path) -> None:
        """Open a new event file in `folder`.

        Raises UnderstudyError if the tensorboard package is missing or the folder cannot be written.
        """
        writer_class = require_tensorboard()
        self._folder = folder
        with naming_the_file(folder):
            self._writer = writer_class(str(folder))

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Record named numbers after `step`."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        self._add(step, Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]))

    def image(self, step: int, png: Path, tag: str = "contact sheet") -> None:
        """Record the PNG file as it is."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        with naming_the_file(png):
            encoded = png.read_bytes()
        spec = oiio.ImageBuf(str(png)).spec()
        picture = Summary.Image(
            height=spec.height, width=spec.width, colorspace=RGB, encoded_image_string=encoded
        )  # fmt: skip
        self._add(step, Summary(value=[Summary.Value(tag=tag, image=picture)]))

    def close(self) -> None:
        """Write what is pending. Raises UnderstudyError if the disk is full."""
        with naming_the_file(self._folder):
            self._writer.close()

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _add(self, step: int, summary: Summary) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        with naming_the_file(self._folder):
            self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
            self._writer.flush()
