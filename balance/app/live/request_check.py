"""Which requests the server answers: those that call it by its own name, from its own pages.

Any site's page can have the browser connect to this machine.  Two headers that no script can set
tell such a request apart.  ``Host`` is the name by which the browser found the server: a name whose
DNS entry its owner has turned to this machine (rebinding) is none of the server's.  ``Origin`` is
the page that asks: one that the server itself sent has the same name and port as ``Host``.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol

Address = IPv4Address | IPv6Address

_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::([0-9]{1,5}))?", re.ASCII)
_HTTP_PORT = "80"


class Headers(Protocol):
    """Headers of a request; a name may come more than once."""

    def get_all(self, key: str, /) -> Sequence[str]:
        """All values of a header, whatever the case of its name."""
        ...


class RequestCheck:
    """Knows the names of a server that listens on ``host``."""

    def __init__(self, host: str) -> None:
        self._names = {"localhost", plain_host(host), *_addresses(host)}
        # Who listens everywhere can be reached by any number.  No DNS entry stands behind one, so
        # that nobody can have turned it here.
        self._everywhere = any(isinstance(n, Address) and n.is_unspecified for n in self._names)

    def refusal(self, headers: Headers) -> str:
        """Why a request is refused, in a sentence; empty if it is answered."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        asked = authority(hosts[0]) if len(hosts) == 1 else None
        if asked is None or not self._is_own(asked[0]):
            return (
                "This server answers to localhost, 127.0.0.1, [::1] and what --host says, not to "
                "the name in this request."
            )
        # Browsers always name the page that opens a websocket; programs need not.
        if any(origin_authority(origin) != asked for origin in origins):
            return "This server answers to its own pages, not to those of other sites."
        return ""

    def _is_own(self, host: str | Address) -> bool:
        if isinstance(host, str):
            return host in self._names
        return host.is_loopback or self._everywhere or host in self._names


def plain_host(text: str) -> str | Address:
    """A host without case, brackets, zone and the full name's dot; an address if it is one."""
    text = text.lower().removesuffix(".").removeprefix("[").removesuffix("]")
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return text
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def authority(text: str) -> tuple[str | Address, int] | None:
    """Host and port of ``host:port`` or ``host``; None if it is not just that."""
    found = _AUTHORITY.fullmatch(text)
    return None if found is None else (plain_host(found[1]), int(found[2] or _HTTP_PORT))


def origin_authority(text: str) -> tuple[str | Address, int] | None:
    """Host and port of the page's site; None unless it came by plain HTTP, as ours do."""
    scheme, _, rest = text.partition("://")
    return authority(rest) if scheme.lower() == "http" else None


def _addresses(host: str) -> set[str | Address]:
    """What ``host`` stands for."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {plain_host(str(entry[4][0])) for entry in found}
