"""The fast way to the weighted compromise against the dense program of the plain formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from law_samples import law_config, moved, on_contacts
from numpy.typing import NDArray

from balance.config import load_config
from balance.control.parts import weighted_tasks
from balance.control.parts.all_limits import within_limits
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.held_columns import held_columns, held_motion
from balance.control.parts.task_stack import TaskStack
from balance.control.qp import QPStatus, make_adapter
from balance.control.whole_body_qp import WholeBodyController
from balance.robots import Robot
from balance.robots.stance import robot_of

Array = NDArray[np.float64]

STANCES = ("toro_push", "toro_single_support", "toro_wall", "g1_push", "talos_push")
EXACT = 1e-9  # relative, where no limit is active


def controller_of(stance: str, form: str = "plain") -> WholeBodyController:
    keys = {"controller.law": "whole_body_qp", "controller.form": form}
    config = load_config(stance, keys)
    return WholeBodyController(config, robot_of(config))


@pytest.mark.parametrize("form", ["plain", "quaternion"])
@pytest.mark.parametrize("stance", STANCES)
def test_without_limits_it_is_the_least_squares_solution(stance: str, form: str) -> None:
    """By orthogonal factors of the contacts and of all rows of all tasks, nothing merged."""
    law = controller_of(stance, form)
    law.limits.torques[:] = np.inf
    law.limits.lower[:] = -np.inf
    law.joint_bounds = law.weighted.joint_bounds = None
    rng = np.random.default_rng(120)
    for _ in range(4):
        q, v = moved(law.robot, 0.05, rng)
        here, desired = law.body.at(q, v), law.path.at(0.0)
        answer = law.solve(here, desired)
        assert answer is not None
        equations, weight = law.formulation(here)
        free = FreeMotion(equations, weight)
        B, c = free.on_accelerations(equations, *law.tasks.evaluate(here, desired))
        x = np.zeros(free.n_x)
        x[: free.n_y] = np.linalg.lstsq(B, c, rcond=None)[0]
        torques, forces = free.forces(x)
        size = np.abs(torques).max(), np.abs(forces).max()
        np.testing.assert_allclose(answer.torques, torques, rtol=0, atol=EXACT * size[0])
        wrenches = forces[: len(answer.wrenches)]
        np.testing.assert_allclose(answer.wrenches, wrenches, rtol=0, atol=EXACT * size[1])


@pytest.mark.parametrize("stance", STANCES)
def test_with_limits_it_is_as_good_as_the_dense_program(stance: str) -> None:
    """Solved by quadprog in the coordinates of orthogonal factors: the same torques' cost."""
    law, rng, limited = controller_of(stance), np.random.default_rng(121), 0
    quadprog = make_adapter("quadprog")
    for size in (0.02, 0.03, 0.05, 0.05):
        q, v = moved(law.robot, size, rng)
        v = on_contacts(law.robot, q, v)
        here, desired = law.body.at(q, v), law.path.at(0.0)
        program = law.program(here, desired)
        exact = quadprog.solve(program)
        answer = law.solve(law.body.at(q, v), desired)
        if exact.status is not QPStatus.SOLVED or exact.optimality_error(program) > 1e-9:
            continue
        assert answer is not None
        limited += len(exact.active) > 0
        free = FreeMotion(*law.formulation(here))
        torques, wrenches = free.forces(exact.x[:-1])
        scale = np.abs(torques).max(), np.abs(wrenches).max()
        np.testing.assert_allclose(answer.torques, torques, rtol=0, atol=1e-5 * scale[0])
        np.testing.assert_allclose(answer.wrenches, wrenches, rtol=0, atol=1e-5 * scale[1])
    assert limited


@pytest.mark.parametrize("stance", STANCES)
def test_limits_in_one_call_give_the_answer_of_the_solver(
    stance: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drives a little too weak for what is asked, as compiled laws solve it, and as DAQP does."""
    found: list[bool] = []

    def counted(*known: Any) -> Any:
        answer = within_limits(*known)
        found.append(bool(answer[0]))
        return answer

    monkeypatch.setattr(weighted_tasks, "within_limits", counted)
    answers = []
    for compiled in (True, False):
        monkeypatch.setattr(weighted_tasks, "COMPILED", compiled)
        law, rng = controller_of(stance), np.random.default_rng(124)
        limits = law.limits.torques.copy()
        for share in (0.98, 0.95, 0.9, 0.8):
            here, desired = law.body.at(*moved(law.robot, 0.01, rng)), law.path.at(0.0)
            law.limits.torques[:] = limits
            answer = law.solve(here, desired)
            assert answer is not None
            law.limits.torques[:] = np.minimum(limits, share * np.abs(answer.torques).max())
            answer = law.solve(here, desired)
            assert answer is not None
            assert np.abs(answer.torques).max() <= law.limits.torques.max() + 1e-9
            answers.append((answer.torques, answer.wrenches))
    assert any(found)
    for one, other in zip(answers[:4], answers[4:], strict=True):
        for each, same in zip(one, other, strict=True):
            np.testing.assert_allclose(each, same, rtol=0, atol=1e-6 * np.abs(same).max())


def test_determined_coordinates_keep_the_contacts_at_rest(toro: Robot) -> None:
    law, rng = controller_of("toro_push"), np.random.default_rng(122)
    equations = law.body.at(*moved(toro, 0.2, rng)).equations()
    columns = held_columns(equations.J, equations.moving, 6)
    assert columns is not None
    assert columns.determined.min() >= 6  # legs, not the base
    own = columns.determined, columns.tied, columns.free
    a_0, Z, good = held_motion(equations.J, equations.drift, *own)
    assert good
    y = rng.normal(size=Z.shape[1])
    rest = equations.J @ (a_0 + Z @ y) + equations.drift
    assert np.abs(rest).max() < 1e-9 * np.abs(equations.J).max() * np.abs(Z @ y).max()


def test_straight_knees_are_left_to_orthogonal_factors(toro: Robot) -> None:
    """A leg that is stretched out cannot accelerate its foot along itself."""
    law = controller_of("toro_push")
    q = toro.q_nominal.copy()
    for name in ("hip_pitch", "knee", "ankle_pitch"):
        for side in ("left", "right"):
            q[7 + toro.joint_names.index(f"{side}_{name}")] = 0.0
    equations = law.body.at(q, np.zeros(toro.model.nv)).equations()
    columns = equations.columns
    assert columns is not None
    own = columns.determined, columns.tied, columns.free
    assert not held_motion(equations.J, equations.drift, *own)[2]
    assert np.isfinite(law.step(q, np.zeros(toro.model.nv), 0.0).torques).all()


def test_postures_together_cost_what_they_cost_one_by_one(toro: Robot) -> None:
    law = WholeBodyController(law_config("whole_body_qp"), toro)
    rng = np.random.default_rng(123)
    here, desired = law.body.at(*moved(toro, 0.1, rng)), law.path.at(0.0)

    def cost(stack: TaskStack, dv: Array) -> tuple[float, float]:
        rows, values = stack.evaluate(here, desired)
        each = float(((rows @ dv - values) ** 2).sum())
        rows, values, joint_values = stack.evaluate_apart(here, desired)
        joints = stack.joint_rows * dv[6:] - joint_values
        return each, float(((rows @ dv - values) ** 2).sum() + joints @ joints)

    one, other = (cost(law.tasks, rng.normal(size=toro.model.nv)) for _ in range(2))
    # They differ by a constant.
    assert one[0] - one[1] == pytest.approx(other[0] - other[1], rel=1e-6, abs=1e-9 * one[0])
