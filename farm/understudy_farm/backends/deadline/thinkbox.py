"""Thinkbox's own Deadline.DeadlineConnect, where a studio has put it: the only place that knows of it.

All its calls go through one connection. That waits for ever, goes through any proxy that the environment names, and
when it fails it prints a traceback and answers None: here it keeps our manners.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from importlib import import_module
from io import StringIO
from types import ModuleType
from typing import NoReturn

from understudy_farm.backends.deadline.address import Address
from understudy_farm.backends.deadline.answers import (
    Verb,
    raise_dropped,
    raise_late,
    raise_refused,
    raise_unreached,
    raise_untrusted,
    value_of,
)
from understudy_farm.shell import SECONDS_TO_ANSWER

_CALLS: Mapping[Verb, str] = {"GET": "__get__", "POST": "__post__", "PUT": "__put__", "DELETE": "__delete__"}
_NO_PROXY = ("no_proxy", "NO_PROXY")


def thinkbox_module() -> ModuleType | None:
    """None when there is none, or one for Python 2."""
    try:
        return import_module("Deadline.DeadlineConnect")
    except (ImportError, SyntaxError):
        return None


class ThinkboxService:
    """The Web Service as DeadlineConnect asks it."""

    def __init__(self, address: Address, thinkbox: ModuleType) -> None:
        self._address = address
        con = thinkbox.DeadlineCon(address.host, address.port, address.is_tls, address.ca or None, address.is_insecure)
        if address.user:
            con.EnableAuthentication(True)
            con.SetAuthenticationCredentials(address.user, address.password)
        self._connection: object = con.connectionProperties

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        call = getattr(self._connection, _CALLS[verb])
        with _our_manners() as printed:
            answer: object = call(path) if body is None else call(path, json.dumps(body))
        if answer is None and printed.getvalue():
            _raise_printed(self._address, f"{verb} {path}", printed.getvalue().strip().splitlines()[-1])
        return value_of(self._address, answer) if isinstance(answer, str) else answer


@contextmanager
def _our_manners() -> Iterator[StringIO]:
    """Do not wait for ever, pass by every proxy, and keep what is printed."""
    seconds, before = socket.getdefaulttimeout(), {name: os.environ.get(name) for name in _NO_PROXY}
    socket.setdefaulttimeout(SECONDS_TO_ANSWER)
    os.environ.update(dict.fromkeys(_NO_PROXY, "*"))
    try:
        with redirect_stderr(StringIO()) as printed:
            yield printed
    finally:
        socket.setdefaulttimeout(seconds)
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})


def _raise_printed(address: Address, question: str, line: str) -> NoReturn:
    """From the last line of a traceback, such as `urllib.error.URLError: <urlopen error [Errno 111] ...>`."""
    kind, _, words = line.partition(": ")
    refused = re.match(r"HTTP Error (\d+): (.*)", words)
    if refused:
        raise_refused(address, question, int(refused[1]), refused[2])
    untrusted = re.search(r"CERTIFICATE_VERIFY_FAILED\] certificate verify failed: (.*?)(?: \(_ssl|>|$)", words)
    if untrusted:
        raise_untrusted(address, untrusted[1])
    if kind.endswith("URLError"):
        raise_unreached(address, re.sub(r"<urlopen error (?:\[Errno -?\d+\] )?(.*)>", r"\1", words))
    if kind in ("TimeoutError", "socket.timeout"):
        raise_late(address)
    raise_dropped(address, kind.rpartition(".")[2])
