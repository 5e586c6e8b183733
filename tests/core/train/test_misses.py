"""What is wrong in a block is known from the crop that showed it, draws crops, and outlives what a run outlives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.core.train.decoded import decoded
from tests.core.train.lessons import BATCH_SIZE, first_state, take_steps
from tests.core.train.together import together
from torch import Tensor

from understudy.report.run_record import FirstSteps
from understudy.train.batch_plan import BatchPlan
from understudy.train.crops import BLOCK, MISSED_SHARE, Crop, CropPlan
from understudy.train.group import Group
from understudy.train.handover import hand_over
from understudy.train.loss import loss_and_error
from understudy.train.misses import STEPS_AHEAD, STEPS_BETWEEN, Misses, block_errors
from understudy.train.sharing import Alone, Averaging, Gradients, Sharing
from understudy.train.state import TrainingState

ROWS, COLUMNS = 10, 12
WIDTH = 36
"""Of crops: two whole blocks and a quarter."""


def plan(num_pairs: int = 2) -> CropPlan:
    pair = decoded(np.zeros((ROWS * BLOCK, COLUMNS * BLOCK, 3)), np.zeros((ROWS * BLOCK, COLUMNS * BLOCK, 3)))
    interest = tuple(np.ones((ROWS, COLUMNS), np.float32) for _ in range(num_pairs))
    return CropPlan((pair,) * num_pairs, interest, crop_size=WIDTH, seed=0)


SINGLES = BatchPlan(size=1)


class Lonely:
    """Alone, without a model."""

    def pool(self, rows: Tensor) -> Tensor:
        return rows


def known(misses: Misses) -> list[np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    blocks = misses.tensors()["blocks"][0].float().numpy()
    return list(blocks.reshape(-1, ROWS, COLUMNS))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("reduction", [1, 2, 4])
def test_errors_of_blocks_are_means_over_channels_and_valid_pixels(reduction: int, power: int) -> None:
    random = np.random.default_rng(0)
    answer, truth = (random.random((2, 3, 40 // reduction, 56 // reduction), np.float32) for _ in range(2))
    valid = (random.random((2, 1, *answer.shape[2:])) < 0.7).astype(np.float32)
    _, error = loss_and_error(torch.from_numpy(answer), torch.from_numpy(truth), torch.from_numpy(valid))
    found = block_errors(error, reduction, power)
    assert found.shape == (2, 2, 3), "whole blocks alone"
    side = BLOCK // reduction
    for crop, row, column in np.ndindex(2, 2, 3):
        place = slice(row * side, (row + 1) * side), slice(column * side, (column + 1) * side)
        wrong = (np.abs(answer[crop] - truth[crop]) ** power).mean(axis=0)[place] * valid[crop, 0][place]
        assert float(found[crop, row, column]) == pytest.approx(wrong.mean() ** (1 / power), abs=1e-6)


@pytest.mark.parametrize(("power", "share"), [(1, 0.003), (2, 0.25)])
def test_a_false_spot_stands_out_among_edges_as_much_as_the_power_says(power: int, share: float) -> None:
    """One pixel that is wholly wrong, in one block of 120; the others are wrong by a hundredth."""
    answer = torch.full((1, 1, ROWS * BLOCK, COLUMNS * BLOCK), 0.01)
    answer[..., 3 * BLOCK : 4 * BLOCK, 5 * BLOCK : 6 * BLOCK] = 0.0
    answer[..., 3 * BLOCK + 7, 5 * BLOCK + 2] = 1.0
    errors = block_errors(answer, 1, power)[0]
    focus, random = Misses([errors.numpy()], power).focus(0), np.random.default_rng(0)
    drawn = [focus.block(0, random.random()) for _ in range(1000)]
    assert drawn.count((3, 5)) / 1000 == pytest.approx(share, abs=0.03)


def test_a_crop_smaller_than_a_block_tells_nothing() -> None:
    misses = Misses(plan().interest)
    errors = block_errors(torch.ones(1, 3, 8, 200), 1)
    misses.note([Crop(0, 0, 0, mirrored=False)], 200, errors)
    assert all((pair == 1).all() for pair in known(misses))


@pytest.mark.parametrize("mirrored", [False, True])
def test_errors_come_to_lie_where_the_crop_showed_them(mirrored: bool) -> None:
    """A picture with one wrong pixel, cut, mirrored, looked at: the block of that pixel is the one that is known."""
    wrong = np.zeros((ROWS * BLOCK, COLUMNS * BLOCK), np.float32)
    wrong[5 * BLOCK + 8, 7 * BLOCK + 8] = 1.0  # in the middle, as crops need not lie on the grid
    for y, x in ((5 * BLOCK, 6 * BLOCK), (4 * BLOCK + 3, 5 * BLOCK + 9), (5 * BLOCK - 7, 7 * BLOCK - 6)):
        misses = Misses(plan().interest)
        cut = wrong[y : y + WIDTH, x : x + WIDTH]
        shown = torch.from_numpy((cut[:, ::-1] if mirrored else cut).copy())[None, None]
        misses.note([Crop(1, y, x, mirrored)], WIDTH, block_errors(shown, 1))
        untouched, looked_at = known(misses)
        assert (untouched == 1).all()
        assert (looked_at != 1).sum() == 4, "two whole blocks each way"
        peaks = np.argwhere((looked_at > 0) & (looked_at != 1))
        assert peaks.tolist() == [[5, 7]], (y, x)


@pytest.mark.parametrize("mirrored", [False, True])
def test_of_a_crop_that_hangs_over_only_blocks_of_the_frame_are_known(mirrored: bool) -> None:
    """One wrong pixel in the corner block inside; beyond all is wrong, which is nobody's."""
    last = (ROWS - 1) * BLOCK, (COLUMNS - 1) * BLOCK
    for y, x, corner in ((-BLOCK, -BLOCK, (0, 0)), (last[0], last[1] + BLOCK - WIDTH + BLOCK, (ROWS - 1, COLUMNS - 1))):
        wrong = np.ones((WIDTH, WIDTH), np.float32)
        inside = slice(max(0, -y), ROWS * BLOCK - y), slice(max(0, -x), COLUMNS * BLOCK - x)
        wrong[inside] = 0.0
        wrong[corner[0] * BLOCK + 8 - y, corner[1] * BLOCK + 8 - x] = 1.0
        misses = Misses(plan().interest)
        shown = torch.from_numpy((wrong[:, ::-1] if mirrored else wrong).copy())[None, None]
        misses.note([Crop(0, y, x, mirrored)], WIDTH, block_errors(shown, 1))
        looked_at, untouched = known(misses)
        assert (untouched == 1).all()
        assert looked_at[corner] == pytest.approx(1 / BLOCK**2, rel=1e-2)
        assert set(np.unique(looked_at)) <= {0.0, 1.0, looked_at[corner]}


def test_a_quarter_of_the_crops_goes_where_it_is_wrong_now() -> None:
    """Beside those that go where the first guess was wrong, and only after the crops that may be drawn already."""
    crops_of, misses = plan(), Misses(plan().interest)
    errors = torch.zeros(1, 2, 2)
    for row in range(0, ROWS, 2):
        for column in range(0, COLUMNS, 2):
            misses.note([Crop(0, row * BLOCK, column * BLOCK, mirrored=False)], WIDTH, errors)
    errors = torch.tensor([[[0.0, 0.0], [0.0, 0.5]]])
    misses.note([Crop(0, 8 * BLOCK, 10 * BLOCK, mirrored=False)], WIDTH, errors)  # the last block
    before = misses.focus(10**6)
    misses.change(30, SINGLES, Lonely())
    first = 30 + STEPS_AHEAD
    assert misses.focus(first - 1) is before
    shown: tuple[list[bool], list[bool]] = ([], [])
    for sample in range(first, first + 4000):
        crop = crops_of.draw(sample, misses.focus(sample))
        shown[crop.pair].append(crop.y + WIDTH > (ROWS - 0.5) * BLOCK and crop.x + WIDTH > (COLUMNS - 0.5) * BLOCK)
    where_wrong, elsewhere = (sum(of_pair) / len(of_pair) for of_pair in shown)
    assert elsewhere < 0.08
    assert where_wrong - elsewhere == pytest.approx(MISSED_SHARE, abs=0.05)


def test_of_a_batch_that_has_grown_all_is_known_and_the_change_comes_after_as_many_steps() -> None:
    growing, misses = BatchPlan(size=2, first=FirstSteps(steps=2, size=1)), Misses(plan().interest)
    corner, right, below = (Crop(0, y, x, mirrored=False) for y, x in ((0, 0), (0, 2 * BLOCK), (2 * BLOCK, 0)))
    misses.note([corner], WIDTH, torch.full((1, 2, 2), 0.25))
    misses.note([right, below], WIDTH, torch.tensor([0.5, 0.75])[:, None, None].expand(2, 2, 2))
    before = misses.focus(10**6)
    misses.change(3, growing, Lonely())
    assert known(misses)[0][:4:2, :4:2].tolist() == [[0.25, 0.5], [0.75, 1.0]]
    first = growing.samples(3 + STEPS_AHEAD + 1).start
    assert misses.focus(first - 1) is before
    assert misses.focus(first) is not before


def test_a_change_comes_after_so_many_steps_and_what_is_newer_counts() -> None:
    misses, crop = Misses(plan().interest), [Crop(0, 0, 0, mirrored=False)]
    assert not misses.is_change_due(STEPS_BETWEEN - 1)
    assert misses.is_change_due(STEPS_BETWEEN)
    for value in (0.25, 0.5):
        misses.note(crop, WIDTH, torch.full((1, 2, 2), value))
    misses.change(STEPS_BETWEEN, SINGLES, Lonely())
    assert known(misses)[0][:2, :2].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert not misses.is_change_due(2 * STEPS_BETWEEN - 1)


def test_what_is_restored_goes_on_as_if_nothing_had_been() -> None:
    whole, broken, later = (Misses(plan().interest) for _ in range(3))
    random = torch.Generator().manual_seed(0)

    def learn(step: int, *learners: Misses) -> None:
        drawn = plan().draw(step, learners[0].focus(step))
        errors = torch.rand((1, 2, 2), generator=random)
        for one in learners:
            one.note([drawn], WIDTH, errors)
            if step % 10 == 0:
                one.change(step, SINGLES, Lonely())

    for step in range(1, 26):
        learn(step, whole, broken)
    later.restore(broken.tensors())
    for step in range(26, 60):
        assert plan().draw(step, whole.focus(step)) == plan().draw(step, later.focus(step))
        learn(step, whole, later)
    assert all(torch.equal(whole.tensors()[name], later.tensors()[name]) for name in ("blocks", "steps"))


def test_what_belongs_to_other_frames_is_refused() -> None:
    with pytest.raises(ValueError, match="other frames"):
        Misses(plan(3).interest).restore(Misses(plan(2).interest).tensors())


@pytest.mark.parametrize("batch_size", [BATCH_SIZE, 2])
def test_ranks_that_share_gradients_draw_as_one_process(batch_size: int, tmp_path: Path) -> None:
    """Of a batch of two the third rank computes a crop for nothing."""
    alone = first_state()
    expected = learnt_in_three_steps(alone, Alone(alone.model), batch_size)
    for ended in together(tmp_path, 3, misses_of_gradients, batch_size):
        torch.testing.assert_close(ended.result["blocks"], expected["blocks"], rtol=2e-3, atol=1e-6)  # half
        assert torch.equal(ended.result["steps"], expected["steps"])


def misses_of_gradients(group: Group, batch_size: int) -> dict[str, Tensor]:
    state = first_state()
    sharing = Gradients(state, group, batch_size=batch_size, interval=1, compression="none", meet=lambda _: None)
    misses = learnt_in_three_steps(state, sharing, batch_size)
    group.close()
    return misses


def learnt_in_three_steps(state: TrainingState, sharing: Sharing, batch_size: int = BATCH_SIZE) -> dict[str, Tensor]:
    take_steps(state, sharing, 3, batch_size=batch_size)
    state.misses.change(3, BatchPlan(size=batch_size), sharing)
    sharing.close()
    return state.misses.tensors()


def test_ranks_that_average_weights_know_their_own_misses_until_one_hands_over(tmp_path: Path) -> None:
    before, after = zip(*(ended.result for ended in together(tmp_path, 2, misses_of_averaging)), strict=True)
    assert not torch.equal(before[0]["blocks"], before[1]["blocks"])
    for one in after:
        assert torch.equal(one["blocks"], before[1]["blocks"])
        assert torch.equal(one["steps"], before[1]["steps"])


def misses_of_averaging(group: Group) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    state = first_state()
    sharing = Averaging(
        state,
        group,
        batch_size=BATCH_SIZE,
        intervals={1: 3},
        compression="none",
        meet=lambda _: None,
    )
    before = learnt_in_three_steps(state, sharing)
    hand_over(state, group, donor_index=1)
    group.close()
    return before, state.misses.tensors()
