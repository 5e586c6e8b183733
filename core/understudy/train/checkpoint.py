"""Checkpoints: the model file and, apart, what only resuming needs. Written so that the newest is always whole."""

from __future__ import annotations

import json
from contextlib import suppress

from torch import Tensor

from understudy.errors import UnderstudyError
from understudy.runs import RunFiles
from understudy.train.model_file import (
    MEND,
    ModelCard,
    load_model,
    load_tensors,
    plain_tensors,
    save_model,
    save_tensors,
)
from understudy.train.state import TrainingState

STATE_KEY = "understudy_state"


def save_checkpoint(files: RunFiles, state: TrainingState, card: ModelCard) -> None:
    """Write optimizer state, then model, each atomically: a model on disk always has its state beside it."""
    about = {
        "step": state.step,
        "elapsed_seconds": state.elapsed_seconds,
        "best_step": state.best_step,
        "best_psnr": state.best_psnr if state.best_step else None,
    }
    save_tensors(files.state(state.step), _state_tensors(state), {STATE_KEY: json.dumps(about)})
    save_model(files.model(state.step), state.averaged, card)


def prune_checkpoints(files: RunFiles, keep: int, best_step: int) -> None:
    """Delete all but the `keep` newest checkpoints and the best; model first, so that no model loses its state."""
    for step in files.checkpoint_steps()[:-keep]:
        if step != best_step:
            for path in (files.model(step), files.state(step)):
                with suppress(FileNotFoundError):
                    path.unlink()


def load_checkpoint(files: RunFiles, step: int, state: TrainingState) -> None:
    """Bring `state` to the checkpoint of `step`.

    Raises UnderstudyError when it is damaged or of another network.
    """
    path = files.state(step)
    saved = load_model(files.model(step))
    if saved.model.spec != state.model.spec:
        raise UnderstudyError(f"{files.model(step)}: has other channels or size than the run; {MEND}")
    tensors, metadata = load_tensors(path)
    try:
        about = json.loads(metadata[STATE_KEY])
        _restore(state, tensors)
        state.averaged.load_state_dict(saved.model.state_dict())
        state.step, state.elapsed_seconds = about["step"], about["elapsed_seconds"]
        state.best_step = about["best_step"]
        state.best_psnr = about["best_psnr"] if about["best_psnr"] is not None else float("-inf")
    except (KeyError, ValueError, RuntimeError) as error:
        raise UnderstudyError(f"{path}: not this run's optimizer state ({error}); {MEND}") from error


def _state_tensors(state: TrainingState) -> dict[str, Tensor]:
    tensors = {f"weights/{name}": tensor for name, tensor in state.model.state_dict().items()}
    for name, parameter in state.model.named_parameters():
        tensors[f"momentum/{name}"] = state.optimizer.momentum[parameter]
    tensors |= {f"misses/{name}": tensor for name, tensor in state.misses.tensors().items()}
    return plain_tensors(tensors)


def _restore(state: TrainingState, tensors: dict[str, Tensor]) -> None:
    state.model.load_state_dict(_below("weights/", tensors))
    state.misses.restore(_below("misses/", tensors))
    for name, parameter in state.model.named_parameters():
        state.optimizer.momentum[parameter].copy_(tensors[f"momentum/{name}"])


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
