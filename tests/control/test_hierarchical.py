"""Priorities: algorithm 2, the sequence of programs, and the law that is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from law_samples import contact_jacobian, law_config, moved, on_contacts, strong
from numpy.typing import NDArray
from scipy.optimize import minimize
from whole_body_samples import contact_accelerations, forward

from balance.config import load_config
from balance.control.hierarchical import HierarchicalController
from balance.control.parts.distribution import contact_cones
from balance.control.parts.output import ControlStatus
from balance.control.parts.priorities import Hierarchy, Level
from balance.control.parts.task_law import TaskLaw
from balance.control.qp import QPStatus, make_solver
from balance.control.whole_body_qp import WholeBodyController
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

PROBLEMS = 20
STATES = 5
SAME = 1e-6  # relative to the largest torque
PHYSICS = ["dynamics", "contacts", "cones", "torque_limits"]


def random_levels(rng: np.random.Generator, n: int) -> list[Level]:
    """Three levels, with more rows than unknowns; one has a row twice, at odds with itself."""
    levels = [Level(rng.normal(size=(rows, n)), rng.normal(size=rows)) for rows in (2, 3, n)]
    levels[1].A[2] = levels[1].A[1]
    return levels


def test_projection_is_algorithm_2_as_printed() -> None:
    """With projectors and pseudo-inverses in place of bases; RobotDynamicsETH (3.103)-(3.106)."""
    rng = np.random.default_rng(90)
    for n in range(6, 6 + PROBLEMS):
        levels = random_levels(rng, n)
        x, N = np.zeros(n), np.eye(n)
        for i, level in enumerate(levels):
            x_i = np.linalg.pinv(level.A @ N, rcond=1e-9) @ (level.b - level.A @ x)
            x = x + N @ x_i
            stacked = np.concatenate([above.A for above in levels[: i + 1]])
            N = np.eye(n) - np.linalg.pinv(stacked, rcond=1e-9) @ stacked
        np.testing.assert_allclose(Hierarchy(levels, n).project(), x, rtol=0, atol=1e-8)


def test_programs_without_active_inequalities_are_the_projection() -> None:
    rng = np.random.default_rng(91)
    for n in range(6, 6 + PROBLEMS):
        levels = random_levels(rng, n)
        C = rng.normal(size=(2 * n, n))
        hierarchy = Hierarchy(levels, n)
        d = C @ hierarchy.project() - 100.0
        x, status = hierarchy.solve(C, d, make_solver("quadprog"))
        assert status is QPStatus.SOLVED
        np.testing.assert_allclose(x, hierarchy.project(), rtol=0, atol=1e-9)


def test_programs_reach_the_least_error_of_each_level_in_turn() -> None:
    """(3.107) as printed: equality rows for what is above, by sequential quadratic programming."""
    rng, n = np.random.default_rng(92), 5
    solver = make_solver("quadprog")
    active = 0
    for _ in range(PROBLEMS):
        levels = [Level(rng.normal(size=(2, n)), rng.normal(size=2)) for _ in range(2)]
        C = rng.normal(size=(8, n))
        d = -rng.uniform(0.0, 0.2, 8)
        x, status = Hierarchy(levels, n).solve(C, d, solver)
        assert status is QPStatus.SOLVED
        assert (C @ x - d).min() > -1e-7
        active += int((C @ x - d).min() < 1e-6)
        constraints: list[dict[str, Any]] = [{"type": "ineq", "fun": lambda y, C=C, d=d: C @ y - d}]
        start = np.zeros(n)
        for level in levels:
            best = minimize(
                lambda y, level=level: 0.5 * np.sum((level.A @ y - level.b) ** 2),
                start,
                jac=lambda y, level=level: level.A.T @ (level.A @ y - level.b),
                constraints=constraints,
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            np.testing.assert_allclose(level.A @ x, level.A @ best.x, rtol=0, atol=2e-4)
            start, reached = best.x, level.A @ best.x
            constraints.append({"type": "eq", "fun": lambda y, A=level.A, c=reached: A @ y - c})
    assert active >= PROBLEMS // 2


def test_inequalities_without_solution_are_reported() -> None:
    level = Level(np.eye(2), np.zeros(2))
    C, d = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 1.0])
    _, status = Hierarchy([level], 2).solve(C, d, make_solver("quadprog"))
    assert status is QPStatus.INFEASIBLE


def law(robot: Robot, **controller: Any) -> HierarchicalController:
    keys = {f"controller__{key}": value for key, value in controller.items()}
    return HierarchicalController(law_config("hierarchical", **keys), robot)


def task_error(controller: TaskLaw, index: int, robot: Robot, q: Array, v: Array) -> float:
    """What a task misses, N or N m, by forward dynamics."""
    dv = forward(robot, q, v, controller.step(q, v, 0.0))
    rows, values = controller.tasks.evaluate(controller.body.at(q, v), controller.path.at(0.0))
    part = controller.tasks.slices[index]
    return float(np.linalg.norm(rows[part] @ dv - values[part]))


def states(robot: Robot, seed: int, size: float) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(seed)
    drawn = [moved(robot, size, rng) for _ in range(STATES)]
    return [(q, on_contacts(robot, q, v)) for q, v in drawn]


def test_compatible_tasks_are_met_as_by_the_whole_body_program(toro: Robot) -> None:
    """CoM, base and posture determine the motion in double support: no weight, no priority."""
    plain = law_config("whole_body_qp", controller__feet_down=False)
    hierarchical, weighted = law(toro), WholeBodyController(plain, toro)
    for q, v in states(toro, 93, 0.004):
        expected, actual = weighted.step(q, v, 0.0), hierarchical.step(q, v, 0.0)
        assert actual.status is ControlStatus.OK
        # The weighted program gives up some 1e-6 of a task for the posture of the legs.
        size = 1e-4 * np.abs(expected.torques).max()
        np.testing.assert_allclose(actual.torques, expected.torques, rtol=0, atol=size)


def test_higher_priority_is_met_better(toro: Robot) -> None:
    """Where CoM and base are at odds, the first wins, and beats any weighing of the two."""
    com_first = law(toro)
    base_first = law(toro, priorities=[PHYSICS, ["base"], ["com"], ["posture"], ["forces"]])
    weighted = WholeBodyController(law_config("whole_body_qp"), toro)
    at_odds = 0
    for q, v in states(toro, 94, 0.1):
        com = task_error(com_first, 0, toro, q, v)
        base = task_error(base_first, 0, toro, q, v)
        assert com <= task_error(weighted, 0, toro, q, v) + 1e-4
        assert com <= task_error(base_first, 1, toro, q, v) + 1e-4
        assert base <= task_error(com_first, 1, toro, q, v) + 1e-4
        at_odds += int(com < 0.9 * task_error(base_first, 1, toro, q, v))
    assert at_odds >= STATES // 2


@pytest.mark.parametrize("method", ["qp", "projection"])
@pytest.mark.parametrize("stance", ["toro_push", "toro_single_support", "toro_wall", "g1_push"])
def test_contacts_stay_at_rest(stance: str, method: str) -> None:
    """With drives strong enough that no torque is cut, whatever else is given up."""
    config = load_config(stance, {"controller.law": "hierarchical", "controller.method": method})
    robot = strong(robot_of(config))
    controller = HierarchicalController(config, robot)
    for q, v in [*states(robot, 95, 0.003), *states(robot, 96, 0.05)]:
        output = controller.step(q, v, 0.0)
        assert not output.status & ControlStatus.QP_FAILED
        dv = forward(robot, q, v, output)
        scale = 1.0 + np.abs(dv).max()
        assert np.abs(contact_accelerations(robot, q, v, dv)).max() < 1e-7 * scale


def test_projection_ends_in_the_cones_and_says_so(toro: Robot) -> None:
    config = law_config("hierarchical", controller__method="projection")
    controller = HierarchicalController(config, toro)
    cones = contact_cones(toro, config.controller.contacts)
    reported = 0
    for q, v in states(toro, 97, 0.2):
        output = controller.step(q, v, 0.0)
        for cone, wrench in zip(cones, output.wrenches, strict=True):
            assert cone.margin(wrench).min() > -1e-8 * toro.mass * 9.81
        assert (np.abs(output.torques) <= toro.effort_limits).all()
        limited = np.abs(output.residual).max() > 1.0
        assert not limited or output.status & ControlStatus.WRENCH_LIMITED
        reported += int(limited)
    assert reported >= STATES // 2


def test_both_methods_agree_where_no_limit_is_reached(toro: Robot) -> None:
    qp, projection = law(toro), law(toro, method="projection")
    for q, v in states(toro, 98, 0.004):
        expected, actual = qp.step(q, v, 0.0), projection.step(q, v, 0.0)
        assert actual.status is expected.status is ControlStatus.OK
        np.testing.assert_array_equal(actual.torques, expected.torques)


def test_contacts_of_second_priority_are_kept_as_well(toro: Robot) -> None:
    """Nothing of the first priority is at odds with them: the answer is the same."""
    second = [["dynamics", "cones", "torque_limits"], ["contacts"], ["com"], ["base"], ["posture"]]
    hard, soft = law(toro), law(toro, priorities=second)
    for q, v in states(toro, 99, 0.004):
        expected, actual = hard.step(q, v, 0.0), soft.step(q, v, 0.0)
        size = SAME * np.abs(expected.torques).max()
        np.testing.assert_allclose(actual.torques, expected.torques, rtol=0, atol=size)


def test_torques_task_finds_the_least_torques_for_the_motion(toro: Robot) -> None:
    """Any other sharing of the load between the feet costs more torque, (3.112)."""
    robot = strong(toro)
    least = law(robot, priorities=[PHYSICS, ["com"], ["base"], ["posture"], ["torques"]])
    even = law(robot)
    rng = np.random.default_rng(100)
    q, v = moved(robot, 0.003, rng)
    output = least.step(q, v, 0.0)
    np.testing.assert_allclose(
        forward(robot, q, v, output), forward(robot, q, v, even.step(q, v, 0.0)), atol=1e-6
    )
    J, effort = contact_jacobian(robot, q), np.linalg.norm(output.torques)
    inner = np.linalg.svd(J[:, :6].T)[2][6:]  # wrenches that do not act on the base
    for _ in range(10):
        wrenches = rng.normal(size=6) @ inner
        other = output.torques - J[:, 6:].T @ wrenches
        assert np.linalg.norm(other) > effort


def test_config_of_another_law_is_refused(toro: Robot) -> None:
    with pytest.raises(ConfigError, match="'momentum' has no key 'frames' or 'method'"):
        HierarchicalController(law_config("momentum"), toro)


@pytest.mark.parametrize(
    ("priorities", "sentence"),
    [
        ([PHYSICS, ["com"], ["base", "com"]], "'com' has priority 2 and priority 3; name it once"),
        ([["com"], PHYSICS], "'dynamics' .* has priority 2; it must have priority 1"),
        ([["dynamics", "contacts", "cones"], ["com"]], "'torque_limits' .* has no priority"),
        ([[*PHYSICS[:2], "torque_limits"], ["cones"]], "'cones' .* has priority 2; it must"),
        ([["dynamics", "cones", "torque_limits"], ["com"]], "'contacts' has no priority"),
        ([PHYSICS, ["comm"]], "unknown task 'comm'.*did you mean 'com'"),
        ([PHYSICS, []], "priority 2 is empty"),
        ([[*PHYSICS, "com"]], "'com' has priority 1 beside the dynamics"),
        ([], "'dynamics' .* has no priority"),
    ],
)
def test_contradictory_priorities_are_one_sentence(
    priorities: list[list[str]], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence) as caught:
        law_config("hierarchical", controller__priorities=priorities)
    assert "\n" not in str(caught.value)


def test_frame_task_can_have_a_priority(toro: Robot) -> None:
    frames = {"hand": {"frame": "right_hand", "hold": "position"}}
    priorities = [PHYSICS, ["com"], ["hand"], ["posture"]]
    controller = law(strong(toro), frames=frames, priorities=priorities)
    q, v = moved(toro, 0.003, np.random.default_rng(101))
    assert task_error(controller, 1, toro, q, v) < 1e-6
