"""Damage to any file: what disks, transfers, editors and other programs do to its bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Damage = Callable[[bytes, random.Random], bytes]

GIANTS = ("-1", "65536", "2147483647", "-2147483648", "4294967296", "9223372036854775808", "1" + "0" * 400, "1e999")
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_LEAST_HEADER = 512
_HEADER_SHARE = 100


def damaged(content: bytes, chance: random.Random, ways: Sequence[Damage]) -> bytes:
    """One or more of the ways, drawn."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        content = chance.choice(ways)(content, chance) or content[:1]
    return content


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.choice((chance.randrange(64), chance.randrange(len(content) + 1)))]


def flip(content: bytes, chance: random.Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 9))):
        spoilt[place(content, chance)] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def overwrite(content: bytes, chance: random.Random) -> bytes:
    start, length = place(content, chance), chance.choice((1, 4, 16, 300))
    return content[:start] + _noise(length, chance) + content[start + length :]


def insert_or_drop(content: bytes, chance: random.Random) -> bytes:
    start, length = place(content, chance), chance.choice((1, 2, 7, 64))
    return content[:start] + (_noise(length, chance) if chance.random() < 0.5 else b"") + content[start + length :]


def repeat_span(content: bytes, chance: random.Random) -> bytes:
    start, length, times = place(content, chance), chance.choice((1, 4, 30, 400)), chance.choice((1, 2, 50))
    return content[:start] + content[start : start + length] * times + content[start:]


def drop_span(content: bytes, chance: random.Random) -> bytes:
    start = place(content, chance)
    return content[:start] + content[start + chance.randrange(1, len(content) + 1) :]


BYTE_DAMAGES: tuple[Damage, ...] = (cut, flip, flip, overwrite, insert_or_drop, repeat_span, drop_span)


def giant_number(content: bytes, chance: random.Random) -> bytes:
    """A number that is written out becomes one that no counter holds."""
    numbers = list(_NUMBER.finditer(content))
    if not numbers:
        return content
    found = chance.choice(numbers)
    return content[: found.start()] + chance.choice(GIANTS).encode() + content[found.end() :]


def other_encoding(content: bytes, chance: random.Random) -> bytes:
    """As an editor saves it that was told so."""
    text = content.decode("utf-8", "replace")
    encoding = chance.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252", "cp037"))
    return chance.choice((text, f"é{text}", text[: len(text) // 2] + "ü" + text[len(text) // 2 :])).encode(
        encoding, "replace"
    )


def other_line_ends(content: bytes, chance: random.Random) -> bytes:
    return content.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\0", b"\n\n", b"\x0b", b"\xe2\x80\xa8")))


TEXT_DAMAGES: tuple[Damage, ...] = (*BYTE_DAMAGES, giant_number, giant_number, other_encoding, other_line_ends)


def place(content: bytes, chance: random.Random) -> int:
    """Half of the places lie at the beginning, where formats say how the rest is to be read."""
    header = min(len(content), max(_LEAST_HEADER, len(content) // _HEADER_SHARE))
    return chance.randrange(max(1, header if chance.random() < 0.5 else len(content)))


def _noise(length: int, chance: random.Random) -> bytes:
    return chance.choice((chance.randbytes(length), bytes(length), b"\xff" * length))
