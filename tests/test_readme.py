"""README.md says what the program does: every flag, default and exit code in it is the program's own."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from understudy import errors
from understudy.cli.main import build_parser
from understudy.settings import Settings, as_flag, field_choices

REPO = Path(__file__).parents[1]
README = (REPO / "README.md").read_text(encoding="utf-8")


def test_the_table_of_knobs_is_that_of_the_settings() -> None:
    wanted = [_row(field) for field in dataclasses.fields(Settings)]
    assert _table_below("| CopyCat's knob | flag |") == wanted


def test_every_flag_in_the_readme_exists_and_none_is_missing() -> None:
    written = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(_own_words())))
    known = {flag for parser in _commands() for action in parser._actions for flag in action.option_strings}
    assert written - known == set()
    said_elsewhere = {"--help"} | {flag for flag in known if flag.startswith("--no-")}
    assert {flag for flag in known if flag.startswith("--")} - written - said_elsewhere == set()


def test_every_command_is_shown() -> None:
    for name in _commands_by_name():
        assert re.search(rf"^understudy {name}\b", README, flags=re.MULTILINE), name


def test_the_exit_codes_are_those_of_the_program() -> None:
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert {int(row.split("|")[1]) for row in _table_below("| exit code |")} == codes


def test_what_the_documents_link_to_is_there() -> None:
    for document in (REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))):
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
        assert [link for link in links if not (document.parent / link).exists()] == [], document.name


def _row(field: dataclasses.Field[object]) -> str:
    knob = f"`{field.metadata['knob']}`" if field.metadata["knob"] else ""
    unit = f" [{field.metadata['unit']}]" if field.metadata["unit"] else ""
    choices = field_choices(field.name)
    words = f" ({', '.join(choices)})" if choices else ""
    return f"| {knob} | `{as_flag(field.name)}` | {_spoken(field.default)} | {field.metadata['doc']}{unit}{words} |"


def _spoken(default: object) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return str(default) if default not in ("", None) else "none"


def _table_below(heading: str) -> list[str]:
    """The rows of the first table whose first line begins so."""
    lines = README.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(heading)) + 2
    end = next(index for index in range(start, len(lines)) if not lines[index].startswith("|"))
    return lines[start:end]


def _own_words() -> Iterator[str]:
    """Code that speaks of understudy's own command line: its commands, and flags named in the text."""
    yield from re.findall(r"^understudy .*$", README.replace("\\\n", " "), flags=re.MULTILINE)
    yield from re.findall(r"`(--?[^`]+)`", README)


def _commands_by_name() -> dict[str, argparse.ArgumentParser]:
    choices = [action.choices for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    assert len(choices) == 1
    return dict(choices[0])


def _commands() -> list[argparse.ArgumentParser]:
    return [build_parser(), *_commands_by_name().values()]
