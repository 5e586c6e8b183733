"""The line to the Web Service, by the standard library and by DeadlineConnect: each fault has one and the same line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.farm.backends.deadline.certificates import make_authority, make_certificate
from tests.farm.backends.deadline.fake_farm import FakeFarm
from tests.farm.backends.deadline.fake_service import PASSWORD, USER, fake_farm
from tests.farm.backends.deadline.lines import send, site_of

from understudy_farm.backend import FarmError, Site
from understudy_farm.backends.deadline import address, answers, client, thinkbox
from understudy_farm.backends.deadline.address import address_of
from understudy_farm.backends.deadline.client import connect
from understudy_farm.backends.deadline.thinkbox import ThinkboxService


@pytest.fixture(params=["own", "thinkbox"], autouse=True)
def line(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Nobody is waited for longer than a second."""
    for module in (client, thinkbox, answers):
        monkeypatch.setattr(module, "SECONDS_TO_ANSWER", 1.0)
    if request.param == "thinkbox":
        request.getfixturevalue("thinkbox")
    return str(request.param)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("studio"))


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(address.PASSWORD, PASSWORD)


@pytest.fixture
def by_tls(ca: Path, password: None) -> Iterator[FakeFarm]:
    del password
    with fake_farm(make_certificate(ca, "IP:127.0.0.1")) as farm:
        yield farm


def ask(site: Site) -> object:
    return connect(site).ask("GET", "/api/pools?NamesOnly=true")


def test_the_line_is_the_one_that_is_meant(fake: FakeFarm, line: str) -> None:
    assert isinstance(connect(site_of(url=fake.url, user=USER)), ThinkboxService) == (line == "thinkbox")


def test_a_certificate_of_the_studio_is_trusted_when_named(by_tls: FakeFarm, ca: Path) -> None:
    assert ask(site_of(url=by_tls.url, user=USER, ca=str(ca))) == ["none", "gpu", "night"]
    assert ask(site_of(url=by_tls.url, user=USER, insecure="yes")) == ["none", "gpu", "night"]


def test_a_certificate_that_nobody_vouches_for_is_named(by_tls: FakeFarm, tmp_path: Path) -> None:
    with pytest.raises(FarmError) as raised:
        ask(site_of(url=by_tls.url, user=USER))
    assert str(raised.value) == (
        f"{by_tls.url}: Deadline's Web Service has a certificate that is not trusted (unable to get local issuer "
        "certificate); give -O ca=FILE"
    )
    with pytest.raises(FarmError, match=r"-O ca=.*absent.pem: is no file of certificates"):
        ask(site_of(url=by_tls.url, user=USER, ca=str(tmp_path / "absent.pem")))
    with pytest.raises(FarmError, match=r"has no certificate; leave ca and insecure out"):
        ask(site_of(url="http://farm:8082", insecure="yes"))


def test_a_certificate_for_another_machine_is_named(ca: Path, password: None) -> None:
    del password
    with fake_farm(make_certificate(ca, "DNS:elsewhere.example")) as farm:
        with pytest.raises(FarmError, match=r"not trusted \(IP address mismatch.*127\.0\.0\.1'.*\); give -O ca"):
            ask(site_of(url=farm.url, user=USER, ca=str(ca)))
        assert ask(site_of(url=farm.url, user=USER, ca=str(ca), insecure="yes"))


def test_a_password_comes_from_netrc(user_home: Path) -> None:
    netrc = user_home / ".netrc"
    netrc.write_text(f'machine 127.0.0.1 login {USER} password "{PASSWORD}"\n')
    netrc.chmod(0o600)
    with fake_farm() as farm:
        assert ask(site_of(url=farm.url)) == ask(site_of(url=farm.url, user=USER))
        with pytest.raises(FarmError, match=r"refuses user otto \(401\)"):
            ask(site_of(url=farm.url, user="otto"))
        netrc.write_text("machine\n")
        with pytest.raises(
            FarmError, match=r"\.netrc: cannot be read .*; mend it, or set UNDERSTUDY_DEADLINE_PASSWORD"
        ):
            ask(site_of(url=farm.url))


def test_a_wrong_password_a_wrong_user_and_none_at_all_are_named(
    fake: FakeFarm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FarmError, match="is set, but no user is named; give -O user=NAME"):
        ask(site_of(url=fake.url))
    with pytest.raises(FarmError, match=r"refuses user mallory \(401\); give -O user=NAME and set UNDERSTUDY_DEADLINE"):
        ask(site_of(url=fake.url, user="mallory"))
    monkeypatch.setenv(address.PASSWORD, "sesame")
    with pytest.raises(FarmError, match=rf"refuses user {USER} \(401\)"):
        ask(site_of(url=fake.url, user=USER))
    monkeypatch.delenv(address.PASSWORD)
    with pytest.raises(FarmError, match=r"refuses a request without a user \(401\)"):
        ask(site_of(url=fake.url))


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("500", r"refuses POST /api/jobs \(500\): \w[\w: ]+$"),
        ("broken", "answers broken JSON; restart it; it may have taken in the job 'CopyCat1 v001 train'"),
        ("drop", r"dropped the connection \(RemoteDisconnected\); restart it; it may have taken in the job"),
        ("sleep", "did not answer within 1 s; restart it; it may have taken in the job"),
    ],
)
def test_every_fault_of_the_service_is_one_line(
    fake: FakeFarm, tmp_path: Path, capfd: pytest.CaptureFixture[str], fault: str, says: str
) -> None:
    fake.faults["POST", "/api/jobs"] = fault
    with pytest.raises(FarmError, match=says) as raised:
        send(tmp_path, site_of(url=fake.url, user=USER))
    assert "\n" not in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_a_service_that_is_not_there_is_named(password: None) -> None:
    del password
    for url, why in (("http://127.0.0.1:9", "Connection refused"), ("http://no-such-host.invalid", r"\w.*")):
        with pytest.raises(FarmError, match=rf"cannot be reached \({why}\); start it, or correct -O url$"):
            ask(site_of(url=url, user=USER))


def test_an_error_in_words_is_an_error(fake: FakeFarm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that holds the figures 401."""
    monkeypatch.setattr(FakeFarm, "submit", lambda *_: "Error: job 401b30c3ca512de42d01d2aa is locked")
    with pytest.raises(FarmError, match="Web Service says: Error: job 401b30c3ca512de42d01d2aa is locked"):
        connect(site_of(url=fake.url, user=USER)).ask("POST", "/api/jobs", {"JobInfo": {}})


def test_only_a_proxy_that_is_named_is_used(fake: FakeFarm, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'["from afar"]')

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        proxy = f"http://127.0.0.1:{server.server_address[1]}"
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        assert ask(site_of(url=fake.url, user=USER)) == ["none", "gpu", "night"]
        assert asked == []
        assert ask(site_of(url=fake.url, user=USER, proxy=proxy)) == ["from afar"]
        assert asked == [f"{fake.url}/api/pools?NamesOnly=true"]
        server.shutdown()


def test_a_url_is_read_with_its_port_and_its_brackets() -> None:
    assert address_of(site_of(url="http://farm")).url == "http://farm:8082"
    assert address_of(site_of(url="https://[fd77::1]:4433/")).url == "https://[fd77::1]:4433"
    for url in ("farm:8082", "ftp://farm", "http://mia:x@farm", "http://farm:99999", "http://farm/monitor"):
        with pytest.raises(FarmError, match=r"^-O url=.*; give http://HOST:8082"):
            address_of(site_of(url=url))
