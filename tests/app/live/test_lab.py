"""The lab and its drivers: what ends a session, and who has the controls."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import balance
from balance.app.cli import app
from balance.app.live.drivers import Drivers
from balance.app.live.lab import Lab
from balance.app.live.messages import Conflict, Ended, Refused
from balance.app.live.saving import Saver
from balance.app.live.server import open_server
from balance.errors import BalanceError, MissingExtraError
from balance.recordings.verdict import Cause, aborted


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
    assert "-m pip install" in str(result.exception)
    assert "[live]'" in str(result.exception)


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
        lab.do(lambda: lab.settings.choose("law", "no such law"))  # told, not raised
        lab.tick()
        a_refused_choice_is_taken_back(lab, ticks_until)
        a_conflict_is_part_of_what_is_saved(lab)
        an_error_of_the_law_is_shown_until_the_next_session(lab, ticks_until)
    finally:
        lab.close()
        server.stop()


def a_refused_choice_is_taken_back(lab: Lab, ticks_until: Any) -> None:
    lab.settings.base = lab.settings.base.model_copy(update={"robot": "nobody"})
    lab.do(lab.restart)
    ticks_until(lambda: lab.settings.base.robot == "toro")
    assert not lab.alarm


def a_conflict_is_part_of_what_is_saved(lab: Lab) -> None:
    lab._hear(Conflict("these cannot be kept together: a; b"))
    taken = lab.snapshot()
    assert taken is not None
    assert taken.conflict == "these cannot be kept together: a; b"


def an_error_of_the_law_is_shown_until_the_next_session(lab: Lab, ticks_until: Any) -> None:
    lab._hear(Ended(aborted(Cause.ERROR, "ZeroDivisionError: a law went wrong")))
    lab.tick()
    assert lab.alarm == "Paused: ZeroDivisionError: a law went wrong. Reset begins anew."
    lab.do(lab.restart)
    ticks_until(lambda: not lab.alarm)


class FakeServer:
    """Keeps the callbacks."""

    def on_client_connect(self, callback: Any) -> None:
        self.come = callback

    def on_client_disconnect(self, callback: Any) -> None:
        self.leave = callback

    def page(self, number: int) -> Any:
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


def test_no_folder_of_this_machine_is_told_to_a_page(tmp_path: Path) -> None:
    told: list[str] = []

    def note(title: str, body: str, **_: object) -> None:
        told.append(body)

    page = SimpleNamespace(add_notification=note)
    lab = Lab.__new__(Lab)
    lab.results = tmp_path / "my results"
    lab.server = SimpleNamespace(get_clients=lambda: {0: page})  # type: ignore[assignment]
    kept: list[str] = []
    panel = SimpleNamespace(show_saved=lambda what, place: kept.append(place))
    lab.drivers = SimpleNamespace(panel=panel)  # type: ignore[assignment]
    saver = Saver(lab)
    saver._saved("Config", lab.results / "mine.yaml")
    lab._guarded(lambda: open_nothing(tmp_path / "robots" / "none.urdf"))
    lab._hear(Refused("unknown robot in '/home/me/robots/none.yaml'"))
    saver.close()
    assert kept == ["my results/mine.yaml"]
    assert told == [
        "my results/mine.yaml",
        "FileNotFoundError: [Errno 2] No such file or directory: 'robots/none.urdf'",
        "unknown robot in 'none.yaml'",
    ]


def open_nothing(path: Path) -> None:
    path.open(encoding="utf-8").close()
