"""Views: one is chosen for the whole tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.core.script.fixtures import evaluator_of, write_exr

from understudy.errors import UnderstudyError


@pytest.fixture
def shot(tmp_path: Path) -> str:
    """Files left.exr, l.exr, right.exr, r.exr, with values 1 to 4; then Reads of %V and %v."""
    for value, name in enumerate(("left", "l", "right", "r"), 1):
        write_exr(tmp_path / f"{name}.exr", np.full((2, 2, 1), value, np.float32), ("R",))
    return f'Read {{ inputs 0 file "{tmp_path}/%v.exr" name B }}\nRead {{ inputs 0 file "{tmp_path}/%V.exr" name A }}\n'


def _value(text: str, view: str) -> float:
    evaluator, last = evaluator_of(text, view=view)
    evaluator.check([last])
    return float(evaluator.pull(last, 1, ("R",)).pixels[0, 0, 0])


def test_paths_follow_the_view(shot: str) -> None:
    assert [_value(shot, view) for view in ("left", "right")] == [1, 3]
    with pytest.raises(UnderstudyError, match=r"A \(Read\).*has %V or %v .* say which view is meant with --view"):
        _value(shot, "")


def test_joinviews_hands_on_the_input_of_the_view(shot: str) -> None:
    joined = shot + 'JoinViews {\n inputs 2\n viewassoc "left\\nright"\n}\n'
    assert [_value(joined, view) for view in ("left", "right")] == [1, 4]
    with pytest.raises(UnderstudyError, match=r"JoinViews1 .*joins the views left, right, and none of them is asked"):
        _value(joined, "")
    with pytest.raises(UnderstudyError, match="right, and 'middle' is asked for; choose one of them with --view"):
        _value(joined, "middle")


def test_oneview_is_its_own_view_alone(shot: str) -> None:
    assert _value(shot + "OneView { view right }", "right") == 3
    with pytest.raises(UnderstudyError, match="knob view is 'right', which can be evaluated with --view right alone"):
        _value(shot + "OneView { view right }", "left")


def test_other_nodes_of_views_are_refused_by_name(shot: str) -> None:
    with pytest.raises(UnderstudyError, match=r"ShuffleViews1 \(ShuffleViews\).* cannot evaluate this class"):
        _value(shot + "ShuffleViews { views {left right right left} }", "left")
