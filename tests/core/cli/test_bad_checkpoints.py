"""Damaged checkpoints, records and unsuitable models: told by name, and what lies on disk stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.core.cli.command import Command, files_in
from tests.core.train.shots import HEIGHT, WIDTH, SmallShot, write_picture

Damage = Callable[[bytes], bytes]

DAMAGES: Mapping[str, Damage] = {
    "empty": lambda _: b"",
    "truncated": lambda whole: whole[: len(whole) // 2],
    "one byte flipped": lambda whole: whole[:-9] + bytes([whole[-9] ^ 4]) + whole[-8:],
    "garbage in its metadata": lambda whole: whole.replace(b'"schema', b"'schema", 1).replace(b'\\"', b"\\\\", 1),
    "another colour space": lambda whole: whole.replace(b"lin_rec709", b"lin_rec708", 1),
    "a picture": lambda _: b"\x89PNG\r\n\x1a\n" + b"\0" * 500,
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_model_is_refused_by_every_command(command: Command, trained: SmallShot, kind: str) -> None:
    model = trained.data / "first.4.safetensors"
    damaged = DAMAGES[kind](model.read_bytes())
    assert damaged != model.read_bytes()
    model.write_bytes(damaged)
    before = files_in(trained.folder)
    uses = (
        ["info", model],
        ["info", trained.data],
        ["apply", model, "--input", trained.plate, "--output", trained.folder / "out" / "a.####.exr"],
        ["resume", trained.data, "--steps", "6"],
        trained.train_words("--run-name", "second", "--initial-weights", str(model)),
    )
    for words in uses:
        fault = command.refused(*words)
        assert "first.4.safetensors" in fault
        assert "restore it, or delete it to use the checkpoint before" in fault
    assert files_in(trained.folder) == before


def test_the_checkpoint_before_a_damaged_one_goes_on(command: Command, trained: SmallShot) -> None:
    newest = trained.data / "first.4.safetensors"
    newest.write_bytes(b"")
    newest.unlink()  # as the message advises
    ending = command("resume", trained.data, "--steps", "5")
    assert ending.code == 0, ending
    assert "Resuming first after step 2" in ending.out
    assert "[Step:5/5]" in ending.out


@pytest.mark.parametrize("kind", ["empty", "truncated", "one byte flipped"])
def test_damaged_optimizer_state(command: Command, trained: SmallShot, kind: str) -> None:
    state = trained.data / "first.4.ost"
    state.write_bytes(DAMAGES[kind](state.read_bytes()))
    assert "first.4.ost" in command.refused("resume", trained.data, "--steps", "6")


def test_a_model_in_the_place_of_optimizer_state(command: Command, trained: SmallShot) -> None:
    (trained.data / "first.4.ost").write_bytes((trained.data / "first.4.safetensors").read_bytes())
    assert "first.4.ost: not this run's optimizer state" in command.refused("resume", trained.data, "--steps", "6")


def test_initial_weights_of_another_network(command: Command, trained: SmallShot) -> None:
    model = str(trained.data / "first.4.safetensors")
    fault = command.refused(*trained.train_words("--initial-weights", model, "--model-size", "medium"))
    assert "is a small model, this run has medium; set --model-size small or choose other" in fault
    for frame in (1001, 1003):
        write_picture(trained.folder / f"plate.{frame}.exr", np.ones((HEIGHT, WIDTH, 1), np.float32), ("Z",))
    fault = command.refused(*trained.train_words("--initial-weights", model))
    assert "saw R,G,B, this run has Z: not one input channel in common; choose other initial weights" in fault


def test_frames_that_changed_their_channels_since(command: Command, trained: SmallShot) -> None:
    words = trained.train_words("--run-name", "second", steps=1)
    assert command(*words).code == 0
    for frame in (1001, 1003):
        write_picture(trained.folder / f"paint.{frame}.exr", np.ones((HEIGHT, WIDTH, 1), np.float32), ("A",))
    fault = command.refused("resume", trained.data / "second.run.json", "--steps", "3")
    assert "channels R,G,B -> A, the run was begun with R,G,B -> R,G,B; restore the frames or train anew" in fault


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("schema", 99, "newer understudy (schema 99); update"),
        ("settings.epochs", "many", "epochs: 'many'"),
        ("settings.run_name", 5, "run_name: 5"),
        ("settings.crop_size", None, "crop_size: None"),
        ("settings.minutes", "x", "minutes: 'x'"),
        ("settings.unheard_of", 1, "unheard_of"),
        ("batch_size", -1, "batch_size: -1"),
        ("colour", {"gamut": "wide"}, "colour rules gamut"),
        ("source", {"kind": "alien"}, "'alien' is no kind of source"),
        ("source", {"kind": "sequences"}, "incomplete ('input')"),
        ("source.frames", "zz", "frames 'zz'"),
        ("pairs", 4, "field 'pairs'"),
    ],
)
def test_a_record_of_another_mind(command: Command, trained: SmallShot, place: str, value: object, said: str) -> None:
    record = trained.data / "first.run.json"
    content = json.loads(record.read_text())
    *outer, last = place.split(".")
    table = content
    for key in outer:
        table = table[key]
    table[last] = value
    record.write_text(json.dumps(content))
    fault = command.refused("resume", trained.data, "--steps", "6")
    assert "first.run.json" in fault
    assert said in fault


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\0"])
def test_a_record_that_is_none(command: Command, trained: SmallShot, content: bytes) -> None:
    (trained.data / "first.run.json").write_bytes(content)
    fault = command.refused("resume", trained.data)
    assert "first.run.json" in fault
    assert "restore it from a backup, or start a new run" in fault


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--checkpoint-interval", "0"], "checkpoint_interval: 0 is out of range"),
        (["--steps", "-5"], "steps: -5 is out of range"),
        (["--threads", "-1"], "threads: -1 is out of range"),
        (["--crop-size", "64"], "unrecognized arguments: --crop-size 64; see understudy"),
    ],
)
def test_resuming_with_impossible_changes(command: Command, trained: SmallShot, words: list[str], said: str) -> None:
    assert said in command.refused("resume", trained.data, *words)


def test_places_without_a_run(command: Command, trained: SmallShot, tmp_path: Path) -> None:
    assert "holds no run" in command.refused("resume", tmp_path)
    assert "no run of that name" in command.refused("resume", tmp_path / "nowhere")
    assert "no run of that name" in command.refused("info", trained.plate)
    assert "no such model file" in command.refused("info", trained.data / "first.3.safetensors")
    for checkpoint in trained.data.glob("first.*.ost"):
        checkpoint.unlink()
    assert "has written no checkpoint yet" in command.refused("info", trained.data)
