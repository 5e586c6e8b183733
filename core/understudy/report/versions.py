"""Which releases did the work: for logs and run records."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import OpenImageIO as oiio

from understudy import __version__


def versions(torch_version: str) -> dict[str, str]:
    """Name to version; torch's is handed in because this room does not import it."""
    return {
        "python": platform.python_version(),
        "understudy": __version__,
        "torch": torch_version,
        "OpenImageIO": oiio.__version__,
        "OpenTimelineIO": _installed("OpenTimelineIO"),
        "numpy": np.__version__,
    }


def _installed(package: str) -> str:
    """Asked of the package list, because only `sources` may import the package itself."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
