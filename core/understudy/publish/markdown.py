"""Markdown that reads well as plain text too."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from urllib.parse import quote

WIDTH = 100
"""Letters of a line; a path is never broken."""


def paragraph(text: str) -> list[str]:
    return _filled(text, "", "")


def bullet(text: str) -> list[str]:
    return _filled(text, "- ", "  ")


def numbered(steps: list[str]) -> list[str]:
    """One after the other, from 1."""
    return [line for number, text in enumerate(steps, start=1) for line in _filled(text, f"{number}. ", "   ")]


def code(language: str, *lines: str) -> list[str]:
    return [f"```{language}", *lines, "```"]


def table(rows: Mapping[str, str]) -> list[str]:
    cells = ((name, value.replace("|", "\\|").replace("\n", " ")) for name, value in rows.items())
    return ["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in cells)]


def link(path: str, text: str = "") -> str:
    """To a file beside the card; called as the file is unless `text` says otherwise."""
    return f"[{text or path.rpartition('/')[2]}]({quote(path)})"


def _filled(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
