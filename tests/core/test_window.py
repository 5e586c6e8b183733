"""Windows: the arithmetic under every alignment."""

from __future__ import annotations

from understudy.frames.window import Window


def test_growing_stays_inside_and_keeps_what_was_there() -> None:
    frame = Window(0, 0, 2048, 1556)
    for small in (Window(0, 0, 10, 10), Window(2040, 1550, 2048, 1556), Window(1000, 20, 1300, 30)):
        grown = small.grown_to(256, 256, frame)
        assert grown.contains(small)
        assert frame.contains(grown)
        assert (grown.width, grown.height) == (max(256, small.width), 256)


def test_growing_is_limited_by_the_frame() -> None:
    assert Window(5, 5, 6, 6).grown_to(256, 256, Window(0, 0, 100, 50)) == Window(0, 0, 100, 50)


def test_a_window_outside_the_frame_is_not_moved_into_it() -> None:
    overscan = Window(-40, -40, 441, 331)
    assert overscan.grown_to(256, 256, Window(0, 0, 400, 300)) == overscan


def test_union_ignores_empty_windows_and_disjoint_windows_share_nothing() -> None:
    there, nowhere = Window(3, 4, 5, 6), Window(9, 9, 9, 9)
    assert there.union(nowhere) == there == nowhere.union(there)
    assert there.intersect(Window(100, 100, 110, 110)).is_empty
