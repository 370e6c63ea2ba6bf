"""Scene and corner, without a browser: layers, pushes, gusts, and words about a fall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from live_samples import short_recording

import balance
from balance.app.live.corner import corner_html
from balance.app.live.desk import Desk
from balance.app.live.frames import draw_replay
from balance.app.live.gusts import Gusts
from balance.app.live.messages import Started
from balance.app.live.overlays import LAYERS
from balance.app.live.replay import Replay
from balance.app.live.running import Running
from balance.app.live.server import open_server
from balance.app.live.shared_log import ROWS, SharedLog
from balance.app.live.stage import DARK
from balance.app.live.theatre import Theatre
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.verdict import Cause, RunEnd, aborted
from balance.robots import Robot


@pytest.fixture(scope="module")
def theatre() -> Iterator[Theatre]:
    server = open_server("127.0.0.1", 0)
    yield Theatre(server)
    server.stop()


@pytest.fixture(scope="module")
def shown(theatre: Theatre) -> balance.Recording:
    recording = short_recording()
    path = Experiment(recording.config).controller.path
    theatre.use(recording.robot, path, recording.pushes)
    return recording


def node(theatre: Theatre, name: str) -> object:
    handle = theatre.server.scene.get_handle_by_name(name)
    assert handle is not None, name
    return handle


def test_links_are_where_the_configuration_has_them(
    theatre: Theatre, shown: balance.Recording
) -> None:
    theatre.draw(shown, 150)
    hip = node(theatre, f"/robot/{shown.robot.model.names[1]}")
    np.testing.assert_allclose(hip.position, shown.q[150, :3], atol=2e-4)  # type: ignore[attr-defined]


def test_the_push_is_an_arrow_that_ends_at_the_body(
    theatre: Theatre, shown: balance.Recording
) -> None:
    now = theatre.draw(shown, 60)
    arrow = node(theatre, "/overlay/Push/arrow")
    assert arrow.visible  # type: ignore[attr-defined]
    begin, end = arrow.points[0]  # type: ignore[attr-defined]
    assert (end - begin)[1] > 0.2  # m, along the push
    left = theatre.observer.body_point("hip", np.zeros(3)).translation - end
    assert 0.05 < left[1] < 0.2  # the tip is outside of the link
    assert np.hypot(left[0], left[2]) < 1e-3
    theatre.draw(shown, 10)  # before it
    assert not arrow.visible  # type: ignore[attr-defined]
    assert now.time == pytest.approx(0.06)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_each_layer_can_be_switched_on_and_off(
    theatre: Theatre, shown: balance.Recording, name: str
) -> None:
    root = node(theatre, f"/overlay/{name}")
    for on in (True, False):
        theatre.show_layer(name, on)
        theatre.draw(shown, 150)
        assert root.visible is on  # type: ignore[attr-defined]
    theatre.show_layer(name, LAYERS[name][1])


def test_the_theme_and_another_robot_can_be_chosen(theatre: Theatre) -> None:
    theatre.stage.set_theme(DARK)
    assert theatre.stage.theme.dark
    recording = short_recording()
    path = Experiment(recording.config).controller.path
    theatre.use(recording.robot, path)
    theatre.set_look("transparent")
    theatre.draw(recording, 50)
    assert theatre.pushes == ()


def test_a_jump_in_a_replay_shows_the_seconds_before_it(theatre: Theatre) -> None:
    recording = short_recording()
    theatre.use(recording.robot, Experiment(recording.config).controller.path, recording.pushes)
    replay = Replay(recording, Path("result"))
    replay.playing = False
    replay.seek(0.2)
    draw_replay(theatre, replay)
    time, mark, _, error, _ = theatre.history.series("com_error")
    np.testing.assert_allclose(time + 0.16, [0.0, 0.04, 0.08, 0.12, 0.16], atol=2e-3)  # s
    rows = [0, 40, 80, 120, 160]
    np.testing.assert_allclose(error, 1e3 * recording.com_error[rows, 1], atol=0.5)  # mm
    assert mark.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]  # pushed at 0.05 s


def test_words_from_files_cannot_become_markup() -> None:
    text = corner_html([("<b>", "<script>")], "<img src=x>")
    assert "<script>" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_gusts_come_at_random_but_the_same_each_time(toro: Robot) -> None:
    desk = Desk(balance.load_config("toro_push"))

    def course() -> list[tuple[float, object]]:
        gusts = Gusts(seed=3)
        assert gusts.due(0.0, desk, toro) is None
        gusts.on = True
        found = [(0.1 * i, gusts.due(0.1 * i, desk, toro)) for i in range(100)]
        return [(time, item) for time, item in found if item is not None]

    first = course()
    assert 3 <= len(first) <= 30  # about one in a second
    assert first == course()


@pytest.fixture
def fallen(tmp_path: Path) -> Running:
    """A session that was pushed over."""
    push = {"type": "impulse", "direction": [0, 1, 0], "time_s": 0.01, "impulse_Ns": 150.0}
    config = balance.load_config("toro_push", {"pushes": [push], "duration_s": 2.0})
    experiment = Experiment(config)
    (tmp_path / "log").touch()
    shared = SharedLog(tmp_path / "log", config, experiment.robot, writable=True)
    log: Log = shared.log
    while not experiment.advance(log):
        pass
    shared.header[ROWS] = log.rows
    running = Running(Started(config, tmp_path / "log"))
    running.end = experiment.end
    return running


def test_a_fall_says_what_failed_and_what_was_at_its_limit(fallen: Running, tmp_path: Path) -> None:
    words = fallen.verdict()
    assert words.startswith("The robot fell at 0.")
    assert "the contacts could not give the wanted wrench for" in words
    assert "Reset begins anew" in words
    assert not (tmp_path / "log").exists()  # nothing is left behind
    figures = dict(fallen.figures())
    assert figures["last push"].startswith("150.0 N s")


def test_other_ends_have_their_words(fallen: Running) -> None:
    fallen.end = aborted(Cause.ERROR, "ZeroDivisionError: a law went wrong")
    assert fallen.verdict() == "Paused: ZeroDivisionError: a law went wrong. Reset begins anew."
    fallen.end = RunEnd()
    assert "recording is full" in fallen.verdict()
