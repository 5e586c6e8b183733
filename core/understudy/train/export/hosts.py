"""Who an export is for. No torch: the command line names them."""

from __future__ import annotations

from typing import Literal

Host = Literal["nuke", "onnx", "flame", "houdini", "torch"]
