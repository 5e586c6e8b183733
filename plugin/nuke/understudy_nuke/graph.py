"""Nuke's graph as understudy sees it: training nodes, what is connected to them, and what only Nuke can evaluate."""

from __future__ import annotations

from typing import cast

import nuke

from .problem import Problem

INPUT, GROUND_TRUTH = 0, 1
INPUT_NAMES = ("Input", "Ground Truth")
TAB = "understudy"
"""The user tab by which a Group is known to be our node."""

EVALUATED = frozenset(
    [
        *("Read", "Write", "FrameHold", "AppendClip", "FrameRange", "TimeOffset", "TimeClip", "Retime", "TimeWarp"),
        *("FrameBlend", "TimeEcho", "JoinViews", "OneView", "Precomp"),
        *("Dot", "NoOp", "PostageStamp", "Switch", "Group", "Gizmo", "LiveGroup", "VariableGroup", "Input", "Output"),
        *("Grade", "Multiply", "Add", "Gamma", "Clamp", "Invert", "Saturation", "HueShift", "ColorMatrix"),
        *("ColorCorrect", "Colorspace", "Log2Lin", "PLogLin", "EXPTool", "Expression", "MergeExpression", "Posterize"),
        *("OCIOColorSpace", "OCIODisplay", "OCIOFileTransform", "OCIOCDLTransform", "OCIOLogConvert"),
        *("Crop", "Remove", "AddChannels", "Copy", "CopyBBox", "Shuffle", "ShuffleCopy", "Shuffle2", "ChannelMerge"),
        *("Premult", "Unpremult", "Merge2", "Merge", "Dissolve", "Keymix"),
        *("Transform", "TransformMasked", "CornerPin2D", "Tracker4", "Tracker3", "Reformat", "Mirror2", "Mirror"),
        *("Position", "AdjBBox", "BlackOutside"),
        *("Blur", "Laplacian", "Sharpen", "Defocus", "Dilate", "FilterErode", "Median", "Convolve2", "Convolve"),
        *("Matrix", "Constant", "CheckerBoard2", "Ramp", "Roto", "RotoPaint"),
    ]
)
"""The classes that understudy evaluates without Nuke as Nuke does. A test holds them to its own list.

Left out are those of which it has but a reading of their pages: where Nuke is, Nuke makes their pixels.
"""


def is_training_node(node: nuke.Node) -> bool:
    tab = node.knob(TAB)
    return node.Class() == "CopyCat" or (isinstance(node, nuke.Group) and isinstance(tab, nuke.Tab_Knob))


def training_nodes() -> list[nuke.Node]:
    """All of the script, also those in groups, by name."""
    found = [node for node in nuke.allNodes(recurseGroups=True) if is_training_node(node)]
    return sorted(found, key=lambda node: node.fullName())


def chosen_training_node() -> nuke.Node:
    """The selected training node, or the only one. Raises Problem when there is none, or several."""
    selected = [node for node in nuke.selectedNodes() if is_training_node(node)]
    candidates = selected or training_nodes()
    if not candidates:
        raise Problem("the script has no training node; make one by understudy > Understudy Node, or take a CopyCat")
    if len(candidates) > 1:
        names = ", ".join(node.fullName() for node in candidates)
        raise Problem(f"there are {len(candidates)} training nodes ({names}); select the one that is meant")
    return candidates[0]


def sides(training: nuke.Node) -> tuple[nuke.Node, nuke.Node]:
    """What is connected to Input and Ground Truth. Raises Problem naming the inputs to which nothing is."""
    shown, wanted = training.input(INPUT), training.input(GROUND_TRUTH)
    open_ones = [name for name, node in zip(INPUT_NAMES, (shown, wanted)) if node is None]
    if shown is None or wanted is None:
        names = " and ".join(open_ones)
        raise Problem(f"{training.fullName()}: nothing is connected to its {names}; connect the frames")
    return shown, wanted


def common_frames(training: nuke.Node) -> tuple[int, int]:
    """First and last frame that both sides have. Raises Problem when there is none."""
    shown, wanted = (side.frameRange() for side in sides(training))
    first, last = max(shown.first(), wanted.first()), min(shown.last(), wanted.last())
    if first > last:
        ranges = f"{shown.first()}-{shown.last()} and {wanted.first()}-{wanted.last()}"
        raise Problem(f"{training.fullName()}: Input and Ground Truth have no frame in common ({ranges})")
    return first, last


def only_in_nuke(training: nuke.Node) -> list[nuke.Node]:
    """The nodes above the training node that understudy cannot evaluate, or not surely as Nuke does, by name."""
    found: dict[str, nuke.Node] = {}
    seen: set[str] = set()
    waiting = list(sides(training))
    while waiting:
        node = waiting.pop()
        if node.fullName() in seen:
            continue
        seen.add(node.fullName())
        if not _is_disabled(node) and (node.Class() not in EVALUATED or _follows_a_reading(node)):
            found[node.fullName()] = node
        waiting += [above for above in _above(node) if above is not None]
    return [found[name] for name in sorted(found)]


def data_directory_of(training: nuke.Node) -> str:
    """Expressions evaluated, no slash at its end. Raises Problem when the node names none."""
    folder = file_of(training, "dataDirectory").rstrip("/")
    if not folder:
        raise Problem(f"{training.fullName()}: knob dataDirectory is empty; choose a folder that every worker sees")
    return folder


def file_of(node: nuke.Node, knob: str) -> str:
    """The path that a file knob comes to; empty for an empty one."""
    return str(cast(nuke.File_Knob, node[knob]).getEvaluatedValue() or "")


def _above(node: nuke.Node) -> list[nuke.Node | None]:
    """The nodes that this one asks for pictures, as understudy's own reader walks."""
    if _is_disabled(node):
        return [node.input(0)]
    if node.Class() == "Switch" and not _moves(node["which"]):
        return [node.input(int(node["which"].value()))]
    if node.Class() == "Input":
        return [node.parent().input(int(node["number"].value()))]
    if isinstance(node, nuke.Group) and node.Class() in EVALUATED:
        outputs = [child for child in node.nodes() if child.Class() == "Output"]
        return [*outputs[:1]]
    return [node.input(number) for number in range(node.inputs())]


def _is_disabled(node: nuke.Node) -> bool:
    """At every frame."""
    disable = node.knob("disable")
    return disable is not None and bool(disable.value()) and not _moves(disable)


def _follows_a_reading(node: nuke.Node) -> bool:
    """Whether it is used in a way of which understudy has but a reading: frames that are blended, hues that are turned.

    A speed that follows from ranges is taken for another than 1.
    """
    if node.Class() == "HueShift":
        return not (_is_still_at(node["hue_rotation"], 0) and _is_still_at(node["color_saturation"], 1))
    if node.Class() not in ("Retime", "TimeWarp") or node["filter"].value() != "box":
        return False
    locks = ("output.first_lock", "output.last_lock")
    has_own_speed = node.Class() == "Retime" and not all(node[lock].value() for lock in locks)
    return not (has_own_speed and _is_still_at(node["speed"], 1) and _is_still_at(node["shutter"], 1))


def _is_still_at(knob: nuke.Knob, number: float) -> bool:
    return not _moves(knob) and knob.value() == number


def _moves(knob: nuke.Knob) -> bool:
    """Whether it may change from frame to frame."""
    return knob.isAnimated() or knob.hasExpression()
