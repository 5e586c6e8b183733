"""Frame lists and numbered file names, as understudy writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .problems import Problem

_RANGE = re.compile(r"(-?\d+)(?:-(-?\d+)(?:x([1-9]\d*))?)?")
_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)


def parse(text: str) -> tuple[int, ...]:
    """1001,1013-1040x9 as frames, ascending. Raises Problem for anything else."""
    found: set[int] = set()
    for word in filter(None, (word.strip() for word in text.split(","))):
        match = _RANGE.fullmatch(word)
        if match is None:
            raise Problem(f"Painted Frames: '{word}' is no frame; write them as 1001,1013-1040x9")
        first, last = int(match[1]), int(match[2] or match[1])
        found.update(range(first, last + 1, int(match[3] or 1)))
    return tuple(sorted(found))


def written(frames: Sequence[int]) -> str:
    """The shortest list without steps: 1-3,7."""
    parts: list[list[int]] = []
    for frame in sorted(set(frames)):
        if parts and frame == parts[-1][-1] + 1:
            parts[-1].append(frame)
        else:
            parts.append([frame])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def pattern_of(path: str) -> str:
    """shot.####.exr for shot.1001.exr: the last number of the name counts, as for Blender. Empty when it has none."""
    place = Path(path)
    match = _NUMBERED.fullmatch(place.stem)
    return str(place.with_name(match[1] + "#" * len(match[2]) + match[3] + place.suffix)) if match else ""


def path_of(pattern: str, number: int) -> str:
    """The file of that number."""
    places = re.findall("#+", Path(pattern).name)
    head, _, tail = pattern.rpartition(places[-1])
    return f"{head}{number:0{len(places[-1])}d}{tail}"


def on_disk(pattern: str) -> tuple[int, ...]:
    """Numbers of the files that are there; none when the folder cannot be read."""
    head, tail = re.split("#+", Path(pattern).name, maxsplit=1)
    number = re.compile(re.escape(head) + r"(\d+)" + re.escape(tail))
    try:
        names = [path.name for path in Path(pattern).parent.iterdir()]
    except OSError:
        return ()
    return tuple(sorted(int(match[1]) for match in map(number.fullmatch, names) if match))
