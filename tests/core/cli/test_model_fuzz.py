"""Thousands of damaged and forged model files: each is refused in one clear line, or is a model."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import save
from tests.core.cli.command import Command
from tests.core.train.export.models import lively_model, save_lively_model

from understudy.errors import UnderstudyError
from understudy.train import model_file
from understudy.train.model_file import METADATA_KEY, load_model, load_tensors

Damage = Callable[[bytes, random.Random], bytes]

DAMAGED, FORGED = 2000, 400
JUNK: tuple[object, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    10**30,
    1e308,
    float("nan"),
    "",
    "large",
    "R",
    "é\0",
    [],
    ["R"],
    [""],
    [1],
    {},
    [[]],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_lively_model(tmp_path_factory.mktemp("fuzz") / "comp.40.safetensors", lively_model())


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.choice((chance.randrange(64), chance.randrange(len(content))))]


def _flip(content: bytes, chance: random.Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 9))):
        spoilt[_place(content, chance)] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def _overwrite(content: bytes, chance: random.Random) -> bytes:
    start, length = _place(content, chance), chance.choice((1, 4, 16, 300))
    return content[:start] + chance.randbytes(length) + content[start + length :]


def _insert_or_drop(content: bytes, chance: random.Random) -> bytes:
    start, length = _place(content, chance), chance.choice((1, 2, 7, 64))
    return content[:start] + (chance.randbytes(length) if chance.random() < 0.5 else b"") + content[start + length :]


def _another_header_length(content: bytes, chance: random.Random) -> bytes:
    return (
        struct.pack("<Q", chance.choice((0, 1, 2**16, 2**40, 2**63, 2**64 - 1, chance.randrange(10**5)))) + content[8:]
    )


def _swap_words(content: bytes, chance: random.Random) -> bytes:
    words = [b"F32", b"shape", b"data_offsets", b"[0,", b"__metadata__", b"digest", b"schema", b"R", b"small", b"}"]
    return content.replace(chance.choice(words), chance.choice([*words, b"F64", b"F8_E4M3", b"I64", b"[-1,", b""]), 1)


DAMAGES: tuple[Damage, ...] = (_cut, _flip, _flip, _overwrite, _insert_or_drop, _another_header_length, _swap_words)


def _place(content: bytes, chance: random.Random) -> int:
    """Half of the places lie in the header, which is a hundredth of the file."""
    return chance.randrange(8 + struct.unpack("<Q", content[:8])[0] if chance.random() < 0.5 else len(content))


def test_damaged_files_are_refused(whole: Path, tmp_path: Path) -> None:
    content, chance = whole.read_bytes(), random.Random(1)
    path = tmp_path / "comp.40.safetensors"
    for number in range(DAMAGED):
        damaged = DAMAGES[number % len(DAMAGES)](content, chance)
        path.write_bytes(damaged)
        try:
            load_model(path)
        except UnderstudyError as error:
            _check_clear(str(error), path)
        else:
            assert damaged == content, number


def test_forged_metadata_with_a_right_digest_is_a_model_or_refused(
    whole: Path, tmp_path: Path, command: Command
) -> None:
    tensors, metadata = load_tensors(whole)
    path, chance, refused = tmp_path / "comp.40.safetensors", random.Random(2), 0
    for _ in range(FORGED):
        about = json.loads(metadata[METADATA_KEY])
        text = json.dumps(_forged(about, chance))
        if chance.random() < 0.1:
            text = text[: chance.randrange(len(text))]
        forged = {METADATA_KEY: text}
        path.write_bytes(save(tensors, {**forged, "digest": model_file._digest(tensors, forged)}))
        try:
            load_model(path)
        except UnderstudyError as error:
            _check_clear(str(error), path)
            refused += 1
        else:
            assert command("info", path).code == 0
    assert FORGED // 2 < refused < FORGED


@pytest.mark.parametrize("words", [["info"], ["export", "--to", "nuke"], ["export", "--to", "torch"]])
def test_every_command_says_it_in_one_line_and_leaves_nothing(
    whole: Path, tmp_path: Path, command: Command, words: list[str]
) -> None:
    content, chance = whole.read_bytes(), random.Random(3)
    path = tmp_path / "comp.40.safetensors"
    for damage in DAMAGES * 8:
        damaged = damage(content, chance)
        if damaged != content:
            path.write_bytes(damaged)
            _check_clear(command.refused(*words, path).removeprefix("understudy: "), path)
            assert [*tmp_path.iterdir()] == [path]


def _forged(about: dict[str, object], chance: random.Random) -> object:
    """Somewhere in it something else, something less, or something more."""
    tables = [about, about["network"], about["card"]]
    table = chance.choice(tables)
    assert isinstance(table, dict)
    name = chance.choice(list(table))
    deed = chance.randrange(8)
    if deed == 0:
        del table[name]
    elif deed == 1:
        table["unheard_of"] = chance.choice(JUNK)
    elif deed == 2:
        return chance.choice(JUNK)
    else:
        table[name] = chance.choice(JUNK)
    return about


def _check_clear(said: str, path: Path) -> None:
    assert said.startswith(f"{path}: "), said
    assert len(said.splitlines()) == 1, said
    assert "; " in said, said  # what to do
