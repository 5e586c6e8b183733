"""Paths of one system on another."""

from __future__ import annotations

import pytest

from understudy.errors import UnderstudyError
from understudy.remap import remap_of_rules, remapped, rules_text

RULES = "windows=P:/show/,linux=/mnt/show/,macos=/Volumes/show/; windows=//server/lib/,linux=/lib/"


@pytest.mark.parametrize(
    ("system", "path", "here"),
    [
        ("linux", "P:/show/sh010/a.####.exr", "/mnt/show/sh010/a.####.exr"),
        ("linux", r"p:\show\sh010\a.exr", "/mnt/show/sh010/a.exr"),
        ("linux", "/P:/show/a.exr", "/mnt/show/a.exr"),
        ("linux", "/Volumes/show/a.exr", "/mnt/show/a.exr"),
        ("linux", r"\\server\lib\grain.exr", "/lib/grain.exr"),
        ("windows", "/mnt/show/a.exr", "P:/show/a.exr"),
        ("macos", "/mnt/show/a.exr", "/Volumes/show/a.exr"),
        ("macos", "//server/lib/a.exr", "//server/lib/a.exr"),
        ("linux", "/mnt/show/a.exr", "/mnt/show/a.exr"),
        ("linux", "/volumes/show/a.exr", "/volumes/show/a.exr"),
    ],
)
def test_a_folder_is_found_under_its_name_here(system: str, path: str, here: str) -> None:
    assert remapped(path, remap_of_rules(RULES, system=system)) == here


def test_a_rule_may_name_the_place_where_a_job_was_submitted() -> None:
    text = rules_text([{"submitted": "/", "linux": "/scratch/us/"}])
    assert remapped("/shots/a.exr", remap_of_rules(text, system="linux")) == "/scratch/us/shots/a.exr"
    assert remap_of_rules(text, system="macos") == ()


@pytest.mark.parametrize("text", ["P:/show", "windows=", "amiga=work:", "windows=P:/,linux"])
def test_a_rule_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(UnderstudyError, match=r"UNDERSTUDY_PATH_RULES: .* is no path rule; write windows="):
        remap_of_rules(text)
