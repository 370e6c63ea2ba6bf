"""The physics process: commands, errors, and its end."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection

import pytest

import balance
from balance.app.live.messages import (
    Changed,
    Conflict,
    Ended,
    Event,
    Pause,
    Push,
    Quit,
    Refused,
    Start,
    Started,
    Step,
)
from balance.app.live.physics import Physics
from balance.app.live.session import Session
from balance.app.live.shared_log import SharedLog
from balance.control.parts.output import ControlStatus
from balance.experiment import Experiment
from balance.recordings.verdict import Cause, EndKind, aborted

PATIENCE_S = 300.0  # against hanging; a busy machine takes its time


@pytest.fixture
def page() -> Iterator[Connection]:
    """The page's end of a pipe; at the other end the physics runs in a thread."""
    here, there = multiprocessing.Pipe()
    thread = threading.Thread(target=Physics(there).run, daemon=True)
    thread.start()
    yield here
    if thread.is_alive():
        here.send(Quit())
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def heard(page: Connection) -> Event:
    assert page.poll(PATIENCE_S)
    event: Event = page.recv()
    return event


def started(page: Connection, **overrides: object) -> SharedLog:
    page.send(Start(balance.load_config("toro_push", overrides)))
    event = heard(page)
    assert isinstance(event, Started)
    robot = Experiment(event.config).robot
    return SharedLog(event.log, event.config, robot, writable=False)


def until(condition: object, seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_it_runs_pauses_steps_and_goes_on(page: Connection) -> None:
    shared = started(page)
    until(lambda: shared.rows > 10)
    page.send(Pause(True))
    until(lambda: shared.paused)
    rows = shared.rows
    page.send(Step(300))  # more than one burst
    until(lambda: shared.rows == rows + 300)
    page.send(Step(1))
    until(lambda: shared.rows == rows + 301)
    page.send(Pause(False))
    until(lambda: shared.rows > rows + 310)
    log = shared.view()
    assert log.time[5] == pytest.approx(0.005)
    assert (log.q[: log.rows, 2] > 0.5).all()


def test_a_push_becomes_part_of_the_config(page: Connection) -> None:
    shared = started(page)
    until(lambda: shared.rows > 5)
    page.send(Push(balance.load_config("toro_push").pushes[0]))
    event = heard(page)
    assert isinstance(event, Changed)
    assert event.config.pushes[0].time_s >= 0.005
    until(lambda: abs(shared.log.push_force[: shared.rows]).max() > 100.0)


def test_an_exception_of_the_law_pauses_and_the_process_lives_on(
    page: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = Session.advance

    def failing(self: Session, log: object) -> bool:
        if log.rows == 7:  # type: ignore[attr-defined]
            raise ZeroDivisionError("a law went wrong")
        return advance(self, log)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "advance", failing)
    shared = started(page)
    event = heard(page)
    assert event == Ended(aborted(Cause.ERROR, "ZeroDivisionError: a law went wrong"))
    assert shared.rows == 7
    monkeypatch.undo()
    again = started(page)
    until(lambda: again.rows > 10)


def test_a_config_that_cannot_be_set_up_leaves_the_session_as_it_was(page: Connection) -> None:
    shared = started(page)
    config = balance.load_config("toro_push").model_copy(update={"robot": "nobody"})
    page.send(Start(config))
    event = heard(page)
    assert isinstance(event, Refused)
    assert "unknown robot 'nobody'" in event.message
    rows = shared.rows
    until(lambda: shared.rows > rows + 5)


def test_a_fall_ends_the_session_with_its_cause(page: Connection) -> None:
    shared = started(page)
    push = balance.config.sections.push_config(
        type="impulse", direction=(0.0, 1.0, 0.0), time_s=0.0, impulse_Ns=150.0
    )
    page.send(Push(push))
    assert isinstance(heard(page), Changed)
    event = heard(page)
    assert isinstance(event, Ended)
    assert event.end.kind is EndKind.FELL
    until(lambda: shared.paused)


CHILD = """
import os, signal, sys, time
from balance.app.live.messages import Start
from balance.app.live.physics_process import PhysicsProcess
import balance
from balance.recordings.verdict import Cause, EndKind, aborted
if __name__ == "__main__":
    process = PhysicsProcess()
    process.send(Start(balance.load_config("toro_push")))
    next(process.events(300.0))
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_process_ends_when_its_parent_is_killed(tmp_path: object) -> None:
    script = os.path.join(str(tmp_path), "parent.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(CHILD)
    answer = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=PATIENCE_S
    )
    pid = int(answer.stdout.split()[0])
    until(lambda: not _runs(pid))


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_conflict_is_told_before_the_rows_that_have_it(page: Connection) -> None:
    shared = started(page, controller={"law": "whole_body_qp"})
    push = balance.load_config("toro_push").pushes[0].model_copy(update={"energy_J": 3e4})
    page.send(Push(push))
    assert isinstance(heard(page), Changed)
    event = heard(page)
    assert isinstance(event, Conflict)
    assert "cannot be kept" in event.text
    until(lambda: (shared.log.status[: shared.rows] & int(ControlStatus.QP_FAILED)).any())


def test_each_law_is_rehearsed_once_before_its_first_session(
    page: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsed: list[str] = []
    monkeypatch.setattr(
        "balance.app.live.physics.rehearse",
        lambda config, folders: rehearsed.append(config.controller.law),
    )
    for law in ("momentum", "ott2011", "momentum"):
        started(page, **{"controller.law": law})
    assert rehearsed == ["momentum", "ott2011"]
