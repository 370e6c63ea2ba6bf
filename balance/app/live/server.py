"""The web server: on loopback, on the port that was asked for, and on no other."""

from __future__ import annotations

import socket

import rich
import viser

from balance.errors import InputError


class LocalServer(viser.ViserServer):
    """A viser server that no page can open to the world."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Never: any page could ask for a tunnel otherwise."""
        return None


def open_server(host: str, port: int) -> LocalServer:
    """A server that listens on ``host`` and ``port`` (0 for any free one)."""
    _check_free(host, port)
    rich.get_console().quiet = True  # viser prints its own banner
    server = LocalServer(host=host, port=port, label="balance live", verbose=False)
    if port not in (0, server.get_port()):  # someone was faster
        server.stop()
        raise _taken(host, port)
    return server


def _check_free(host: str, port: int) -> None:
    """Raise unless the port can be had; viser would quietly take the next one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except socket.gaierror:
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
