"""Damage to pictures where it hurts most: sizes, windows, channels and tables, with checksums that fit."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.damage import BYTE_DAMAGES, Damage, damaged

GIANTS = (
    *(0, 1, 2, 3, 7, 255, 256, 65535, 65536, 100_000, 1 << 20, (1 << 20) + 1, 1 << 24, 1 << 28),
    *((1 << 30) - 1, 1 << 30, (1 << 31) - 2, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 32) - 8, (1 << 32) - 65536),
)
"""As unsigned 32 bit; the last ones are -1, -8 and -65536."""
_TEXTS = (b"", b"\xff\xfe\xfd", b"a\nb\x1b[2J", b"x" * 3000, "é".encode("latin-1"), b"left", b"R", b"\0" * 8, b"%s%n")


def damaged_picture(path: Path, content: bytes, chance: random.Random) -> bytes:
    """As bytes, by numbers in its header, or by what its format has."""
    own = _OF_FORMAT.get(path.suffix)
    draw = chance.random()
    if own is not None and draw < 0.5:
        for _ in range(chance.choice((1, 1, 2, 4))):
            content = own(content, chance)
        return content
    return damaged(content, chance, BYTE_DAMAGES if draw < 0.75 else (_number_in_header,))


def _number_in_header(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(min(len(content), chance.choice((32, 256, 2048))))
    form = chance.choice(("<I", ">I", "<H", ">H", "B"))
    number = chance.choice(GIANTS) % (1 << 8 * struct.calcsize(form))
    return content[:at] + struct.pack(form, number) + content[at + struct.calcsize(form) :]


Attribute = tuple[int, bytes, bytes, bytes]
"""Where it begins, its name, its type, its value."""


def _exr(content: bytes, chance: random.Random) -> bytes:
    attributes = _exr_attributes(content)
    if not attributes:
        return _number_in_header(content, chance)
    at, name, kind, value = chance.choice(attributes)
    end = at + len(name) + len(kind) + 6 + len(value)
    if chance.random() < 0.1:
        return content[:4] + bytes((2, chance.choice((0, 2, 4, 8, 16, 6, 24, 255)), 0, 0)) + content[8:]
    if chance.random() < 0.1:
        return _exr_chunk(content, end, chance)
    deed = chance.choice((_exr_numbers, _exr_numbers, _exr_numbers, _exr_channels, _exr_text, _exr_other, _exr_none))
    return content[:at] + deed((at, name, kind, value), chance) + content[end:]


def _exr_attributes(content: bytes) -> list[Attribute]:
    """Of all headers, as far as they can be followed."""
    found: list[Attribute] = []
    at = 8
    while at < len(content):
        try:
            name = content[at : content.index(b"\0", at)]
            if not name:
                at += 1
                if content[at : at + 1] in (b"", b"\0"):
                    break
                continue
            begin = at + len(name) + 1
            kind = content[begin : content.index(b"\0", begin)]
            (size,) = struct.unpack_from("<i", content, begin + len(kind) + 1)
        except (ValueError, struct.error):
            break
        value_at = begin + len(kind) + 5
        if not (kind.isalnum() or kind.replace(b"_", b"").isalnum()) or not 0 <= size <= len(content) - value_at:
            break
        found.append((at, name, kind, content[value_at : value_at + size]))
        at = value_at + size
    return found


def _exr_attribute(name: bytes, kind: bytes, value: bytes, size: int | None = None) -> bytes:
    stated = (len(value) if size is None else size) & 0xFFFFFFFF
    return name + b"\0" + kind + b"\0" + struct.pack("<I", stated) + value


def _exr_numbers(found: Attribute, chance: random.Random) -> bytes:
    _, name, kind, value = found
    spoilt = bytearray(value)
    for _ in range(chance.choice((1, 1, 2, 4))):
        if len(spoilt) >= 4:
            struct.pack_into("<I", spoilt, chance.randrange(len(spoilt) // 4) * 4, chance.choice(GIANTS))
        elif spoilt:
            spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
    return _exr_attribute(name, kind, bytes(spoilt))


def _exr_channels(found: Attribute, chance: random.Random) -> bytes:
    """Channels that are many, named alike, named with what is no text, of no type, or thinned out."""
    _, name, kind, _value = found
    if kind != b"chlist":
        return _exr_numbers(found, chance)
    many = chance.choice((1, 1, 2, 3, 5, 300, 2000))
    channels = b"".join(
        chance.choice((b"R", b"G", b"B", b"A", b"Z", b"left.R", b"a.b.c", b"\xff", b"\x1b[", b"x" * 300, b" ", b"Y"))
        + (b"%d" % number if chance.random() < 0.7 else b"")
        + b"\0"
        + struct.pack(
            "<IIII",
            chance.choice((0, 1, 2, 1, 2, 3, 255)),
            0,
            *(chance.choice((1, 1, 1, 1, 2, 0, GIANTS[-1])) for _ in "xy"),
        )
        for number in range(many)
    )
    return _exr_attribute(name, kind, channels + b"\0" * chance.choice((1, 1, 1, 0)))


def _exr_text(_: Attribute, chance: random.Random) -> bytes:
    """Another attribute in its place, whose text is none."""
    names = (
        b"view",
        b"name",
        b"type",
        b"comments",
        b"owner",
        b"multiView",
        b"oiio:ColorSpace",
        b"chromaticities",
        b"\xff",
    )
    kinds = (
        b"string",
        b"string",
        b"stringvector",
        b"timecode",
        b"rational",
        b"m44f",
        b"preview",
        b"float",
        b"v2f",
        b"\xe9",
    )
    return _exr_attribute(chance.choice(names), chance.choice(kinds), chance.choice(_TEXTS))


def _exr_other(found: Attribute, chance: random.Random) -> bytes:
    """Of another type or length than it is, or stated twice."""
    _, name, kind, value = found
    kinds = (b"int", b"float", b"string", b"box2i", b"chlist", b"compression", b"unheard", b"")
    return chance.choice(
        (
            _exr_attribute(name, chance.choice(kinds), value),
            _exr_attribute(name, kind, value, chance.choice(GIANTS)),
            _exr_attribute(name, kind, value) * 2,
            _exr_attribute(name, kind, value[:-1]),
            _exr_attribute(name * 40, kind, value),
        )
    )


def _exr_none(_: Attribute, _chance: random.Random) -> bytes:
    return b""


def _exr_chunk(content: bytes, header_end: int, chance: random.Random) -> bytes:
    """In the table of offsets, or where a chunk states its line and length."""
    at = header_end + chance.randrange(max(1, min(200, len(content) - header_end)))
    return content[:at] + struct.pack("<I", chance.choice(GIANTS)) + content[at + 4 :]


def _png(content: bytes, chance: random.Random) -> bytes:
    """A chunk that is another one, with a checksum that fits."""
    chunks = _png_chunks(content)
    if not chunks:
        return _number_in_header(content, chance)
    place = chance.randrange(len(chunks)) if chance.random() < 0.5 else 0
    kind, body = chunks[place]
    deed = chance.randrange(6)
    if deed < 3 and body:
        spoilt = bytearray(body)
        at = chance.randrange(len(spoilt))
        new = chance.choice((struct.pack(">I", chance.choice(GIANTS)), chance.randbytes(1)))
        spoilt[at : at + len(new)] = new
        chunks[place] = kind, bytes(spoilt[: len(body)])
    elif deed == 3:
        chunks[place] = chance.choice((b"IDAT", b"PLTE", b"tRNS", b"IEND", b"iCCP", b"acTL", b"abcd")), body
    elif deed == 4:
        extra = chance.choice(
            (b"tEXt", b"iTXt", b"zTXt", b"iCCP", b"gAMA", b"cHRM", b"sRGB", b"eXIf", b"pHYs", b"PLTE")
        )
        chunks.insert(
            place,
            (
                extra,
                chance.choice((*_TEXTS, b"a\0\0" + zlib.compress(bytes(100_000)), b"Exif\0\0II*\0" + b"\xff" * 20)),
            ),
        )
    else:
        del chunks[place]
    return content[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _png_chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    found = []
    at = 8
    while at + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        found.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _tiff(content: bytes, chance: random.Random) -> bytes:
    """An entry of the first directory says something else."""
    order = "<" if content[:2] == b"II" else ">"
    try:
        (directory,) = struct.unpack_from(f"{order}I", content, 4)
        (count,) = struct.unpack_from(f"{order}H", content, directory)
        at = directory + 2 + 12 * chance.randrange(max(1, count))
        tag, kind, length, value = struct.unpack_from(f"{order}HHII", content, at)
    except struct.error:
        return _number_in_header(content, chance)
    deed = chance.randrange(5)
    if deed == 0:
        tag = chance.choice(
            (256, 257, 258, 259, 262, 273, 277, 278, 279, 284, 317, 320, 322, 338, 339, 34675, 34665, 330)
        )
    elif deed == 1:
        kind = chance.choice((0, 1, 2, 3, 4, 5, 7, 9, 11, 12, 13, 16, 255))
    elif deed == 2:
        length = chance.choice(GIANTS)
    else:
        value = chance.choice((*GIANTS, 4, 5, 8, 16, 32, 64, 32773, 32946, 34712, 50000))
    return content[:at] + struct.pack(f"{order}HHII", tag, kind, length, value) + content[at + 12 :]


_OF_FORMAT: dict[str, Damage] = {".exr": _exr, ".png": _png, ".tif": _tiff}
Deed = Callable[[Attribute, random.Random], bytes]
