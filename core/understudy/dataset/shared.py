"""Nothing is decoded twice on one host: its first rank decodes into a file, the others map that file."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from understudy import __version__
from understudy.dataset.decoded import Dataset
from understudy.dataset.decoding import decode, decode_onto, take_down
from understudy.dataset.host_folder import open_private
from understudy.dataset.index import Index, from_json, to_json
from understudy.dataset.shelf import Shelf
from understudy.errors import Problems
from understudy.files import make_folder, write_private
from understudy.pairs import FrameSource, Pair

if sys.platform != "win32":
    from understudy.dataset.host_folder import remove_unused, turn, use_folder

FRAMES = "frames"
INDEX = "index.json"
WAITING = "waiting for another rank on this machine to decode"


@contextmanager
def decode_once_per_host(
    pairs: Sequence[Pair],
    *,
    key: str,
    crop_size: int,
    cache_folder: Path,
    skip_unreadable: bool = False,
    warn: Callable[[str], None],
    tell: Callable[[str], None],
) -> Iterator[Dataset]:
    """All pairs, decoded by the first process of this user on this machine that asks; the others wait and map its file.

    Every rank needs every pair, as any rank may draw any crop; so each machine decodes all pairs once. Who asks with
    the same `key`, pairs (files of the same size and time), crop size and `skip_unreadable` gets the same data set;
    `key` stands for whatever else decides the pixels: the run, its script and colour rules. `tell` gets one line
    when there is a wait. When the decoding process fails or is killed, the next one decodes.

    The pixels lie in `cache_folder`, in a folder of mode 700. It goes with the last `with` block; what killed
    processes left is removed when this is called again. The arrays are read-only and outlive the block.

    Raises as `decode` does; every process raises the same Problems and warns of the same faults.
    On Windows, which has no such locks, each process decodes for itself.
    """
    if sys.platform == "win32":
        yield decode(
            pairs,
            crop_size=crop_size,
            memory_bytes=0,
            cache_folder=cache_folder,
            skip_unreadable=skip_unreadable,
            warn=warn,
        )
    else:
        make_folder(cache_folder)
        prefix = _prefix(os.getuid())
        remove_unused(cache_folder, prefix)
        folder = cache_folder / f"{prefix}{_plain(key)}-{_digest_of(pairs, key, crop_size, skip_unreadable)}"
        with use_folder(folder):
            index = _read_index(folder, pairs)
            if index is None:
                with turn(folder, lambda: tell(WAITING)):
                    index = _read_index(folder, pairs) or _decode_into(folder, pairs, crop_size, skip_unreadable)
            yield _told(index, folder, warn)


def _prefix(user: int) -> str:
    """The machine's name is in it for those that share a folder over the network: a mapped file is one machine's."""
    return f"understudy-{user}-{_plain(platform.node())}@"


def _digest_of(pairs: Sequence[Pair], key: str, crop_size: int, skip_unreadable: bool) -> str:
    sides = [(pair.frame, pair.use, _identity(pair.input), _identity(pair.target)) for pair in pairs]
    asked = json.dumps([__version__, key, crop_size, skip_unreadable, sides])
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _plain(text: str) -> str:
    return re.sub(r"[^\w.-]", "_", text, flags=re.ASCII)[:60]


def _identity(source: FrameSource) -> tuple[str | int, ...]:
    media = source.media
    try:
        found = media.path.stat()
    except OSError:  # decoding tells what is wrong with it
        return source.label, str(media.path), media.frame, media.layer
    return source.label, str(media.path), media.frame, media.layer, found.st_size, found.st_mtime_ns


def _read_index(folder: Path, pairs: Sequence[Pair]) -> Index | None:
    """None until somebody has decoded; whoever cleans up old temporary files may have taken part of it away."""
    try:
        index = from_json((folder / INDEX).read_text(encoding="utf-8"), pairs)
        if index.num_bytes and (folder / FRAMES).stat().st_size < index.num_bytes:
            return None
    except FileNotFoundError:
        return None
    return index


def _decode_into(folder: Path, pairs: Sequence[Pair], crop_size: int, skip_unreadable: bool) -> Index:
    """Fill the folder. The index comes last: with it, everything is there."""
    frames, warnings = folder / FRAMES, list[str]()
    frames.unlink(missing_ok=True)  # begun by a process that was killed
    try:
        with Shelf(0, lambda: open_private(frames, "x+b"), folder) as shelf:
            shelved = decode_onto(
                shelf, pairs, crop_size=crop_size, skip_unreadable=skip_unreadable, warn=warnings.append
            )
        index = Index(pairs=tuple(shelved), warnings=tuple(warnings))
    except Problems as problems:
        index = Index(problems=problems.lines)
    write_private(folder / INDEX, to_json(index, pairs).encode())
    return index


def _told(index: Index, folder: Path, warn: Callable[[str], None]) -> Dataset:
    """Say what the decoding process would have said, and map its file."""
    if index.problems:
        raise Problems(index.problems)
    for line in index.warnings:
        warn(line)
    with Shelf(0, lambda: open_private(folder / FRAMES, "rb"), folder) as shelf:
        return take_down(index.pairs, shelf)
