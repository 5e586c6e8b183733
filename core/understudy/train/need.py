"""Which frames the model serves badly, judged by what was seen of every frame. Pure rules: no torch, no file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

MOST_PLACES = 4096
"""Places of the painted frames that others are compared with."""
NEAR_SHARE = 0.25
"""Of the shot's length: frames nearer than that to a suggested one are worth less."""
ROUNDING = 1e-6
"""Squared distances below are none."""
TELLING = 0.75
"""A sign that has this share of the strongest one is a reason, too."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """What stays of a frame once the network has looked at it."""

    frame: int
    amounts: NDArray[np.float32]
    """How much is painted in each square of the picture, ascending: mean absolute, in transfer space."""
    doubt: float
    """By how much an earlier checkpoint answered otherwise, mean absolute in transfer space; 0 without one."""
    features: NDArray[np.float32]
    """P C: what the network's deepest level holds at each of P places, of unit length."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """How badly an unpainted frame wants paint. Each sign runs from 0 to 1, the least and the most in the shot."""

    frame: int
    work: float
    """What the model paints there, against what it paints in the painted frames."""
    doubt: float
    """Disagreement of checkpoints."""
    strangeness: float
    """What the network sees there, against the most similar places of the painted frames."""
    score: float
    """0 to 1."""

    @property
    def why(self) -> str:
        """The strongest signs in a few words."""
        signs = {
            "painted otherwise than the painted frames": self.work,
            "checkpoints disagree": self.doubt,
            "looks unlike the painted frames": self.strangeness,
        }
        strongest = max(signs.values())
        telling = [words for words, sign in signs.items() if sign > 0 and sign >= TELLING * strongest]
        return ", ".join(telling) or "nothing stands out"


def needs_of(looks: Sequence[Look], painted: Collection[int]) -> tuple[Need, ...]:
    """The need of every unpainted frame, in the order of `looks`, of which some must be of painted frames."""
    known = [look for look in looks if look.frame in painted]
    others = [look for look in looks if look.frame not in painted]
    bank = _bank_of(known)
    signs = zip(
        _scaled([_otherness(look, known) for look in others]),
        _scaled([look.doubt for look in others]),
        _scaled([_strangeness(look, bank) for look in others]),
        strict=True,
    )
    return tuple(
        Need(
            frame=look.frame,
            work=work,
            doubt=doubt,
            strangeness=strangeness,
            score=(2 * work + doubt + strangeness) / 4,  # docs/suggest.md: what these weights rest on
        )
        for look, (work, doubt, strangeness) in zip(others, signs, strict=True)
    )


def suggested(needs: Sequence[Need], count: int) -> tuple[Need, ...]:
    """The neediest frames, each with the score that those before leave it; of equal ones the first."""
    left = list(needs)
    near_frames = max(1.0, NEAR_SHARE * (needs[-1].frame - needs[0].frame))
    chosen: list[Need] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda need: need.score)
        chosen.append(best)
        left = [
            replace(need, score=need.score * min(1.0, abs(need.frame - best.frame) / near_frames))
            for need in left
            if need is not best
        ]
    return tuple(chosen)


def _otherness(look: Look, known: Sequence[Look]) -> float:
    """Of the amounts of paint, from the nearest painted frame and, on average, from all."""
    away = [float(np.abs(look.amounts - one.amounts).mean()) for one in known]
    return min(away) + sum(away) / len(away)


def _bank_of(known: Sequence[Look]) -> NDArray[np.float32]:
    """Places of all painted frames, B C, evenly thinned."""
    places = np.concatenate([look.features for look in known])
    return places[np.unique(np.linspace(0, len(places) - 1, MOST_PLACES).astype(np.int64))]


def _strangeness(look: Look, bank: NDArray[np.float32]) -> float:
    """Mean over the places of their distance from the most similar known one."""
    likeness = (look.features @ bank.T).max(axis=1)  # P, cosines
    return float(np.sqrt(np.maximum(2 - 2 * likeness, ROUNDING)).mean())


def _scaled(values: Sequence[float]) -> list[float]:
    """0 for the least, 1 for the greatest; 0 for all that are equal."""
    least, greatest = min(values), max(values)
    return [(value - least) / (greatest - least) if greatest > least else 0.0 for value in values]
