"""Which words make a process which rank, and what is said about words that are missing or wrong."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from understudy.cli.rank_options import add_ranks, rank_flags
from understudy.errors import UnderstudyError
from understudy.ranks.contract import RankFlags, first_host, places_of, sync_interval_of, variables_of
from understudy.ranks.place import RankPlace

COPYCAT = {
    "COPYCAT_MAIN_ADDR": "10.1.0.3",
    "COPYCAT_MAIN_PORT": "30000",
    "COPYCAT_RANK": "1",
    "COPYCAT_WORLD_SIZE": "3",
}
PLACE = RankPlace(
    rank=1, world_size=3, main_address="10.1.0.3", main_port=30000, given_by="the COPYCAT_* variables"
)  # fmt: skip
TORCHRUN = {
    "RANK": "3",
    "LOCAL_RANK": "1",
    "WORLD_SIZE": "4",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "render01",
    "MASTER_PORT": "29500",
}
SLURM = {
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "node[01-02]",
    "SLURM_NTASKS": "4",
}


def places(environment: dict[str, str], **flags: object) -> tuple[RankPlace, ...]:
    """The places when nothing is to be warned of."""
    return places_of(RankFlags(**flags), environment, warn=pytest.fail)  # type: ignore[arg-type]


def place(environment: dict[str, str], **flags: object) -> RankPlace:
    (only,) = places(environment, **flags)
    return only


def refused(environment: dict[str, str], **flags: object) -> str:
    with pytest.raises(UnderstudyError) as caught:
        places(environment, **flags)
    return str(caught.value)


def test_nothing_said_is_alone() -> None:
    assert places({}) == ()
    assert places({"COPYCAT_LOCAL_ADDR": "eth0", "COPYCAT_SYNC_INTERVAL": "4"}) == ()
    assert places(dict.fromkeys(COPYCAT, " ")) == ()
    assert places({}, allow_single=True) == ()


def test_copycats_variables() -> None:
    assert place(COPYCAT) == PLACE
    assert place({**COPYCAT, "COPYCAT_RANK": " 1\n"}) == PLACE
    assert place({**COPYCAT, "COPYCAT_LOCAL_ADDR": "eth1"}).local_address == "eth1"
    alone = place({**COPYCAT, "COPYCAT_RANK": "0", "COPYCAT_WORLD_SIZE": "1"})
    assert (alone.rank, alone.world_size) == (0, 1)


def test_flags_go_over_variables() -> None:
    found = place(COPYCAT, rank="2", local_addr="10.1.0.5")
    assert (found.rank, found.local_address, found.main_address) == (2, "10.1.0.5", "10.1.0.3")
    flags = {"main_addr": "render01", "main_port": "30001", "rank": "0", "world_size": "2"}
    found = place({}, **flags)
    assert (found.main_address, found.main_port, found.given_by) == ("render01", 30001, "the flags of this rank")
    assert places(COPYCAT, rank="2", allow_single=True)[0].rank == 2


@pytest.mark.parametrize(
    ("address", "port", "expected"),
    [
        ("auto", None, ("", 0)),
        ("auto", "auto", ("", 0)),
        ("AUTO", "0", ("", 0)),
        ("auto", "30000", ("", 30000)),
        ("render01", "auto", ("render01", 0)),
        ("10.1.0.3", "0", ("10.1.0.3", 0)),
        ("render-01.farm_2.studio.", "65535", ("render-01.farm_2.studio.", 65535)),
        ("fd77::1", "30000", ("fd77::1", 30000)),
        ("[fd77::1]", "30000", ("fd77::1", 30000)),
        ("[fe80::1%eth0]", "30000", ("fe80::1%eth0", 30000)),
    ],
)
def test_where_rank_0_is(address: str, port: str | None, expected: tuple[str, int]) -> None:
    words = {**COPYCAT, "COPYCAT_MAIN_ADDR": address, "COPYCAT_MAIN_PORT": port or ""}
    found = place(words)
    assert (found.main_address, found.main_port) == expected


ALL = "COPYCAT_MAIN_ADDR, COPYCAT_MAIN_PORT and COPYCAT_WORLD_SIZE"


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        (["COPYCAT_RANK"], f"COPYCAT_RANK is not set, but {ALL} are; set it, or give --allow-single to train alone"),
        (
            ["COPYCAT_MAIN_ADDR", "COPYCAT_MAIN_PORT", "COPYCAT_WORLD_SIZE"],
            f"{ALL} are not set, but COPYCAT_RANK is; set them, or give --allow-single to train alone",
        ),
        (
            ["COPYCAT_MAIN_PORT"],
            "COPYCAT_MAIN_PORT is not set, but COPYCAT_MAIN_ADDR, COPYCAT_RANK and COPYCAT_WORLD_SIZE are; "
            "set it, or give --allow-single to train alone",
        ),
    ],
)
def test_what_is_missing_is_named(missing: list[str], line: str) -> None:
    words = {name: value for name, value in COPYCAT.items() if name not in missing}
    assert refused(words) == line
    assert refused({**words, **TORCHRUN, **SLURM}) == line
    warnings: list[str] = []
    assert places_of(RankFlags(allow_single=True), {**words, **TORCHRUN}, warn=warnings.append) == ()
    assert warnings == [line.split(";")[0] + "; training alone, as --allow-single says"]


def test_a_missing_word_that_a_flag_gives_is_not_missing() -> None:
    assert place({name: value for name, value in COPYCAT.items() if name != "COPYCAT_RANK"}, rank="1") == PLACE
    line = refused({"COPYCAT_RANK": "1"}, world_size="3")
    assert line.startswith("COPYCAT_MAIN_ADDR and COPYCAT_MAIN_PORT are not set, but COPYCAT_RANK and --world-size are")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RANK", "3", "COPYCAT_RANK 3 is not smaller than COPYCAT_WORLD_SIZE 3; ranks are numbered 0 to 2"),
        ("RANK", "-1", "COPYCAT_RANK -1 is out of range"),
        ("RANK", "one", "COPYCAT_RANK 'one' is no whole number"),
        ("RANK", "1.0", "is no whole number"),
        ("RANK", "1_0", "is no whole number"),
        ("RANK", "9" * 5000, "is no whole number"),
        ("WORLD_SIZE", "0", "COPYCAT_WORLD_SIZE 0 is out of range; give a whole number from 1"),
        ("WORLD_SIZE", "x", "COPYCAT_WORLD_SIZE 'x' is no whole number"),
        ("MAIN_PORT", "65536", "COPYCAT_MAIN_PORT 65536 is out of range; give a whole number from 0 to 65535"),
        ("MAIN_PORT", "-1", "COPYCAT_MAIN_PORT -1 is out of range"),
        ("MAIN_PORT", "http", "COPYCAT_MAIN_PORT 'http' is no whole number"),
        ("MAIN_ADDR", "render 01", "COPYCAT_MAIN_ADDR 'render 01' is neither an IP address nor a host name"),
        ("MAIN_ADDR", "10.1.0.300", "neither an IP address nor a host name"),
        ("MAIN_ADDR", "10.1.0", "neither an IP address nor a host name"),
        ("MAIN_ADDR", "-render01", "neither an IP address nor a host name"),
        ("MAIN_ADDR", "a" * 64, "neither an IP address nor a host name"),
        ("MAIN_ADDR", "fd77:::1", "neither an IP address nor a host name"),
        ("MAIN_ADDR", "0.0.0.0", "COPYCAT_MAIN_ADDR 0.0.0.0 is not the address of one machine"),
        ("MAIN_ADDR", "[::]", "COPYCAT_MAIN_ADDR [::] is not the address of one machine"),
        ("MAIN_ADDR", "224.0.0.1", "is not the address of one machine"),
        (
            "MAIN_ADDR",
            "render01:30000",
            "COPYCAT_MAIN_ADDR render01:30000 holds a port; give the address render01 alone and the port 30000 apart",
        ),
        ("MAIN_ADDR", "10.1.0.3:30000", "holds a port; give the address 10.1.0.3 alone"),
        ("MAIN_ADDR", "[fd77::1]:30000", "holds a port; give the address [fd77::1] alone"),
    ],
)
def test_a_bad_value_has_its_own_line(name: str, value: str, said: str) -> None:
    line = refused({**COPYCAT, f"COPYCAT_{name}": value})
    assert said in line
    assert "\n" not in line
    flag = {"RANK": "rank", "WORLD_SIZE": "world_size", "MAIN_PORT": "main_port", "MAIN_ADDR": "main_addr"}[name]
    assert refused(COPYCAT, **{flag: value}).startswith("--" + flag.replace("_", "-"))


def test_all_bad_values_are_said_at_once() -> None:
    lines = refused({**COPYCAT, "COPYCAT_RANK": "x", "COPYCAT_MAIN_PORT": "y", "COPYCAT_MAIN_ADDR": "a b"}).splitlines()
    assert [line.split()[0] for line in lines] == ["COPYCAT_MAIN_ADDR", "COPYCAT_MAIN_PORT", "COPYCAT_RANK"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no privileged ports")
def test_a_privileged_port_is_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert place({**COPYCAT, "COPYCAT_MAIN_PORT": "1023"}).main_port == 1023
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "COPYCAT_MAIN_PORT 1023 is a privileged port" in refused({**COPYCAT, "COPYCAT_MAIN_PORT": "1023"})
    assert place({**COPYCAT, "COPYCAT_MAIN_PORT": "1024"}).main_port == 1024
    assert place({**COPYCAT, "COPYCAT_MAIN_PORT": "0"}).main_port == 0


def test_torchruns_variables() -> None:
    found = place(TORCHRUN)
    assert (found.rank, found.world_size, found.main_address, found.main_port) == (3, 4, "render01", 29500)
    assert (found.gpu, found.ranks_here, found.given_by) == (1, 2, "torchrun's variables")
    assert place({**TORCHRUN, "COPYCAT_LOCAL_ADDR": "eth1"}).local_address == "eth1"
    assert place({**TORCHRUN, "RANK": "0", "LOCAL_RANK": ""}).gpu is None
    assert "RANK 4 is not smaller than WORLD_SIZE 4" in refused({**TORCHRUN, "RANK": "4"})
    assert place({**TORCHRUN, **COPYCAT}) == PLACE


def test_words_that_others_use_too_do_not_make_a_rank() -> None:
    assert places({"RANK": "3"}) == ()
    assert places({"WORLD_SIZE": "3", "MASTER_ADDR": "render01", "MASTER_PORT": "29500"}) == ()
    without_address = {name: value for name, value in TORCHRUN.items() if name != "MASTER_ADDR"}
    assert refused(without_address).startswith("MASTER_ADDR is not set, but MASTER_PORT, RANK and WORLD_SIZE are")


def test_the_real_torchrun_holds_its_port_itself() -> None:
    """Its agent listens on MASTER_PORT, so rank 0 must take another one."""
    program = "import os, sys; from understudy.ranks.contract import *\n"
    program += "sys.stdout.write(str(places_of(RankFlags(), os.environ, warn=print)[0]) + '\\n')"
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    said = subprocess.run(
        [*run, sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    for rank in (0, 1):
        assert f"rank={rank}, world_size=2, main_address='localhost', main_port=0, " in said
        assert f'gpu={rank}, ranks_here=2, given_by="torchrun\'s variables"' in said


def test_a_slurm_step() -> None:
    found = place(SLURM)
    assert (found.rank, found.world_size, found.main_address, found.main_port) == (2, 4, "node01", 0)
    assert (found.gpu, found.given_by) == (1, "Slurm's variables")
    assert place({**SLURM, "MASTER_PORT": "29500"}).main_port == 29500
    assert place({**SLURM, "CUDA_VISIBLE_DEVICES": "5"}).gpu == 0
    assert place({**SLURM, "CUDA_VISIBLE_DEVICES": "4,5"}).gpu == 1
    assert place({**SLURM, **TORCHRUN}).rank == 3
    assert place({**SLURM, **COPYCAT}) == PLACE


@pytest.mark.parametrize("name", ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"])
def test_a_slurm_job_that_is_no_step_of_several_tasks_is_alone(name: str) -> None:
    assert places({key: value for key, value in SLURM.items() if key != name}) == ()
    assert places({**SLURM, "SLURM_STEP_NUM_TASKS": "1"}) == ()


@pytest.mark.parametrize(
    ("node_list", "first"),
    [
        ("x", "x"),
        ("x,y", "x"),
        ("node[01-03,07],x", "node01"),
        ("node[07,09-10]", "node07"),
        ("x,node[01-03]", "x"),
        ("rack[2-3]n[01-03]-ib,x", "rack2n01-ib"),
        ("node[1-2].farm.studio", "node1.farm.studio"),
    ],
)
def test_the_first_host_of_a_node_list(node_list: str, first: str) -> None:
    assert first_host(node_list) == first


@pytest.mark.parametrize("node_list", ["", ",x", "[", "[]"])
def test_what_is_no_node_list(node_list: str) -> None:
    with pytest.raises(UnderstudyError, match=r"SLURM_STEP_NODELIST .* is no list of hosts"):
        first_host(node_list)


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    """This machine with two ranks, and another."""
    path = tmp_path / "hosts.toml"
    path.write_text(f'port = 30000\nhosts = ["{socket.gethostname()}:2", "another.studio.invalid"]')
    return path


def test_a_hosts_file_gives_several_places(hosts: Path) -> None:
    assert [found.rank for found in places({}, hosts=hosts)] == [0, 1]
    assert places({"UNDERSTUDY_HOSTS": str(hosts)}) == places({}, hosts=hosts)
    assert [found.local_address for found in places({}, hosts=hosts, local_addr="eth1")] == ["eth1", "eth1"]
    assert place({**COPYCAT, "UNDERSTUDY_HOSTS": str(hosts)}) == PLACE
    assert place({**COPYCAT}, hosts=hosts) == PLACE
    assert place({**TORCHRUN, "UNDERSTUDY_HOSTS": str(hosts)}).rank == 3
    assert len(places(TORCHRUN, hosts=hosts)) == 2


def test_ranks_on_this_machine_alone() -> None:
    found = places(TORCHRUN, ranks=3)
    assert [(one.rank, one.world_size, one.gpu, one.ranks_here) for one in found] == [(n, 3, n, 3) for n in range(3)]
    assert {(one.main_address, one.main_port, one.local_address) for one in found} == {("127.0.0.1", 0, "127.0.0.1")}
    assert refused({}, ranks=0).startswith("--ranks 0 is out of range")
    assert refused({}, ranks=30000).startswith("--ranks 30000 is out of range")


def test_flags_that_exclude_each_other(hosts: Path) -> None:
    assert refused({}, ranks=2, rank="1") == "--ranks and --rank exclude each other; give one or the other"
    assert refused({}, ranks=2, hosts=hosts, local_addr="::1").startswith("--ranks and --local-addr --hosts exclude")
    assert refused({}, hosts=hosts, main_addr="render01", world_size="2").startswith(
        "--hosts and --main-addr --world-size exclude each other"
    )


def test_the_flags_of_the_command_line(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_ranks(parser)
    assert rank_flags(parser.parse_args([])) == RankFlags()
    words = [
        "--main-addr",
        "auto",
        "--main-port",
        "30000",
        "--rank",
        "1",
        "--world-size",
        "3",
        "--local-addr",
        "eth1",
        "--allow-single",
    ]
    assert rank_flags(parser.parse_args(words)) == RankFlags(
        main_addr="auto", main_port="30000", rank="1", world_size="3", local_addr="eth1", allow_single=True
    )
    hosts = tmp_path / "hosts.toml"
    assert rank_flags(parser.parse_args(["--hosts", str(hosts)])).hosts == hosts
    assert rank_flags(parser.parse_args(["--ranks", "2"])).ranks == 2


@pytest.mark.parametrize("found", [PLACE, *places_of(RankFlags(ranks=2), {}, warn=pytest.fail)])
def test_a_place_goes_through_variables_and_back(found: RankPlace) -> None:
    back = place(variables_of(found))
    assert variables_of(back) == variables_of(found)
    assert (back.rank, back.world_size, back.main_address, back.main_port) == (
        *(found.rank, found.world_size, found.main_address, found.main_port),
    )
    assert (back.local_address, back.gpu, back.ranks_here) == (found.local_address, found.gpu, found.ranks_here)


def test_the_sync_interval() -> None:
    assert sync_interval_of(None, {}) == 0
    assert sync_interval_of(None, {"COPYCAT_SYNC_INTERVAL": " 16 "}) == 16
    assert sync_interval_of(4, {"COPYCAT_SYNC_INTERVAL": "no number"}) == 4


@pytest.mark.parametrize(
    ("flag", "variable", "line"),
    [
        (0, "", "--sync-interval 0 is out of range; give a whole number from 1"),
        (-3, "4", "--sync-interval -3 is out of range"),
        (None, "0", "COPYCAT_SYNC_INTERVAL 0 is out of range"),
        (None, "-1", "COPYCAT_SYNC_INTERVAL -1 is out of range"),
        (None, "often", "COPYCAT_SYNC_INTERVAL 'often' is no whole number"),
    ],
)
def test_a_bad_sync_interval(flag: int | None, variable: str, line: str) -> None:
    with pytest.raises(UnderstudyError, match=f"^{line}"):
        sync_interval_of(flag, {"COPYCAT_SYNC_INTERVAL": variable})
