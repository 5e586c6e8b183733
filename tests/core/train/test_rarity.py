"""What is compared is drawn from where there is something to learn."""

from __future__ import annotations

import numpy as np
from tests.core.train.decoded import decoded

from understudy.train.rarity import MOST_COMPARED, Rarity, blocks_of


def test_what_is_painted_once_is_rare_wherever_it_lies_in_the_list_of_pairs() -> None:
    random = np.random.default_rng(0)
    plates = [random.random((64, 64 + 16 * number, 3)) for number in range(4)]
    plates[2][16:32, 48:64] += 40
    pairs = [decoded(plate, plate + 1) for plate in plates]
    interest = [np.ones((4, 4 + number), np.float32) for number in range(4)]
    interest[1][:] = 0
    rarity = Rarity(pairs, interest, np.random.default_rng(1))
    spot, beside = (slice(1, 2), slice(3, 4)), (slice(2, 3), slice(1, 2))
    assert rarity.is_rare(2, spot, blocks_of(2, spot))
    assert not rarity.is_rare(0, beside, blocks_of(0, beside))
    assert not rarity.is_rare(1, beside, blocks_of(1, beside))  # nothing to learn there


def test_blocks_of_many_pairs_are_drawn_once_each() -> None:
    picture = np.zeros((16 * 20, 16 * 20, 3))
    pairs = [decoded(picture, picture)] * 4
    interest = [(np.random.default_rng(number).random((20, 20)) < 0.9).astype(np.float32) for number in range(4)]
    known = Rarity(pairs, interest, np.random.default_rng(1))._known
    assert len(np.unique(known, axis=0)) == MOST_COMPARED
    assert all(interest[pair][row, column] for pair, row, column in known)
    assert set(known[:, 0]) == set(range(4))
