"""opencue: one job of OpenCue, a layer for each step, a frame for each task; by pyoutline and pycue."""

from understudy_farm.backends.opencue.farm import OpenCueFarm

__all__ = ["OpenCueFarm"]
