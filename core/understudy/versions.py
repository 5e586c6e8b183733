"""Versions: numbered folders side by side, v001 or comp_v001, of which a number is given to one process alone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import PARTIAL_SUFFIX, make_folder, naming_the_file

VERSION = re.compile(r"v(\d{3,})")
"""How a version's name ends; of some, all of it."""


@dataclass(frozen=True)
class Version:
    """A number that is free, or was when it was looked for."""

    place: Path
    """The folder of that version."""
    number: int

    @property
    def aside(self) -> Path:
        """Where it is written before it appears."""
        return self.place.with_name(f".{self.place.name}{PARTIAL_SUFFIX}")


def newest_version(folder: Path, prefix: str = "") -> int:
    """0 when there is none."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    endings = (name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return max((int(match.group(1)) for match in map(VERSION.fullmatch, endings) if match), default=0)


def next_version(folder: Path, claim: Callable[[Version], bool], prefix: str = "") -> Version:
    """The first version after the newest that `claim` gets for this process; the folder is made.

    Raises UnderstudyError when it cannot be written.
    """
    make_folder(folder)
    number = newest_version(folder, prefix)
    while True:
        number += 1
        version = Version(folder / f"{prefix}v{number:03}", number)
        with naming_the_file(version.place):
            if claim(version):
                return version


@contextmanager
def unmade_if_it_fails(folder: Path) -> Iterator[None]:
    """When the body fails, the folder and those above it that were not there go again, if nothing is in them."""
    absent = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):  # somebody else put something in
            for empty in absent:
                empty.rmdir()
        raise


def made(folder: Path) -> bool:
    """Make it, unless somebody else has."""
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


@contextmanager
def whole_version(folder: Path, prefix: str) -> Iterator[Version]:
    """The next version, to be filled in its `aside`; it appears when the body is done, or not at all.

    Two processes never fill the same: who has made the hidden folder has the number. One that was killed leaves that
    folder behind, and its number is left out. Raises UnderstudyError when it cannot be written.
    """
    with unmade_if_it_fails(folder):
        version = next_version(folder, _claimed_aside, prefix)
        try:
            yield version
            with naming_the_file(version.place):
                if version.place.exists():
                    raise UnderstudyError(f"{version.place}: was made by another program meanwhile; publish again")
                version.aside.rename(version.place)
        except BaseException:
            shutil.rmtree(version.aside, ignore_errors=True)
            raise


def _claimed_aside(version: Version) -> bool:
    if not made(version.aside):
        return False
    if version.place.exists():  # finished by another since we looked
        version.aside.rmdir()
        return False
    return True
