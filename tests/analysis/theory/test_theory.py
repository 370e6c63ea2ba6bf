"""``balance theory``: every identity holds on every robot, and a wrong term is noticed."""

from __future__ import annotations

import dataclasses
import io
from unittest.mock import patch

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots
from rich.console import Console

from balance.analysis.theory import (
    CHECKS,
    all_hold,
    bouyarmane,
    notes_control,
    notes_dynamics,
    notes_kinematics,
    notes_rotations,
    print_table,
    residual_table,
)
from balance.analysis.theory.checks import (
    Check,
    random_states,
    relative_difference,
    relative_product,
    relative_sum,
    worst_part,
)
from balance.dynamics.checks import check_vector
from balance.errors import FrameError, InputError, SingularityError
from balance.robots import load_robot


def failures(rows):
    return [
        f"{r.check.equation} {r.check.statement}: {r.residual:.1e}" for r in rows if not r.holds
    ]


@pytest.mark.parametrize("name", ["toro", "talos", "icub", "g1"])
def test_every_identity_holds_on_humanoids(name):
    assert failures(residual_table(load_robot(name).model, states=5, seed=2)) == []


FEW_STATES = 3
"""Flights and frames built joint by joint ask for no more: each takes as long as forty others."""
LONG = tuple(check for check in CHECKS if (check.max_states or np.inf) <= FEW_STATES)
QUICK = tuple(check for check in CHECKS if check not in LONG)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(model=random_robots(), seed=st.integers(0, 10**6))
def test_the_identities_hold_on_random_robots(model, seed):
    assert failures(residual_table(model, 1, seed, QUICK)) == []


@settings(deadline=None, derandomize=True, max_examples=12)
@given(model=random_robots(min_joints=2), seed=st.integers(0, 10**6))
def test_flights_and_frames_of_random_robots_obey_the_identities(model, seed):
    assert {check.equation for check in LONG} == {"(7)", "(8)", "(21)-(23), d = 0", "(26)-(33)"}
    assert failures(residual_table(model, 1, seed, LONG)) == []


def test_every_identity_holds_in_space_and_on_a_single_body():
    weightless = random_robot(6, seed=1)
    weightless.gravity.setZero()
    assert failures(residual_table(weightless, 3)) == []
    assert failures(residual_table(random_robot(0, seed=1), 3)) == []


def test_all_five_papers_are_tried_and_no_row_appears_twice():
    papers = {check.paper for check in CHECKS}
    assert papers == {
        "Garofalo2015", "Traversaro2016", "Saccon2017", "Bouyarmane2012", "RobotDynamicsETH"
    }  # fmt: skip
    rows = [(check.paper, check.equation, check.statement) for check in CHECKS]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("term", ["A_Q_inv", "Lambda", "Lambda_l", "Lambda_q", "Gamma", "gravity"])
def test_a_wrong_term_of_the_decoupled_model_is_noticed(term):
    """A relative error of 1e-5 in one term fails at least one identity."""
    model = random_robot(5, seed=3)
    (state,) = random_states(model, 1, seed=0)
    right = state.decoupled
    wrong = dataclasses.replace(right, **{term: getattr(right, term) * (1.0 + 1e-5)})
    state.__dict__["decoupled"] = wrong
    analytic = [c for c in CHECKS if c.max_states is None]
    assert any(c.residual(model, state) > c.bound for c in analytic)


@pytest.mark.parametrize("term", ["T", "T_dual", "dT", "M", "C", "G", "nu"])
@pytest.mark.parametrize("base", ["G[B]", "centroidal"])
def test_a_wrong_term_of_a_base_change_is_noticed(term, base):
    model = random_robot(5, seed=3)
    (state,) = random_states(model, 1, seed=0)
    right = state.base(base)
    state._bases[base] = dataclasses.replace(right, **{term: getattr(right, term) * (1.0 + 1e-5)})
    traversaro = [c for c in CHECKS if c.paper == "Traversaro2016"]
    assert any(c.residual(model, state) > c.bound for c in traversaro)


def constant(residual, bound=1e-9, max_states=None):
    return Check("Nobody1900", "(0)", f"is {residual}", lambda m, s: residual, bound, max_states)


def printed(rows):
    console = Console(file=io.StringIO(), width=120)
    verdict = print_table(rows, console)
    return verdict, console.file.getvalue()


def test_the_table_shows_equation_words_residual_bound_and_verdict():
    rows = residual_table(random_robot(2, seed=0), 3, 0, (constant(2e-12), constant(3e-5, 1e-4)))
    verdict, text = printed(rows)
    assert verdict and all_hold(rows)
    for piece in ("Nobody1900", "(0)", "is 2e-12", "2.0e-12", "1e-09", "3.0e-05", "1e-04", "holds"):
        assert piece in text
    assert "All 2 identities hold." in text and "FAILS" not in text


@pytest.mark.parametrize("residual", [2e-9, float("inf"), float("nan")])
def test_one_residual_beyond_its_bound_fails_the_table(residual):
    rows = residual_table(random_robot(2, seed=0), 2, 0, (constant(0.0), constant(residual)))
    verdict, text = printed(rows)
    assert not verdict and not all_hold(rows)
    assert "FAILS" in text and "1 of 2 identities fail." in text


def test_brackets_in_a_statement_are_printed_and_not_read_as_markup():
    check = dataclasses.replace(constant(0.0), statement="T = [X J; 0 E] of [red]")
    _, text = printed(residual_table(random_robot(1, seed=0), 1, 0, (check,)))
    assert "T = [X J; 0 E] of [red]" in text


def test_the_largest_residual_over_the_states_is_kept_and_their_number_stated():
    robot = random_robot(3, seed=0)
    moving = Check("Nobody1900", "(1)", "size of v", lambda m, s: float(np.abs(s.v).max()))
    rows = residual_table(robot, 8, 5, (moving, constant(0.0, max_states=3)))
    sizes = [float(np.abs(s.v).max()) for s in random_states(robot, 8, 5)]
    assert rows[0].residual == max(sizes) and rows[0].states == 8
    assert rows[1].states == 3


def test_states_are_reproducible_and_inside_the_joint_limits():
    model = load_robot("toro").model
    first, again, other = (list(random_states(model, 3, seed)) for seed in (4, 4, 5))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(np.concatenate([a.q, a.v]), np.concatenate([b.q, b.v]))
        assert a.links == b.links
    assert not np.array_equal(first[0].q, other[0].q)
    for state in first:
        assert (state.q[7:] >= model.lowerPositionLimit[7:]).all()
        assert (state.q[7:] <= model.upperPositionLimit[7:]).all()
        check_vector("q", state.q, model.nq)


def test_residuals_are_relative_to_the_terms():
    assert relative_difference([1.0, 2.0], [1.0, 2.0 + 1e-6]) == pytest.approx(5e-7, rel=1e-5)
    assert relative_difference([0.0], [0.0]) == 0.0
    assert relative_difference([1e-12], [0.0], scale=1.0) == 1e-12
    assert relative_difference([np.nan], [0.0]) == float("inf")
    assert relative_sum([3.0, 4.0], [-3.0, -4.0 + 1e-8]) == pytest.approx(2.5e-9, rel=1e-5)
    assert relative_product([[1.0, 1.0]], [[1.0], [-1.0 + 1e-9]]) == pytest.approx(5e-10, rel=1e-5)
    part = np.array([1e6, 1e6, 1e6, 1.0, 1.0, 1.0])
    wrong = part + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1e-6])
    assert worst_part(part, -wrong) == pytest.approx(1e-6, rel=1e-5)
    with pytest.raises(InputError, match=r"shapes \(1,\) and \(2,\)"):
        relative_difference([1.0], [1.0, 2.0])


def test_a_fixed_base_is_refused():
    with pytest.raises(InputError, match="fixed base"):
        residual_table(pin.buildSampleModelManipulator(), 1)


def test_a_number_of_states_below_one_is_refused():
    with pytest.raises(InputError, match="number of states is 0"):
        residual_table(random_robot(1, seed=0), 0)


def test_a_massless_link_is_refused_by_the_name_of_its_joint():
    model = random_robot(3, seed=0, branching=False)
    wrist = model.addJoint(4, pin.JointModelRX(), pin.SE3.Random(), "wrist")
    model.addJointFrame(wrist)
    with pytest.raises(SingularityError, match="singular, since joint 'wrist' moves no inertia"):
        residual_table(model, 1)


def test_a_model_without_frames_is_refused():
    model = pin.Model()
    model.name = "bare"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(FrameError, match="'bare' has no frame on any link"):
        residual_table(model, 1)


@pytest.mark.parametrize("term", ["M", "N", "A", "C", "gravity"])
def test_a_wrong_term_of_the_gauss_equations_is_noticed(term):
    model = random_robot(5, seed=3)
    (state,) = random_states(model, 1, seed=0)
    right = bouyarmane.in_chart(state)
    wrong = getattr(right.dynamics, term) * (1.0 + 1e-5)
    spoilt = dataclasses.replace(
        right, dynamics=dataclasses.replace(right.dynamics, **{term: wrong})
    )
    checks = [c for c in bouyarmane.CHECKS if c.max_states is None]
    with patch.object(bouyarmane, "in_chart", lambda s: spoilt):
        assert any(c.residual(model, state) > c.bound for c in checks)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (notes_kinematics, "floating_base_jacobian"),
        (notes_kinematics, "contact_drift"),
        (notes_kinematics, "point_acceleration"),
        (notes_dynamics, "external_generalised_force"),
        (notes_dynamics, "gravitational_energy"),
        (notes_control, "inverse_dynamics_torques"),
        (notes_control, "compensated_task_space_torques"),
        (notes_dynamics, "actuator_generalised_force"),
        (notes_rotations, "quaternion_rotate"),
    ],
)
def test_a_wrong_function_of_the_lecture_notes_is_noticed(module, name):
    model = random_robot(5, seed=3)
    (state,) = random_states(model, 1, seed=0)
    right = getattr(module, name)

    def wrong(*arguments):
        return right(*arguments) * (1.0 + 1e-4)

    with patch.object(module, name, wrong):
        assert any(c.residual(model, state) > c.bound for c in module.CHECKS)
