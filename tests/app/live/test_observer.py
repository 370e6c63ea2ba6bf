"""What the page shows of an instant, against closed forms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from live_samples import short_recording

import balance
from balance.app.live.history import MARK_S, SPAN_S, History
from balance.app.live.observer import Observer
from balance.app.live.plots import range_of
from balance.app.live.robot_view import MAX_TRIANGLES, _merged_shapes, coarser
from balance.experiment import Experiment


@pytest.fixture(scope="module")
def recording() -> balance.Recording:
    return short_recording()


@pytest.fixture(scope="module")
def observer(recording: balance.Recording) -> Observer:
    return Observer(recording.robot, Experiment(recording.config).controller.path)


def test_errors_and_momentum_are_those_of_the_recording(
    recording: balance.Recording, observer: Observer
) -> None:
    for row in (0, 120, 299):
        now = observer.at(recording, row)
        np.testing.assert_allclose(now.com_error, recording.com_error[row], atol=1e-12)
        np.testing.assert_allclose(now.rotation_error, recording.rotation_error[row], atol=1e-12)
        np.testing.assert_allclose(now.momentum, recording.momentum[row], atol=1e-9)


def test_the_capture_point_stops_the_linear_inverted_pendulum(
    recording: balance.Recording, observer: Observer
) -> None:
    """With the CoP there, x(t) = p + (x - p) exp(-omega t): it rests at p."""
    now = observer.at(recording, 150)
    omega = np.sqrt(9.81 / now.com[2])
    slope = -omega * (now.com - now.capture_point)[:2]
    np.testing.assert_allclose(slope, now.com_velocity[:2], atol=1e-9)


def test_forces_add_up_to_the_weight_at_rest(
    recording: balance.Recording, observer: Observer
) -> None:
    now = observer.at(recording, 40)
    weight = recording.robot.mass * 9.81
    assert now.forces.sum(axis=0)[2] == pytest.approx(weight, rel=1e-2)
    assert now.commanded.sum(axis=0)[2] == pytest.approx(weight, rel=1e-2)


def test_the_total_cop_is_inside_the_support_polygon(
    recording: balance.Recording, observer: Observer
) -> None:
    now = observer.at(recording, 150)
    edges = np.roll(now.support, -1, axis=0) - now.support
    to_cop = now.total_cop - now.support
    turns = edges[:, 0] * to_cop[:, 1] - edges[:, 1] * to_cop[:, 0]
    assert (turns > 0).all()  # left of every edge
    assert (now.cop_margins >= 0).all()


def test_wrench_at_the_cop_is_force_and_torsion(
    recording: balance.Recording, observer: Observer
) -> None:
    """Moving a force to its CoP leaves only a moment about the normal."""
    now = observer.at(recording, 120)
    for pose, wrench, cop, force, torsion in zip(
        now.soles, recording.contact_wrenches[120], now.cops, now.forces, now.torsions, strict=True
    ):
        moment = torsion + np.cross(cop - pose.translation, force)
        np.testing.assert_allclose(pose.rotation.T @ moment, wrench[3:], atol=1e-6)


def test_a_body_point_follows_the_body(recording: balance.Recording, observer: Observer) -> None:
    observer.at(recording, 100)
    model = recording.robot.model
    data = model.createData()
    pin.framesForwardKinematics(model, data, recording.q[100])
    expected = data.oMf[model.getFrameId("head")].act(np.array([0.1, 0.0, 0.0]))
    point = observer.body_point("head", np.array([0.1, 0.0, 0.0])).translation
    np.testing.assert_allclose(point, expected, atol=1e-12)


def test_the_history_forgets_what_is_older_than_its_span(
    recording: balance.Recording, observer: Observer
) -> None:
    history = History()
    now = observer.at(recording, 60)
    for index in range(400):
        later = type(now)(**{**vars(now), "time": 0.04 * index})
        history.add(later, recording.pushes, np.array([1e-4, 3e-4, 2e-4]), 1e-3)
    time, mark, *columns = history.series("com_error")
    assert time[-1] == 0.0
    assert time[0] >= -SPAN_S
    assert len(columns) == 3
    assert mark.max() == 0.0  # the push is long over
    steps = [column[-1] for column in history.series("control_time")[2:]]
    assert steps == pytest.approx([300.0, 200.0, 1000.0])  # µs: largest, median, deadline


def test_a_push_is_marked_from_its_beginning_to_its_end_however_late_samples_are(
    recording: balance.Recording, observer: Observer
) -> None:
    history, (push,) = History(), recording.pushes
    now = observer.at(recording, 60)
    for time in (0.0, push.start + 2.0):
        history.add(type(now)(**{**vars(now), "time": time}), recording.pushes)
    time, mark, *columns = history.series("com_error")
    times = time + push.start + 2.0
    marked = max(push.end - push.start, MARK_S)
    assert np.trapezoid(mark, times) == pytest.approx(marked, abs=1e-5)  # a ramp has 1 s or more
    assert times[mark > 0.0].min() == pytest.approx(push.start, abs=1e-5)
    assert all(column == pytest.approx(column[0]) for column in columns)


def test_charts_have_round_bounds_that_hold_all_values() -> None:
    assert range_of((np.array([0.0, 31.0, np.nan]),), (-5.0, 5.0)) == (-5.0, 50.0)
    assert range_of((np.array([-120.0]),), (0.0, 1.0)) == (-200.0, 1.0)


def test_a_coarser_mesh_keeps_the_shape() -> None:
    grid = np.linspace(0.0, 0.2, 60)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.sin(9 * x.ravel()) * 0.02], axis=1)
    corner = (np.arange(59)[:, None] * 60 + np.arange(59)[None]).ravel()
    triangles = np.concatenate(
        [
            np.stack([corner, corner + 1, corner + 60], axis=1),
            np.stack([corner + 1, corner + 61, corner + 60], axis=1),
        ]
    )
    merged, faces = coarser(points, triangles)
    assert 0 < len(faces) <= MAX_TRIANGLES < len(triangles)
    assert np.abs(merged.max(axis=0) - points.max(axis=0)).max() < 0.012
    assert np.abs(merged[:, 2] - np.sin(9 * merged[:, 0]) * 0.02).max() < 2e-3


def test_every_link_of_the_robot_is_drawn() -> None:
    robot = balance.load_robot("toro")
    joints = {joint for joint, _ in _merged_shapes(robot)}
    assert joints == set(range(1, robot.model.njoints))
