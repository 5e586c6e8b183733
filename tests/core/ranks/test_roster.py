"""The rules of membership, without a socket or a clock."""

from __future__ import annotations

import itertools

import pytest

from understudy.ranks.lines import Message
from understudy.ranks.roster import Facts, Letter, Presence, Roster, Terms

GRACE = 10.0
FACTS = {"--crop-size": "32", "--seed": "0"}


class Floor:
    """A roster, and how ranks behave towards it."""

    def __init__(self, *, world_size: int = 3, min_ranks: int = 0, has_begun: bool = False) -> None:
        self.now = 0.0
        self.roster = Roster(
            world_size=world_size,
            min_ranks=min_ranks,
            facts=FACTS,
            has_begun=has_begun,
            grace_seconds=GRACE,
            now=self.now,
        )
        self.told: dict[int, str] = {}
        """Nonce of the last generation that each rank was told of."""

    def come(self, *ranks: int, process: str = "first") -> list[Letter]:
        """Each on a host of its own, where the process of that name is it."""
        return [
            letter
            for rank in ranks
            for letter in self.roster.admit(rank, Presence(token=process, where=f"host{rank}"), self.now)
        ]

    def ready(self, rank: int, step: int = -1, *, after: str | None = None, trouble: str = "") -> list[Letter]:
        known = self.told.get(rank, "") if after is None else after
        return self.roster.ready(rank, step, after=known, trouble=trouble, now=self.now)

    def form(self) -> Message | None:
        """The generation that forms now; all its members are told the same, and nobody else anything."""
        letters = self.roster.form(self.now)
        if not letters:
            return None
        message = letters[0][1]
        assert message["kind"] == "generation"
        assert [(rank, message) for rank in members_of(message)] == letters
        self.told |= dict.fromkeys(members_of(message), str(message["nonce"]))
        return message

    def train(self, *ranks: int, step: int = -1) -> Message:
        """These ranks come, are ready, and form a generation, as all of the world or as those that are left."""
        self.come(*ranks)
        for rank in ranks:
            self.ready(rank, step)
        generation = self.form()
        assert generation is not None
        return generation

    def arrive(self, rank: int, point: int, *, stop: str = "", seconds: float = 0.0, nonce: str = "") -> list[Letter]:
        return self.roster.arrive(rank, nonce or self.told[rank], point=point, stop=stop, elapsed_seconds=seconds)

    def meet(self, *ranks: int, point: int) -> Message:
        """All arrive; what each is told."""
        letters = [letter for rank in ranks for letter in self.arrive(rank, point)]
        assert [rank for rank, _ in letters] == list(ranks)
        assert len({id(message) for _, message in letters}) == 1
        return letters[0][1]


def members_of(generation: Message | None) -> list[int]:
    members = generation and generation["members"]
    assert isinstance(members, list)
    return members


def overs(letters: list[Letter]) -> dict[int, str]:
    """Whom the letters tell that the generation is over, and why; there are no others."""
    assert all(message["kind"] == "over" for _, message in letters)
    return {rank: str(message["reason"]) for rank, message in letters}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_all_form_the_first_generation_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    floor = Floor()
    for rank in order:
        assert floor.form() is None
        floor.come(rank)
        floor.ready(rank)
    generation = floor.form()
    assert generation is not None
    assert (generation["number"], generation["members"]) == (1, [0, 1, 2])
    assert floor.form() is None


def test_who_is_there_but_not_ready_is_waited_for() -> None:
    floor = Floor()
    floor.come(0, 1, 2)
    floor.ready(0)
    floor.ready(1)
    floor.now += 100 * GRACE
    assert floor.form() is None
    assert floor.roster.missing() == {2: "on host2, still preparing"}
    floor.ready(2)
    assert members_of(floor.form()) == [0, 1, 2]


def test_a_run_that_has_not_begun_waits_for_all() -> None:
    floor = Floor()
    floor.come(0, 1)
    floor.ready(0, 0)
    floor.ready(1)
    floor.now += 100 * GRACE
    assert floor.form() is None
    assert not floor.roster.has_begun


def test_fewer_may_begin_where_that_is_allowed_once_no_more_seem_to_come() -> None:
    floor = Floor(world_size=4, min_ranks=2)
    floor.come(0)
    floor.ready(0)
    floor.now += 100 * GRACE
    assert floor.form() is None
    floor.come(1)
    floor.ready(1)
    floor.now += GRACE - 1
    assert floor.form() is None
    floor.come(2)
    floor.now += 2
    assert floor.form() is None
    floor.ready(2)
    floor.now += GRACE
    assert members_of(floor.form()) == [0, 1, 2]


def test_nobody_trains_without_rank_0() -> None:
    floor = Floor(min_ranks=2, has_begun=True)
    floor.come(1, 2)
    floor.ready(1, 50)
    floor.ready(2, 50)
    floor.now += 100 * GRACE
    assert floor.form() is None
    assert not floor.roster.is_waiting
    assert floor.roster.missing() == {0: "host unknown"}


@pytest.mark.parametrize("steps", [(7, -1), (0, 7)], ids=["rank 0 knows", "another knows"])
def test_a_run_that_has_trained_before_goes_on_with_one_that_is_left(steps: tuple[int, int]) -> None:
    floor = Floor(world_size=3)
    floor.come(0, 1)
    floor.ready(0, steps[0])
    floor.ready(1, steps[1])
    floor.now += GRACE - 1
    assert floor.form() is None
    floor.now += 1
    assert members_of(floor.form()) == [0, 1]
    floor.roster.lose(1, "killed", floor.now)
    floor.ready(0, 8)
    assert members_of(floor.form()) == [0]


def test_no_fewer_than_asked_go_on() -> None:
    floor = Floor(min_ranks=2)
    floor.train(0, 1, 2)
    floor.roster.lose(1, "killed", floor.now)
    floor.roster.lose(2, "killed", floor.now)
    floor.ready(0, 5)
    floor.now += 100 * GRACE
    assert floor.form() is None
    assert floor.roster.is_waiting
    floor.come(2, process="second")
    floor.ready(2, after="")
    assert members_of(floor.form()) == [0, 2]


@pytest.mark.parametrize(
    ("steps", "donor"),
    [((-1, -1, -1), 0), ((0, -1, -1), 0), ((5, 9, 9), 1), ((5, 5, 5), 0), ((0, -1, 12), 2)],
)
def test_all_go_on_from_the_newest_state(steps: tuple[int, ...], donor: int) -> None:
    floor = Floor()
    floor.come(*range(3))
    for rank, step in enumerate(steps):
        floor.ready(rank, step)
    generation = floor.form()
    assert generation is not None
    assert (generation["donor"], generation["donor_step"]) == (donor, steps[donor])


def test_who_trained_with_a_lost_rank_is_told_at_once_and_goes_on_without_grace() -> None:
    floor = Floor()
    first = floor.train(0, 1, 2)
    assert overs(floor.roster.lose(1, "killed", floor.now)) == dict.fromkeys((0, 2), "rank 1 left: killed")
    assert floor.roster.lose(1, "killed", floor.now) == []
    assert floor.form() is None
    floor.ready(2, 4)
    floor.ready(0, 4)
    second = floor.form()
    assert second is not None
    assert (second["number"], second["members"]) == (2, [0, 2])
    assert second["changes"] == ["rank 1 on host1 left: killed"]
    assert second["nonce"] != first["nonce"]
    assert floor.roster.missing()[1] == "killed, last seen on host1"


def test_losing_two_at_once_is_one_end() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    assert set(overs(floor.roster.lose(1, "killed", floor.now))) == {0, 2}
    assert floor.roster.lose(2, "killed", floor.now) == []
    floor.ready(0, 3)
    assert members_of(floor.form()) == [0]


def test_a_late_rank_joins_at_the_next_meeting() -> None:
    floor = Floor(min_ranks=2)
    floor.come(0, 1)
    floor.ready(0, 0)
    floor.ready(1)
    floor.now += GRACE
    assert members_of(floor.form()) == [0, 1]
    floor.come(2)
    assert floor.meet(0, 1, point=1)["regroup"] is False
    floor.ready(2)
    assert floor.form() is None
    assert floor.meet(0, 1, point=2)["regroup"] is True
    assert floor.ready(1, 2) == floor.ready(0, 2) == []
    generation = floor.form()
    assert generation is not None
    assert (generation["members"], generation["donor"]) == ([0, 1, 2], 0)
    assert generation["changes"] == ["rank 2 on host2 joined"]


def test_a_late_rank_that_leaves_again_disturbs_nobody() -> None:
    floor = Floor(min_ranks=2)
    floor.come(0, 1)
    floor.ready(0, 0)
    floor.ready(1)
    floor.now += GRACE
    floor.form()
    floor.come(2)
    floor.ready(2)
    assert floor.roster.lose(2, "killed", floor.now) == []
    assert floor.meet(0, 1, point=1)["regroup"] is False


def test_a_rank_lost_on_the_way_to_a_meeting_frees_the_others() -> None:
    floor = Floor(min_ranks=2)
    floor.come(0, 1)
    floor.ready(0, 0)
    floor.ready(1)
    floor.now += GRACE
    floor.form()
    floor.come(2)
    floor.ready(2)
    floor.meet(0, 1, point=1)
    floor.ready(0, 1)
    assert set(overs(floor.roster.lose(1, "killed", floor.now))) == {0}
    assert members_of(floor.form()) == [0, 2]


def test_who_lost_touch_with_the_others_calls_them_together() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    told = overs(floor.ready(1, 6, trouble="connection reset by peer"))
    assert told == dict.fromkeys((0, 1, 2), "rank 1 lost its connections to the others")
    assert floor.roster.trouble == "rank 1: connection reset by peer"
    assert floor.ready(0, 6) == floor.ready(2, 6) == []
    assert members_of(floor.form()) == [0, 1, 2]


def test_readiness_said_twice_breaks_nothing() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    assert floor.ready(1, -1, after="") == []
    assert floor.meet(0, 1, 2, point=1)["regroup"] is False


def test_a_rank_that_never_heard_of_its_generation_is_ready_still() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    assert set(overs(floor.come(1))) == {0, 2}
    floor.ready(0, 0)
    floor.ready(2, 0)
    assert floor.form() is None
    floor.ready(1, -1, after="")
    assert members_of(floor.form()) == [0, 1, 2]


def test_a_reconnect_ends_the_generation_and_is_told() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    assert overs(floor.come(2)) == dict.fromkeys((0, 1), "rank 2 left: it connected anew")
    for rank in range(3):
        floor.ready(rank, 1)
    generation = floor.form()
    assert generation is not None
    assert generation["changes"] == ["rank 2 on host2 left: it connected anew", "rank 2 on host2 joined"]


def test_all_go_on_once_all_have_arrived() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    for point in (1, 2):
        assert floor.arrive(2, point, seconds=1.0, stop="SIGTERM") == []
        assert floor.arrive(0, point, seconds=3.0) == []
        letters = floor.arrive(1, point, seconds=2.0, stop="SIGINT")
        assert [rank for rank, _ in letters] == [0, 1, 2]
        go = letters[0][1]
        assert (go["kind"], go["point"], go["elapsed_seconds"], go["stop"]) == ("go", point, 3.0, "SIGINT")


def test_who_arrives_for_a_generation_that_is_over_hears_so_alone() -> None:
    floor = Floor()
    first = floor.train(0, 1, 2)
    floor.roster.lose(2, "killed", floor.now)
    assert set(overs(floor.arrive(1, 5))) == {1}
    floor.ready(0, 4)
    floor.ready(1, 4)
    floor.form()
    assert set(overs(floor.arrive(1, 5, nonce=str(first["nonce"])))) == {1}
    assert floor.arrive(2, 5, nonce=floor.told[0])[0][0] == 2
    assert floor.arrive(0, 5) == []
    assert [rank for rank, _ in floor.arrive(1, 5)] == [0, 1]


def test_ranks_that_lost_step_meet_again() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    floor.arrive(0, 7)
    floor.arrive(1, 8)
    reason = "the ranks lost step with each other (rank 0 at 7, rank 1 at 8, rank 2 at 7)"
    assert overs(floor.arrive(2, 7)) == dict.fromkeys(range(3), reason)


def test_words_reach_who_asked_before_and_who_asks_after() -> None:
    floor = Floor()
    floor.train(0, 1, 2)
    assert floor.roster.get(1, "address/0") == floor.roster.get(2, "address/0") == []
    word = {"kind": "value", "key": "address/0", "value": "10.1.0.1"}
    assert floor.roster.put("address/0", "10.1.0.1") == [(1, word), (2, word)]
    assert floor.roster.get(1, "address/0") == [(1, word)]
    floor.roster.lose(2, "killed", floor.now)
    floor.ready(0)
    floor.ready(1)
    floor.form()
    assert floor.roster.get(1, "address/0") == []


def test_generations_that_come_to_nothing_are_counted() -> None:
    floor = Floor(world_size=2)
    floor.train(0, 1)
    for count in range(1, 4):
        assert floor.roster.num_fruitless == count
        floor.ready(0, 0, trouble="no route to host")
        floor.ready(1, 0)
        floor.form()
    floor.meet(0, 1, point=1)
    assert floor.roster.num_fruitless == 0


@pytest.mark.parametrize(
    ("rank", "world_size", "facts", "refusal"),
    [
        (1, 3, FACTS, ""),
        (1, 2, FACTS, "it was told of 2 ranks, rank 0 of 3; start all with the same world size"),
        (3, 3, FACTS, "there are only ranks 0 to 2"),
        (-1, 3, FACTS, "there are only ranks 0 to 2"),
        (1, 3, {**FACTS, "--seed": "7"}, "it differs from rank 0: --seed is 7, rank 0 has 0"),
        (1, 3, {"--seed": "0"}, "it differs from rank 0: --crop-size is absent, rank 0 has 32"),
        (1, 3, {**FACTS, "--new": "1"}, "it differs from rank 0: --new is 1, rank 0 has none"),
    ],
)
def test_what_keeps_a_rank_out_is_named(rank: int, world_size: int, facts: Facts, refusal: str) -> None:
    assert Floor().roster.refusal(rank, world_size, facts) == refusal


def test_of_many_differences_the_first_are_named_and_the_rest_counted() -> None:
    many = {f"--flag-{number}": "on" for number in range(7)}
    refusal = Floor().roster.refusal(1, 3, {**FACTS, **many})
    assert refusal.count("rank 0 has none") == 5
    assert refusal.endswith("; and 2 more")


def test_pairs_are_compared_once_rank_0_knows_its_own() -> None:
    floor = Floor()
    floor.come(0, 1)
    other = {"frame 1001 train": "64x96 crc 2"}
    assert floor.roster.pair_refusal(other) == ""
    terms = {"kind": "terms", "batch_size": 4}
    assert floor.roster.fix_terms(Terms(batch_size=4, facts={"frame 1001 train": "64x96 crc 1"})) == [(1, terms)]
    assert floor.roster.has_terms
    assert floor.come(2) == [(2, terms)]
    assert "frame 1001 train is 64x96 crc 2, rank 0 has 64x96 crc 1" in floor.roster.pair_refusal(other)


def test_a_second_process_of_a_rank_is_told_from_the_same_again() -> None:
    floor = Floor()
    floor.come(1)
    assert floor.roster.holder(1, "first") is None
    assert floor.roster.holder(1, "second") == Presence(token="first", where="host1")
    floor.roster.lose(1, "killed", floor.now)
    assert floor.roster.holder(1, "second") is None
