"""Where Deadline's Web Service is, and as whom it is asked."""

from __future__ import annotations

import netrc
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from understudy_farm.backend import FarmAway, FarmError, Site

PASSWORD = "UNDERSTUDY_DEADLINE_PASSWORD"
"""Environment variable. A password is no option: options are written beside the job."""
DEFAULT_PORT = 8082
NO_URL = "deadline: no Web Service is named; give -O url=http://HOST:8082, or -O via=command"


@dataclass(frozen=True, kw_only=True)
class Address:
    """One Web Service, and how it is spoken to."""

    host: str
    """A name or an IP literal, which has brackets if it is of version 6."""
    port: int
    is_tls: bool
    ca: str = ""
    """File of certificates to trust; empty: the system's."""
    is_insecure: bool = False
    """Do not check the certificate."""
    proxy: str = ""
    """Empty: none, whatever the environment names: a farm is in the house, and its password stays there."""
    user: str = ""
    password: str = ""

    @property
    def url(self) -> str:
        return f"{'https' if self.is_tls else 'http'}://{self.host}:{self.port}"


def address_of(site: Site) -> Address:
    """Raises FarmError for options that contradict each other, and for a ~/.netrc that cannot be read."""
    if not site["url"]:
        raise FarmAway(NO_URL)
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
        host=f"[{host}]" if ":" in host else host,
        port=port,
        is_tls=is_tls,
        ca=site["ca"],
        is_insecure=is_insecure,
        proxy=site["proxy"],
        user=user,
        password=password,
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
