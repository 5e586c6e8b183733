"""understudy with one choice undone, to measure what that choice is worth.

    python -m benchmarks.quality.altered "AdamW" train --input ...

The rest of the line is understudy's own. What can be chosen by a flag has none of this: `measure` gives the flag.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import pairwise
from unittest.mock import patch

import torch
from torch import Tensor, nn

from understudy.cli.main import main as understudy
from understudy.train import crops, first_units, fit, loss, muon, network, prepare, schedule, state, work
from understudy.train.muon import Muon
from understudy.train.network import UNet, convolution
from understudy.train.transfer import Transfer

SHAKEN_SHARE = 1e-6
"""Of each weight: some roundings of float32."""


class AdamW:
    """In the place of Muon, with the settings that were the best for it; its runs cannot be resumed."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self.weights = list(parameters)
        self._adamw = torch.optim.AdamW(self.weights, betas=(0.9, 0.99), weight_decay=0.01, fused=True)
        self.learning_rate = 0.0
        self.momentum: dict[Tensor, Tensor] = {weight: torch.zeros_like(weight) for weight in self.weights}

    def step(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.weights, 1.0)
        self._adamw.param_groups[0]["lr"] = self.learning_rate
        self._adamw.step()

    def zero_grad(self) -> None:
        self._adamw.zero_grad()


class ScheduleFree(Muon):
    """Muon whose gradients are those near the mean of all weights that it came by (arXiv 2405.15682).

    Its rate never falls; its runs cannot be resumed.
    """

    MEAN_SHARE = 0.9
    """Of where gradients are taken; the rest is where Muon is."""

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        super().__init__(parameters)
        self._places = [weight.detach().clone() for weight in self.weights]
        self._means = [weight.detach().clone() for weight in self.weights]
        self._num_steps = 0

    @torch.no_grad()
    def step(self) -> None:
        weights: list[Tensor] = list(self.weights)
        torch._foreach_copy_(weights, self._places)
        super().step()
        torch._foreach_copy_(self._places, weights)
        self._num_steps += 1
        torch._foreach_lerp_(self._means, self._places, 1 / self._num_steps)
        torch._foreach_lerp_(weights, self._means, self.MEAN_SHARE)


@contextmanager
def unfallen() -> Iterator[None]:
    """Rates of both kinds stay where they begin."""
    with patch.object(schedule, "HELD_END", 1.0), patch.object(schedule, "STEADY_END", schedule.STEADY_START):
        yield


@contextmanager
def schedule_free() -> Iterator[None]:
    with unfallen(), patch.object(state, "Muon", ScheduleFree):
        yield


class MoreLayers(UNet):
    """What comes up is given as many channels as what was kept has, and the coarsest level has two layers."""

    def __init__(self, num_inputs: int, widths: tuple[int, ...]) -> None:
        super().__init__(num_inputs, widths)
        steps_up = [(level, wide, deep) for level, (wide, deep) in enumerate(pairwise(widths))][::-1]
        self.up = nn.ModuleList(
            nn.Sequential(convolution(2 * wide if level else wide, wide), convolution(wide, wide, leaks=level > 0))
            for level, wide, _ in steps_up
        )
        coarsest = self.down[-1]
        assert isinstance(coarsest, nn.Sequential)
        coarsest.append(convolution(widths[-1], widths[-1]))
        for layers, (_, wide, deep) in zip([coarsest, *self.up], steps_up, strict=False):  # the last of them has none
            layers.append(nn.Conv2d(deep, wide, 1))


@contextmanager
def seen_once() -> Iterator[None]:
    """Where the squares are, there is nothing."""

    def once(encoded: Tensor) -> Tensor:
        return torch.cat((encoded, torch.zeros_like(encoded)), dim=1)

    with patch.object(network, "with_squares", once), patch.object(first_units, "with_squares", once):
        yield


def drawn_after_he(weights: Tensor, gain: float) -> Tensor:
    """In the place of rows at right angles; of the same size on the whole."""
    return nn.init.normal_(weights, std=gain / weights[0].numel() ** 0.5)


def as_adamws(weights: Tensor) -> float:
    """In the place of steps that turn all layers alike: those of wide layers are longer."""
    return muon.ADAMS_SIZE * math.sqrt(max(len(weights), weights[0].numel()))


def shaken(parameters: Iterable[nn.Parameter]) -> Muon:
    """As it is, but for the first weights' last digits: what differs then is no seed's doing, nor any choice's."""
    weights = list(parameters)
    with torch.no_grad():
        for weight in weights:
            weight.mul_(1 + SHAKEN_SHARE * torch.randn_like(weight))
    return Muon(weights)


ALTERATIONS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "AdamW": partial(patch.object, state, "Muon", AdamW),
    "gradients of any length": partial(patch.object, muon, "make_one_long", lambda _: None),
    "steps of AdamW's size": partial(patch.object, muon, "step_length", as_adamws),
    "squared error": partial(patch.object, work.Work, "measure", "squared"),
    "sharp error": partial(patch.object, work.Work, "measure", "sharp"),
    "held rate": partial(patch.object, work.Work, "fall", "held"),
    "steady fall": partial(patch.object, work.Work, "fall", "steady"),
    "a fall to a fortieth": partial(patch.object, schedule, "STEADY_END", 0.025),
    "a rate that never falls": unfallen,
    "schedule-free": schedule_free,
    "weights after He": partial(patch.object, nn.init, "orthogonal_", drawn_after_he),
    "other first weights": partial(patch.object, prepare, "FIRST_WEIGHTS", 0),
    "first units alike": partial(patch.object, prepare, "spread_first_units", lambda *_: None),
    "channels seen once": seen_once,
    "paint as large as white": partial(patch.object, fit, "paint_size", lambda _: fit.LARGEST_PAINT),
    "shaken": partial(patch.object, state, "Muon", shaken),
    "black and white to be met": partial(patch.object, Transfer, "ends", lambda _: None),
    "no edges in the loss": partial(patch.object, loss, "EDGE_WEIGHT", 0.0),
    "crops anywhere": partial(patch.object, crops, "FOCUSED_SHARE", 0.0),
    "no second looks": partial(patch.object, crops, "MISSED_SHARE", 0.0),
    "second looks by absolute error": partial(patch.object, work.Work, "miss_power", 1),
    "second looks by squared error": partial(patch.object, work.Work, "miss_power", 2),
    "last units sleep": partial(patch.object, work.Work, "wakes", False),
    "last units wake": partial(patch.object, work.Work, "wakes", True),
    "no shifts": partial(patch.object, crops, "SHIFTED_SHARE", 0.0),
    "an eighth shifted": partial(patch.object, crops, "SHIFTED_SHARE", 0.125),
    "no grain": partial(patch.object, prepare, "grain_of", lambda *_, **__: None),
    "no mirroring": partial(patch.object, crops, "MIRRORED_SHARE", 0.0),
    "an eighth mirrored": partial(patch.object, crops, "MIRRORED_SHARE", 0.125),
    "half mirrored": partial(patch.object, crops, "MIRRORED_SHARE", 0.5),
    "narrow at full resolution": partial(patch.dict, network.WIDTHS, {"small": (16, 16, 64, 96, 128)}),
    "more layers": partial(patch.object, network, "UNet", MoreLayers),
    "last layer of 3 x 3": partial(patch.object, network, "LAST_SIDE", 3),
    "no average": partial(patch.object, state, "AVERAGE_SHARE", 0.0),
}


if __name__ == "__main__":
    with ALTERATIONS[sys.argv[1]]():
        sys.exit(understudy(sys.argv[2:]))
