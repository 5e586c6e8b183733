"""Checkpoints: whole after any death, refused when damaged, pruned but for the best."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tests.core.train.lessons import let_first_steps_be, saved_state
from tests.core.train.shots import make_shot

from understudy.cli.main import main
from understudy.errors import EXIT_DONE, EXIT_STOPPED, UnderstudyError
from understudy.files import remove_partials
from understudy.runs import RunFiles
from understudy.train import misses
from understudy.train.checkpoint import load_checkpoint, prune_checkpoints, save_checkpoint
from understudy.train.device import Machine
from understudy.train.model_file import ModelCard, load_tensors
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.state import TrainingState, new_state

KILLS = 200
CPU = Machine(device=torch.device("cpu"), bfloat16=False)
posix_only = pytest.mark.skipif(os.name == "nt", reason="kill -9 is a POSIX signal")


def card(step: int) -> ModelCard:
    return ModelCard(
        run_name="r", step=step, total_steps=9, loss=0.1, validation_psnr=None, working_space="lin_rec709_scene",
        input_layer="", target_layer="", trained_on=("1: a -> b",), crop_size=32, understudy_version="0",
    )  # fmt: skip


def small_state() -> TrainingState:
    spec = NetworkSpec(input_channels=("R",), target_channels=("R",), model_size="small")
    state = new_state(Understudy(spec), CPU, ())
    for parameter in state.model.parameters():
        parameter.grad = torch.ones_like(parameter)
    state.optimizer.step()
    return state


def filled_with(state: TrainingState, value: float) -> None:
    """Mark weights and average with the number of their step, so that a mix of two steps would show."""
    with torch.no_grad():
        for parameter in (*state.model.parameters(), *state.averaged.parameters()):
            parameter.fill_(value)


VICTIM_STATES: list[TrainingState] = []
"""In the process that forks the victims: one state, made once."""


def prepare_victims() -> None:
    torch.set_num_threads(1)  # a forked child hangs in a pool of threads that it has not got
    VICTIM_STATES.append(small_state())


def save_for_ever(folder: Path) -> None:
    """What the killed process does: a checkpoint after each step, and pruning."""
    state, files = VICTIM_STATES[0], RunFiles(folder, "r")
    while True:
        state.step += 1
        filled_with(state, float(state.step))
        save_checkpoint(files, state, card(state.step))
        prune_checkpoints(files, 2, 0)


@posix_only
@pytest.mark.timeout(900)  # a minute where nothing else runs
def test_killed_at_200_random_moments_the_newest_checkpoint_is_whole(tmp_path: Path) -> None:
    """In this test the child does nothing but write, so that every kill falls into a checkpoint."""
    moments = random.Random(11)
    processes = multiprocessing.get_context("spawn")
    restored = small_state()
    newest = 0
    with processes.Pool(1, prepare_victims) as pool:  # one spawned interpreter with torch; it forks the victims
        for number in range(KILLS):
            folder = tmp_path / str(number)
            folder.mkdir()
            pool.apply(kill_while_saving, (folder, moments.randrange(3), moments.uniform(0.0, 0.04)))
            steps = RunFiles(folder, "r").checkpoint_steps()
            if steps:
                load_checkpoint(RunFiles(folder, "r"), steps[-1], restored)
                assert_all_of_one_step(restored)
                newest = max(newest, restored.step)
            remove_partials(folder, "r")
            assert not list(folder.glob(".*")), "what a kill leaves half-written is told apart and removed"
            assert_every_model_has_its_state(folder)
    assert newest >= 2, "the victims lived long enough to overwrite and prune"


def kill_while_saving(folder: Path, step: int, seconds: float) -> None:
    """Fork a process that saves, wait for its first file and the checkpoint of `step`, `seconds` more, and kill it."""
    victim = os.fork()
    if victim == 0:
        try:
            save_for_ever(folder)
        finally:
            os._exit(1)
    while not any(folder.iterdir()) or max(RunFiles(folder, "r").checkpoint_steps(), default=0) < step:
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)


def assert_all_of_one_step(state: TrainingState) -> None:
    for parameter in (*state.model.parameters(), *state.averaged.parameters()):
        assert torch.equal(parameter.detach(), torch.full_like(parameter, state.step))


def assert_every_model_has_its_state(folder: Path) -> None:
    for model in folder.glob("r.*.safetensors"):
        assert model.with_suffix(".ost").exists()


@pytest.mark.slow
@posix_only
def test_a_killed_training_process_resumes_to_the_weights_of_an_unbroken_one(tmp_path: Path) -> None:
    whole, broken = (make_shot(tmp_path / name) for name in ("whole", "broken"))
    assert main(whole.train_words("--run-name", "r", steps=30)) == EXIT_DONE
    words = broken.train_words("--run-name", "r", steps=30)
    command = [sys.executable, "-m", "understudy.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not (broken.data.exists() and RunFiles(broken.data, "r").checkpoint_steps()):
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    assert RunFiles(broken.data, "r").checkpoint_steps()[-1] < 30
    assert main(["resume", str(broken.data)]) == EXIT_DONE
    assert_equal_runs(whole.data, broken.data, 30)


@pytest.mark.parametrize("words", [(), ("--batch-size", "0", "--crop-size", "64")])
def test_a_stopped_and_resumed_run_equals_an_unbroken_one_bit_for_bit(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch chosen here grows after step 15; from step 18 on crops are drawn by what was missed up to step 9."""
    monkeypatch.setattr(misses, "STEPS_BETWEEN", 9)
    let_first_steps_be(15, monkeypatch)
    whole, stopped = (make_shot(tmp_path / name) for name in ("whole", "stopped"))
    assert main(whole.train_words("--run-name", "r", *words, steps=20)) == EXIT_DONE
    assert main(stopped.train_words("--run-name", "r", *words, steps=20)) == EXIT_DONE
    for path in (path for step in (18, 20) for path in stopped.data.glob(f"r.{step}.*")):
        path.unlink()  # as if it had ended after the checkpoint of step 12
    let_first_steps_be(3, monkeypatch)  # as in another version
    assert main(["resume", str(stopped.data)]) == EXIT_DONE
    assert_equal_runs(whole.data, stopped.data, 20)


def test_a_run_killed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    whole, killed = (make_shot(tmp_path / name) for name in ("whole", "killed"))
    for shot in (whole, killed):
        assert main(shot.train_words("--run-name", "r", steps=4)) == EXIT_DONE
    for pattern in ("r.4.*", "r.graph.*"):
        for path in killed.data.glob(pattern):
            path.unlink()
    assert main(["resume", str(killed.data)]) == EXIT_DONE
    assert_equal_runs(whole.data, killed.data, 4)


def assert_equal_runs(one: Path, other: Path, step: int) -> None:
    for suffix in (".safetensors", ".ost"):
        tensors, same = (load_tensors(folder / f"r.{step}{suffix}")[0] for folder in (one, other))
        assert tensors.keys() == same.keys()
        for name, tensor in tensors.items():
            assert torch.equal(tensor, same[name]), name


def test_a_stop_file_ends_the_run_with_a_checkpoint_and_its_own_code(tmp_path: Path) -> None:
    shot = make_shot(tmp_path)
    words = shot.train_words("--run-name", "r", steps=100_000)
    command = [sys.executable, "-m", "understudy.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("[Step:10/"):
                (shot.data / "stop").touch()
                break
        rest = process.stdout.read()
    assert process.returncode == EXIT_STOPPED
    assert "understudy resume" in rest
    assert not (shot.data / "stop").exists()
    files = RunFiles(shot.data, "r")
    newest = files.checkpoint_steps()[-1]
    assert saved_state(files, newest).step == newest


def test_the_best_checkpoint_outlives_the_newest_ones(tmp_path: Path) -> None:
    state, files = small_state(), RunFiles(tmp_path, "r")
    for step in range(1, 7):
        state.step = step
        save_checkpoint(files, state, card(step))
        prune_checkpoints(files, 2, best_step=3)
    assert files.checkpoint_steps() == [3, 5, 6]


@pytest.mark.parametrize("suffix", [".safetensors", ".ost"])
@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "garbage"])
def test_damage_is_told_by_name(tmp_path: Path, suffix: str, damage: str) -> None:
    state, files = small_state(), RunFiles(tmp_path, "r")
    state.step = 5
    save_checkpoint(files, state, card(5))
    path = tmp_path / f"r.5{suffix}"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(
        {
            "truncated": bytes(content[: len(content) // 2]),
            "flipped": bytes(content),
            "empty": b"",
            "garbage": b"\x89PNG\r\n\x1a\n" * 40,
        }[damage]
    )
    with pytest.raises(UnderstudyError, match=rf"r\.5\{suffix}.*checkpoint"):
        load_checkpoint(files, 5, small_state())


def test_a_model_file_is_readable_by_others(tmp_path: Path) -> None:
    """The artist who applies it is not the farm user who trained it."""
    state, files = small_state(), RunFiles(tmp_path, "r")
    (tmp_path / "plain").touch()
    save_checkpoint(files, state, card(0))
    assert files.model(0).stat().st_mode == (tmp_path / "plain").stat().st_mode
