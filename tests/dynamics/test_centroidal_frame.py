"""Saccon2017 (17), (19), (26)-(28), (36)-(42): the centroidal frame along a path."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot
from scipy.integrate import solve_ivp

from balance.dynamics.centroidal_frame import centroidal_frame, integrate_frame
from balance.dynamics.connection import locked_velocity, mechanical_connection, shape_configuration
from balance.dynamics.curvature import curvature
from balance.dynamics.three_link import joint_trajectory, three_link
from balance.errors import InputError

INTEGRATION = 1e-8  # m and rad, of a path integrated with the default tolerance
EXACT = 1e-12  # m and rad

MODEL = random_robot(5, 21)
FREQUENCIES = np.array([1.0, 2.0, 1.5, 3.0, 2.5])


def wave(t: float) -> np.ndarray:
    """A smooth motion of the five joints of MODEL."""
    return 0.8 * np.sin(FREQUENCIES * t) + 0.1 * t


def wave_rate(t: float) -> np.ndarray:
    return 0.8 * FREQUENCIES * np.cos(FREQUENCIES * t) + 0.1


def distance(a: pin.SE3, b: pin.SE3) -> float:
    return float(np.abs(pin.log6(a.actInv(b)).vector).max())


def com_in_base(model: pin.Model, s: np.ndarray) -> np.ndarray:
    data = pin.Data(model)
    com = pin.centerOfMass(model, data, shape_configuration(model, s))
    return data.oMi[1].actInv(com)


def turn(angle: float) -> np.ndarray:
    return pin.AngleAxis(angle, np.array([0.0, 0.0, 1.0])).toRotationMatrix()


def test_integrator_converges_with_order_four():
    times, start = np.array([0.0, 1.0]), pin.SE3.Identity()
    exact = integrate_frame(MODEL, wave, times, start, 512)[-1]
    errors = [
        distance(integrate_frame(MODEL, wave, times, start, n)[-1], exact) for n in (16, 32, 64)
    ]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 4.0, atol=0.1)


def test_path_equals_the_matrix_equation_17_solved_in_the_world_with_a_moving_base():
    """The base follows a screw motion; the oracle integrates sixteen matrix entries."""
    base_twist = pin.Motion(np.array([0.3, -0.2, 0.5, 0.4, -0.7, 0.2]))
    start = pin.SE3(turn(0.3), np.array([0.1, 0.2, -0.3]))
    data = pin.Data(MODEL)

    def pose_of_base(t: float) -> pin.SE3:
        return pin.exp6(base_twist * t)

    def rate(t: float, entries: np.ndarray) -> np.ndarray:
        q = shape_configuration(MODEL, wave(t))
        q[:7] = pin.SE3ToXYZQUAT(MODEL.jointPlacements[1].inverse() * pose_of_base(t))
        v = np.concatenate([base_twist.vector, wave_rate(t)])
        v_loc = locked_velocity(MODEL, q, v, data).inertial
        matrix = np.zeros((4, 4))
        matrix[:3, :3], matrix[:3, 3] = pin.skew(v_loc[3:]), v_loc[:3]
        return (matrix @ entries.reshape(4, 4)).ravel()

    oracle = solve_ivp(
        rate, (0.0, 1.0), start.homogeneous.ravel(), "DOP853", rtol=1e-11, atol=1e-12
    )
    in_base = centroidal_frame(MODEL, wave, [0.0, 0.4, 1.0], initial=start)[-1]
    in_world = (pose_of_base(1.0) * in_base).homogeneous
    np.testing.assert_allclose(in_world, oracle.y[:, -1].reshape(4, 4), rtol=0, atol=INTEGRATION)


def test_com_has_constant_coordinates_in_a_frame_started_anywhere():
    times = np.linspace(0.0, 1.0, 6)
    start = pin.SE3(turn(-0.9), np.array([0.4, -1.0, 0.7]))
    path = centroidal_frame(MODEL, wave, times, initial=start)
    coms = [pose.actInv(com_in_base(MODEL, wave(t))) for pose, t in zip(path, times, strict=True)]
    np.testing.assert_allclose(coms, np.tile(coms[0], (6, 1)), rtol=0, atol=INTEGRATION)


def test_frame_started_at_the_com_keeps_it_as_origin_and_turns_with_the_locked_velocity():
    h = 1e-4
    path = centroidal_frame(MODEL, wave, [0.0, 0.5 - h, 0.5, 0.5 + h], tolerance=1e-12)
    np.testing.assert_allclose(
        path[2].translation, com_in_base(MODEL, wave(0.5)), rtol=0, atol=INTEGRATION
    )
    rate = pin.log3(path[3].rotation @ path[1].rotation.T) / (2.0 * h)
    locked = mechanical_connection(MODEL, wave(0.5)).connection @ wave_rate(0.5)
    np.testing.assert_allclose(rate, locked[3:], rtol=0, atol=1e-6)


def test_frame_depends_on_the_path_and_not_on_its_timing():
    plain = centroidal_frame(MODEL, wave, [0.0, 1.0])[-1]
    hurried = centroidal_frame(MODEL, lambda t: wave(t**2), [0.0, 0.3, 1.0])[-1]
    assert distance(plain, hurried) < INTEGRATION


def test_rotations_stay_orthonormal_over_many_steps():
    path = integrate_frame(
        three_link(1.0), joint_trajectory, np.array([0.0, 1.0]), pin.SE3(1), 2000
    )
    rotation = path[-1].rotation
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), rtol=0, atol=EXACT)


def test_three_link_frame_for_d_0_turns_by_an_eighth_of_the_joint_angles():
    """Each distal link has 1 of the 8 kg m^2 about the CoM, which never moves."""
    times = np.linspace(0.0, 1.0, 9)
    for t, pose in zip(
        times, centroidal_frame(three_link(0.0), joint_trajectory, times), strict=True
    ):
        expected = pin.SE3(turn(joint_trajectory(t).sum() / 8.0), np.zeros(3))
        assert distance(pose, expected) < EXACT


def test_three_link_frame_returns_after_a_period_for_d_0_and_does_not_for_d_1():
    times = np.linspace(0.0, 1.0, 9)
    flat = centroidal_frame(three_link(0.0), joint_trajectory, times)
    curved = centroidal_frame(three_link(1.0), joint_trajectory, times)
    assert distance(flat[0], flat[-1]) < EXACT
    error = pin.log3(curved[0].rotation.T @ curved[-1].rotation)
    np.testing.assert_allclose(error, [0.0, 0.0, holonomy_by_planar_inertias()], atol=INTEGRATION)
    assert abs(error[2]) > np.deg2rad(30.0)
    np.testing.assert_allclose(
        curved[-1].translation, curved[0].translation, rtol=0, atol=INTEGRATION
    )


def holonomy_by_planar_inertias() -> float:
    """Final angle (rad) for d = 1 from the three masses and inertias in the plane alone."""

    def rate(t: float, _: np.ndarray) -> list[float]:
        s1, s2 = joint_trajectory(t)
        w = 2.0 * np.pi
        ds1, ds2 = -1.5 * np.pi * w * np.sin(w * t), 0.5 * np.pi * w * np.cos(w * t)
        r = np.array(
            [[0.0, 0.0], [-1.0 + np.sin(s1), -np.cos(s1)], [1.0 + np.sin(s2), -np.cos(s2)]]
        )
        dr = np.array(
            [[0.0, 0.0], [np.cos(s1) * ds1, np.sin(s1) * ds1], [np.cos(s2) * ds2, np.sin(s2) * ds2]]
        )
        r, dr = r - r.mean(axis=0), dr - dr.mean(axis=0)
        inertia = 4.0 + 1.0 + 1.0 + (r**2).sum()
        spin = ds1 + ds2 + (r[:, 0] * dr[:, 1] - r[:, 1] * dr[:, 0]).sum()
        return [spin / inertia]

    solution = solve_ivp(rate, (0.0, 1.0), [0.0], "DOP853", rtol=1e-12, atol=1e-12)
    return float(solution.y[0, -1])


@pytest.mark.parametrize(("d", "same"), [(0.0, True), (1.0, False)])
def test_order_in_which_the_joints_move_matters_only_if_the_mechanism_is_curved(d, same):
    """The function F(s) that (26)-(28) build joint by joint exists for d = 0 only."""
    model, goal = three_link(d), np.array([0.9, -0.6])
    first, second = np.diag(goal)
    ends = []
    for leg, rest in ((first, second), (second, first)):
        corner = centroidal_frame(model, lambda t, leg=leg: t * leg, [0.0, 1.0])[-1]
        along_rest = lambda t, leg=leg, rest=rest: leg + t * rest  # noqa: E731
        ends.append(centroidal_frame(model, along_rest, [0.0, 1.0], initial=corner)[-1])
    assert (np.abs(pin.log3(ends[0].rotation.T @ ends[1].rotation)).max() < INTEGRATION) == same


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 3), (4, 2)])
def test_small_loop_moves_the_frame_by_minus_curvature_times_area(i, j):
    s, side = wave(0.3), 1e-3
    e_i, e_j = np.eye(5)[i] * side / 2.0, np.eye(5)[j] * side / 2.0
    corners = [s - e_i - e_j, s + e_i - e_j, s + e_i + e_j, s - e_i + e_j, s - e_i - e_j]
    start = pose = pin.SE3.Identity()
    for a, b in itertools.pairwise(corners):
        path = integrate_frame(
            MODEL, lambda t, a=a, b=b: a + t * (b - a), np.array([0.0, 1.0]), pose, 2
        )
        pose = path[-1]
    moved = pin.log6(pose * start.inverse()).vector / side**2
    B = curvature(MODEL, s)[i, j]
    np.testing.assert_allclose(moved, -B, rtol=0, atol=5e-3 * np.abs(B).max())


def test_single_time_gives_the_initial_frame():
    (pose,) = centroidal_frame(MODEL, wave, [0.5])
    np.testing.assert_allclose(pose.translation, com_in_base(MODEL, wave(0.5)), atol=EXACT)
    np.testing.assert_array_equal(pose.rotation, np.eye(3))


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([], "at least one time"),
        ([[0.0, 1.0]], r"t has shape \(1, 2\)"),
        ([0.0, 1.0, 1.0], r"t\[2\] = 1 s does not come after t\[1\] = 1 s"),
        ([0.0, np.inf], r"t\[1\] is inf"),
    ],
)
def test_wrong_times_are_refused(times, message):
    with pytest.raises(InputError, match=message):
        centroidal_frame(MODEL, wave, times)


def test_path_that_is_no_function_is_refused():
    with pytest.raises(InputError, match="s_of_t is a ndarray"):
        centroidal_frame(MODEL, np.zeros((2, 5)), [0.0, 1.0])


def test_path_of_the_wrong_size_is_refused_with_its_time():
    with pytest.raises(InputError, match=r"s_of_t\(0\) has shape \(2,\); expected \(5,\)"):
        centroidal_frame(MODEL, lambda t: np.zeros(2), [0.0, 1.0])


def test_path_with_a_jump_is_refused_instead_of_integrated_wrongly(monkeypatch):
    monkeypatch.setattr(sys.modules[centroidal_frame.__module__], "MAX_STEPS", 200)
    with pytest.raises(InputError, match="smoother s_of_t"):
        centroidal_frame(MODEL, lambda t: np.full(5, float(t > 0.3)), [0.0, 1.0], tolerance=1e-12)


def test_tolerance_that_is_not_positive_is_refused():
    with pytest.raises(InputError, match="tolerance is 0"):
        centroidal_frame(MODEL, wave, [0.0, 1.0], tolerance=0)
