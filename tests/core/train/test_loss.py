"""Pixels that do not count change neither loss nor gradient."""

from __future__ import annotations

from functools import partial
from typing import get_args

import pytest
import torch

from understudy.train.loss import (
    ABSOLUTE_SHARE,
    ROUNDNESS,
    ErrorMeasure,
    loss_and_error,
    reduce_pixels,
    reduce_valid,
)
from understudy.train.transfer import Ends

MEASURES: tuple[ErrorMeasure, ...] = get_args(ErrorMeasure)


def test_loss_of_equal_pictures_is_zero_and_of_a_constant_error_its_square() -> None:
    truth = torch.rand(2, 3, 8, 8)
    assert float(loss_and_error(truth, truth, None)[0]) == 0
    torch.testing.assert_close(loss_and_error(truth + 0.25, truth, None)[0], torch.tensor(0.0625))
    torch.testing.assert_close(loss_and_error(truth + 0.25, truth, torch.ones(2, 1, 8, 8))[0], torch.tensor(0.0625))


def test_a_sharp_error_has_a_share_of_its_size() -> None:
    truth = torch.rand(2, 1, 8, 8)
    assert float(loss_and_error(truth, truth, None, "sharp")[0]) == 0
    for valid in (None, torch.ones(2, 1, 8, 8)):
        loss = float(loss_and_error(truth - 0.25, truth, valid, "sharp")[0])
        assert loss == pytest.approx(0.0625 + ABSOLUTE_SHARE * (0.25 - ROUNDNESS / 2), abs=1e-6)
        small = float(loss_and_error(truth + ROUNDNESS / 2, truth, valid, "sharp")[0])
        assert small == pytest.approx((ROUNDNESS / 2) ** 2 * (1 + ABSOLUTE_SHARE / (2 * ROUNDNESS)), rel=1e-3)


@pytest.mark.parametrize("size", [1.0, 2 * ROUNDNESS])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_gradient_is_what_small_changes_show(measure: ErrorMeasure, size: float) -> None:
    torch.manual_seed(0)
    answer = (size * torch.rand(2, 3, 4, 5, dtype=torch.float64)).requires_grad_()
    truth = size * torch.rand(2, 3, 4, 5, dtype=torch.float64)
    holes = torch.ones(2, 1, 4, 5, dtype=torch.float64)
    holes[0, :, 1:3, 2] = 0
    for valid in (None, holes):
        of_answer = partial(loss_and_error, truth=truth, valid=valid, measure=measure)
        assert torch.autograd.gradcheck(of_answer, answer, check_undefined_grad=False)


@pytest.mark.parametrize("measure", MEASURES)
def test_invalid_pixels_change_nothing(measure: ErrorMeasure) -> None:
    truth, answer = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8, requires_grad=True)
    valid = torch.ones(1, 1, 8, 8)
    valid[..., 2:5, 3:6] = 0
    loss = loss_and_error(answer, truth, valid, measure)[0]
    loss.backward()  # type: ignore[no-untyped-call]
    other = answer.detach().clone()
    other[..., 2:5, 3:6] += 100
    torch.testing.assert_close(loss_and_error(other, truth, valid, measure)[0], loss.detach())
    assert answer.grad is not None
    assert float(answer.grad[..., 2:5, 3:6].abs().max()) == 0
    assert float(answer.grad.abs().max()) > 0


_NUM_ENDS = torch.tensor([2, 1, 0])[:, None, None]
ENDS = Ends(black=_NUM_ENDS > 0, white=_NUM_ENDS > 1)


@pytest.mark.parametrize("measure", MEASURES)
def test_beyond_black_and_white_nothing_is_wrong_where_these_are_wanted(measure: ErrorMeasure) -> None:
    truth = torch.zeros(1, 3, 8, 8)
    truth[..., 4:] = 1
    beyond = truth + torch.where(truth > 0.5, 0.3, -0.2)
    black, white = truth == 0, truth == 1
    for places, channels in ((black, [0, 1]), (white, [0])):
        for channel in range(3):
            one = truth.clone()
            one[:, channel] = torch.where(places, beyond, truth)[:, channel]
            assert (float(loss_and_error(one, truth, None, measure, ENDS)[0]) == 0) == (channel in channels)
            assert float(loss_and_error(one, truth, None, measure)[0]) > 0
    short = truth + torch.where(truth > 0.5, -0.3, 0.2)
    torch.testing.assert_close(
        loss_and_error(short, truth, None, measure, ENDS)[0], loss_and_error(short, truth, None, measure)[0]
    )
    grey = torch.full_like(truth, 0.5)
    torch.testing.assert_close(
        loss_and_error(beyond, grey, None, measure, ENDS)[0], loss_and_error(beyond, grey, None, measure)[0]
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_beyond_an_end_is_not_moved_by_what_is_wrong_beside_it(measure: ErrorMeasure) -> None:
    torch.manual_seed(0)
    truth = torch.rand(2, 3, 4, 5, dtype=torch.float64).mul(3).sub(1).clamp(0, 1)  # a third black, a third white
    answer = (truth + 0.2 * torch.randn(2, 3, 4, 5, dtype=torch.float64)).requires_grad_()
    of_answer = partial(loss_and_error, truth=truth, valid=None, measure=measure, ends=ENDS)
    assert torch.autograd.gradcheck(of_answer, answer, check_undefined_grad=False)
    loss, error = of_answer(answer)
    (gradient,) = torch.autograd.grad(loss, answer)
    beyond = ENDS.black & (truth == 0) & (answer < 0) | ENDS.white & (truth == 1) & (answer > 1)
    assert beyond.any()
    assert not gradient[beyond].any()
    assert not error[beyond].any()
    assert gradient[~beyond].all()


def test_the_error_that_is_told_is_of_valid_pixels_and_remembers_nothing() -> None:
    truth, answer = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8, requires_grad=True)
    valid = torch.ones(1, 1, 8, 8)
    valid[..., 2:5, 3:6] = 0
    _, error = loss_and_error(answer, truth, valid)
    torch.testing.assert_close(error, (answer.detach() - truth) * valid)
    assert not error.requires_grad


def test_all_invalid_is_no_error() -> None:
    nothing = torch.zeros(1, 1, 4, 4)
    assert float(loss_and_error(torch.rand(1, 1, 4, 4), torch.rand(1, 1, 4, 4), nothing)[0]) == 0


@pytest.mark.parametrize("num_first", [1, 2, 4])
def test_the_loss_of_a_batch_is_the_mean_of_its_parts_however_many_pixels_count(num_first: int) -> None:
    """By which ranks with shares of a batch learn what one process would."""
    torch.manual_seed(0)
    answer, truth = torch.rand(5, 3, 8, 8, dtype=torch.float64), torch.rand(5, 3, 8, 8, dtype=torch.float64)
    valid = torch.ones(5, 1, 8, 8, dtype=torch.float64)
    valid[0, :, 2:] = 0
    valid[3, :, :, 5] = 0
    valid[4] = 0
    parts = [slice(None, num_first), slice(num_first, None)]
    shares = [len(answer[part]) / 5 * loss_and_error(answer[part], truth[part], valid[part])[0] for part in parts]
    torch.testing.assert_close(sum(shares), loss_and_error(answer, truth, valid)[0], rtol=1e-14, atol=0)


def test_crops_whose_pixels_all_count_weigh_the_same_with_and_without_saying_so() -> None:
    answer, truth = torch.rand(3, 3, 8, 8), torch.rand(3, 3, 8, 8)
    torch.testing.assert_close(
        loss_and_error(answer, truth, torch.ones(3, 1, 8, 8))[0], loss_and_error(answer, truth, None)[0]
    )


def test_a_reduced_pixel_counts_only_if_all_behind_it_do() -> None:
    valid = torch.ones(1, 1, 8, 8)
    valid[0, 0, 5, 5] = 0
    reduced = reduce_valid(valid, 4)
    assert reduced.tolist() == [[[[1, 1], [1, 0]]]]
    ramp = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert reduce_pixels(ramp, 2).flatten().tolist() == [2.5, 4.5, 10.5, 12.5]
    assert reduce_pixels(ramp, 1) is ramp
