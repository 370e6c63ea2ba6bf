"""Server and drivers: ports, origins, and who has the controls."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import balance
from balance.app.cli import app
from balance.app.live.drivers import Drivers, same_origin
from balance.app.live.lab import Lab
from balance.app.live.messages import Ended
from balance.app.live.server import open_server
from balance.errors import BalanceError, InputError, MissingExtraError
from balance.recordings.verdict import Cause, aborted


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["live", "no_such"], "no file or shipped config 'no_such'"),
        (["live", "toro_push", "--set", "robot=nobody"], "unknown robot 'nobody'"),
        (["live", "toro_push", "--set", "plant.friction=-1"], "plant.friction"),
        (["replay", "/no/such/result"], "is not a result folder"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, BalanceError)
    assert words in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_missing_extra_names_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["live"])
    assert isinstance(result.exception, MissingExtraError)
    assert "pip install 'pin-balance[live]'" in str(result.exception)


def test_a_physics_process_that_is_killed_is_reported_and_replaced(tmp_path: Path) -> None:
    server = open_server("127.0.0.1", 0)
    lab = Lab(server, balance.load_config("toro_push"), tmp_path)

    def ticks_until(condition: Any) -> None:
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            lab.tick()
            time.sleep(0.01)

    try:
        ticks_until(lambda: lab.running is not None and lab.running.shared.rows > 5)
        first = lab.running
        assert lab.physics is not None
        os.kill(lab.physics.pid, signal.SIGKILL)
        ticks_until(lambda: "physics process has ended" in lab.alarm)
        lab.do(lab.restart)
        ticks_until(lambda: lab.running is not first and not lab.alarm)
        lab.do(lambda: lab.desk.choose("law", "no such law"))  # told, not raised
        lab.tick()
        a_refused_choice_is_taken_back(lab, ticks_until)
        an_error_of_the_law_is_shown_until_the_next_session(lab, ticks_until)
    finally:
        lab.close()
        server.stop()


def a_refused_choice_is_taken_back(lab: Lab, ticks_until: Any) -> None:
    lab.desk.base = lab.desk.base.model_copy(update={"robot": "nobody"})
    lab.do(lab.restart)
    ticks_until(lambda: lab.desk.base.robot == "toro")
    assert not lab.alarm


def an_error_of_the_law_is_shown_until_the_next_session(lab: Lab, ticks_until: Any) -> None:
    lab._hear(Ended(aborted(Cause.ERROR, "ZeroDivisionError: a law went wrong")))
    lab.tick()
    assert lab.alarm == "Paused: ZeroDivisionError: a law went wrong. Reset begins anew."
    lab.do(lab.restart)
    ticks_until(lambda: not lab.alarm)


class FakeServer:
    """Keeps the callbacks, and connections with their headers."""

    def __init__(self) -> None:
        self._websock_server = SimpleNamespace(_live_connections={})

    def on_client_connect(self, callback: Any) -> None:
        self.come = callback

    def on_client_disconnect(self, callback: Any) -> None:
        self.leave = callback

    def page(self, number: int, origin: str | None = "http://127.0.0.1:8080") -> Any:
        headers = {"Host": "127.0.0.1:8080"} | ({"Origin": origin} if origin else {})
        connection = SimpleNamespace(request=SimpleNamespace(headers=headers))
        self._websock_server._live_connections[number] = connection
        note = SimpleNamespace(remove=lambda: None)
        return SimpleNamespace(client_id=number, gui=SimpleNamespace(add_html=lambda text: note))


class FakeLab:
    def do(self, action: Any) -> None:
        action()

    def make_panel(self, client: Any) -> Any:
        return SimpleNamespace(owner=client, remove=lambda: None)


def test_the_first_page_drives_and_hands_over_when_it_leaves() -> None:
    server: Any = FakeServer()
    drivers = Drivers(server, FakeLab())  # type: ignore[arg-type]
    first, second, third = (server.page(number) for number in range(3))
    for page in (first, second, third):
        server.come(page)
    assert drivers.client is first
    server.leave(second)
    assert drivers.client is first
    server.leave(first)
    assert drivers.client is third
    assert drivers.panel is not None
    assert drivers.panel.owner is third  # type: ignore[attr-defined]
    server.leave(third)
    assert drivers.client is None
    server.come(server.page(3))
    assert drivers.client is not None


def test_a_page_of_another_site_never_drives() -> None:
    server: Any = FakeServer()
    drivers = Drivers(server, FakeLab())  # type: ignore[arg-type]
    foreign = server.page(0, origin="https://example.org")
    server.come(foreign)
    assert drivers.client is None
    own = server.page(1)
    server.come(own)
    assert drivers.client is own
    assert same_origin(server, server.page(2, origin=None))
