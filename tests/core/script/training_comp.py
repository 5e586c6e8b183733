"""A script as an artist would put it before CopyCat: held and appended frames, a group, crops, a channel removed."""

from __future__ import annotations

HELD = (1, 3, 4, 6, 9)
WIDTH, HEIGHT = 8, 6


def _holds(handle: str, first_number: int, spelling: str) -> str:
    """Five FrameHolds of the Read on the stack, appended in order."""
    holds = [
        f"FrameHold {{\n {spelling} {frame}\n name FrameHold{first_number + index}\n}}\n"
        for index, frame in reversed(list(enumerate(HELD)))
    ]
    return f"push ${handle}\n".join(holds) + f'AppendClip {{\n inputs 5\n time ""\n name AppendClip{first_number}\n}}\n'


COMP = (
    "#! /opt/Nuke/Nuke15.1 -nx\nversion 15.1 v1\n"
    'Root {\n inputs 0\n name /somewhere/else/shot.nk\n format "8 6 0 0 8 6 1 tiny"\n colorManagement Nuke\n}\n'
    'StickyNote {\n inputs 0\n name StickyNote1\n label "not \\[exec id] run"\n}\n'
    'Read {\n inputs 0\n file_type exr\n file "\\[file dirname \\[value root.name]]/paint/plate.%04d.exr"\n'
    " last 10\n origset true\n name Read2\n}\nset Npaint [stack 0]\n"
    + _holds("Npaint", 11, "first_frame")
    + "Remove {\n channels alpha\n name Remove1\n}\n"
    "Crop {\n box {1 1 7 5}\n reformat true\n crop false\n name Crop2\n}\n"
    'Read {\n inputs 0\n file "\\[python \\{nuke.script_directory()\\}]/plate/plate.####.exr"\n'
    " last 10\n name Read1\n}\nset Nplate [stack 0]\n"
    + _holds("Nplate", 1, "firstFrame")
    + "Group {\n name Group1\n addUserKnob {20 User}\n}\n"
    " Input {\n  inputs 0\n  name Input1\n }\n"
    " Grade {\n  white {2 0.5 1 1}\n  add 0.25\n  name Grade1\n }\n"
    " Dot {\n  name Dot1\n }\n"
    " Output {\n  name Output1\n }\nend_group\n"
    "Crop {\n box {1 1 7 5}\n reformat true\n name Crop1\n}\n"
    "CopyCat {\n inputs 2\n dataDirectory runs\n epochs 20\n batchSizeType Manual\n batchSize 2\n name CopyCat1\n}\n"
)
