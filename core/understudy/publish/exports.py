"""The exports of a published version: which a model can have, and all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from understudy.errors import ProblemList, UnderstudyError
from understudy.train.export.hosts import Host

if TYPE_CHECKING:
    from understudy.train.export.deliver import ExportOrder
    from understudy.train.network import NetworkSpec

HOSTS: tuple[Host, ...] = get_args(Host)

Say = Callable[[str], None]


def possible_hosts(spec: NetworkSpec) -> tuple[tuple[Host, ...], dict[Host, str]]:
    """Those that can take a model of these channels and whose files this machine can make; why the others cannot."""
    refusals = {host: _refusal(host, spec) for host in HOSTS}
    left_out = {host: why for host, why in refusals.items() if why}
    return tuple(host for host in HOSTS if host not in left_out), left_out


def make_exports(orders: list[ExportOrder], say: Say) -> None:
    """Write all of them. Raises Problems with a line for each that failed."""
    from understudy.train.export.deliver import deliver  # torch: only now

    problems, unread = ProblemList(), ""
    for order in orders:
        with problems.collecting():
            delivery = deliver(order, say)
            unread = delivery.samples.why_none
            for proof in delivery.proofs:
                say(f"  {proof}")
    problems.raise_if_any()
    if unread:
        say(f"warning: none of the run's own frames could be tried with the exports ({unread})")


def files_of_exports(folder: Path, hosts: tuple[Host, ...]) -> dict[Host, tuple[str, ...]]:
    """Paths of the files that were made in folder/exports, from the folder."""
    return {
        host: tuple(
            sorted(path.relative_to(folder).as_posix() for path in place_of(folder, host).rglob("*") if path.is_file())
        )
        for host in hosts
    }


def place_of(folder: Path, host: Host) -> Path:
    return folder / "exports" / host


def _refusal(host: Host, spec: NetworkSpec) -> str:
    """Empty when there is none."""
    from understudy.train.export.flame import input_channels, parts_of
    from understudy.train.export.nuke_channels import passages
    from understudy.train.export.onnx_file import require_onnx

    inputs, targets = spec.input_channels, spec.target_channels
    checks: Mapping[Host, Sequence[Callable[[], object]]] = {
        "nuke": [partial(passages, inputs), partial(passages, targets)],
        "flame": [require_onnx, partial(input_channels, inputs), partial(parts_of, targets)],
        "houdini": [require_onnx],
        "onnx": [require_onnx],
        "torch": [],
    }
    try:
        for check in checks[host]:
            check()
    except UnderstudyError as error:
        return str(error).removeprefix(f"--to {host}: ").removeprefix("export: ")
    return ""
