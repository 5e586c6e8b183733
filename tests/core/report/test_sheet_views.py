from __future__ import annotations

import numpy as np
import pytest

from understudy.report.sheet_views import value_range, views_of


@pytest.mark.parametrize(
    ("channels", "names"),
    [
        (("R", "G", "B"), ["rgb"]),
        (("R", "G", "B", "A"), ["rgb", "alpha"]),
        (("A",), ["alpha"]),
        (("whitebarmask.mask",), ["whitebarmask.mask"]),
        (("R", "G", "B", "A", "Z"), ["rgb", "alpha", "Z"]),
        (("diffuse.R", "diffuse.G", "diffuse.B", "mask.a"), ["diffuse", "mask.a"]),
        (("forward.u", "forward.v"), ["forward.u,v"]),
        (("N.X", "N.Y", "N.Z"), ["N.X,Y,Z"]),
        (("id.a", "id.b", "id.c", "id.d"), ["id.a", "id.b", "id.c", "id.d"]),
    ],
)
def test_views_hold_every_channel_once(channels: tuple[str, ...], names: list[str]) -> None:
    views = views_of(channels)
    assert [view.name for view in views] == names
    assert sorted(index for view in views for index in view.indices) == list(range(len(channels)))


@pytest.mark.parametrize(
    ("values", "note"),
    [([0.0, 0.9], ""), ([2.0, 150.0], " 2..150"), ([np.nan, 0.5], ""), ([np.nan, np.nan], ""), ([7.0, 7.0], " 7..8")],
)
def test_single_values_outside_0_to_1_are_scaled_and_noted(values: list[float], note: str) -> None:
    (view,) = views_of(("Z",))
    assert value_range(view, np.array(values, np.float32).reshape(1, 2, 1)).note == note
