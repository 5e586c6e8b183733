"""With the names, the arguments and the manners of the real one: see `send`."""

from __future__ import annotations

import base64
import json
import ssl
import traceback
from urllib.error import HTTPError
from urllib.request import Request, urlopen

NOT_AUTHORIZED = "Error: HTTP Status Code 401. Authentication with the Web Service failed."


class ConnectionProperty:
    def __init__(
        self,
        address: str,
        useAuth: bool = False,
        useTls: bool = True,
        caCert: str | None = None,
        insecure: bool = False,
    ) -> None:
        self.address = address
        self.useAuth, self.user, self.password = useAuth, "", ""
        self.useTls, self.caCert, self.insecure = useTls, caCert, insecure

    def SetAuthentication(self, user: str, password: str) -> None:
        self.user, self.password = user, password

    def EnableAuthentication(self, enable: bool) -> None:
        self.useAuth = enable

    def __get__(self, commandString: str) -> object:
        return send(self, commandString, "GET", None)

    def __delete__(self, commandString: str) -> object:
        return send(self, commandString, "DELETE", None)

    def __put__(self, commandString: str, body: str) -> object:
        return send(self, commandString, "PUT", body)

    def __post__(self, commandString: str, body: str) -> object:
        return send(self, commandString, "POST", body)


class DeadlineCon:
    def __init__(
        self, host: str, port: int, useTls: bool = False, caCert: str | None = None, insecure: bool = False
    ) -> None:
        self.connectionProperties = ConnectionProperty(host + ":" + str(port), False, useTls, caCert, insecure)

    def EnableAuthentication(self, enable: bool = True) -> None:
        self.connectionProperties.EnableAuthentication(enable)

    def SetAuthenticationCredentials(self, username: str, password: str, enable: bool = True) -> None:
        self.connectionProperties.SetAuthentication(username, password)
        self.connectionProperties.EnableAuthentication(enable)


def send(about: ConnectionProperty, message: str, requestType: str, body: str | None) -> object:
    """No time limit, the environment's proxies, a 401 in words, and of other faults a printed traceback and None."""
    try:
        url = ("https://" if about.useTls else "http://") + about.address + message
        request = Request(url, data=None if body is None else body.encode(), method=requestType)
        request.add_header("Content-Type", "application/json; charset=utf-8")
        if about.useAuth:
            pair = base64.b64encode(f"{about.user}:{about.password}".encode()).decode()
            request.add_header("Authorization", f"Basic {pair}")
        with urlopen(request, context=_context(about)) as response:
            data = response.read().decode().replace("\n", " ")
        try:
            answer: object = json.loads(data)
        except ValueError:
            answer = data
        return answer
    except HTTPError as error:
        error.close()
        if error.code == 401:
            return NOT_AUTHORIZED
        traceback.print_exc()
    except Exception:
        traceback.print_exc()
    return None


def _context(about: ConnectionProperty) -> ssl.SSLContext | None:
    if not about.useTls:
        return None
    context = ssl.create_default_context(cafile=about.caCert)
    context.check_hostname = not about.insecure
    context.verify_mode = ssl.CERT_NONE if about.insecure else ssl.CERT_REQUIRED
    return context
