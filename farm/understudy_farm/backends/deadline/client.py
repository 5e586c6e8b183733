"""The line to Deadline's Web Service: Thinkbox's own module where a studio has it, else the standard library."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from understudy_farm.backend import FarmError, Site
from understudy_farm.backends.deadline.address import Address, address_of
from understudy_farm.backends.deadline.answers import (
    Verb,
    raise_dropped,
    raise_late,
    raise_refused,
    raise_unreached,
    raise_untrusted,
    value_of,
)
from understudy_farm.backends.deadline.thinkbox import ThinkboxService, thinkbox_module
from understudy_farm.shell import SECONDS_TO_ANSWER


class Service(Protocol):
    """The Web Service, however it is reached."""

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        """What JSON it answers, or the text when it answers in words.

        Raises FarmError when it cannot be reached, refuses, or answers an error; Unanswered when it may have obeyed.
        """


def connect(site: Site) -> Service:
    """Sends nothing yet. Raises FarmError for options that contradict each other or cannot be read."""
    address = address_of(site)
    context = _tls_context(address) if address.is_tls else None
    thinkbox = None if address.proxy else thinkbox_module()  # which cannot be told of a proxy
    return ThinkboxService(address, thinkbox) if thinkbox else _OwnService(address, _opener(address, context))


class _OwnService:
    """HTTP and JSON by the standard library."""

    def __init__(self, address: Address, opener: OpenerDirector) -> None:
        self._address = address
        self._opener = opener

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        address = self._address
        try:
            with self._opener.open(_request(address, verb, path, body), timeout=SECONDS_TO_ANSWER) as response:
                text: str = response.read().decode("utf-8", "replace")
        except HTTPError as error:
            raise_refused(address, f"{verb} {path}", error.code, _said(error))
        except URLError as error:
            reason = error.reason
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise_untrusted(address, reason.verify_message)
            raise_unreached(address, (isinstance(reason, OSError) and reason.strerror) or str(reason))
        except TimeoutError:
            raise_late(address)
        except (OSError, HTTPException) as error:
            raise_dropped(address, type(error).__name__)
        return value_of(address, text)


def _request(address: Address, verb: Verb, path: str, body: Mapping[str, object] | None) -> Request:
    request = Request(address.url + path, method=verb)
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if address.user:
        pair = f"{address.user}:{address.password}".encode()
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair).decode()}")
    return request


def _said(error: HTTPError) -> str:
    with error, suppress(OSError, HTTPException):
        return error.read().decode("utf-8", "replace")
    return ""


def _tls_context(address: Address) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=address.ca or None)
    except (OSError, ssl.SSLError) as error:
        raise FarmError(f"-O ca={address.ca}: is no file of certificates ({error})") from error
    if address.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _opener(address: Address, context: ssl.SSLContext | None) -> OpenerDirector:
    proxies = {"http": address.proxy, "https": address.proxy} if address.proxy else {}
    return build_opener(ProxyHandler(proxies), HTTPSHandler(context=context))
