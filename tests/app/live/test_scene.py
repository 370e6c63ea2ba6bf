"""Scene and left panel, without a browser: robot, layers, pushes, history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from live_samples import short_recording

import balance
from balance.app.live.colours import (
    ALARM,
    ASKED,
    AXES,
    CAPTURE,
    GROUND,
    MASS,
    NEUTRAL,
    PUSH,
    SPIN,
    STEP_LINES,
    Colour,
    sole_lines,
)
from balance.app.live.layers import LAYERS
from balance.app.live.left_panel import status_html
from balance.app.live.replay import Replay
from balance.app.live.scene import Scene, draw_replay
from balance.app.live.server import open_server
from balance.app.live.surroundings import DARK
from balance.experiment import Experiment
from balance.simulation.pendulum import swings


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    server = open_server("127.0.0.1", 0)
    yield Scene(server)
    server.stop()


@pytest.fixture(scope="module")
def shown(scene: Scene) -> balance.Recording:
    recording = short_recording()
    path = Experiment(recording.config).path
    scene.use(recording.robot, path, recording.pushes)
    return recording


def node(scene: Scene, name: str) -> object:
    handle = scene.server.scene.get_handle_by_name(name)
    assert handle is not None, name
    return handle


def test_links_are_where_the_configuration_has_them(scene: Scene, shown: balance.Recording) -> None:
    scene.draw(shown, 150)
    hip = node(scene, f"/world/robot/{shown.robot.model.names[1]}")
    np.testing.assert_allclose(hip.position, shown.q[150, :3], atol=2e-4)  # type: ignore[attr-defined]


def test_the_push_is_an_arrow_that_ends_at_the_body(scene: Scene, shown: balance.Recording) -> None:
    now = scene.draw(shown, 60)
    frame = node(scene, "/world/overlay/Push/arrow 0")
    arrow = node(scene, "/world/overlay/Push/arrow 0/arrow")
    assert arrow.visible  # type: ignore[attr-defined]
    turned = pin.Quaternion(*frame.wxyz).matrix()  # type: ignore[attr-defined]
    begin, end = frame.position + arrow.points[0] @ turned.T  # type: ignore[attr-defined]
    assert (end - begin)[1] > 0.2  # m, along the push
    left = scene.observer.body_point("hip", np.zeros(3)).translation - end
    assert 0.05 < left[1] < 0.2  # the tip is outside of the link
    assert np.hypot(left[0], left[2]) < 1e-3
    scene.draw(shown, 10)  # before it
    assert not arrow.visible  # type: ignore[attr-defined]
    assert now.time == pytest.approx(0.06)


def test_the_arrow_of_angular_momentum_stays_within_the_picture(
    scene: Scene, shown: balance.Recording
) -> None:
    """It grows with the momentum, up to half of the robot's height."""
    height = 1.85 * shown.robot.com()[2]  # of the robot, as all arrows take it
    lengths = []
    for factor in (1.0, 1.1, 1e3, 1e4):
        swinging = replace(shown, v=factor * shown.v)
        scene.draw(swinging, 150)
        arrow = node(scene, "/world/overlay/Angular momentum/arrow 0/arrow")
        lengths.append(np.linalg.norm(arrow.points[0, 1] - arrow.points[0, 0]))  # type: ignore[attr-defined]
    assert lengths[0] < lengths[1] < lengths[2]
    np.testing.assert_allclose(lengths[2:], 0.5 * height, rtol=0.02)


def test_the_pendulum_swings_in_touches_the_body_at_the_hit_and_leaves(
    scene: Scene, shown: balance.Recording
) -> None:
    """Drawn where the pose function has it; a jump to after the hit finds it, too."""
    (expected,) = swings(shown.robot, shown.pushes, shown.time, shown.q)
    parts = ("place", "place/ball", "place/ropes")
    at, ball, ropes = (node(scene, f"/world/overlay/Pendulum/{part}") for part in parts)
    for row in (150, 0, 40, 49, 55, 150):
        now = scene.draw(shown, row)
        place = expected.ball(now.time)
        np.testing.assert_allclose(at.position, place, atol=2e-3)  # type: ignore[attr-defined]
        ends = at.position + ropes.points[:, 1]  # type: ignore[attr-defined]
        np.testing.assert_allclose(ends, [place] * 2, atol=2e-3)
        assert ball.visible and ropes.visible  # type: ignore[attr-defined]
    assert ball.scale == pytest.approx(expected.radius)  # type: ignore[attr-defined]
    assert expected.radius == pytest.approx(0.0534, abs=1e-4)  # m, 5 kg of steel


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_each_layer_can_be_switched_on_and_off(
    scene: Scene, shown: balance.Recording, name: str
) -> None:
    root = node(scene, f"/world/overlay/{name}")
    for on in (True, False):
        scene.show_layer(name, on)
        scene.draw(shown, 150)
        assert root.visible is on  # type: ignore[attr-defined]
    scene.show_layer(name, LAYERS[name][1])


def test_the_theme_and_another_robot_can_be_chosen(scene: Scene) -> None:
    scene.surroundings.set_theme(DARK)
    assert scene.surroundings.theme.dark
    recording = short_recording()
    path = Experiment(recording.config).path
    scene.use(recording.robot, path)
    scene.set_look("transparent")
    scene.draw(recording, 50)
    assert scene.pushes == ()


def test_a_jump_in_a_replay_shows_the_seconds_before_it(scene: Scene) -> None:
    recording = short_recording()
    scene.use(recording.robot, Experiment(recording.config).path, recording.pushes)
    replay = Replay(recording, Path("result"))
    replay.playing = False
    replay.seek(0.2)
    draw_replay(scene, replay)
    time, mark, _, error, _ = scene.history.series("com_error")
    times = [0.0, 0.04, 0.05, 0.05, 0.08, 0.12, 0.16]  # samples, and both sides of the push's start
    np.testing.assert_allclose(time + 0.16, times, atol=2e-3)  # s
    error, rows = np.delete(error, [2, 3]), [0, 40, 80, 120, 160]
    np.testing.assert_allclose(error, 1e3 * recording.com_error[rows, 1], atol=0.5)  # mm
    assert mark.tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]  # pushed at 0.05 s


def test_words_from_files_cannot_become_markup() -> None:
    text = status_html([("<b>", "<script>")], "<img src=x>")
    assert "<script>" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_dots_are_where_the_centre_of_mass_was_in_the_last_seconds(scene: Scene) -> None:
    recording = short_recording()
    scene.use(recording.robot, Experiment(recording.config).path, recording.pushes)
    for _ in range(2):  # as in a player that begins anew
        for row in range(0, 200, 20):
            scene.draw(recording, row)
        names = [f"/world/overlay/CoM trail/dot {i}" for i in range(30)]
        dots = [dot for dot in (node(scene, name) for name in names) if dot.visible]  # type: ignore[attr-defined]
        assert len(dots) == 2  # at 0 and 0.1 s
        left = sorted(tuple(dot.position[:2]) for dot in dots)  # type: ignore[attr-defined]
        model, data = recording.robot.model, recording.robot.model.createData()
        was = [tuple(pin.centerOfMass(model, data, recording.q[i])[:2]) for i in (0, 100)]
        np.testing.assert_allclose(left, sorted(was), atol=5e-4)


def test_the_world_moves_with_a_robot_that_leaves_and_not_with_one_that_sways(scene: Scene) -> None:
    recording = short_recording()
    scene.use(recording.robot, Experiment(recording.config).path)
    follow, home = scene.surroundings.follow, recording.robot.com()
    world = node(scene, "/world")
    height = 1.9 * home[2]
    follow.draw(home + np.array([0.05 * height, 0.0, 0.0]))
    assert world.position.tolist() == [0.0, 0.0, 0.0]  # type: ignore[attr-defined]
    lying = home + np.array([1.0, -0.5, -0.8 * home[2]])
    seen = [lying + world.position]  # type: ignore[attr-defined]
    for _ in range(60):
        follow.draw(lying)
        seen.append(lying + world.position)  # type: ignore[attr-defined]
    off = np.linalg.norm(np.array(seen) - home, axis=1)
    assert off[-1] < 0.061 * height  # in the middle of the picture, but for the leash
    assert np.diff(off).max() < 1e-9  # on the shortest way
    assert np.abs(np.diff(off)).max() < 0.3 * off[0]  # and not in one jump
    follow.on = False
    follow.draw(lying)
    assert world.position.tolist() == [0.0, 0.0, 0.0]  # type: ignore[attr-defined]
    follow.on = True
    follow.draw(lying, again=True)  # a jump in time is no motion
    np.testing.assert_allclose(lying + world.position, home, atol=1e-9)  # type: ignore[attr-defined]


def test_one_colour_means_one_thing() -> None:
    """Axes, pushes, alarms and soles share no colour; layers share one only within a family."""
    own = [*AXES.values(), PUSH, ALARM, NEUTRAL, MASS, GROUND, ASKED, CAPTURE, SPIN]
    apart = [np.abs(np.subtract(a, b)).max() for a, b in combinations(own, 2)]
    assert min(apart) > 40
    families: dict[Colour, set[str]] = {}
    for name, (layer, _) in LAYERS.items():
        families.setdefault(layer.colour, set()).add(name)
    assert not families.keys() & set(AXES.values())
    assert families[PUSH] == {"Push", "Pendulum"}
    assert families[ALARM] == {"Touches"}
    assert families[MASS] == {"Centre of mass", "CoM trail"}
    assert families[GROUND] == {"Centre of pressure", "Support polygon", "Measured wrenches"}
    assert families[NEUTRAL] == {"Sole rectangles", "Footsteps"}  # where soles are and were
    soles = sole_lines(["left", "right", "hand", "tail"])
    assert len({line.dash for line in soles}) == 4
    assert {line.colour for line in soles} == {NEUTRAL}
    assert {line.name: line.colour for line in STEP_LINES}["deadline"] == ALARM


def test_the_status_says_what_a_deadline_miss_is() -> None:
    text = status_html([("deadline misses", "3")])
    assert 'title="Control steps that took longer' in text
