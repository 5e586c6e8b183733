"""The process group of one generation: tensors between ranks that are all there, until one of them is not."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist
from torch import Tensor

# torch.distributed exports these too, but not to type checkers
from torch._C._distributed_c10d import AllreduceOptions, PrefixStore, ProcessGroupGloo, Store

from understudy.errors import UnderstudyError
from understudy.ranks.addresses import interface_of

if TYPE_CHECKING:
    from torch._C._distributed_c10d import ProcessGroupNCCL

_LOG = logging.getLogger("understudy")

OPEN_FILES = next((path for path in (Path("/proc/self/fd"), Path("/dev/fd")) if path.is_dir()), None)
"""Where the system lists this process's open files; None: it does not."""

CONNECT_TIMEOUT = timedelta(seconds=2)
"""For members that have all said where they are to connect; gloo takes it five times and nothing interrupts it."""

_PROOF_BYTES = 32
_FAREWELL_SECONDS = 0.2
"""For gloo's threads to let go of a group: one that would be the last to hold it would end the process."""


Ends = tuple[tuple[str, int], tuple[str, int]]
"""Address and port of a TCP connection's own and other end; IPv6 has more behind them."""


class GroupBroken(Exception):
    """The process group failed: a member is gone, or cannot be reached. Says how."""


class Group:
    """gloo between CPUs and, for CUDA tensors, NCCL beside it. One thread uses it; any may interrupt it."""

    def __init__(
        self, store: Store, *, index: int, size: int, local_address: str, device: torch.device, timeout: timedelta
    ) -> None:
        """Connects every member with every other. `store` carries their addresses; `local_address` is an IP literal.

        Raises GroupBroken when that fails.
        """
        self.index = index
        self.size = size
        self.process_group = dist.ProcessGroup(store, index, size)
        self._nccl: ProcessGroupNCCL | None = None
        self._interrupting = threading.Lock()
        self._connections: dict[int, Ends] = {}
        with breaking():
            self._add_gloo(store, local_address, timeout)
            if device.type == "cuda":
                self._add_nccl(store, local_address, device, timeout)

    def all_reduce_sum(self, tensor: Tensor) -> None:
        """In place. All of these raise GroupBroken."""
        with breaking():
            self.start_all_reduce(tensor).wait()

    def all_reduce_max(self, tensor: Tensor) -> None:
        options = AllreduceOptions()
        options.reduceOp = dist.ReduceOp(dist.ReduceOp.MAX)
        with breaking():
            self.process_group.allreduce([tensor], options).wait()

    def start_all_reduce(self, tensor: Tensor) -> dist.Work:
        """The sum, in place, once the work is waited for with `finish`."""
        with breaking():
            return self.process_group.allreduce([tensor], AllreduceOptions())

    def finish(self, work: dist.Work) -> None:
        with breaking():
            work.wait()

    def broadcast(self, tensor: Tensor, index: int) -> None:
        """Everybody's `tensor` becomes that of member `index`."""
        options = dist.BroadcastOptions()
        options.rootRank = index
        with breaking():
            self.process_group.broadcast([tensor], options).wait()

    def prove(self, secret: bytes, nonce: str) -> None:
        """Make sure that every member knows the run's secret, before anything that matters is sent.

        gloo lets anyone connect who knows where. Raises UnderstudyError naming the member that does not know it.
        """
        proofs = torch.zeros(self.size, _PROOF_BYTES, dtype=torch.uint8)
        proofs[self.index] = _proof(secret, nonce, self.index)
        self.all_reduce_max(proofs)
        for index in range(self.size):
            if not torch.equal(proofs[index], _proof(secret, nonce, index)):
                raise UnderstudyError(
                    f"member {index} of the process group does not know this run's secret; "
                    "find out who else uses this network"
                )

    def interrupt(self) -> None:
        """Free a thread that waits inside the group, which then raises GroupBroken. From any thread, at any time."""
        with self._interrupting:
            if self._connections:
                _LOG.info("cutting %d connections to other ranks", len(self._connections))
            if self._nccl:
                with suppress(RuntimeError):
                    self._nccl.abort()
            for descriptor, ends in self._connections.items():
                _cut(descriptor, ends)
            self._connections = {}

    def allow(self, timeout: timedelta) -> None:
        """How long a transfer that is begun from now on may stand still before it fails.

        What an interrupt cannot free: gloo does not tell who waits for a message of which a part has come.
        """
        self._gloo._set_default_timeout(timeout)
        if self._nccl:
            self._nccl._set_default_timeout(timeout)

    def close(self) -> None:
        """The group is not used any more. What is still under way, for members that are gone, is not waited for."""
        with self._interrupting:
            for descriptor, ends in self._connections.items():
                _cut(descriptor, ends)
            self._connections = {}
        self._nccl = None
        process_group = self.process_group
        del self.process_group, self._gloo
        deadline = time.monotonic() + _FAREWELL_SECONDS
        while sys.getrefcount(process_group) > 2 and time.monotonic() < deadline:
            time.sleep(0.001)

    def _add_gloo(self, store: Store, local_address: str, timeout: timedelta) -> None:
        before = _listening_ports()
        options = ProcessGroupGloo._Options()  # type: ignore[attr-defined]  # missing in torch's stubs
        options._devices = [ProcessGroupGloo.create_device(hostname=local_address)]
        own_ports = _listening_ports() - before
        options._timeout = min(timeout, CONNECT_TIMEOUT)
        gloo = self._gloo = ProcessGroupGloo(store, self.index, self.size, options)
        self.process_group._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
        self.process_group._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, gloo)
        self._connections = self._connections_of(own_ports)
        gloo._set_default_timeout(timeout)

    def _connections_of(self, own_ports: set[int]) -> dict[int, Ends]:
        """gloo's connections: from a member to the port at which another listens. Other threads have theirs."""
        ports = torch.zeros(self.size, dtype=torch.int64)
        ports[self.index] = min(own_ports, default=0)
        self.all_reduce_max(ports)
        others = {int(port) for index, port in enumerate(ports) if index != self.index} - {0}
        return {
            descriptor: ends
            for descriptor, ends in _connections().items()
            if ends[0][1] in own_ports or ends[1][1] in others
        }

    def _add_nccl(self, store: Store, local_address: str, device: torch.device, timeout: timedelta) -> None:
        from torch._C._distributed_c10d import ProcessGroupNCCL  # only CUDA builds have it

        os.environ.setdefault("NCCL_SOCKET_IFNAME", f"={interface_of(local_address)}")
        options = ProcessGroupNCCL.Options()
        options._timeout = timeout
        nccl = ProcessGroupNCCL(PrefixStore("nccl", store), self.index, self.size, options)
        self.process_group._register_backend(device, dist.ProcessGroup.BackendType.NCCL, nccl)
        self._nccl = nccl


def _proof(secret: bytes, nonce: str, index: int) -> Tensor:
    return torch.tensor(list(hmac.digest(secret, f"{nonce}/{index}".encode(), hashlib.sha256)), dtype=torch.uint8)


@contextmanager
def breaking() -> Iterator[None]:
    """Errors of the process group are told apart from ours by where they arise; their texts vary."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        raise GroupBroken(str(error).splitlines()[0][:200]) from error


def _sockets() -> Iterator[tuple[int, socket.socket]]:
    """This process's TCP sockets with their descriptors, each for the time of one turn of a loop."""
    for entry in tuple(OPEN_FILES.iterdir()) if OPEN_FILES else ():
        with suppress(OSError), _of_descriptor(int(entry.name)) as found:
            if found.type == socket.SOCK_STREAM and found.family in (socket.AF_INET, socket.AF_INET6):
                yield int(entry.name), found


def _of_descriptor(descriptor: int) -> socket.socket:
    """A second handle of the socket. Raises OSError when the descriptor is none."""
    copy = os.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        raise


def _listening_ports() -> set[int]:
    return {
        int(found.getsockname()[1])
        for _, found in _sockets()
        if found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    }


def _connections() -> dict[int, Ends]:
    """This process's TCP connections: descriptor to who is connected with whom."""
    ends = {}
    for descriptor, found in _sockets():
        with suppress(OSError):  # it listens, or was closed
            ends[descriptor] = (found.getsockname(), found.getpeername())
    return ends


def _cut(descriptor: int, ends: Ends) -> None:
    """Shut the connection down unless its descriptor is another's by now."""
    with suppress(OSError), _of_descriptor(descriptor) as connection:
        if (connection.getsockname(), connection.getpeername()) == ends:
            connection.shutdown(socket.SHUT_RDWR)
