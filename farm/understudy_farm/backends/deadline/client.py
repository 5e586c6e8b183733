"""The line to Deadline's Web Service: Thinkbox's own module where a studio has it, else the standard library."""

from __future__ import annotations

import base64
import json
import netrc
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal, NoReturn, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from understudy_farm.backend import FarmError, Site
from understudy_farm.shell import SECONDS_TO_ANSWER

PASSWORD = "UNDERSTUDY_DEADLINE_PASSWORD"
"""Environment variable. A password is no option: options are written beside the job."""
DEFAULT_PORT = 8082
NO_URL = "deadline: no Web Service is named; give -O url=http://HOST:8082, or -O via=command"

Verb = Literal["GET", "POST", "PUT", "DELETE"]


class Unanswered(FarmError):
    """A question was sent, and nobody knows whether it was heard."""


class Service(Protocol):
    """The Web Service, however it is reached."""

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        """What JSON it answers, or the text when it answers in words.

        Raises FarmError when it cannot be reached, refuses, or answers an error; Unanswered when it may have obeyed.
        """


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where the Web Service is and as whom it is asked."""

    host: str
    port: int
    is_tls: bool
    ca: str = ""
    """File of certificates to trust; empty: the system's."""
    is_insecure: bool = False
    """Do not check the certificate."""
    user: str = ""
    password: str = ""

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.is_tls else 'http'}://{host}:{self.port}"


def connect(site: Site) -> Service:
    """Sends nothing yet. Raises FarmError for options that contradict each other or cannot be read."""
    address = _address(site)
    try:
        thinkbox = import_module("Deadline.DeadlineConnect")
    except ImportError:
        return _OwnService(address)
    return _ThinkboxService(address, thinkbox)


class _OwnService:
    """HTTP and JSON by the standard library."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._context = _tls_context(address) if address.is_tls else None

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        request = Request(self._address.url + path, method=verb)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self._address.user:
            pair = f"{self._address.user}:{self._address.password}".encode()
            request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(pair).decode()}")
        try:
            with urlopen(request, timeout=SECONDS_TO_ANSWER, context=self._context) as response:
                text = response.read().decode("utf-8", "replace")
        except HTTPError as error:
            with error:
                _raise_refused(self._address, f"{verb} {path}", error.code, error.read().decode("utf-8", "replace"))
        except (OSError, HTTPException) as error:
            _raise_unreached(self._address, error)
        return _value(self._address, text)


class _ThinkboxService:
    """By DeadlineConnect, whose calls all go through its connection; what it cannot do it says in words."""

    _CALLS: Mapping[Verb, str] = {"GET": "__get__", "POST": "__post__", "PUT": "__put__", "DELETE": "__delete__"}

    def __init__(self, address: Address, thinkbox: ModuleType) -> None:
        self._address = address
        con = thinkbox.DeadlineCon(address.host, address.port, address.is_tls, address.ca or None, address.is_insecure)
        if address.user:
            con.EnableAuthentication(True)
            con.SetAuthenticationCredentials(address.user, address.password)
        self._connection: object = con.connectionProperties

    def ask(self, verb: Verb, path: str, body: Mapping[str, object] | None = None) -> object:
        call = getattr(self._connection, self._CALLS[verb])
        try:
            answer: object = call(path) if body is None else call(path, json.dumps(body))
        except (OSError, HTTPException) as error:
            _raise_unreached(self._address, error)
        return _value(self._address, answer) if isinstance(answer, str) else answer


def _address(site: Site) -> Address:
    if not site["url"]:
        raise FarmError(NO_URL)
    try:
        parts = urlsplit(site["url"])
        host, port = parts.hostname, parts.port or DEFAULT_PORT
    except ValueError as error:
        raise FarmError(f"-O url={site['url']}: {error}; give http://HOST:8082") from error
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.path.strip("/"):
        raise FarmError(f"-O url={site['url']}: is no Web Service's; give http://HOST:8082 or https://HOST:4433")
    is_tls, is_insecure = parts.scheme == "https", site["insecure"].lower() in ("yes", "true", "1")
    if not is_tls and (site["ca"] or is_insecure):
        raise FarmError(f"-O url={site['url']}: has no certificate; leave ca and insecure out, or give https://")
    user, password = _credentials(host, site["user"])
    return Address(
        host=host, port=port, is_tls=is_tls, ca=site["ca"], is_insecure=is_insecure, user=user, password=password
    )


def _credentials(host: str, user: str) -> tuple[str, str]:
    """From the environment, else from ~/.netrc; no user: the service is asked without."""
    password = os.environ.get(PASSWORD, "")
    if password and not user:
        raise FarmError(f"{PASSWORD} is set, but no user is named; give -O user=NAME")
    if password:
        return user, password
    try:
        found = netrc.netrc().authenticators(host)
    except FileNotFoundError:
        found = None
    except (OSError, netrc.NetrcParseError) as error:
        raise FarmError(f"{Path.home() / '.netrc'}: cannot be read ({error}); mend it, or set {PASSWORD}") from error
    if found is None or (user and found[0] != user):
        return user, ""
    return found[0], found[2] or ""


def _tls_context(address: Address) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=address.ca or None)
    except (OSError, ssl.SSLError) as error:
        raise FarmError(f"-O ca={address.ca}: is no file of certificates ({error})") from error
    if address.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _raise_refused(address: Address, question: str, status: int, said: str) -> NoReturn:
    if status in (401, 403):
        who = f"user {address.user}" if address.user else "a request without a user"
        raise FarmError(
            f"{address.url}: Deadline's Web Service refuses {who} ({status}); give -O user=NAME and set {PASSWORD}, or "
            "write both into ~/.netrc"
        )
    words = " ".join(said.split())[:300] or "without a reason"
    raise FarmError(f"{address.url}: Deadline's Web Service refuses {question} ({status}): {words}")


def _raise_unreached(address: Address, error: OSError | HTTPException) -> NoReturn:
    reason = error.reason if isinstance(error, URLError) else error
    name = f"{address.url}: Deadline's Web Service"
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise FarmError(
            f"{name} has a certificate that is not trusted ({reason.verify_message}); give -O ca=FILE"
        ) from error
    if isinstance(reason, TimeoutError):
        raise Unanswered(f"{name} did not answer within {SECONDS_TO_ANSWER:.0f} s; restart it") from error
    if isinstance(error, URLError):
        what = reason.strerror if isinstance(reason, OSError) and reason.strerror else reason
        raise FarmError(f"{name} cannot be reached ({what}); start it, or correct -O url") from error
    raise Unanswered(f"{name} dropped the connection ({type(reason).__name__}); restart it") from error


def _value(address: Address, text: str) -> object:
    """Words are an answer too; some of them mean no."""
    try:
        value: object = json.loads(text)
    except ValueError:
        value = text.strip()
        if text.lstrip().startswith(("{", "[")):
            raise Unanswered(f"{address.url}: Deadline's Web Service answers broken JSON; restart it") from None
    if isinstance(value, str) and value.startswith("Error"):
        if "401" in value:
            _raise_refused(address, "", 401, value)
        raise FarmError(f"{address.url}: Deadline's Web Service says: {' '.join(value.split())[:300]}")
    return value
