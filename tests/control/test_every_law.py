"""Properties that hold for every law, whatever it is made of: one suite over all of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from law_samples import (
    CASES,
    MIRROR,
    contact_jacobian,
    law,
    law_config,
    mirror_joints,
    mirror_state,
    moved,
    on_contacts,
    simulate,
    turn,
    wrench_at_com,
)
from numpy.typing import NDArray
from reordered_robot import reordered_toro

from balance.config import LAWS, ContactAssumptionsConfig, gain_matrix, load_config
from balance.control import ControlStatus, make_controller
from balance.control.parts.distribution import contact_cones
from balance.errors import ConfigError, RobotError
from balance.experiment import run
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

HELD = 1e-6  # of the weight: gravity not balanced
IN_CONE = 1e-8  # of the weight: violation of a cone
MET = 1e-4  # of the weight: wanted less commanded wrench; the QP's regulariser alone leaves 1e-5
SAME = 1e-6  # relative for torques, absolute for m and rad
STANCES = ("toro_push", "toro_single_support", "toro_table", "toro_wall")
# A hand that is to press harder than its share keeps the QP from the exact answer.
LIGHT = {"controller__contacts__min_normal_force_N": 10.0}
STATES = 10
PUSH = np.array([3.0, 12.0, 0.0])  # N s

every_law = pytest.mark.parametrize("case", CASES)


@every_law
def test_robot_without_contacts_is_refused_in_one_sentence(case: str, toro: Robot) -> None:
    with pytest.raises(RobotError, match=r"^robot 'toro' has no contact surface; give it [^\n]*$"):
        law(case, dataclasses.replace(toro, soles=()))


def assert_same(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


def standing(robot: Robot, rng: np.random.Generator) -> tuple[Array, Array]:
    """A state off by some centimetres, in motion on contacts at rest; some wrenches are limited."""
    q, v = moved(robot, 0.03, rng)
    return q, on_contacts(robot, q, v)


def assert_gravity_is_held(case: str, experiment: str, robot: Robot | None = None) -> None:
    """Torques and contact wrenches are an equilibrium by recursive Newton-Euler."""
    config = law_config(case, experiment, **LIGHT)
    robot = robot or robot_of(config)
    q, zero = robot.q_nominal, np.zeros(robot.model.nv)
    output = make_controller(config, robot).step(q, zero, 0.0)
    held = contact_jacobian(robot, q).T @ output.wrenches.ravel()
    held[6:] += output.torques
    gravity = pin.rnea(robot.model, robot.model.createData(), q, zero, zero)
    weight = robot.mass * 9.81
    np.testing.assert_allclose(held, gravity, rtol=0, atol=HELD * weight)
    assert output.status & ~ControlStatus.OTHER_SOLVER == ControlStatus.OK
    for cone, wrench in zip(
        contact_cones(robot, config.controller.contacts), output.wrenches, strict=True
    ):
        assert cone.margin(wrench).min() >= -IN_CONE * weight


@every_law
@pytest.mark.parametrize("stance", STANCES)
def test_rest_holds_gravity_on_any_contacts(case: str, stance: str) -> None:
    assert_gravity_is_held(case, stance)


@every_law
def test_rest_holds_gravity_with_the_knees_against_a_bench(case: str, toro: Robot) -> None:
    assert_gravity_is_held(case, "toro_push", with_knees(toro))


def with_knees(robot: Robot) -> Robot:
    """Standing as before, each knee with a pad that leans against something upright before it."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    upright = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # z backwards
    pads = []
    for name in ("left_knee", "right_knee"):
        frame = robot.model.getFrameId(name)
        pad = pin.SE3(upright, data.oMf[frame].translation + np.array([0.06, 0.0, 0.0]))
        placement = data.oMf[frame].actInv(pad)
        pads.append(ContactSurface(name, name, frame, placement, 0.03, 0.03, pad))
    return dataclasses.replace(robot, soles=(*robot.soles, *pads))


@every_law
@pytest.mark.parametrize("robot", ["talos", "icub", "g1"])
def test_rest_holds_gravity_on_any_robot(case: str, robot: str) -> None:
    assert_gravity_is_held(case, f"{robot}_push")


def lightened(robot: Robot, mass: float) -> Robot:
    """The same robot of ``mass`` kg."""
    model = robot.model.copy()
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        scale = mass / robot.mass
        model.inertias[joint] = pin.Inertia(
            scale * inertia.mass, inertia.lever, scale * inertia.inertia
        )
    return dataclasses.replace(robot, model=model, mass=float(pin.computeTotalMass(model)))


@every_law
def test_robot_of_any_weight_stands_on_the_default_contacts(case: str, toro: Robot) -> None:
    """10 N on each sole would be more than 1.5 kg weigh."""
    light = lightened(toro, 1.5)
    keys = {"controller": CASES[case], "pushes": [], "reference": None}
    config = load_config("toro_push", keys)
    zero = np.zeros(light.model.nv)
    output = make_controller(config, light).step(light.q_nominal, zero, 0.0)
    assert output.status & ~ControlStatus.OTHER_SOLVER == ControlStatus.OK
    held = wrench_at_com(light, light.q_nominal, output.wrenches)
    expected = [0.0, 0.0, 1.5 * 9.81, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(held, expected, rtol=0, atol=MET * 1.5 * 9.81)
    path = simulate(config, light, np.zeros(3), 200)
    np.testing.assert_allclose(path[-1], light.q_nominal, rtol=0, atol=1e-3)  # m or rad


def test_least_normal_force_is_ten_newtons_on_the_toro_like_robot(toro: Robot) -> None:
    """To the last bit, so that results stay what they were; elsewhere it goes with the weight."""
    assumed = ContactAssumptionsConfig()
    assert assumed.least_normal_force(toro.mass) == 10.0
    assert assumed.least_normal_force(0.1 * toro.mass) == pytest.approx(1.0, rel=1e-9)
    half = ContactAssumptionsConfig(min_normal_force=0.01)
    assert half.least_normal_force(10.0) == pytest.approx(0.01 * 10.0 * 9.81, rel=1e-9)
    assert ContactAssumptionsConfig(min_normal_force_N=3.0).least_normal_force(10.0) == 3.0


@every_law
def test_least_forces_beyond_the_weight_are_refused(case: str, toro: Robot) -> None:
    keys = {"controller": {**CASES[case], "contacts": {"min_normal_force_N": 10.0}}}
    with pytest.raises(ConfigError, match=r"'controller.contacts.min_normal_force_N' = 10 .*weigh"):
        make_controller(load_config("toro_push", keys), lightened(toro, 1.5))


@every_law
@pytest.mark.parametrize("stance", STANCES)
def test_wrenches_are_in_their_cones_and_torques_within_limits(case: str, stance: str) -> None:
    """Up to states from which no law recovers."""
    config = law_config(case, stance)
    robot = robot_of(config)
    rng, weight = np.random.default_rng(50), robot.mass * 9.81
    controller = make_controller(config, robot)
    cones = contact_cones(robot, config.controller.contacts)
    for size in np.repeat([0.02, 0.2, 0.6], STATES):
        output = controller.step(*moved(robot, size, rng), 0.0)
        for cone, wrench in zip(cones, output.wrenches, strict=True):
            assert cone.margin(wrench).min() >= -IN_CONE * weight
        assert (np.abs(output.torques) <= robot.effort_limits).all()


@every_law
def test_a_joint_at_its_limit_is_reported(toro: Robot, case: str) -> None:
    rng, reported = np.random.default_rng(51), 0
    controller = law(case, toro)
    for _ in range(STATES):
        output = controller.step(*moved(toro, 0.6, rng), 0.0)
        if output.status & (ControlStatus.QP_FAILED | ControlStatus.BAD_STATE):
            continue
        at_limit = (np.abs(output.torques) >= toro.effort_limits).any()
        assert not at_limit or output.status & ControlStatus.TORQUE_LIMITED
        reported += int(at_limit)
    assert reported > 0


@every_law
@pytest.mark.parametrize("stance", STANCES)
def test_net_wrench_meets_the_request_where_feasible(case: str, stance: str) -> None:
    """Near rest nothing limits the contacts: what is asked for is what is commanded."""
    config = law_config(case, stance, **LIGHT)
    robot = robot_of(config)
    rng, weight = np.random.default_rng(52), robot.mass * 9.81
    controller = make_controller(config, robot)
    for _ in range(STATES):
        q, v = moved(robot, 0.002, rng)
        output = controller.step(q, on_contacts(robot, q, v), 0.0)
        assert np.abs(output.residual).max() < MET * weight
        assert not output.status & ControlStatus.WRENCH_LIMITED


@pytest.mark.parametrize("case", [case for case in CASES if case != "joint_pd"])
def test_net_wrench_pulls_the_com_back(toro: Robot, case: str) -> None:
    """At rest, off the setpoint by a few mm, the net horizontal force is about the spring's, K_P e.

    Not exactly: the virtual model's spring holds a point of the base, which moves farther.  Not of
    ``joint_pd``, whose springs hold joints and whose wrenches are the weight.
    """
    controller, config = law(case, toro), law_config(case)
    K_P = gain_matrix(config.controller.gains.K_P)
    for offset in ((0.004, 0.0), (-0.002, 0.003)):
        com = toro.com()[:2] + offset
        q = toro.standing_posture(com_xy=com, base_height=toro.q_nominal[2])
        output = controller.step(q, np.zeros(toro.model.nv), 0.0)
        force = wrench_at_com(toro, q, output.wrenches)[:2]
        expected = -K_P[:2, :2] @ (toro.com(q) - toro.com())[:2]
        np.testing.assert_allclose(force, expected, atol=0.3 * np.abs(expected).max())


@every_law
def test_mirrored_state_gives_mirrored_torques(toro: Robot, case: str) -> None:
    rng, controller = np.random.default_rng(53), law(case, toro)
    for _ in range(STATES):
        q, v = standing(toro, rng)
        expected = mirror_joints(toro.joint_names, controller.step(q, v, 0.0).torques)
        actual = controller.step(*mirror_state(toro, q, v), 0.0).torques
        assert_same(actual, expected)


@every_law
def test_mirrored_push_gives_mirrored_motion(toro: Robot, case: str) -> None:
    """The whole configuration, 0.3 s after the push."""
    config = law_config(case)
    one, other = (simulate(config, toro, push, 320)[-1] for push in (PUSH, MIRROR @ PUSH))
    expected, _ = mirror_state(toro, one, np.zeros(toro.model.nv))
    assert np.abs(one - toro.q_nominal).max() > 0.01
    assert np.abs(pin.difference(toro.model, expected, other)).max() < SAME


@every_law
def test_turning_the_world_about_the_vertical_changes_nothing(toro: Robot, case: str) -> None:
    """Robot, setpoint and the gains that act in world axes turned together."""
    R = pin.rpy.rpyToMatrix(0.0, 0.0, 2.1)
    gains = law_config(case).controller.gains
    turned = {}
    for name in ("K_P", "K_D", "D"):
        gain = R @ gain_matrix(getattr(gains, name)) @ R.T
        turned[f"controller__gains__{name}"] = (0.5 * (gain + gain.T)).tolist()
    other = dataclasses.replace(toro, q_nominal=turn(toro.q_nominal, R))
    here, there = law(case, toro), law(case, other, **turned)
    rng = np.random.default_rng(54)
    for _ in range(STATES):
        q, v = standing(toro, rng)
        assert_same(there.step(turn(q, R), v, 0.0).torques, here.step(q, v, 0.0).torques)


@every_law
def test_half_the_control_rate_gives_nearly_the_same_motion(toro: Robot, case: str) -> None:
    """Peak of the CoM's sway at 1 kHz and at 500 Hz; the peak comes 0.3 s after the push."""
    peaks = []
    for period, n in ((0.001, 450), (0.002, 225)):
        path = simulate(law_config(case, control_period_s=period), toro, PUSH, n)
        peaks.append(max(np.linalg.norm(toro.com(q) - toro.com()) for q in path[::5]))
    assert peaks[0] > 0.005
    assert peaks[1] == pytest.approx(peaks[0], rel=0.03)


@pytest.fixture(scope="module")
def reordered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Robot, NDArray[np.intp]]:
    return reordered_toro(tmp_path_factory.mktemp("robot"))


@every_law
def test_joints_in_another_order_move_the_same(
    toro: Robot, reordered: tuple[Robot, NDArray[np.intp]], case: str
) -> None:
    other, order = reordered
    assert (np.diff(order) < 0).sum() >= 4
    config = law_config(case)
    expected, actual = (simulate(config, robot, PUSH, 200)[-1] for robot in (toro, other))
    assert np.abs(expected - toro.q_nominal).max() > 0.01
    np.testing.assert_allclose(actual[:7], expected[:7], rtol=0, atol=SAME)
    np.testing.assert_allclose(actual[7:], expected[7:][order], rtol=0, atol=SAME)


@every_law
@pytest.mark.parametrize("stance", STANCES[1:])
def test_a_nudge_is_borne_on_any_contacts(case: str, stance: str) -> None:
    """Half a second after 1 N s from the side all contacts and the CoM are nearly in place.

    A hand bears some ten newtons only, so that it may slide a little.
    """
    config = law_config(case, stance, control_period_s=0.002)
    robot = robot_of(config)
    end = simulate(config, robot, np.array([0.0, 1.0, 0.0]), 250)[-1]
    for then, now in zip(poses(robot, robot.q_nominal), poses(robot, end), strict=True):
        assert np.linalg.norm(now.translation - then.translation) < 0.01
    assert 1e-5 < np.linalg.norm(robot.com(end) - robot.com()) < 0.02


def poses(robot: Robot, q: Array) -> list[pin.SE3]:
    """Where the contact surfaces are."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return [sole.pose(data).copy() for sole in robot.soles]


@every_law
def test_the_push_of_the_paper_is_recovered(case: str) -> None:
    """Three seconds after the hit the robot is back on its feet, as the verdict sees it."""
    summary = run(law_config(case, duration_s=3.5)).summary()
    assert summary["outcome"] == "recovered", summary["cause"]
    assert summary["peak_com_error_m"] > 0.01


def test_every_law_of_the_schema_has_a_controller(toro: Robot) -> None:
    for name in LAWS.ready():
        assert callable(law(name, toro).step)
