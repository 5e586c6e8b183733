"""Pictures are decoded and scaled on threads; the main thread gets a finished QImage."""

from __future__ import annotations

from typing import Callable, Dict

from understudy_ui.panel.qt import Qt, QtCore, QtGui

NUM_THREADS = 2
MILLISECONDS_TO_CLOSE = 2000

Shown = Callable[[QtGui.QImage], None]
"""Is given the picture; a null one when the file cannot be read."""


class Gallery(QtCore.QObject):
    """Loads pictures; `load` returns what gives that one up."""

    _loaded = QtCore.Signal(int, QtGui.QImage)

    def __init__(self, parent: QtCore.QObject) -> None:
        super().__init__(parent)
        self._pool = QtCore.QThreadPool(self)
        self._pool.setMaxThreadCount(NUM_THREADS)
        self._waiting: Dict[int, Shown] = {}
        self._num_loads = 0
        self._loaded.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def load(self, path: str, shown: Shown, width: int, height: int) -> Callable[[], None]:
        self._num_loads += 1
        number = self._num_loads
        self._waiting[number] = shown
        self._pool.start(_Load(self, number, path, QtCore.QSize(width, height)))
        return lambda: self._forget(number)

    def is_wanted(self, number: int) -> bool:
        """Asked on a thread of the pool, before it begins."""
        return number in self._waiting

    def hand_over(self, number: int, image: QtGui.QImage) -> None:
        """Called on a thread of the pool."""
        self._loaded.emit(number, image)

    def close(self) -> None:
        self._waiting.clear()
        self._pool.clear()
        self._pool.waitForDone(MILLISECONDS_TO_CLOSE)

    def _forget(self, number: int) -> None:
        self._waiting.pop(number, None)

    def _show(self, number: int, image: QtGui.QImage) -> None:
        shown = self._waiting.pop(number, None)
        if shown is not None:
            shown(image)


class _Load(QtCore.QRunnable):
    """One picture."""

    def __init__(self, gallery: Gallery, number: int, path: str, size: QtCore.QSize) -> None:
        super().__init__()
        self._gallery, self._number, self._path, self._size = gallery, number, path, size

    def run(self) -> None:
        if not self._gallery.is_wanted(self._number):
            return
        image = QtGui.QImageReader(self._path).read()
        if not image.isNull() and not self._size.isEmpty():
            fitted = image.size().scaled(self._size, Qt.AspectRatioMode.KeepAspectRatio)
            image = image.scaled(
                fitted, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
            )
        self._gallery.hand_over(self._number, image)
