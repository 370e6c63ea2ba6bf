"""The web server: on loopback, on the port that was asked for, on no other, for its own pages."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import rich
import viser
import websockets.asyncio.server

from balance.app.live.request_check import RequestCheck
from balance.errors import BalanceError, InputError

_opening = threading.Lock()


class LocalServer(viser.ViserServer):
    """A viser server that answers only to its own pages, and that none can open to the world."""

    def __init__(self, host: str, port: int) -> None:
        with _checked_requests(RequestCheck(host)) as opened:
            super().__init__(host=host, port=port, label="balance live", verbose=False)
        if not opened:
            self.stop()
            raise BalanceError(
                f"viser {viser.__version__} opens its server in a way that the live lab cannot "
                "guard against pages of other sites; install another version"
            )

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Never: any page could ask for a tunnel otherwise."""
        return None

    @property
    def url(self) -> str:
        """Where a browser on this machine finds it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.get_host(), self.get_host())
        return f"http://{f'[{host}]' if ':' in host else host}:{self.get_port()}"


@contextmanager
def _checked_requests(check: RequestCheck) -> Iterator[list[RequestCheck]]:
    """Have the server that is opened meanwhile refuse requests; what is given tells if one was.

    viser answers whoever asks and has no place for a check before its handshake, so this is put
    around the function by which it opens its server.  Pages are refused there, not after it: nobody
    else gets to see the scene, or a notification.
    """
    plain = websockets.asyncio.server.serve
    opened = []

    def serve(*arguments: Any, process_request: Any = None, **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            if why := check.refusal(request.headers):
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            return process_request(connection, request) if process_request else None

        opened.append(check)
        return plain(*arguments, process_request=answer, **options)

    with _opening:
        websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
        try:
            yield opened
        finally:
            websockets.asyncio.server.serve = plain  # type: ignore[misc]


def open_server(host: str, port: int) -> LocalServer:
    """A server that listens on ``host`` and ``port`` (0 for any free one)."""
    _check_free(host, port)
    rich.get_console().quiet = True  # viser prints its own banner
    server = LocalServer(host, port)
    if port not in (0, server.get_port()):  # someone was faster
        server.stop()
        raise _taken(host, port)
    return server


def _check_free(host: str, port: int) -> None:
    """Raise unless the port can be had; viser would quietly take the next one."""
    if not host.strip():  # which would mean every address
        raise InputError("--host is empty; use 127.0.0.1, or 0.0.0.0 to listen on every address")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (socket.gaierror, UnicodeError):
        raise InputError(
            f"--host '{host}' is not an address of this machine; use 127.0.0.1"
        ) from None
    except PermissionError:
        raise InputError(f"port {port} needs special rights; choose one above 1023") from None
    except OSError as error:
        if error.errno is not None and "in use" in (error.strerror or ""):
            raise _taken(host, port) from None
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None


def _taken(host: str, port: int) -> InputError:
    return InputError(
        f"port {port} of {host} is taken; end the program that uses it, or choose another with "
        "--port (0 finds a free one)"
    )
