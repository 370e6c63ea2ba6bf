"""The tracking form of the momentum law: contacts bear what is commanded, errors are linear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import (
    contact_jacobian,
    law_config,
    moved,
    on_contacts,
    spring_torque,
    strong,
    wrench_at_com,
)
from numpy.typing import NDArray
from scipy.linalg import expm

from balance.control import make_controller
from balance.control.momentum import MomentumController
from balance.control.parts.inverse_dynamics import WEAK, InverseDynamics, fading_least_squares
from balance.control.parts.posture_impedance import PostureImpedance
from balance.control.parts.setpoints import desired_angular_momentum_rate
from balance.control.parts.support import Support, supporting_joints
from balance.dynamics.checks import symmetrise
from balance.dynamics.decoupled import decoupled_dynamics
from balance.dynamics.momentum import centroidal_momentum
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.recording import Recording
from balance.recordings.verdict import HOLD_S
from balance.robots import Robot
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

SAME = 1e-8  # relative to the largest force, moment, torque or acceleration
STATES = 10
PLAIN, TRACKING = "momentum", "momentum, tracking"
FREQUENCY_HZ, DAMPING_RATIO = 0.7, 0.7
K_R, D = np.diag([500.0, 400.0, 100.0]), np.diag([20.0, 20.0, 2.0])


def assert_same(actual: Array, expected: Array, tolerance: float = SAME) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def accelerated(robot: Robot, q: Array, v: Array, wrenches: Array) -> tuple[Array, Array]:
    """Acceleration (nv,) and torques (nj,) that the inverse dynamics finds for wrenches (k, 6)."""
    support = Support(robot)
    here = support.at(q, v)
    dynamics = InverseDynamics(support, PostureImpedance(robot, FREQUENCY_HZ, DAMPING_RATIO))
    stacked = wrenches.ravel()
    return dynamics.acceleration(here, stacked), dynamics.torques(here, stacked)


def some_wrenches(robot: Robot, rng: np.random.Generator) -> Array:
    """The weight shared by the contacts, and a tenth of it in any direction."""
    weight = robot.mass * 9.81
    wrenches = 0.1 * weight * rng.uniform(-1.0, 1.0, (len(robot.soles), 6))
    wrenches[:, 3:] *= 0.1
    wrenches[:, 2] += weight / len(robot.soles)
    return wrenches


def contact_acceleration(robot: Robot, q: Array, v: Array, dv: Array) -> Array:
    """J dv/dt + dJ/dt v (6 k,) by a difference of contact velocities along the motion."""
    step = 1e-6
    after, before = (
        contact_jacobian(robot, pin.integrate(robot.model, q, t * v)) @ (v + t * dv)
        for t in (step, -step)
    )
    return np.asarray((after - before) / (2.0 * step))


def test_acceleration_meets_wrenches_contacts_and_posture(any_robot: Robot) -> None:
    """dh/dt is the net wrench, contacts stay at rest, free joints do as their impedance says."""
    robot, rng = any_robot, np.random.default_rng(80)
    free = np.setdiff1d(np.arange(robot.model.nv - 6), supporting_joints(robot))
    omega = 2.0 * np.pi * FREQUENCY_HZ
    weight = np.concatenate([robot.mass * np.array([0, 0, 9.81]), np.zeros(3)])
    for _ in range(STATES):
        q, v = moved(robot, 0.2, rng)
        v = on_contacts(robot, q, v)
        wrenches = some_wrenches(robot, rng)
        dv, _ = accelerated(robot, q, v, wrenches)
        data = robot.model.createData()
        rate = pin.computeCentroidalMomentumTimeVariation(robot.model, data, q, v, dv).vector
        assert_same(rate, wrench_at_com(robot, q, wrenches) - weight)
        assert np.abs(contact_acceleration(robot, q, v, dv)).max() < 1e-6 * np.abs(dv).max()
        posture = -(omega**2) * (q - robot.q_nominal)[7:] - 2.0 * DAMPING_RATIO * omega * v[6:]
        assert_same(dv[6:][free], posture[free])


def test_torques_are_the_full_joint_rows_of_25(any_robot: Robot) -> None:
    """tau = Lambda_q ddq + Gamma_q xi - sum_i J_iq_bar^T w_i."""
    robot, rng = any_robot, np.random.default_rng(81)
    for _ in range(STATES):
        q, v = moved(robot, 0.2, rng)
        wrenches = some_wrenches(robot, rng)
        dv, torques = accelerated(robot, q, v, wrenches)
        terms = decoupled_dynamics(robot.model, q, v)
        J_bar = contact_jacobian(robot, q) @ terms.A_Q_inv
        expected = terms.Lambda_q @ dv[6:] + terms.Gamma[6:] @ terms.xi
        assert_same(torques, expected - J_bar[:, 6:].T @ wrenches.ravel())


@pytest.mark.parametrize("experiment", ["toro_push", "talos_push", "icub_push", "g1_push"])
def test_rigid_contacts_bear_the_commanded_wrenches(experiment: str) -> None:
    """In continuous time: M dv/dt + b = (0, tau) + J^T w, J dv/dt + dJ/dt v = 0, solved for w."""
    config = law_config(TRACKING, experiment)
    robot, rng = strong(robot_of(config)), np.random.default_rng(82)
    controller, model = make_controller(config, robot), robot.model
    for _ in range(STATES):
        q, v = moved(robot, 0.1, rng)
        v = on_contacts(robot, q, v)
        output = controller.step(q, v, 0.0)
        J = contact_jacobian(robot, q)
        drift = contact_acceleration(robot, q, v, np.zeros(model.nv))
        M = symmetrise(pin.crba(model, model.createData(), q))
        drive = -pin.nonLinearEffects(model, model.createData(), q, v)
        drive[6:] += output.torques
        W, free = J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, drive) + drift
        assert_same(np.asarray(-np.linalg.solve(W, free)), output.wrenches.ravel(), 1e-6)


def released(case: str, seconds: float, dt: float, **overrides: Any) -> Recording:
    """The TORO-like robot let go off its setpoint, with frictionless joints, control at 1/dt."""
    settings: dict[str, Any] = {
        "plant__step_s": dt,
        "control_period_s": dt,
        "duration_s": max(seconds, HOLD_S),
        "plant__joint_damping": 0.0,
        "pushes": [],
    }
    experiment = Experiment(law_config(case, **(settings | overrides)))
    robot = experiment.robot
    start = robot.standing_posture(
        com_xy=robot.com()[:2] + np.array([0.01, 0.02]),
        base_rotation=pin.rpy.rpyToMatrix(0.03, -0.05, 0.04),
    )
    experiment.plant.reset(start, np.zeros(robot.model.nv))
    log = Log(experiment.config, robot)
    while log.rows < round(seconds / dt):
        experiment.advance(log)
    return experiment.recording(log, experiment.end, 1.0)


def wrench_gap(recording: Recording) -> float:
    """Largest difference of commanded and measured wrenches over the largest commanded entry."""
    gap = np.abs(recording.wrenches - recording.contact_wrenches).max()
    return float(gap / np.abs(recording.wrenches).max())


@pytest.mark.parametrize("contact", ["welded", "hard"])
def test_simulated_contacts_bear_the_commanded_wrenches(contact: str) -> None:
    """To 1e-6; what is left is the plant's Euler step, of first order in its size.

    The mapping of the plain law neglects what joints and momentum do to each other, and misses the
    wrenches by more than a percent at any step size.
    """
    coarse, fine = (
        wrench_gap(released(TRACKING, 0.08, dt, plant__contact=contact)) for dt in (4e-4, 4e-5)
    )
    assert fine < 1e-6
    assert coarse / fine == pytest.approx(10.0, rel=0.3)
    assert wrench_gap(released(PLAIN, 0.01, 4e-4, plant__contact=contact)) > 0.01


def linear_response(K_P: Array, K_D: Array, mass: float, start: Array, time: Array) -> Array:
    """e(t) (n, 3) of m e'' + m K_D e' + K_P e = 0 from rest at ``start``."""
    system = np.block([[np.zeros((3, 3)), np.eye(3)], [-K_P / mass, -K_D]])
    state = np.concatenate([start, np.zeros(3)])
    return np.array([(expm(t * system) @ state)[:3] for t in time])


def test_com_error_follows_the_linear_second_order_system() -> None:
    """To 1 % of the initial error with the tracking form, and not with the plain law."""
    gaps = {}
    for case in (TRACKING, PLAIN):
        recording = released(case, 1.2, 1e-3)
        every = slice(0, None, 20)
        time, error = recording.time[every], recording.com_error[every]
        predicted = linear_response(
            np.diag([6000.0, 2000.0, 4000.0]),
            np.diag([7.0, 1.0, 0.05]),
            recording.robot.mass,
            error[0],
            time,
        )
        gaps[case] = np.abs(error - predicted).max() / np.linalg.norm(error[0])
    assert gaps[TRACKING] < 0.01
    assert gaps[PLAIN] > 0.1


def following(case: str, period: float) -> Recording:
    """A move of CoM and base within 0.6 s, from rest on the setpoint."""
    move = {
        "time_s": 0.05,
        "duration_s": 0.6,
        "com_m": [0.02, 0.02, -0.03],
        "base_rpy_rad": [0.05, 0.1, 0.15],
    }
    settings: dict[str, Any] = {
        "control_period_s": period,
        "plant__step_s": period,
        "plant__joint_damping": 0.0,
        "pushes": [],
        "duration_s": 0.65,
    }
    return Experiment(law_config(case, controller__setpoints=[move], **settings)).run()


@pytest.fixture(scope="module")
def followed() -> Recording:
    return following(TRACKING, 5e-4)


def test_com_follows_a_moving_setpoint(followed: Recording) -> None:
    """Off by less than 0.1 mm on a way of 41 mm, where the plain law is off by millimetres."""
    assert np.abs(followed.com_error).max() < 1e-4
    assert np.abs(following(PLAIN, 1e-3).com_error).max() > 1e-3


def test_angular_momentum_error_obeys_its_first_order_law(followed: Recording) -> None:
    """d(l - l_d)/dt = R_d tau_P - D (l - l_d) during the move, with l_d = I_l omega_d.

    To 2 %, of which the Euler step is the cause: half of it at half the step.
    """
    robot, period = followed.robot, followed.config.control_period_s
    path = make_controller(followed.config, robot).path
    errors, torques = [], []
    for t, q, v in zip(followed.time, followed.q, followed.v, strict=True):
        desired = path.at(float(t))
        momentum = centroidal_momentum(robot.model, q, v)
        errors.append(momentum.h[3:] - momentum.inertia @ desired.angular_velocity)
        torques.append(spring_torque(K_R, desired.quaternion, q[3:7]) - D @ errors[-1])
    rate = np.diff(errors, axis=0) / period
    assert np.abs(rate).max() > 5.0
    np.testing.assert_allclose(rate, torques[:-1], rtol=0, atol=0.02 * np.abs(rate).max())


def test_desired_angular_momentum_rate_is_its_derivative(toro: Robot) -> None:
    """Against I_l omega_d along a motion of the robot, whose inertia changes."""
    move = {"time_s": 0.0, "duration_s": 1.0, "base_rpy_rad": [0.4, -0.3, 0.9]}
    controller = make_controller(law_config(TRACKING, controller__setpoints=[move]), toro)
    rng, step = np.random.default_rng(83), 1e-5

    def desired_momentum(q: Array, v: Array, t: float) -> Array:
        inertia = centroidal_momentum(toro.model, q, v).inertia
        return np.asarray(inertia @ controller.path.at(t).angular_velocity)

    for time in (0.2, 0.5, 0.7):
        q, v = moved(toro, 0.3, rng)
        after, before = (
            desired_momentum(pin.integrate(toro.model, q, h * v), v, time + h)
            for h in (step, -step)
        )
        data, here = toro.model.createData(), Support(toro).at(q, v)
        rate = desired_angular_momentum_rate(data, here, controller.path.at(time))
        assert_same(rate, (after - before) / (2.0 * step), 1e-5)


def test_plain_form_is_the_default(toro: Robot) -> None:
    """Without ``tracking`` the torques are those of the quasi-static mapping, as published."""
    q, v = moved(toro, 0.02, np.random.default_rng(84))
    configs = (
        law_config(PLAIN),
        law_config(PLAIN, controller__tracking=False),
        law_config(TRACKING),
    )
    default, plain, tracking = (make_controller(c, toro).step(q, v, 0.0).torques for c in configs)
    np.testing.assert_array_equal(default, plain)
    assert np.abs(tracking - plain).max() > 0.1


@pytest.mark.parametrize(
    ("case", "value", "message"),
    [
        (PLAIN, "perhaps", r"'controller.tracking' = 'perhaps': it must be true or false"),
        ("ott2011", True, r"unknown key 'controller.tracking'; valid: .*gains"),
    ],
)
def test_tracking_is_a_switch_of_the_momentum_law_only(
    case: str, value: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        law_config(case, controller__tracking=value)


def test_well_conditioned_systems_are_solved_exactly() -> None:
    rng = np.random.default_rng(85)
    for shape in ((12, 12), (12, 15), (12, 8)):
        matrix, right = rng.normal(size=shape) + 3.0 * np.eye(*shape), rng.normal(size=12)
        expected = np.linalg.lstsq(matrix, right, rcond=None)[0]
        np.testing.assert_allclose(fading_least_squares(matrix, right), expected, rtol=1e-9)


def test_weak_directions_fade_out_without_a_jump() -> None:
    """The answer grows as 1 / sigma down to the threshold and shrinks with sigma below it."""
    right = np.array([0.0, 1.0])

    def answer(sigma: float) -> float:
        return float(fading_least_squares(np.diag([1.0, sigma]), right)[1])

    assert answer(2.0 * WEAK) == pytest.approx(0.5 / WEAK)
    assert answer(0.5 * WEAK) == pytest.approx(0.5 / WEAK)
    assert answer(WEAK * (1.0 + 1e-9)) == pytest.approx(answer(WEAK * (1.0 - 1e-9)))
    assert answer(0.0) == 0.0


def test_a_straight_knee_asks_for_no_boundless_torque(toro: Robot) -> None:
    q = toro.q_nominal.copy()
    legs = [i for i, name in enumerate(toro.joint_names) if "knee" in name or "pitch" in name]
    q[7:][legs] = 0.0
    controller = make_controller(law_config(TRACKING), strong(toro))
    assert isinstance(controller, MomentumController)
    output = controller.step(q, np.zeros(33), 0.0)
    assert np.abs(output.torques).max() < 5e3


@pytest.mark.parametrize("stance", ["toro_single_support", "toro_wall"])
def test_push_on_other_contacts_is_recovered(stance: str) -> None:
    """A hand on a wall hardly lets the angular momentum change: a weak direction."""
    recording = Experiment(law_config(TRACKING, stance, duration_s=1.4)).run()
    assert recording.summary()["outcome"] == "recovered"
