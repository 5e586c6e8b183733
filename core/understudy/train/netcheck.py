"""What a run of these ranks would find: who reaches whom, how fast their links are, and how often to synchronise."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import torch

from understudy.errors import EXIT_DONE, Problems, RanksMissing, UnderstudyError
from understudy.ranks.addresses import local_address_for
from understudy.ranks.meeting import Meeting
from understudy.ranks.member import GenerationOver, RunOver
from understudy.ranks.neighbours import explore
from understudy.ranks.notice import desk_finder, notice_path, secret_given
from understudy.ranks.place import RankPlace
from understudy.ranks.reach import await_rank_0, is_loopback
from understudy.ranks.roster import Generation
from understudy.report.progress import Progress
from understudy.runs import RunFiles
from understudy.settings import Settings
from understudy.train.admission import admitted, fitted_to
from understudy.train.company import GROUP_TIMEOUT, DeskStore
from understudy.train.crops import Share
from understudy.train.device import Machine, choose_batch, choose_machine
from understudy.train.drawn import Batch
from understudy.train.group import Group, GroupBroken
from understudy.train.network import NetworkSpec, Understudy
from understudy.train.state import new_state
from understudy.train.sync_plan import choose, measured_costs

RUN_NAME = "netcheck"
SECONDS_OF_EXCHANGES = 2.0
"""Long enough that what a queue lets through at once does not count."""
MOST_EXCHANGES = 200
CHANNELS = ("R", "G", "B")


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How fast all weights are exchanged."""

    exchange_seconds: float
    """Of one all-reduce of all weights, the slowest rank counting."""
    megabits_per_second: float
    """What every rank sends, and receives, meanwhile; headers are not counted."""


def check_network(place: RankPlace, settings: Settings, probe_port: int) -> int:
    """Meet the other ranks as a run would, measure, and print what was found; the exit code.

    Raises UnderstudyError, or Problems, with a line for everything that is in the way.
    """
    settings = fitted_to(place, settings)
    progress = Progress("plain", sys.stdout)
    _find_rank_0(place, settings, progress.say)
    try:
        with admitted(
            place,
            settings,
            RunFiles(settings.data_directory, RUN_NAME),
            may_go_on=lambda _: False,
            has_begun=False,
            progress=progress,
        ) as meeting:
            problems = _checked(meeting, settings, probe_port, progress.say)
            _end_together(meeting)
    except (RanksMissing, RunOver) as ended:  # one exit code for everything that is in the way
        raise UnderstudyError(f"{ended}{_advice_on_rank_0(place)}") from ended
    except (GenerationOver, GroupBroken) as over:
        raise UnderstudyError(f"the check was broken off: {over}; start it again on all machines") from over
    if problems:
        raise Problems(problems)
    progress.say("Nothing is in the way.")
    return EXIT_DONE


def measure_exchange(group: Group, num_weights: int, dtype: torch.dtype, device: torch.device) -> Rate:
    """Of so many weights, again and again for a while. Raises GroupBroken."""
    sent = torch.zeros(num_weights, dtype=dtype, device=device if device.type == "cuda" else "cpu")

    def exchange(times: int) -> None:
        for _ in range(times):
            group.all_reduce_sum(sent)
        sent[0].item()  # waits for the device

    _agreed_seconds(group, lambda: exchange(1))  # pays for memory and connections
    once = _agreed_seconds(group, lambda: exchange(1))
    times = max(1, min(MOST_EXCHANGES, math.ceil(SECONDS_OF_EXCHANGES / once)))
    seconds = _agreed_seconds(group, lambda: exchange(times)) / times
    sent_bytes = sent.numel() * sent.element_size() * 2 * (group.size - 1) / group.size  # by each rank of a ring
    return Rate(exchange_seconds=seconds, megabits_per_second=sent_bytes * 8e-6 / seconds)


def _find_rank_0(place: RankPlace, settings: Settings, tell: Callable[[str], None]) -> None:
    """Its port can be reached; a rank 0 has nobody to look for."""
    local_address = local_address_for(place)
    if place.rank != 0:
        secret = secret_given(os.environ)
        find_desk = desk_finder(place, notice_path(settings.data_directory, RUN_NAME), secret)
        seconds = 60 * settings.join_minutes
        await_rank_0(place, find_desk, local_address=local_address, seconds=seconds, tell=tell)


def _checked(meeting: Meeting, settings: Settings, probe_port: int, tell: Callable[[str], None]) -> list[str]:
    """What is in the way, a line each."""
    machine = choose_machine(settings, tell)
    batch_size = _agreed_batch_size(meeting, settings, machine)
    generation = meeting.member.next_generation(0, "", stop_waiting=lambda: "")
    rank = meeting.place.rank
    found = explore(meeting.member, generation, rank, meeting.local_address, probe_port)
    for line in found.table() if meeting.leads else found.about(rank):
        tell(line)
    problems = found.problems()
    if not problems:
        settings = dataclasses.replace(settings, batch_size=batch_size)
        for line in _measurements(meeting, generation, settings, machine):
            tell(line)
    return problems


def _agreed_batch_size(meeting: Meeting, settings: Settings, machine: Machine) -> int:
    """Rank 0 chooses it for its device."""
    if not meeting.leads:
        return meeting.member.batch_size()
    batch = choose_batch(settings, machine, settings.crop_size**2, meeting.place.world_size)
    meeting.member.fix_terms(batch.size)
    return batch.size


def _measurements(meeting: Meeting, generation: Generation, settings: Settings, machine: Machine) -> list[str]:
    """Lines for people. Raises GroupBroken, or GenerationOver, which says who left."""
    try:
        with closing(_group(meeting, generation, machine)) as group:
            meeting.member.when_over(group.interrupt)
            return _measured(group, settings, machine)
    except GroupBroken:
        meeting.member.await_over()  # raises GenerationOver when there is somebody to name
        raise


def _group(meeting: Meeting, generation: Generation, machine: Machine) -> Group:
    return Group(
        DeskStore(meeting.member),
        index=generation.index_of(meeting.place.rank),
        size=generation.size,
        local_address=meeting.local_address,
        device=machine.device,
        timeout=GROUP_TIMEOUT,
    )


def _measured(group: Group, settings: Settings, machine: Machine) -> list[str]:
    spec = NetworkSpec(input_channels=CHANNELS, target_channels=CHANNELS, model_size=settings.model_size)
    state = new_state(Understudy(spec), machine, ())
    num_weights = sum(parameter.numel() for parameter in state.model.parameters())
    whole = measure_exchange(group, num_weights, torch.float32, machine.device)
    half = measure_exchange(group, num_weights, torch.float16, machine.device)
    own_crops = Share(index=group.index, size=group.size).of(range(settings.batch_size))
    batch = _synthetic_batch(len(own_crops), settings, machine)
    costs = measured_costs(state, batch, machine, group, settings.batch_size)
    return [
        f"All-reduce of {num_weights:,} weights ({settings.model_size}): "
        f"{_in_words(whole)} in 32 bits, {_in_words(half)} in 16 bits",
        f"Step of {settings.batch_size} crops of {settings.crop_size} pixels over {group.size} ranks on {machine}: "
        f"{1000 * costs.step_seconds[1]:.0f} ms for the slowest",
        f"Sync that train would choose: {choose(costs, settings, machine.device.type).describe()}",
    ]


def _synthetic_batch(num_crops: int, settings: Settings, machine: Machine) -> Batch:
    """At least one crop: a rank without one of its own computes it for nothing."""
    pixels = torch.rand(max(1, num_crops), len(CHANNELS), settings.crop_size, settings.crop_size)
    pixels = pixels.contiguous(memory_format=torch.channels_last)
    return Batch(input=pixels, target=pixels, crops=()).to(machine)


def _agreed_seconds(group: Group, act: Callable[[], None]) -> float:
    """What the slowest rank takes, the same number on all."""
    begin = time.monotonic()
    act()
    seconds = torch.tensor([time.monotonic() - begin], dtype=torch.float64)
    group.all_reduce_max(seconds)
    return float(seconds)


def _end_together(meeting: Meeting) -> None:
    """Rank 0 keeps its desk open until all have what they asked for."""
    meeting.member.arrive(1, stop="", elapsed_seconds=0.0)
    if meeting.leads:
        meeting.member.agreed(1)
        meeting.end(EXIT_DONE, "the check is done")
    else:
        meeting.member.await_end()


def _advice_on_rank_0(place: RankPlace) -> str:
    """What rank 0 can say about ranks that did not come: not more than where they should have come to."""
    if place.rank != 0:
        return ""
    if place.main_address and is_loopback(place.main_address):
        return f"; {place.main_address} is loopback, where ranks on other machines cannot come"
    port = f"TCP port {place.main_port}" if place.main_port else "the TCP port that rank 0 took"
    return f"; see what they say themselves, and whether a firewall keeps them from {port} of this machine"


def _in_words(rate: Rate) -> str:
    return f"{1000 * rate.exchange_seconds:.0f} ms ({rate.megabits_per_second:.1f} Mbit/s each way)"
