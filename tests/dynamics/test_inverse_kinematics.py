"""Iterative inverse kinematics: example 2.9.7 in full, and reaching on real chains."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from balance.dynamics.inverse_kinematics import (
    Target,
    inverse_kinematics,
    rotation_error,
    tracking_twist,
)
from balance.dynamics.kinematics import frame_placement, geometric_jacobian
from balance.errors import BalanceError, ChartError, FrameError, InputError
from balance.rotations import CHARTS, get_chart

EXACT = 1e-12
CONVERGED = 1e-9

# Example 2.9.7
Q_START = np.array([-0.7, 0.0, 1.5])
Q_TARGET = np.array([0.7, 1.5, -0.5])
GAIN = 0.01  # small enough to follow the linearisation: the way bends by the order of it
FOUR_ERRORS = ("euler_zyx", "euler_xyz", "rotation_vector", "relative")


def wrist() -> pin.Model:
    """Three intersecting joints about z, y and x."""
    model = pin.Model()
    joint = 0
    for kind, name in (
        (pin.JointModelRZ(), "z"),
        (pin.JointModelRY(), "y"),
        (pin.JointModelRX(), "x"),
    ):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), name)
    model.addFrame(pin.Frame("E", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return model


WRIST = wrist()
R_TARGET = frame_placement(WRIST, Q_TARGET, "E").rotation


@cache
def rotations_on_the_way(error: str) -> np.ndarray:
    solution = inverse_kinematics(
        WRIST,
        Q_START,
        Target("E", rotation=R_TARGET, rotation_error=error),
        gain=GAIN,
        tolerance=1e-4,
        max_iterations=2000,
    )
    assert solution.converged
    return np.array([frame_placement(WRIST, q, "E").rotation for q in solution.path])


def travelled(R: np.ndarray) -> float:
    """Length of a path on SO(3), rad."""
    steps = R[1:] @ np.swapaxes(R[:-1], -1, -2)
    return float(np.linalg.norm([pin.log3(step) for step in steps], axis=1).sum())


def distance_from_line(points: np.ndarray) -> float:
    """Largest distance of the points from the chord between the first and the last one."""
    chord = points[-1] - points[0]
    along = (points - points[0]) @ chord / (chord @ chord)
    return float(np.linalg.norm(points - points[0] - along[:, None] * chord, axis=1).max())


def test_wrist_jacobian_is_the_printed_one() -> None:
    """(2.234)."""
    z, y, _ = Q_TARGET
    printed = [
        [0.0, -np.sin(z), np.cos(y) * np.cos(z)],
        [0.0, np.cos(z), np.cos(y) * np.sin(z)],
        [1.0, 0.0, -np.sin(y)],
    ]
    np.testing.assert_allclose(geometric_jacobian(WRIST, Q_TARGET, "E")[3:], printed, atol=EXACT)


@pytest.mark.parametrize("error", FOUR_ERRORS)
def test_every_parameterisation_arrives(error: str) -> None:
    R = rotations_on_the_way(error)
    assert np.linalg.norm(pin.log3(R_TARGET @ R[-1].T)) < 1e-3


def test_zyx_error_moves_the_joints_on_a_straight_line() -> None:
    """The joints are the ZYX angles, so J_eA = 1 and every step points at the target."""
    solution = inverse_kinematics(
        WRIST, Q_START, Target("E", None, R_TARGET, "euler_zyx"), gain=GAIN, max_iterations=2500
    )
    np.testing.assert_allclose(solution.q, Q_TARGET, atol=CONVERGED)
    assert distance_from_line(solution.path) < 1e-10


@pytest.mark.parametrize("error", FOUR_ERRORS[:3])
def test_chart_errors_lead_along_a_straight_line_of_their_chart(error: str) -> None:
    paths = {
        chart: get_chart(chart).from_matrix(rotations_on_the_way(error))
        for chart in FOUR_ERRORS[:3]
    }
    bends = {chart: distance_from_line(points) for chart, points in paths.items()}
    assert bends[error] < 3 * GAIN
    assert all(bends[other] > 0.15 for other in bends if other != error)


def test_relative_error_turns_about_one_axis_along_the_shortest_arc() -> None:
    R = rotations_on_the_way("relative")
    shortest = np.linalg.norm(pin.log3(R_TARGET @ R[0].T))
    assert travelled(R) == pytest.approx(shortest, rel=1e-3)
    start_axis, middle_axis = (pin.log3(R_TARGET @ R[k].T) for k in (0, len(R) // 4))
    turned = np.linalg.norm(np.cross(start_axis, middle_axis))
    assert turned < 2 * GAIN * np.linalg.norm(start_axis) * np.linalg.norm(middle_axis)


def test_relative_error_travels_least_of_the_four() -> None:
    lengths = {error: travelled(rotations_on_the_way(error)) for error in FOUR_ERRORS}
    assert min(lengths, key=lengths.__getitem__) == "relative"
    assert all(lengths[e] > 1.05 * lengths["relative"] for e in FOUR_ERRORS if e != "relative")


@pytest.mark.parametrize("error", ["relative", *CHARTS])
def test_full_steps_converge_quadratically_for_a_whole_pose(error: str) -> None:
    pin.seed(4)
    humanoid = pin.buildSampleModelHumanoidRandom(True)
    rng = np.random.default_rng(3)
    q_goal = pin.integrate(humanoid, pin.neutral(humanoid), rng.normal(size=humanoid.nv))
    q_start = pin.integrate(humanoid, q_goal, 0.05 * rng.normal(size=humanoid.nv))
    X = frame_placement(humanoid, q_goal, "rarm6_body")
    target = Target("rarm6_body", X.translation, X.rotation, error)
    solution = inverse_kinematics(humanoid, q_start, target, max_iterations=8)
    assert solution.converged and solution.error < 1e-10
    reached = frame_placement(humanoid, solution.q, "rarm6_body")
    np.testing.assert_allclose(reached.homogeneous, X.homogeneous, atol=CONVERGED)
    assert solution.path.shape == (solution.iterations + 1, humanoid.nq)


def test_position_alone_leaves_the_rotation_free() -> None:
    arm = pin.buildSampleModelManipulator()
    q_start = np.full(arm.nq, 0.3)
    name = arm.frames[arm.nframes - 1].name
    wanted = frame_placement(arm, q_start + 0.2, name).translation
    solution = inverse_kinematics(arm, q_start, Target(name, position=wanted))
    assert solution.converged
    np.testing.assert_allclose(
        frame_placement(arm, solution.q, name).translation, wanted, atol=CONVERGED
    )


def test_out_of_reach_is_an_outcome_with_its_distance() -> None:
    """Damped, the straight arm settles where the remaining error is the missing length."""
    arm = pin.Model()
    link = pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))
    joint = 0
    for name in ("1", "2"):
        joint = arm.addJoint(joint, pin.JointModelRY(), link, name)
    arm.addFrame(pin.Frame("E", joint, 0, link, pin.FrameType.OP_FRAME))
    target = Target("E", position=np.array([3.0, 0.0, 1.0]))
    solution = inverse_kinematics(arm, [0.3, 0.5], target, damping=0.5, max_iterations=500)
    assert not solution.converged
    assert solution.iterations == 500
    assert solution.error == pytest.approx(3.0 - 2.0, abs=1e-6)


def test_relative_error_is_the_angular_velocity_that_gets_there_in_unit_time() -> None:
    R = pin.exp3(np.array([0.3, -0.4, 0.5]))
    error, rate_map = rotation_error(R, R_TARGET)
    np.testing.assert_allclose(pin.exp3(error) @ R, R_TARGET, atol=EXACT)
    np.testing.assert_array_equal(rate_map, np.eye(3))


def test_tracking_closes_the_gap_to_a_moving_target_exponentially() -> None:
    """(2.241), (2.242) integrated: the errors decay with their gains."""
    X = pin.SE3(pin.exp3(np.array([0.5, -0.2, 0.3])), np.array([0.1, -0.2, 0.3]))
    X_target = pin.SE3.Identity()
    twist_target = np.array([0.1, 0.2, -0.1, 0.3, 0.0, -0.2])
    start = [np.linalg.norm(X.translation), np.linalg.norm(pin.log3(X.rotation))]
    k_P, k_R, dt, steps = 2.0, 3.0, 2e-4, 5000
    for _ in range(steps):
        twist = tracking_twist(X, X_target, twist_target, k_P, k_R)
        X, X_target = (
            pin.SE3(pin.exp3(dt * w[3:]) @ Y.rotation, Y.translation + dt * w[:3])
            for Y, w in ((X, twist), (X_target, twist_target))
        )
    gap = np.linalg.norm(X_target.translation - X.translation)
    angle = np.linalg.norm(pin.log3(X_target.rotation @ X.rotation.T))
    assert gap == pytest.approx(start[0] * np.exp(-k_P * dt * steps), rel=1e-3)
    assert angle == pytest.approx(start[1] * np.exp(-k_R * dt * steps), rel=1e-3)


def test_singular_chart_on_the_way_is_an_error() -> None:
    q = np.array([0.2, np.pi / 2, 0.1])
    target = Target("E", rotation=np.eye(3), rotation_error="euler_zyx")
    with pytest.raises(ChartError, match="euler_zyx"):
        inverse_kinematics(WRIST, q, target)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"frame": "F", "position": np.zeros(3)}, FrameError, "no frame 'F'"),
        ({"rotation": None}, InputError, "neither position nor rotation"),
        ({"position": np.zeros(2)}, InputError, r"position has shape \(2,\)"),
        ({"rotation": 2.0 * np.eye(3)}, ChartError, "rotation"),
        ({"rotation_error": "relativ"}, InputError, "did you mean 'relative'"),
    ],
)
def test_wrong_target_is_named(change: dict, error: type[BalanceError], message: str) -> None:
    arguments = {"frame": "E", "rotation": np.eye(3)} | change
    with pytest.raises(error, match=message):
        inverse_kinematics(WRIST, Q_START, Target(**arguments))


@pytest.mark.parametrize("gain", [0.0, 1.5, np.nan])
def test_wrong_gain_is_named(gain: float) -> None:
    with pytest.raises(InputError, match="gain is"):
        inverse_kinematics(WRIST, Q_START, Target("E", rotation=np.eye(3)), gain=gain)
