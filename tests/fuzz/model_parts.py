"""Damage to model files: to their bytes, which a digest guards, and forged ones, whose digest is right."""

from __future__ import annotations

import json
import random
import struct

from safetensors import safe_open  # noqa: F401
from safetensors.torch import load, save
from tests.fuzz.damage import BYTE_DAMAGES, Damage
from tests.fuzz.trees import damaged_tree, text_of

from understudy.train import model_file
from understudy.train.model_file import METADATA_KEY


def another_header_length(content: bytes, chance: random.Random) -> bytes:
    lengths = (0, 1, 2**16, 2**40, 2**63, 2**64 - 1, chance.randrange(10**5))
    return struct.pack("<Q", chance.choice(lengths)) + content[8:]


def swap_words(content: bytes, chance: random.Random) -> bytes:
    words = [b"F32", b"shape", b"data_offsets", b"[0,", b"__metadata__", b"digest", b"schema", b"R", b"small", b"}"]
    return content.replace(chance.choice(words), chance.choice([*words, b"F64", b"F8_E4M3", b"I64", b"[-1,", b""]), 1)


MODEL_DAMAGES: tuple[Damage, ...] = (*BYTE_DAMAGES, another_header_length, swap_words)


def forged(content: bytes, chance: random.Random) -> bytes:
    """Somewhere in its metadata something else, something less, or something more."""
    (length,) = struct.unpack("<Q", content[:8])
    about = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][METADATA_KEY])
    text = text_of(damaged_tree(about, chance), chance)
    if chance.random() < 0.1:
        text = text[: chance.randrange(len(text))]
    text = text.encode("utf-8", "replace").decode()  # safetensors holds nothing else
    tensors, metadata = load(content), {METADATA_KEY: text}
    return bytes(save(tensors, {**metadata, "digest": model_file._digest(tensors, metadata)}))
