"""The words that make a process a rank: CopyCat's variables or the flags of the same meaning, or another launcher's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from understudy.errors import ProblemList, UnderstudyError
from understudy.ranks.hosts import places_alone, places_here
from understudy.ranks.place import AUTO, MOST_RANKS_ON_A_HOST, RankPlace, address_of, number_of, port_of

MAIN_ADDR = "COPYCAT_MAIN_ADDR"
MAIN_PORT = "COPYCAT_MAIN_PORT"
RANK = "COPYCAT_RANK"
WORLD_SIZE = "COPYCAT_WORLD_SIZE"
LOCAL_ADDR = "COPYCAT_LOCAL_ADDR"
SYNC_INTERVAL = "COPYCAT_SYNC_INTERVAL"
HOSTS = "UNDERSTUDY_HOSTS"
RANK_GPU = "UNDERSTUDY_RANK_GPU"
"""What `launch` adds for its children: the CUDA device of the rank."""
RANKS_HERE = "UNDERSTUDY_RANKS_HERE"
"""The same: how many ranks share the machine."""


@dataclass(frozen=True, kw_only=True)
class RankFlags:
    """The flags as they were typed; None where one was not given."""

    main_addr: str | None = None
    main_port: str | None = None
    rank: str | None = None
    world_size: str | None = None
    local_addr: str | None = None
    hosts: Path | None = None
    ranks: int | None = None
    """Number of ranks to start on this machine alone."""
    allow_single: bool = False
    """Train alone when only some of the variables are set, as CopyCat does."""


class _Word(NamedTuple):
    name: str
    """The flag or variable that it was given by."""
    text: str
    """Empty: not given."""


def places_of(
    flags: RankFlags, environment: Mapping[str, str], *, warn: Callable[[str], None]
) -> tuple[RankPlace, ...]:
    """The ranks that this command is or, if they are several, shall start on this machine. None: it trains alone.

    CopyCat's variables and flags go first, then --ranks and --hosts, torchrun's variables, those of a Slurm step, and
    UNDERSTUDY_HOSTS. Raises UnderstudyError, or Problems, when some of the words are missing or wrong.
    """
    _refuse_contradictions(flags)
    local = _local_address(flags, environment)
    words = _copycat_words(flags, environment)
    if any(word.text for word in words.values()):
        return (_copycat_place(words, local, environment),) if _is_complete(words, flags, warn) else ()
    if flags.ranks is not None:
        return places_alone(number_of("--ranks", str(flags.ranks), low=1, high=MOST_RANKS_ON_A_HOST))
    if flags.hosts is not None:
        return _with_local_address(places_here(flags.hosts), local)
    if _word(environment, "RANK").text and _word(environment, "WORLD_SIZE").text:
        words = _words(environment, "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
        return (_torchrun_place(words, local, environment),) if _is_complete(words, flags, warn) else ()
    if _is_slurm_step(environment):
        return (_slurm_place(local, environment),)
    hosts = _word(environment, HOSTS).text
    return _with_local_address(places_here(Path(hosts)), local) if hosts else ()


def variables_of(place: RankPlace) -> dict[str, str]:
    """The variables from which `places_of` makes this place again; empty text: not to be set."""
    return {
        MAIN_ADDR: place.main_address or AUTO,
        MAIN_PORT: str(place.main_port or AUTO),
        RANK: str(place.rank),
        WORLD_SIZE: str(place.world_size),
        LOCAL_ADDR: place.local_address,
        RANK_GPU: "" if place.gpu is None else str(place.gpu),
        RANKS_HERE: str(place.ranks_here),
    }


def sync_interval_of(flag: int | None, environment: Mapping[str, str]) -> int:
    """Steps between exchanges as given by the flag or COPYCAT_SYNC_INTERVAL; 0: not given.

    Raises UnderstudyError when it is no whole number of at least 1.
    """
    word = _word(environment, SYNC_INTERVAL) if flag is None else _Word("--sync-interval", str(flag))
    return number_of(*word, low=1) if word.text else 0


def first_host(node_list: str) -> str:
    """The first host of Slurm's node[01-03,07],x. Raises UnderstudyError when it is no such list."""
    first = re.match(r"(?:[^][,\s]|\[[^][\s]+\])+", node_list)
    if first is None:
        raise UnderstudyError(f"SLURM_STEP_NODELIST {node_list!r} is no list of hosts; set {MAIN_ADDR} and the others")
    return re.sub(r"\[([^],-]+)[^]]*\]", r"\1", first.group())


def _refuse_contradictions(flags: RankFlags) -> None:
    one_rank = ("main_addr", "main_port", "rank", "world_size")
    given = ["--" + name.replace("_", "-") for name in one_rank if getattr(flags, name) is not None]
    if flags.ranks is not None:
        given += ["--local-addr"] if flags.local_addr is not None else []
        given += ["--hosts"] if flags.hosts is not None else []
    several = "--ranks" if flags.ranks is not None else "--hosts" if flags.hosts is not None else ""
    if several and given:
        raise UnderstudyError(f"{several} and {' '.join(given)} exclude each other; give one or the other")


def _copycat_words(flags: RankFlags, environment: Mapping[str, str]) -> dict[str, _Word]:
    words = {
        MAIN_ADDR: _either("--main-addr", flags.main_addr, MAIN_ADDR, environment),
        MAIN_PORT: _either("--main-port", flags.main_port, MAIN_PORT, environment),
        RANK: _either("--rank", flags.rank, RANK, environment),
        WORLD_SIZE: _either("--world-size", flags.world_size, WORLD_SIZE, environment),
    }
    if words[MAIN_ADDR].text.lower() == AUTO and not words[MAIN_PORT].text:
        words[MAIN_PORT] = _Word(MAIN_PORT, AUTO)
    return words


def _is_complete(words: Mapping[str, _Word], flags: RankFlags, warn: Callable[[str], None]) -> bool:
    """Whether none is missing; one that is may be so only with --allow-single, which is said."""
    missing = [word.name for word in words.values() if not word.text]
    if not missing:
        return True
    given = [word.name for word in words.values() if word.text]
    are_missing = f"{_listed(missing)} not set, but {_listed(given)}"
    if not flags.allow_single:
        them = "it" if len(missing) == 1 else "them"
        raise UnderstudyError(f"{are_missing}; set {them}, or give --allow-single to train alone")
    warn(f"{are_missing}; training alone, as --allow-single says")
    return False


def _copycat_place(words: Mapping[str, _Word], local: str, environment: Mapping[str, str]) -> RankPlace:
    gpu, ranks_here = _word(environment, RANK_GPU), _word(environment, RANKS_HERE)
    are_flags = all(word.name.startswith("--") for word in words.values())
    return replace(
        _place(words[MAIN_ADDR], words[MAIN_PORT], words[RANK], words[WORLD_SIZE]),
        local_address=local,
        gpu=number_of(*gpu) if gpu.text else None,
        ranks_here=number_of(*ranks_here, low=1) if ranks_here.text else 1,
        given_by="the flags of this rank" if are_flags else "the COPYCAT_* variables",
    )


def _torchrun_place(words: Mapping[str, _Word], local: str, environment: Mapping[str, str]) -> RankPlace:
    local_rank, ranks_here = _word(environment, "LOCAL_RANK"), _word(environment, "LOCAL_WORLD_SIZE")
    port = words["MASTER_PORT"]
    if environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True":  # torchrun's own store listens on that port
        port = _Word(port.name, AUTO)
    return replace(
        _place(words["MASTER_ADDR"], port, words["RANK"], words["WORLD_SIZE"]),
        local_address=local,
        gpu=_own_gpu(local_rank, environment),
        ranks_here=number_of(*ranks_here, low=1) if ranks_here.text else 1,
        given_by="torchrun's variables",
    )


def _is_slurm_step(environment: Mapping[str, str]) -> bool:
    """A step of several tasks. The job's own variables do not count: its batch script runs once."""
    procid, tasks, nodes = _words(environment, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST").values()
    return bool(procid.text and nodes.text and tasks.text.isdecimal() and int(tasks.text) > 1)


def _slurm_place(local: str, environment: Mapping[str, str]) -> RankPlace:
    nodes = _word(environment, "SLURM_STEP_NODELIST")
    port = _word(environment, "MASTER_PORT")
    place = _place(
        _Word(nodes.name, first_host(nodes.text)),
        port if port.text else _Word(port.name, AUTO),
        _word(environment, "SLURM_PROCID"),
        _word(environment, "SLURM_STEP_NUM_TASKS"),
    )
    gpu = _own_gpu(_word(environment, "SLURM_LOCALID"), environment)
    return replace(place, local_address=local, gpu=gpu, given_by="Slurm's variables")


def _place(address: _Word, port: _Word, rank: _Word, world_size: _Word) -> RankPlace:
    problems = ProblemList()
    main_address, main_port, number, size = "", 0, 0, 0
    with problems.collecting():
        main_address = "" if address.text.lower() == AUTO else address_of(*address)
    with problems.collecting():
        main_port = port_of(*port)
    with problems.collecting():
        size = number_of(*world_size, low=1)
    with problems.collecting():
        number = number_of(*rank)
        if size and number >= size:
            raise UnderstudyError(
                f"{rank.name} {number} is not smaller than {world_size.name} {size}; ranks are numbered 0 to {size - 1}"
            )
    problems.raise_if_any()
    return RankPlace(rank=number, world_size=size, main_address=main_address, main_port=main_port, given_by=rank.name)


def _own_gpu(local_rank: _Word, environment: Mapping[str, str]) -> int | None:
    """The rank's number on its machine; 0 where the scheduler shows every rank a device of its own."""
    if not local_rank.text:
        return None
    shown = environment.get("CUDA_VISIBLE_DEVICES", "")
    return 0 if shown and "," not in shown else number_of(*local_rank)


def _with_local_address(places: tuple[RankPlace, ...], local: str) -> tuple[RankPlace, ...]:
    return tuple(replace(place, local_address=local or place.local_address) for place in places)


def _local_address(flags: RankFlags, environment: Mapping[str, str]) -> str:
    return _either("--local-addr", flags.local_addr, LOCAL_ADDR, environment).text


def _either(flag: str, given: str | None, variable: str, environment: Mapping[str, str]) -> _Word:
    return _word(environment, variable) if given is None else _Word(flag, given.strip())


def _words(environment: Mapping[str, str], *names: str) -> dict[str, _Word]:
    return {name: _word(environment, name) for name in names}


def _word(environment: Mapping[str, str], name: str) -> _Word:
    """A variable that is empty counts as not set: job templates leave such."""
    return _Word(name, environment.get(name, "").strip())


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last} are" if first else f"{last} is"
