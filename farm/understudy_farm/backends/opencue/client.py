"""pyoutline and pycue: imported when a command needs them, and asked so that trouble is one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from understudy_farm.backend import FarmError, Site

SECONDS_TO_ANSWER = 20
"""pycue's own limit is given in milliseconds and taken as seconds: hours."""
INSTALL = "pip install opencue-pyoutline opencue-pycue packaging"


def opencue_module(name: str) -> ModuleType:
    """A module of pyoutline, pycue or what they bring. Raises FarmError saying what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise FarmError(f"opencue: pyoutline or pycue cannot be imported ({error}); {INSTALL}") from error


@contextmanager
def cuebot(site: Site) -> Iterator[ModuleType]:
    """pycue with a line to Cuebot. Its errors become one FarmError; a job that OpenCue does not know, KeyError."""
    opencue, grpc = opencue_module("opencue"), opencue_module("grpc")
    try:
        _connect(opencue, site)
        yield opencue
    except opencue.EntityNotFoundException as error:
        raise KeyError(_one_line(error)) from error
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.NOT_FOUND:
            raise KeyError(error.details()) from error
        raise FarmError(f"opencue: {error.code().name}: {_one_line(error.details())}; {_mend(site)}") from error
    except opencue.CueException as error:
        raise FarmError(f"opencue: {_one_line(error)}; {_mend(site)}") from error


def _connect(opencue: ModuleType, site: Site) -> None:
    """pycue keeps one line for the process; it is made again only for other hosts."""
    bot = opencue.Cuebot
    bot.setTimeout(SECONDS_TO_ANSWER)
    hosts = [host.strip() for host in site["hosts"].split(",") if host.strip()]
    if bot.RpcChannel is not None and (not hosts or hosts == bot.Hosts):
        return
    if hosts:
        bot.setHosts(hosts)
    else:
        bot.init()


def _mend(site: Site) -> str:
    asked = site["hosts"] or "$CUEBOT_HOSTS"
    return f"see whether Cuebot runs at {asked} (-O hosts=HOST:PORT) and what its log says"


def _one_line(error: object) -> str:
    return " ".join(str(error).split()).rstrip(".")[:400]
