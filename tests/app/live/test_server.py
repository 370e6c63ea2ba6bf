"""The server: its port, and which requests it answers; none of a page that is not its own."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator

import pytest
import viser
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from balance.app.live.request_check import RequestCheck
from balance.app.live.server import LocalServer, open_server
from balance.errors import BalanceError, InputError

PATIENCE_S = 300.0  # against hanging; a busy machine takes its time


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is taken"):
            open_server("127.0.0.1", port)


def test_a_host_that_is_none_is_named() -> None:
    with pytest.raises(InputError, match=r"cannot listen on 192\.0\.2\.1"):
        open_server("192.0.2.1", 0)
    with pytest.raises(InputError, match="not an address of this machine"):
        open_server("no such host", 0)


def test_no_page_can_open_the_lab_to_the_world_and_stopping_frees_the_port() -> None:
    server = open_server("127.0.0.1", 0)
    port = server.get_port()
    assert server.request_share_url() is None
    server.stop()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_an_empty_host_is_refused_for_it_would_mean_every_address() -> None:
    for host in ("", " "):
        with pytest.raises(InputError, match="--host is empty"):
            open_server(host, 0)


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    opened = open_server("127.0.0.1", 0)
    yield opened
    opened.stop()


def handshake(server: LocalServer, name: str, origin: str | None) -> ClientConnection:
    """What a browser does that found the server under ``name``, whatever DNS said for that."""
    port = server.get_port()
    return connect(
        f"ws://{name}:{port}",
        sock=socket.create_connection(("127.0.0.1", port)),
        origin=None if origin is None else Origin(origin),
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
        open_timeout=PATIENCE_S,
    )


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("rebound.example", "http://rebound.example:{port}"),  # as seen in a DNS rebinding
        ("rebound.example", None),
        ("127.0.0.1", "https://example.org"),
        ("127.0.0.1", "http://127.0.0.1:1"),  # another server of this machine
        ("127.0.0.1", "null"),  # a sandbox, or a file
    ],
)
def test_a_page_of_another_site_may_not_even_watch(
    server: LocalServer, name: str, origin: str | None
) -> None:
    origin = origin and origin.format(port=server.get_port())
    with pytest.raises(InvalidStatus) as refused, handshake(server, name, origin):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "localhost."])
def test_its_own_pages_get_the_scene(server: LocalServer, name: str) -> None:
    with handshake(server, name, f"http://{name}:{server.get_port()}") as page:
        assert page.recv(PATIENCE_S)


@pytest.mark.parametrize("path", ["/", "/index.html", "/none"])
def test_files_are_sent_under_its_own_name_only(server: LocalServer, path: str) -> None:
    def status(headers: dict[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", server.get_port(), PATIENCE_S)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        connection.close()
        return answer.status

    own = f"localhost:{server.get_port()}"
    assert status({"Host": own}) == (404 if path == "/none" else 200)
    assert status({"Host": "rebound.example"}) == 403
    assert status({"Host": own, "Origin": "https://example.org"}) == 403


def test_it_listens_on_ipv6_and_its_address_has_brackets() -> None:
    try:
        server = open_server("::1", 0)
    except InputError:
        pytest.skip("this machine has no IPv6")
    try:
        port = server.get_port()
        assert server.url == f"http://[::1]:{port}"
        with connect(
            f"ws://[::1]:{port}",
            origin=Origin(server.url),
            subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
        ) as page:
            assert page.recv(PATIENCE_S)
        with pytest.raises(InvalidStatus), connect(f"ws://[::1]:{port}", origin=Origin("null")):
            pass
    finally:
        server.stop()


def test_a_browser_here_finds_a_server_that_listens_everywhere_on_loopback() -> None:
    server = open_server("0.0.0.0", 0)
    try:
        assert server.url == f"http://127.0.0.1:{server.get_port()}"
        with handshake(server, "127.0.0.1", server.url) as page:
            assert page.recv(PATIENCE_S)
        with pytest.raises(InvalidStatus), handshake(server, "rebound.example", None):
            pass
    finally:
        server.stop()


def refused(check: RequestCheck, host: str, origin: str | None = None) -> bool:
    headers = Headers({"Host": host})
    if origin is not None:
        headers["Origin"] = origin
    return check.refusal(headers) != ""


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8080", "127.0.0.1", "127.9.9.9:1", "localhost:65535", "LocalHost:8080",
        "localhost.:8080", "[::1]:8080", "[::1]", "[0:0:0:0:0:0:0:1]:8080", "[::ffff:127.0.0.1]:1",
    ],
)  # fmt: skip
def test_loopback_has_these_names_on_any_port(host: str) -> None:
    """Any port: behind a tunnel the browser knows another one, and no page can choose it."""
    check = RequestCheck("127.0.0.1")
    assert not refused(check, host)
    assert not refused(check, host, f"http://{host}")
    assert not refused(check, host, f"HTTP://{host.upper()}")
    for other in ("null", "", f"https://{host}", f"http://{host}9", f"http://{host}/", "file://"):
        assert refused(check, host, other), other


@pytest.mark.parametrize(
    "host",
    [
        "example.org", "example.org:8080", "localhost.example.org", "localhost..", "xlocalhost",
        "evil.localhost", "127.0.0.1.example.org", "127.1", "0x7f000001", "2130706433", "0.0.0.0",
        "0.0.0.0:8080", "[::]:8080", "192.168.1.5", "[::1", "::1", "a@localhost", "localhost/x",
        "localhost:", "localhost:8080:1", "localhost 1", "",
        "[::1%25lo]", "localhost\\",
    ],
)  # fmt: skip
def test_nothing_else_is_a_name_of_loopback(host: str) -> None:
    assert refused(RequestCheck("127.0.0.1"), host)
    assert refused(RequestCheck("127.0.0.1"), host, f"http://{host}")


def test_a_page_has_the_name_and_port_by_which_the_server_was_asked() -> None:
    check = RequestCheck("127.0.0.1")
    assert refused(check, "127.0.0.1:8080", "http://localhost:8080")
    assert refused(check, "localhost:8080", "http://localhost:8081")
    assert refused(check, "localhost:8080", "http://localhost")
    assert not refused(check, "localhost", "http://localhost:80")


def test_a_host_is_named_once() -> None:
    check, headers = RequestCheck("127.0.0.1"), Headers()
    assert check.refusal(headers) != ""
    headers["Host"] = "localhost"
    assert check.refusal(headers) == ""
    headers["Origin"] = "http://localhost"
    headers["Origin"] = "http://example.org"
    assert check.refusal(headers) != ""
    headers["Host"] = "example.org"
    assert check.refusal(headers) != ""


def test_what_host_says_is_answered_beside_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.168.1.5", 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [entry])
    check = RequestCheck("Lab-PC.local")
    for host in ("lab-pc.local:8080", "LAB-PC.LOCAL", "192.168.1.5:8080", "localhost:8080"):
        assert not refused(check, host, f"http://{host}"), host
    for host in ("192.168.1.6", "pc.local", "example.org"):
        assert refused(check, host), host


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::", "0"])
def test_who_listens_everywhere_is_reached_by_numbers_and_not_by_names(everywhere: str) -> None:
    check = RequestCheck(everywhere)
    for host in ("192.168.1.5:8080", "[fe80::1]:8080", "localhost:8080", "0.0.0.0:8080"):
        assert not refused(check, host, f"http://{host}"), host
        assert refused(check, host, "http://example.org")
    assert refused(check, "example.org", "http://example.org")


def test_a_server_that_cannot_be_guarded_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of viser may open its server by other means."""

    def started(self: viser.ViserServer, **options: object) -> None:
        self.stop = lambda: stopped.append("stopped")  # type: ignore[method-assign]

    stopped: list[str] = []
    monkeypatch.setattr(viser.ViserServer, "__init__", started)
    with pytest.raises(BalanceError, match="cannot guard against pages of other sites"):
        open_server("127.0.0.1", 0)
    assert stopped == ["stopped"]
