"""The node classes that can be evaluated, by the name that scripts give them. A new node is one class in this list."""

from __future__ import annotations

from understudy.script.nodes import crop, flow, grade, read, remove, time
from understudy.script.nodes.base import NodeClass

NODE_CLASSES: tuple[NodeClass, ...] = (
    read.Read(),
    time.FrameHold(),
    time.AppendClip(),
    time.FrameRange(),
    time.TimeOffset(),
    time.TimeClip(),
    flow.Dot(),
    flow.Switch(),
    flow.Group(),
    flow.Input(),
    flow.Output(),
    crop.Crop(),
    remove.Remove(),
    grade.Grade(),
)
BY_NAME = {name: known for known in NODE_CLASSES for name in known.names}
PASS_THROUGH = NodeClass()
"""What a disabled node of any class is."""
