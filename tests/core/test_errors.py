"""What a message may hold: one line that a terminal can be given, short enough to be read."""

from __future__ import annotations

import pytest

from understudy.errors import MOST_PROBLEMS, ProblemList, Problems, UnderstudyError, listed, quoted


def test_names_from_files_neither_break_the_line_nor_command_the_terminal() -> None:
    assert str(UnderstudyError("a\x1b[2J\x07b\u2028c\nd.exr: no such file")) == "a?[2J?b c d.exr: no such file"
    assert Problems(["one\ntwo", "three\x00"]).lines == ("one two", "three?")
    assert str(UnderstudyError("プレート.exr, 01é: no such file")) == "プレート.exr, 01é: no such file"


def test_values_are_cut_and_need_no_stack() -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    assert (quoted("high"), quoted(None), quoted(1.5)) == ("'high'", "None", "1.5")
    assert all(len(quoted(value)) < 100 for value in (deep, "x" * 5000, 10**400, list(range(999))))


def test_of_many_names_the_first_are_listed() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("x" * 41)).endswith("x, x and 1 more")
    assert listed(["x" * 150] * 9) == f"{'x' * 150}, {'x' * 150} and 7 more"
    assert listed(["x" * 500, "y"]) == f"{'x' * 500} and 1 more"


def test_of_very_many_problems_the_first_are_listed() -> None:
    problems = ProblemList()
    for number in range(MOST_PROBLEMS + 7):
        problems.add(f"frame {number}: is missing")
    assert problems.are_enough
    with pytest.raises(Problems) as several:
        problems.raise_if_any()
    assert len(several.value.lines) == MOST_PROBLEMS + 1
    assert several.value.lines[-1] == "and at least 7 more like these"
