"""Whatever state comes in, a step answers: finite, within limits, in the cones, with a status."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fuzz.states import KINDS, complaint, on_one_spot, random_state

import balance
from balance.config import LAWS
from balance.control import ControlStatus, make_controller
from balance.control.parts.fallback import Cones, Fallback
from balance.control.parts.safety_frame import FADE_S, HOLD_S, BalancingLaw
from balance.control.parts.task_law import TaskLaw
from balance.control.qp import QPSolution, QPStatus, QuadraticProgram
from balance.control.qp.problem import unsolved
from balance.robots import Robot, load_robot

WRENCH_LAWS = ("momentum", "ott2011", "virtual_model", "joint_pd")
STATES = {name: 360 if name in WRENCH_LAWS else 36 for name in LAWS.ready()}
ROUNDING = 1e-10  # N or N m; solvers start from different guesses
BAD = (np.nan, np.inf, -np.inf, 1e300)


@pytest.fixture(scope="module", params=["toro", "talos"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def make(law: str, robot: Robot) -> BalancingLaw:
    config = balance.load_config("toro_push", {"controller.law": law})
    made = make_controller(config, robot)
    assert isinstance(made, BalancingLaw)
    return made


@pytest.mark.parametrize("name", LAWS.ready())
@pytest.mark.parametrize("spot", [False, True])
def test_any_finite_state_gets_a_safe_answer(name: str, robot: Robot, spot: bool) -> None:
    robot = on_one_spot(robot) if spot else robot
    law, rng = make(name, robot), np.random.default_rng(11)
    for index in range(STATES[name]):
        kind = KINDS[index % len(KINDS)]
        output = law.step(*random_state(robot, rng, kind), 0.001 * index)
        assert complaint(law, robot, output) == "", f"{kind}, state {index}"


@pytest.mark.parametrize("name", LAWS.ready())
def test_after_a_fault_the_law_is_back_within_one_step(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same torques, but for rounding, as a law that never saw a fault."""
    toro = load_robot("toro")
    q, v = random_state(toro, np.random.default_rng(3), "near")
    fresh, shaken = make(name, toro), make(name, toro)
    fresh.step(q, v, 0.0)
    shaken.step(q, v, 0.0)
    for bad in BAD:
        broken = q.copy()
        broken[9] = bad
        assert shaken.step(broken, v, 0.001).status is ControlStatus.BAD_STATE
        assert shaken.step(q, v * bad, 0.002).status is ControlStatus.BAD_STATE
    with monkeypatch.context() as broken_solver:
        laws = getattr(shaken, "laws", (shaken,))
        for owner in (*laws, getattr(shaken, "distribution", shaken)):
            broken_solver.setattr(owner, "solver", _NoSolution())
        # A law that steps would remember a state that made it step.
        kind = "any" if len(laws) == 1 else "near"
        output = shaken.step(*random_state(toro, np.random.default_rng(4), kind), 0.003)
        assert output.status & ControlStatus.QP_FAILED
    a, b = fresh.step(q, v, 0.004), shaken.step(q, v, 0.004)
    np.testing.assert_allclose(a.torques, b.torques, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a.wrenches, b.wrenches, rtol=0, atol=ROUNDING)
    assert a.status is b.status


def test_a_clock_that_counts_from_1970_is_no_fault() -> None:
    toro = load_robot("toro")
    law = make("momentum", toro)
    q, v = random_state(toro, np.random.default_rng(5), "near")
    early, late = law.step(q, v, 0.0), law.step(q, v, 1.8e9)
    assert not late.status & ControlStatus.BAD_STATE
    np.testing.assert_allclose(late.torques, early.torques, rtol=0, atol=ROUNDING)
    for t in (np.nan, np.inf):
        assert law.step(q, v, t).status is ControlStatus.BAD_STATE


class _NoSolution:
    """A solver that finds every program infeasible."""

    name, fallbacks = "none", 0

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        return unsolved(qp, QPStatus.INFEASIBLE)


def test_without_sight_the_last_torques_fade_to_a_brake() -> None:
    toro = load_robot("toro")
    law = make("momentum", toro)
    q, v = toro.q_nominal, np.zeros(toro.model.nv)
    good = law.step(q, v, 0.0).torques
    blind = np.full(toro.model.nq, np.nan)
    v[6:] = 0.1
    np.testing.assert_array_equal(law.step(blind, v, 0.001).torques, good)
    later = law.step(blind, v, 0.001 + HOLD_S + FADE_S).torques
    share = np.exp(-1.0)
    expected = share * good - (1.0 - share) * law.fallback.damping * 0.1
    np.testing.assert_allclose(later, expected, rtol=0, atol=1e-12)
    v[10] = np.nan  # a joint whose rate is not known is not braked
    much_later = law.step(blind, v, 10.0).torques
    assert abs(much_later[4]) < 1e-12 and (much_later[[3, 5]] < 0.0).all()


@pytest.mark.parametrize("name", ["whole_body_qp", "hierarchical", "momentum"])
def test_rungs_are_taken_in_order_and_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    toro = load_robot("toro")
    law = make(name, toro)
    q, v = random_state(toro, np.random.default_rng(8), "near")

    def fails(*arguments: object) -> None:
        raise np.linalg.LinAlgError("no convergence")

    monkeypatch.setattr(law, "attempt", fails)
    for rung, broken in (
        (ControlStatus.RELAXED, "_relaxed"),
        (ControlStatus.MINIMUM_WRENCH, "_minimum_wrench"),
        (ControlStatus.DAMPED, "_damped"),
    ):
        output = law.step(q, v, 0.0)
        assert output.status & ~ControlStatus.TORQUE_LIMITED == ControlStatus.QP_FAILED | rung
        assert complaint(law, toro, output) == ""
        monkeypatch.setattr(law.fallback, broken, fails)
    output = law.step(q, v, 0.0)
    assert (output.torques == 0.0).all()
    assert output.status == ControlStatus.QP_FAILED | ControlStatus.DAMPED


def test_the_relaxed_rung_holds_the_robot_at_rest() -> None:
    """Torques and wrenches of the first rung are in equilibrium with gravity."""
    toro = load_robot("toro")
    fallback = Fallback(balance.load_config("toro_push").controller, toro)
    q, v = toro.q_nominal, np.zeros(toro.model.nv)
    output = fallback.answer(q, v)
    gravity = pin.computeGeneralizedGravity(toro.model, toro.model.createData(), q)
    held = fallback.support.at(q, v).J_c.T @ output.wrenches.ravel()
    held[6:] += output.torques
    np.testing.assert_allclose(held, gravity, rtol=0, atol=1e-3 * toro.mass)


def test_wrenches_are_put_into_their_cones_by_normal_force_alone() -> None:
    toro = load_robot("toro")
    fallback = Fallback(balance.load_config("toro_push").controller, toro)
    cones, rng = fallback.cones, np.random.default_rng(2)
    for _ in range(200):
        wrenches = rng.standard_normal(12) * 10.0 ** rng.uniform(-1, 3)
        inside = cones.inside(wrenches)
        assert (cones.rows @ inside - cones.lower).min() > -1e-9
        others = np.delete(np.arange(12), [2, 8])
        np.testing.assert_array_equal(inside[others], wrenches[others])
        assert cones.inside(inside) is inside


def test_a_largest_normal_force_is_kept_as_well() -> None:
    toro = load_robot("toro")
    law = balance.load_config(
        "toro_push", {"controller.contacts.max_normal_force_N": 500.0}
    ).controller
    cones: Cones = Fallback(law, toro).cones
    wrenches = np.tile([100.0, 50.0, 2000.0, 5.0, -10.0, 1.0], 2)
    assert (cones.rows @ cones.inside(wrenches) - cones.lower).min() > -1e-9


def test_a_foot_that_may_bear_next_to_nothing_is_put_into_its_cone_too() -> None:
    """Rounding of a millinewton's friction cone: more force would be more than it may bear."""
    toro = load_robot("toro")
    law = balance.load_config(
        "toro_push",
        {"controller.contacts.min_normal_force_N": 0.0,
         "controller.contacts.max_normal_force_N": 1e-3},
    ).controller  # fmt: skip
    cones: Cones = Fallback(law, toro).cones
    rng, broken = np.random.default_rng(4), 0
    for _ in range(200):
        wrenches = 1e-3 * np.tile([0.6, -0.6, 1.0, 0.0, 0.0, 0.0], 2)
        wrenches += 3e-8 * rng.standard_normal(12)
        broken += (cones.rows @ wrenches - cones.lower).min() < -1e-8
        assert (cones.rows @ cones.inside(wrenches) - cones.lower).min() > -1e-9
    assert broken > 50, "these wrenches are no test"


def test_contradicting_limits_are_named() -> None:
    """Arms and legs that fly around: the law says which of its limits contradict each other."""
    toro = load_robot("toro")
    law, rng = make("whole_body_qp", toro), np.random.default_rng(1)
    assert isinstance(law, TaskLaw)
    failed = 0
    for _ in range(20):
        q, v = random_state(toro, rng, "very fast")
        output = law.step(q, v, 0.0)
        if output.status & ControlStatus.QP_FAILED:
            failed += 1
            sentence = law.conflict(q, v)
            assert "cannot be kept" in sentence
            assert "torque limits (" in sentence or " sole (" in sentence
            assert sentence.count(",") + sentence.count(";") < 8  # five limits and three counts
    assert failed > 5
