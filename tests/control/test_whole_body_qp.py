"""The whole-body program against forward dynamics and its own optimality conditions."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law_config, moved, on_contacts, strong, wrench_at_com
from numpy.typing import NDArray
from scipy.optimize import nnls
from whole_body_samples import contact_accelerations, forward

from balance.config import gain_matrix, load_config
from balance.control.momentum import MomentumController
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.output import ControlStatus
from balance.control.parts.quaternion_form import quaternion_equations
from balance.control.parts.whole_body import WholeBody
from balance.control.qp import QPSolution, QPStatus, QuadraticProgram
from balance.control.whole_body_qp import WholeBodyController
from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.state import chart_from_pinocchio, pinocchio_acceleration
from balance.errors import ConfigError, FrameError, RobotError
from balance.robots import Robot, load_robot
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

STANCES = ("toro_push", "toro_single_support", "toro_table", "toro_wall", "g1_push", "icub_push")
STATES = 5
SAME = 1e-6  # relative to the largest torque


def law(robot: Robot, **controller: Any) -> WholeBodyController:
    keys = {f"controller__{key}": value for key, value in controller.items()}
    return WholeBodyController(law_config("whole_body_qp", **keys), robot)


def com_force(robot: Robot, q: Array, v: Array, dv: Array) -> Array:
    data = robot.model.createData()
    pin.centerOfMass(robot.model, data, q, v, dv)
    return np.array(robot.mass * data.acom[0])


@pytest.mark.parametrize("stance", STANCES)
@pytest.mark.parametrize("size", [0.003, 0.1])
def test_torques_and_wrenches_keep_the_contacts_at_rest(stance: str, size: float) -> None:
    """Forward dynamics knows nothing of the program: its equations of motion hold exactly."""
    keys = {"controller.law": "whole_body_qp", "controller.feet_down": False}
    config = load_config(stance, keys)
    robot, rng = robot_of(config), np.random.default_rng(80)
    controller = WholeBodyController(config, robot)
    for _ in range(STATES):
        q, v = moved(robot, size, rng)
        v = on_contacts(robot, q, v)
        output = controller.step(q, v, 0.0)
        assert not output.status & ControlStatus.QP_FAILED
        dv = forward(robot, q, v, output)
        scale = 1.0 + np.abs(dv).max()
        assert np.abs(contact_accelerations(robot, q, v, dv)).max() < 1e-8 * scale


@pytest.mark.parametrize("rate", [0.0, 25.0])
def test_contacts_that_move_come_to_rest_at_the_given_rate(toro: Robot, rate: float) -> None:
    controller = law(toro, contact_damping=rate, feet_down=False)
    q, v = moved(toro, 0.003, np.random.default_rng(79))
    velocity = contact_jacobian(toro, q) @ v
    assert np.abs(velocity).max() > 1e-3
    dv = forward(toro, q, v, controller.step(q, v, 0.0))
    actual = contact_accelerations(toro, q, v, dv)
    np.testing.assert_allclose(actual, -rate * velocity, rtol=0, atol=1e-8)


def test_a_lifted_foot_that_bears_little_is_asked_to_come_down(toro: Robot) -> None:
    """At rest by a quarter of the rate squared times its height, in the measure of what the CoM
    above the other foot leaves it to bear.
    """
    aside, height = 0.08, 0.01
    q, data = toro.q_nominal.copy(), toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, q)
    left = toro.soles[0].pose(data).translation[1]
    q[1:3] += [aside, height]
    controller = law(toro, contact_damping=50.0)
    here = controller.body.at(q, np.zeros(toro.model.nv))
    asked = controller.equations(here).drift - here.drift
    idle = 1.0 - 2.0 * (left - aside) / (2.0 * left)
    assert asked[8] == pytest.approx(idle * 25.0**2 * height, rel=1e-6)
    asked[8] = 0.0
    assert np.abs(asked).max() < 1e-9


def test_com_accelerates_by_the_gains_where_nothing_limits_it(toro: Robot) -> None:
    """m d2x/dt2 = -K_P (x - x_d) - K_D p."""
    controller, rng = law(toro), np.random.default_rng(81)
    gains = law_config("whole_body_qp").controller.gains
    K_P, K_D = gain_matrix(gains.K_P), gain_matrix(gains.K_D)
    for _ in range(STATES):
        q, v = moved(toro, 0.004, rng)
        output = controller.step(q, v, 0.0)
        assert output.status is ControlStatus.OK
        data = toro.model.createData()
        pin.centerOfMass(toro.model, data, q, v)
        expected = -K_P @ (data.com[0] - toro.com()) - toro.mass * K_D @ data.vcom[0]
        actual = com_force(toro, q, v, forward(toro, q, v, output))
        # The posture of the legs pulls, with its small share of the weights.
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * toro.mass * 9.81)


def limited_states(robot: Robot, seed: int) -> list[tuple[Array, Array]]:
    """States in which contacts or drives reach a limit, up to some without hope of recovery."""
    rng = np.random.default_rng(seed)
    states = [moved(robot, size, rng) for size in (0.07, 0.07, 0.1, 0.2, 0.4)]
    return [(q, on_contacts(robot, q, v)) for q, v in states]


def test_answer_is_optimal_in_the_papers_own_unknowns(toro: Robot) -> None:
    """Karush-Kuhn-Tucker conditions of (36) in (dv/dt, wrenches, torques), nothing eliminated.

    The gradient of the cost must be a combination of the equality rows and, with non-negative
    factors, of the inequalities that are active.  The paper bounds no joint and pulls no foot down.
    """
    controller = law(toro, joint_bounds=False, feet_down=False)
    nv, k = toro.model.nv, 12
    for q, v in limited_states(toro, 82):
        output = controller.step(q, v, 0.0)
        assert len(output.active) > 0
        dv, wrenches = forward(toro, q, v, output), output.wrenches.ravel()
        here = controller.body.at(q, v)
        rows, values, G = *controller.tasks.evaluate(here, controller.path.at(0.0)), here.G
        share = np.array([controller.distribution.even_share(G, column) for column in G.T]).T
        uneven = np.eye(k) - share
        weight = 1e-12 * controller.force_metric
        gradient = np.concatenate(
            [
                rows.T @ (rows @ dv - values),
                uneven.T @ (weight * (uneven @ wrenches)),
                np.zeros(nv - 6),
            ]
        )
        J = contact_jacobian(toro, q)
        M = pin.crba(toro.model, toro.model.createData(), q)
        M = np.triu(M) + np.triu(M, 1).T
        S = np.eye(nv)[6:]
        equalities = np.block([[M, -J.T, -S.T], [J, np.zeros((k, k + nv - 6))]])
        cones, torques = controller.limits.cones, np.eye(nv - 6)
        inequalities = np.concatenate(
            [
                np.hstack([np.zeros((len(cones), nv)), cones, np.zeros((len(cones), nv - 6))]),
                np.hstack([np.zeros((nv - 6, nv + k)), -torques]),
                np.hstack([np.zeros((nv - 6, nv + k)), torques]),
            ]
        )[output.active]
        size = np.linalg.norm(gradient)
        assert _outside_cone(gradient, equalities, inequalities) < 1e-6 * size
        if output.status is not ControlStatus.OK:
            assert _outside_cone(gradient, equalities, inequalities[:0]) > 1e-3 * size


def _outside_cone(gradient: Array, equalities: Array, inequalities: Array) -> float:
    """Distance of a gradient from what the rows of constraints can balance."""
    rows = np.concatenate([equalities, -equalities, inequalities])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return float(nnls(rows.T, gradient, maxiter=10000)[1])


@pytest.mark.parametrize("stance", ["toro_push", "toro_single_support", "toro_wall"])
def test_both_forms_give_the_same_torques(stance: str) -> None:
    """Pinocchio's velocities, and the quaternion with its multiplier, Bouyarmane2012 (38)."""
    configs = [
        load_config(stance, {"controller.law": "whole_body_qp", "controller.form": form})
        for form in ("plain", "quaternion")
    ]
    robot = robot_of(configs[0])
    plain, quaternion = (WholeBodyController(config, robot) for config in configs)
    for q, v in [moved(robot, 0.003, np.random.default_rng(83)), *limited_states(robot, 84)]:
        expected, actual = plain.step(q, v, 0.0), quaternion.step(q, v, 0.0)
        # Which solver found it may differ with the rounding of a library.
        solver = ControlStatus.OTHER_SOLVER
        assert actual.status & ~solver == expected.status & ~solver
        size = np.abs(expected.torques).max()
        np.testing.assert_allclose(actual.torques, expected.torques, rtol=0, atol=SAME * size)
        size = np.abs(expected.wrenches).max()
        np.testing.assert_allclose(actual.wrenches, expected.wrenches, rtol=0, atol=SAME * size)


@pytest.mark.parametrize("name", ["toro", "solo12"])
def test_quaternion_form_is_the_papers_sum_over_the_bodies(name: str) -> None:
    """M and N of Bouyarmane2012 (25)-(26) body by body, against E^T M E and E^T (M e + bias)."""
    robot, rng = load_robot(name), np.random.default_rng(84)
    body = WholeBody(robot)
    for _ in range(STATES):
        q, v = moved(robot, 0.5, rng)
        q[3:7] *= rng.choice([-1.0, 1.0])  # the other sign is the same rotation
        equations = quaternion_equations(body.at(q, v))
        chart_q, chart_qdot = chart_from_pinocchio(robot.model, "quaternion", q, v)
        sign = np.ones(len(chart_q))
        sign[3:7] = np.sign(q[6] * chart_q[6])
        gauss = gauss_dynamics(robot.model, "quaternion", chart_q, chart_qdot)
        M, bias = gauss.M, gauss.N @ chart_qdot - gauss.gravity
        size = np.abs(M).max(), np.abs(bias).max()
        actual = sign[:, None] * equations.M * sign
        np.testing.assert_allclose(actual, M, rtol=0, atol=1e-12 * size[0])
        np.testing.assert_allclose(sign * equations.bias, bias, rtol=0, atol=1e-12 * size[1])
        np.testing.assert_allclose(sign * equations.J[-1], gauss.C[0], rtol=0, atol=1e-12)
        assert equations.drift[-1] == pytest.approx(gauss.constraint_bias[0], rel=1e-9)


def test_quaternion_form_satisfies_the_projected_equation_and_has_no_multiplier(
    toro: Robot,
) -> None:
    """Every x of the free motion solves Bouyarmane2012 (35) and (30), whatever the tasks ask.

    The multiplier vanishes because inertia, torques and wrenches act through body Jacobians alone.
    """
    rng = np.random.default_rng(85)
    body = WholeBody(toro)
    for _ in range(STATES):
        q, v = moved(toro, 0.3, rng)
        equations = quaternion_equations(body.at(q, v))
        free = FreeMotion(equations, np.ones(13))
        x = rng.normal(size=free.n_x)
        torques, forces = free.forces(x)
        a = free.a_0 + free.Z @ x[: free.n_y]
        chart_q, chart_qdot = chart_from_pinocchio(toro.model, "quaternion", q, v)
        gauss = gauss_dynamics(toro.model, "quaternion", chart_q, chart_qdot)
        applied = equations.J[:12].T @ forces[:12]
        applied[7:] += torques
        motion = gauss.M @ a + gauss.N @ chart_qdot - gauss.gravity
        size = np.abs(motion).max()
        assert np.abs(gauss.A @ (motion - applied)).max() < 1e-9 * size
        assert np.abs(gauss.C @ a + gauss.constraint_bias).max() < 1e-9 * size
        assert abs(forces[12]) < 1e-9 * size
        dv = pinocchio_acceleration(toro.model, "quaternion", chart_q, chart_qdot, a)
        assert equations.to_dv is not None and equations.dv_bias is not None
        np.testing.assert_allclose(
            equations.to_dv @ a + equations.dv_bias, dv, rtol=0, atol=1e-9 * size
        )
        assert np.abs(contact_accelerations(toro, q, v, dv)).max() < 1e-9 * size


def test_momentum_task_asks_for_the_wrench_of_the_momentum_law(toro: Robot) -> None:
    controller = law(toro, tasks={"momentum": 1.0, "posture": 0.1})
    momentum = MomentumController(law_config("momentum"), toro)
    rng = np.random.default_rng(86)
    for _ in range(STATES):
        q, v = moved(toro, 0.004, rng)
        ours, theirs = controller.step(q, v, 0.0), momentum.step(q, v, 0.0)
        assert ours.status is theirs.status is ControlStatus.OK
        np.testing.assert_allclose(
            wrench_at_com(toro, q, ours.wrenches),
            wrench_at_com(toro, q, theirs.wrenches),
            rtol=0,
            atol=1e-5 * toro.mass * 9.81,
        )


def test_limbs_accelerate_as_their_task_says(toro: Robot) -> None:
    """A hand's position and the torso's orientation, which the other tasks leave free.

    Light joints turn so hard for it that bounds on their speed would be in the way.
    """
    frames = {
        "hand": {"frame": "left_hand", "hold": "position", "frequency_hz": 2.0},
        "torso": {"frame": "trunk", "hold": "orientation"},
    }
    weights = {"com": 1.0, "hand": 1.0, "torso": 1.0}
    robot = strong(toro)
    controller = law(robot, frames=frames, tasks=weights, joint_bounds=False)
    q, v = moved(robot, 0.004, np.random.default_rng(87))
    output = controller.step(q, v, 0.0)
    assert output.status is ControlStatus.OK
    dv = forward(robot, q, v, output)
    rows, values = controller.tasks.evaluate(controller.body.at(q, v), controller.path.at(0.0))
    *parts, _ = controller.tasks.slices
    for part in parts:
        missing = rows[part] @ dv - values[part]
        assert np.abs(missing).max() < 1e-4 * np.abs(values[part]).max()


def test_heavier_task_is_met_better(toro: Robot) -> None:
    """In states where the soles cannot serve CoM and base both."""
    for q, v in limited_states(toro, 88)[:3]:
        errors = []
        for weight in (0.1, 10.0):
            controller = law(toro, tasks={"com": 1.0, "base": weight, "posture": 0.1})
            dv = forward(toro, q, v, controller.step(q, v, 0.0))
            rows, values = controller.tasks.evaluate(
                controller.body.at(q, v), controller.path.at(0.0)
            )
            part = controller.tasks.slices[1]
            errors.append(np.linalg.norm(rows[part] @ dv - values[part]) / np.sqrt(weight))
        assert errors[1] < 0.9 * errors[0]


def test_active_limits_are_named(toro: Robot) -> None:
    q, v = toro.q_nominal.copy(), np.zeros(toro.model.nv)
    q[1] += 0.3
    controller = law(toro)
    output = controller.step(q, v, 0.0)
    assert output.status & ControlStatus.WRENCH_LIMITED
    names = {controller.constraint_names[row] for row in output.active}
    assert "left sole: CoP at its left edge" in names
    assert any("torque at its" in name for name in names)


class _NoSolution:
    """A solver that finds every program infeasible."""

    name, fallbacks = "none", 0

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        nothing = np.full(qp.g.size, np.nan)
        return QPSolution(nothing, qp.d, np.empty(0, dtype=int), QPStatus.INFEASIBLE)


def test_failed_program_holds_the_weight_and_says_so(toro: Robot) -> None:
    controller = law(toro)
    q, v = limited_states(toro, 89)[-1]
    good = controller.step(q, v, 0.0)
    solver, controller.solver = controller.solver, _NoSolution()
    output = controller.step(q, v, 0.0)
    assert output.status & ControlStatus.QP_FAILED and output.status & ControlStatus.RELAXED
    assert output.wrenches[:, 2].sum() > 0.5 * toro.mass * 9.81
    controller.solver = solver
    again = controller.step(q, v, 0.0)
    np.testing.assert_allclose(again.torques, good.torques, rtol=1e-11, atol=1e-11)


def test_state_that_is_not_finite_is_answered_with_gravity_held(toro: Robot) -> None:
    """At the first step, before any good answer: torques and wrenches in balance at rest."""
    q, v = toro.q_nominal.copy(), np.zeros(toro.model.nv)
    q[10] = np.nan
    output = law(toro).step(q, v, 0.0)
    assert output.status is ControlStatus.BAD_STATE
    at_rest = forward(toro, toro.q_nominal, v, output)
    assert np.abs(at_rest).max() < 1e-3
    v[3] = np.inf
    assert law(toro).step(toro.q_nominal, v, 0.0).status is ControlStatus.BAD_STATE


def test_robot_without_contacts_is_refused(toro: Robot) -> None:
    with pytest.raises(RobotError, match="has no contact surface"):
        law(dataclasses.replace(toro, soles=()))


def test_config_of_another_law_is_refused(toro: Robot) -> None:
    with pytest.raises(ConfigError, match=r"'momentum' has no key .*'form' or 'frames'"):
        WholeBodyController(law_config("momentum"), toro)


def test_frame_that_the_robot_lacks_is_named(toro: Robot) -> None:
    with pytest.raises(FrameError, match=r"frames\.grip.*no frame 'lefthand'.*did you mean"):
        law(toro, frames={"grip": {"frame": "lefthand"}}, tasks={"com": 1.0, "grip": 1.0})


@pytest.mark.parametrize(
    ("controller", "sentence"),
    [
        ({"tasks": {"com": 1.0, "bas": 1.0}}, "unknown task 'bas'.*did you mean 'base'.*frames"),
        ({"tasks": {}}, "tasks"),
        ({"tasks": {"com": -1.0}}, r"tasks\.com"),
        ({"frames": {"com": {"frame": "left_hand"}}}, r"'frames\.com' has the name of a built-in"),
        ({"frames": {"hand": {"frame": "left_hand", "hold": "all"}}}, "frames.*hold.*position"),
        ({"form": "euler"}, "form.*plain.*quaternion"),
    ],
)
def test_wrong_keys_are_one_sentence(controller: dict[str, Any], sentence: str) -> None:
    keys = {f"controller__{key}": value for key, value in controller.items()}
    with pytest.raises(ConfigError, match=sentence):
        law_config("whole_body_qp", **keys)
