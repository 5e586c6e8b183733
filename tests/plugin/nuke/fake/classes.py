"""The node classes that the fake has, with those of their knobs and defaults that scripts and plugin speak of."""

from __future__ import annotations

from typing import Union

Default = Union[bool, int, float, str]

COMMON: dict[str, Default] = {"name": "", "label": "", "xpos": 0, "ypos": 0, "selected": False}
_DISABLE: dict[str, Default] = {"disable": False}
_TRAINING: dict[str, Default] = {
    "dataDirectory": "",
    "epochs": 10000,
    "useGPUIfAvailable": True,
    "initialWeights": "None",
    "checkpointFile": "",
    "modelSize": "Medium",
    "batchSizeType": "Auto",
    "batchSize": 0,
    "cropSize": 256,
    "checkpointInterval": 1000,
    "imageInterval": 100,
    "useMultiResolutionTraining": True,
}

KNOBS: dict[str, dict[str, Default]] = {
    "Root": {"name": "", "first_frame": 1, "last_frame": 100, "format": "2048 1556 0 0 2048 1556 1 2K"},
    "Read": {
        "file": "",
        "first": 1,
        "last": 1,
        "origfirst": 1,
        "origlast": 1,
        "raw": False,
        "colorspace": "default",
        "on_error": "error",
        **_DISABLE,
    },
    "Write": {"file": "", "file_type": "", "channels": "rgb", "raw": False, "colorspace": "default", **_DISABLE},
    "Group": {**_DISABLE},
    "Input": {"number": 0},
    "Output": {},
    "Switch": {"which": 0.0, **_DISABLE},
    "FrameHold": {"firstFrame": 0, "increment": 0, **_DISABLE},
    "AppendClip": {"firstFrame": 1, **_DISABLE},
    "Grade": {"multiply": 1.0, **_DISABLE},
    "Keylight": {"screenGain": 1.0, **_DISABLE},
    "EdgeBlur": {"size": 3.0, **_DISABLE},
    "HueShift": {"hue_rotation": 0.0, "color_saturation": 1.0, **_DISABLE},
    "Retime": {
        "speed": 1.0,
        "output.first_lock": False,
        "output.last_lock": False,
        "filter": "box",
        "shutter": 1.0,
        **_DISABLE,
    },
    "TimeWarp": {"lookup": 1.0, "filter": "box", **_DISABLE},
    "Dot": {},
    "CopyCat": {**_TRAINING, **_DISABLE},
    "Inference": {"modelFile": "", **_DISABLE},
}
EXR_KNOBS: dict[str, Default] = {
    "datatype": "16 bit half",
    "compression": "Zip (1 scanline)",
    "autocrop": False,
}
"""What a Write has besides when its file_type is exr."""
FILE_KNOBS = frozenset(("file", "dataDirectory", "checkpointFile", "modelFile"))
SOURCES = frozenset(("Read", "Input", "Root"))
"""Classes that take no input."""
NUKEX = frozenset(("CopyCat", "Inference"))
