"""Steps follow one another sample by sample, also where the batch grows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.report.run_record import FirstSteps
from understudy.train.batch_plan import BatchPlan


@given(size=st.integers(1, 20), first_size=st.integers(1, 20), first_steps=st.integers(1, 9))
def test_no_sample_is_left_out_or_seen_twice(size: int, first_size: int, first_steps: int) -> None:
    growing = BatchPlan(size=size, first=FirstSteps(steps=first_steps, size=first_size))
    for plan, sizes in ((growing, first_steps * [first_size]), (BatchPlan(size=size), first_steps * [size])):
        steps = [plan.samples(step) for step in range(1, first_steps + 4)]
        assert [sample for some in steps for sample in some] == list(range(steps[-1].stop))
        assert list(map(len, steps)) == [*sizes, size, size, size]


def test_it_is_told_in_words() -> None:
    assert BatchPlan(size=4).in_words() == "4"
    assert BatchPlan(size=4, first=FirstSteps(steps=400, size=2)).in_words() == "2, from step 401 on 4"
