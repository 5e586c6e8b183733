"""docs/nodes.md is what the node classes say of themselves."""

from __future__ import annotations

from pathlib import Path

from understudy.script.knobs import Knob, bool_knob, enum_knob, float_knob, int_knob
from understudy.script.nodes import NODE_CLASSES
from understudy.script.nodes.base import NodeClass
from understudy.script.nodes_page import page

PAGE = Path(__file__).parents[3] / "docs" / "nodes.md"


class _Known(NodeClass):
    """Does what it says.

    Twice.
    """

    names: tuple[str, ...] = ("Known", "Known2")
    page = "other_nodes/known.html"
    knobs: tuple[Knob[object], ...] = (float_knob("size", 1.5),)
    still: tuple[Knob[object], ...] = (int_knob("first_frame", 1, "firstFrame"),)
    fixed: tuple[Knob[object], ...] = (
        bool_knob("crop", True),
        enum_knob("filter", ("none", "box"), "box"),
        float_knob("mix", 0.5),
    )


class _Silent(_Known):
    names = ("Absent",)
    knobs = ()
    still = ()
    fixed = ()


def test_the_page_in_the_docs_is_that_of_the_classes() -> None:
    made = page()
    assert PAGE.read_text(encoding="utf-8") == made, "python -m understudy.script.nodes_page > docs/nodes.md"


def test_every_class_has_a_heading_and_a_line_for_each_kind_of_knobs() -> None:
    for known in NODE_CLASSES:
        assert f"\n### {', '.join(known.names)}\n" in page()
    made = page([_Known(), _Silent()])
    assert made.index("### Absent") < made.index("### Known, Known2")
    assert made.endswith(
        "## Other\n\n"
        "### Absent\n\n[Absent](https://learn.foundry.com/nuke/content/reference_guide/other_nodes/known.html).\n\n"
        "### Known, Known2\n\n"
        "[Known](https://learn.foundry.com/nuke/content/reference_guide/other_nodes/known.html). "
        "Does what it says.\n\nTwice.\n\n"
        "| knobs | |\n| --- | --- |\n"
        "| may change with the frame | `size` |\n"
        "| one value for all frames | `first_frame` or `firstFrame` |\n"
        "| at its default alone | `crop` on, `filter` box, `mix` 0.5 |\n"
    )
    assert "In short: Absent, Known, Known2." in made
