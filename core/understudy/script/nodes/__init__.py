"""The node classes that can be evaluated, by the name that scripts give them. A new node is one class in this list."""

from __future__ import annotations

from understudy.script.nodes import (
    arithmetic,
    colorcorrect,
    colorspace,
    colours,
    crop,
    exposure,
    expression,
    flow,
    grade,
    merge,
    ocio,
    premult,
    read,
    remove,
    routes,
    time,
)
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
    routes.Copy(),
    routes.Shuffle(),
    routes.Shuffle2(),
    premult.Premult(),
    premult.Unpremult(),
    merge.Merge2(),
    merge.Dissolve(),
    grade.Grade(),
    arithmetic.Multiply(),
    arithmetic.Add(),
    arithmetic.Gamma(),
    arithmetic.Clamp(),
    arithmetic.Invert(),
    colours.Saturation(),
    colours.HueShift(),
    colours.ColorMatrix(),
    colorcorrect.ColorCorrect(),
    colorspace.Colorspace(),
    exposure.Log2Lin(),
    exposure.PLogLin(),
    exposure.EXPTool(),
    expression.Expression(),
    ocio.OCIOColorSpace(),
    ocio.OCIODisplay(),
    ocio.OCIOFileTransform(),
    ocio.OCIOCDLTransform(),
    ocio.OCIOLogConvert(),
)
BY_NAME = {name: known for known in NODE_CLASSES for name in known.names}
DECLARED = {name: (*known.knobs, *known.still, *known.fixed) for name, known in BY_NAME.items()}
"""The knobs of each class, for links to knobs that a script leaves out."""
PASS_THROUGH = NodeClass()
"""What a disabled node of any class is."""
