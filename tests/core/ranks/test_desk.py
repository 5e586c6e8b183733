"""A desk and its members over real sockets: who is let in, who is missed, and what all agree on."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import Future
from contextlib import closing, suppress

import pytest
from tests.core.ranks.tables import (
    DEADLINE,
    FACTS,
    SECRET,
    endpoint,
    laid_table,
    nobody,
    patience,
    ready,
    train_alone,
    wait_until,
)
from tests.core.ranks.wires import LOOPBACK, Wire, saying

from understudy.errors import EXIT_DONE, EXIT_RANKS, EXIT_STOPPED, RanksMissing, UnderstudyError
from understudy.ranks import desk as desk_module
from understudy.ranks.member import Ended, Endpoint, GenerationOver, Member, RunOver, StoppedWaiting

OTHER_PROCESS = "is that rank already; give each process a rank of its own"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_ranks_come_in_any_order_and_train_together(order: tuple[int, ...]) -> None:
    with laid_table() as table:
        seated = {rank: table.seat(rank) for rank in order}
        members = [seated[rank] for rank in range(3)]
        assert table.of_all(members, Member.join) == ["shot"] * 3
        table.let_in(members)
        generation = table.generation(members)
        assert (generation.number, generation.members) == (1, (0, 1, 2))
        for point in (1, 2):
            go = table.meet(members, point)
            assert (go.stop, go.elapsed_seconds, go.regroup) == ("", 1.0, False)
        assert {member.secret for member in members} == {SECRET}


def test_the_words_of_a_generation_reach_its_members() -> None:
    with laid_table(world_size=2) as table:
        leader, other = table.seat_all()
        with pytest.raises(GenerationOver, match="there is none"):
            leader.put("0", "early")
        table.generation([leader, other])
        asked = table.later(other.get, "0")
        assert not other.has("0")
        leader.put("0", "10.1.0.1:4000")
        assert asked.result(DEADLINE) == "10.1.0.1:4000"
        assert other.has("0")


def test_rank_0_fixes_the_batch_for_all() -> None:
    with laid_table(world_size=2) as table:
        leader, other = table.seat(0), table.seat(1)
        asked = table.later(other.batch_size)
        leader.join()
        leader.fix_terms(6)
        assert asked.result(DEADLINE) == leader.batch_size() == 6


def test_terms_fixed_while_the_line_is_broken_arrive_later() -> None:
    with laid_table(world_size=2) as table:
        leader, other = table.seat(0), table.seat(1)
        leader.join()
        table.wires[0].hold()
        leader.fix_terms(6)
        table.wires[0].cut()
        table.wires[0].release()
        assert table.later(other.batch_size).result(DEADLINE) == 6


def test_a_broken_line_is_mended_and_all_meet_again() -> None:
    with laid_table() as table:
        members = table.seat_all()
        table.generation(members)
        over = threading.Event()
        members[1].when_over(over.set)
        table.wires[1].cut()
        assert over.wait(DEADLINE)
        for member in members:
            with pytest.raises(GenerationOver):
                member.agreed(1)
        generation = table.reunite(members, step=3)
        assert generation.members == (0, 1, 2)
        assert generation.donor_step >= 3
        assert any(change.startswith("rank 1 on ") and change.endswith(" joined") for change in generation.changes)
        assert table.meet(members, generation.donor_step + 1).regroup is False


def test_a_rank_that_leaves_is_not_waited_for() -> None:
    with laid_table() as table:
        members = table.seat_all()
        table.generation(members)
        members[1].leave("SIGTERM")
        members[1].leave("SIGTERM")
        for member in (members[0], members[2]):
            with pytest.raises(GenerationOver, match="rank 1 left: SIGTERM"):
                member.agreed(1)
        assert table.generation([members[0], members[2]], step=3).members == (0, 2)
        assert table.hears("rank 1 is gone") == "rank 1 is gone: SIGTERM"


def test_a_silent_rank_is_left_behind_and_comes_back() -> None:
    with laid_table(patience(silence=0.5)) as table:
        members = table.seat_all()
        table.generation(members)
        table.wires[2].hold()
        for member in members:
            with pytest.raises(GenerationOver):
                member.agreed(1)
        assert table.hears("rank 2 is gone") == "rank 2 is gone: silent for too long"
        assert table.generation(members[:2], step=2).members == (0, 1)
        assert table.meet(members[:2], 3).regroup is False
        table.wires[2].release()
        generation = table.reunite(members, step=3)
        assert (generation.members, generation.donor) == ((0, 1, 2), 0)


def test_who_sees_a_transfer_fail_is_told_who_is_gone_once_the_desk_knows() -> None:
    with laid_table(patience(silence=2.0)) as table:
        members = table.seat_all()
        table.generation(members)
        members[0].await_over()  # all are there: the failure has another cause
        table.wires[2].hold()
        with pytest.raises(GenerationOver, match="rank 2 left: silent for too long"):
            members[0].await_over()


def test_a_generation_that_ends_as_it_forms_is_told_as_over() -> None:
    with laid_table() as table:
        members = table.seat_all()
        table.wires[1].hold(up=False)
        waiting = table.later(ready, members[1], 0)
        table.generation([members[0], members[2]])
        members[2].leave("killed")
        with pytest.raises(GenerationOver):
            members[0].agreed(1)
        table.wires[1].release()
        try:
            waiting.result(DEADLINE)
        except GenerationOver:
            pass
        else:
            with pytest.raises(GenerationOver):
                members[1].agreed(1)
        assert table.generation(members[:2], step=1).members == (0, 1)


def test_a_rank_whose_generation_was_lost_on_the_way_gets_the_next() -> None:
    with laid_table() as table:
        members = table.seat_all()
        table.wires[1].hold(up=False)
        waiting = table.later(ready, members[1], 0)
        table.generation([members[0], members[2]])
        table.wires[1].cut()
        table.wires[1].release()
        wait_until(lambda: sum(line.startswith("rank 1 of 3 is here") for line in table.told) == 2, table.told)
        generation = table.generation([members[0], members[2]], step=0)
        assert (generation.number, generation.members) == (2, (0, 1, 2))
        assert waiting.result(DEADLINE) == generation


@pytest.mark.parametrize("seed", range(3))
def test_ranks_with_bad_lines_come_together_all_the_same(seed: int) -> None:
    chance = random.Random(seed)
    num_points = 300

    def train(member: Member) -> None:
        point = 0
        while point < num_points:
            with suppress(GenerationOver):
                point = train_alone(member, ready(member, point).donor_step, num_points)

    with laid_table(patience(silence=1.0)) as table:
        members = table.seat_all()
        training = [table.later(train, member) for member in members]
        for _ in range(25):
            time.sleep(chance.uniform(0.0, 0.06))
            table.wires[chance.randrange(3)].cut()
        done = table.later(lambda: [future.result(DEADLINE) for future in training])
        wait_until(lambda: done.done() or any(future.done() for future in training), table.told)
        table.desk.end(EXIT_DONE, "finished")
        ends = [future.exception(DEADLINE) for future in training]
        done.exception(DEADLINE)
    assert all(end is None or isinstance(end, RunOver) for end in ends), ends
    assert None in ends


def test_a_second_process_of_a_rank_is_refused_and_the_first_undisturbed() -> None:
    with laid_table(patience(silence=1.0)) as table:
        members = table.seat_all()
        table.generation(members)
        intruder = table.seat(1)
        with pytest.raises(UnderstudyError, match=OTHER_PROCESS) as refused:
            intruder.join()
        assert str(refused.value).startswith("rank 1 was turned away: ")
        assert refused.value.exit_code == 2
        assert table.meet(members, 1).regroup is False
        assert len([line for line in table.told if OTHER_PROCESS in line]) == 1


def test_a_restarted_process_takes_the_place_of_one_that_fell_silent() -> None:
    with laid_table(patience(silence=1.0)) as table:
        members = table.seat_all()
        table.generation(members)
        table.wires[1].hold()
        again = table.seat(1)
        assert again.join() == "shot"
        generation = table.generation([members[0], again, members[2]], step=5)
        assert (generation.members, generation.donor_step) == ((0, 1, 2), 5)


@pytest.mark.parametrize(
    ("facts", "world_size", "words"),
    [
        ({**FACTS, "--crop-size": "48"}, 3, "it differs from rank 0: --crop-size is 48, rank 0 has 32"),
        (FACTS, 4, "it was told of 4 ranks, rank 0 of 3"),
    ],
)
def test_what_a_rank_has_otherwise_is_named_on_both_sides(facts: dict[str, str], world_size: int, words: str) -> None:
    with laid_table() as table:
        leader, other = table.seat(0), table.seat(1)
        table.let_in([leader, other])
        stranger = table.seat(2, facts=facts, world_size=world_size)
        with pytest.raises(UnderstudyError, match=words):
            stranger.join()
        assert table.hears("turned away").startswith("warning: rank 2 on ")
        assert words in table.hears("turned away")
        assert table.generation([leader, other, table.seat(2)]).members == (0, 1, 2)


@pytest.mark.parametrize("is_early", [True, False], ids=["before rank 0 has its own", "after"])
def test_other_pairs_are_named_on_both_sides(is_early: bool) -> None:
    words = "it differs from rank 0: frame 1001 train is crc 2, rank 0 has crc 1"
    with laid_table() as table:
        leader = table.seat(0, pairs={"frame 1001 train": "crc 1"})
        other, stranger = (table.seat(rank, pairs={"frame 1001 train": f"crc {rank}"}) for rank in (1, 2))
        table.of_all([leader, other, stranger], Member.join)
        if not is_early:
            leader.fix_terms(2)
        waiting = table.later(ready, stranger, 7)
        if is_early:
            wait_until(lambda: len(table.told) >= 3)
            leader.fix_terms(2)
        with pytest.raises(UnderstudyError, match=words):
            waiting.result(DEADLINE)
        assert table.hears("rank 2 is gone") == f"rank 2 is gone: {words}"
        again = table.seat(2, pairs={"frame 1001 train": "crc 1"})
        assert table.generation([leader, other, again]).members == (0, 1, 2)


def test_who_has_no_secret_cannot_stop_the_others() -> None:
    with laid_table(patience(silence=1.0)) as table:
        members = table.seat_all()
        table.generation(members)
        stranger = table.seat(1, secret=b"another secret of another run")
        with pytest.raises(UnderstudyError, match="is the rank 0 of another run, or this rank has the wrong secret"):
            stranger.join()
        warned = "warning: processes at 127.0.0.1 without this run's secret are turned away"
        assert table.hears("without this run's secret") == warned
        assert table.told.count(warned) == 1
        assert table.meet(members, 1).stop == ""


@pytest.mark.parametrize(("code", "error"), [(EXIT_DONE, RunOver), (EXIT_STOPPED, RunOver), (EXIT_RANKS, RanksMissing)])
def test_the_end_reaches_all_wherever_they_wait(code: int, error: type[UnderstudyError]) -> None:
    with laid_table() as table:
        members = [table.seat(rank) for rank in (0, 1)]
        table.of_all(members, Member.join)
        waits: list[Future[object]] = [
            table.later(lambda: ready(members[0])),
            table.later(lambda: members[1].batch_size()),
        ]
        table.desk.end(code, "SIGTERM on rank 0")
        waits.append(table.later(lambda: table.seat(2).join()))
        for wait in waits:
            with pytest.raises(error, match="SIGTERM on rank 0") as ended:
                wait.result(DEADLINE)
            assert ended.value.exit_code == code


def test_who_is_done_waits_for_rank_0_to_be() -> None:
    with laid_table() as table:
        members = table.seat_all()
        table.generation(members)
        waiting = table.later(members[1].await_end)
        table.desk.end(EXIT_DONE, "finished")
        assert waiting.result(DEADLINE) == Ended(code=EXIT_DONE, reason="finished")
    with laid_table() as table:
        members = table.seat_all()
        table.generation(members)
        waiting = table.later(members[1].await_end)
        table.desk.end(EXIT_RANKS, "rank 0 ended: the disk is full")
        with pytest.raises(RanksMissing, match="the disk is full"):
            waiting.result(DEADLINE)
    with laid_table() as table:
        members = table.seat_all()
        table.generation(members)
        waiting = table.later(members[1].await_end)
        table.desk.close()
        with pytest.raises(GenerationOver, match="rank 0 is gone"):
            waiting.result(DEADLINE)


def test_all_that_came_end_alike_when_one_does_not_come() -> None:
    with laid_table(patience(join=1.0, silence=0.5)) as table:
        members = [table.seat(rank) for rank in (0, 1)]
        table.let_in(members)
        waits = [table.later(ready, member) for member in members]
        for wait in waits:
            with pytest.raises(RanksMissing) as missing:
                wait.result(DEADLINE)
            words = "ranks [2] of 3 (2: host unknown) did not come within 0.0166667 min"
            assert (str(missing.value), missing.value.exit_code) == (words, EXIT_RANKS)
        assert table.hears("waiting for").startswith("waiting for ranks [2] of 3 (2: host unknown), 0.0 min left")


def test_all_that_are_left_end_alike_when_too_few_are() -> None:
    with laid_table(patience(hold=1.0, silence=0.5), min_ranks=3) as table:
        members = table.seat_all()
        table.generation(members)
        members[2].leave("killed")
        waits = [table.later(ready, member, 5) for member in members[:2]]
        for wait in waits:
            with pytest.raises((GenerationOver, RanksMissing)) as ended:
                wait.result(DEADLINE)
            assert "2: killed, last seen on" in str(ended.value)


def test_ranks_that_cannot_reach_each_other_give_up_together() -> None:
    with laid_table() as table:
        members = table.seat_all()

        def fail(member: Member) -> None:
            for trouble in ("", *["no route to host"] * 10):
                with suppress(GenerationOver):
                    ready(member, 0, trouble)

        for ended in [table.later(fail, member) for member in members]:
            with pytest.raises(RanksMissing, match=r"cannot exchange data \(rank \d: no route to host\).*netcheck"):
                ended.result(DEADLINE)


def test_a_frozen_rank_0_gives_way_to_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "SECONDS_BETWEEN_LOOKS", 0.1)
    successors: list[str] = []
    with laid_table(successor=lambda: "".join(successors)) as table:
        members = table.seat_all()
        table.generation(members)
        table.meet(members, 1)
        successors.append("render09, pid 7")
        for member in members:
            with pytest.raises(RanksMissing, match=r"another rank 0 \(render09, pid 7\) has taken this run over"):
                member.agreed(2)


def test_a_wait_ends_when_this_process_is_asked_to_stop() -> None:
    with laid_table(patience(silence=0.5)) as table:
        leader = table.seat(0)
        table.let_in([leader])
        asked: list[str] = []
        waiting = table.later(lambda: leader.next_generation(0, "", lambda: "".join(asked)))
        asked.append("SIGTERM")
        with pytest.raises(StoppedWaiting, match="SIGTERM"):
            waiting.result(DEADLINE)


def lonely(port: int, told: list[str], *, is_fixed: bool = True, join: float = 0.5) -> Member:
    """Rank 1, which looks for rank 0 on that port."""
    return Member(
        rank=1,
        world_size=2,
        local_address=LOOPBACK,
        facts=FACTS,
        find_desk=lambda: endpoint(port, is_fixed=is_fixed),
        patience=patience(join=join, silence=0.5),
        tell=told.append,
    )


NO_RANKS_0 = {
    "silent": (b"", "it takes connections and stays silent"),
    "ssh": (b"SSH-2.0-9\r\n", "it says 'SSH-2.0-9'"),
}


@pytest.mark.parametrize(("said", "words"), NO_RANKS_0.values(), ids=NO_RANKS_0)
def test_another_program_on_a_fixed_port_is_told_from_rank_0(said: bytes, words: str) -> None:
    told: list[str] = []
    with saying(said) as port:
        member = lonely(port, told, join=DEADLINE)
        with pytest.raises(UnderstudyError, match=words) as refused:
            member.join()
        member.leave("the test is over")
    assert f"127.0.0.1 port {port} (the test) is another program, not understudy" in str(refused.value)
    assert refused.value.exit_code == 2


def test_a_rank_0_whose_machine_stands_still_at_first_is_waited_out() -> None:
    tries: list[int] = []
    with laid_table(world_size=2) as table, closing(Wire(table.port)) as wire:
        wire.hold()

        def find() -> Endpoint:
            tries.append(wire.port)
            if len(tries) == 2:
                wire.release()
            return endpoint(wire.port)

        limits = patience(silence=2.0)
        member = Member(
            rank=1, world_size=2, local_address="", facts=FACTS, find_desk=find, patience=limits, tell=table.told.append
        )
        assert member.join() == "shot"
        assert len(tries) >= 2
        member.leave("the test is over")


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-9\r\n"], ids=["silent", "ssh"])
def test_another_program_where_rank_0_once_was_is_waited_out(said: bytes) -> None:
    told: list[str] = []
    with saying(said) as port:
        member = lonely(port, told, is_fixed=False, join=1.5)
        with pytest.raises(RanksMissing, match=rf"rank 0 did not come in time: 127.0.0.1 port {port} .* hung up"):
            member.join()
        member.leave("the test is over")
    assert len(told) == 1
    assert told[0].startswith("rank 1 waits for rank 0: ")


def test_who_finds_nobody_says_so_once_and_gives_up_in_time() -> None:
    told: list[str] = []
    with saying(b"") as port:
        pass
    member = lonely(port, told)
    with pytest.raises(RanksMissing, match=f"127.0.0.1 port {port} .*refused"):
        member.join()
    member.leave("the test is over")
    assert len(told) == 1


def test_what_the_place_of_rank_0_lacks_is_said_whenever_it_changes() -> None:
    told: list[str] = []
    answers: list[Endpoint | str] = ["no notice yet", "no notice yet", "an older notice"]

    def find() -> Endpoint | str:
        if not answers:
            raise UnderstudyError("rank 0 could not begin")
        return answers.pop(0)

    member = Member(
        rank=1, world_size=2, local_address="", facts={}, find_desk=find, patience=patience(), tell=told.append
    )
    with pytest.raises(UnderstudyError, match="could not begin"):
        member.next_generation(0, "", nobody)
    member.leave("the test is over")
    assert told == ["rank 1 waits for rank 0: no notice yet", "rank 1 waits for rank 0: an older notice"]
