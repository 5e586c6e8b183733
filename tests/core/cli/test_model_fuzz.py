"""Damaged model files at the command line: one clear line, and nothing left behind. tests/fuzz damages thousands."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.core.cli.command import Command
from tests.core.train.export.models import lively_model, save_lively_model
from tests.fuzz.model_parts import MODEL_DAMAGES


@pytest.mark.parametrize("words", [["info"], ["export", "--to", "nuke"], ["export", "--to", "torch"]])
def test_every_command_says_it_in_one_line_and_leaves_nothing(
    tmp_path: Path, command: Command, words: list[str]
) -> None:
    path = save_lively_model(tmp_path / "comp.40.safetensors", lively_model())
    content, chance = path.read_bytes(), random.Random(3)
    for damage in MODEL_DAMAGES * 6:
        damaged = damage(content, chance)
        if damaged != content:
            path.write_bytes(damaged)
            said = command.refused(*words, path).removeprefix("understudy: ")
            assert said.startswith(f"{path}: "), said
            assert "; " in said, said  # what to do
            assert [*tmp_path.iterdir()] == [path]
