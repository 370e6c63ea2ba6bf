"""Traversaro2016 remark IV.2: a fixed-base robot is a free one with a link held."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import chain_from_both_ends, random_robot

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics import fixed_base
from balance.dynamics.checks import symmetrise
from balance.errors import FrameError, InputError
from balance.robots import load_robot

ANALYTIC = 1e-9
MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def clamped(model: pin.Model, q: np.ndarray) -> pin.Model:
    """The model with its free flyer locked where ``q`` has it: Pinocchio's fixed-base robot."""
    return pin.buildReducedModel(model, [1], q)


@pytest.mark.parametrize("name", ["toro", "talos"])
def test_humanoid_held_at_its_base_is_pinocchios_fixed_base_robot(name):
    model = load_robot(name).model
    (state,) = random_states(model, 1, 2)
    arm, robot = clamped(model, state.q), fixed_base(model, state.q, state.v[6:])
    data, q, dq = arm.createData(), state.q[7:], state.v[6:]
    assert relative_difference(robot.M, symmetrise(pin.crba(arm, data, q))) < ANALYTIC
    effects = pin.nonLinearEffects(arm, data, q, dq)
    assert relative_difference(robot.velocity_terms + robot.gravity, effects) < ANALYTIC
    acceleration = pin.aba(arm, data, q, dq, state.tau)
    assert relative_difference(robot.acceleration(state.tau), acceleration) < ANALYTIC


def test_chain_held_at_its_far_end_is_the_fixed_base_chain_built_from_that_end():
    first, last = chain_from_both_ends(6, seed=7)
    (state,) = random_states(first, 1, 1)
    robot = fixed_base(first, state.q, state.v[6:], "last_link")
    data = first.createData()
    pin.framesForwardKinematics(first, data, state.q)
    pose = pin.SE3ToXYZQUAT(data.oMf[first.getFrameId("last_link")])
    arm = clamped(last, np.concatenate([pose, state.q[7:][::-1]]))
    expected = pin.aba(arm, arm.createData(), state.q[7:][::-1], state.v[6:][::-1], state.tau[::-1])
    assert relative_difference(robot.acceleration(state.tau)[::-1], expected) < ANALYTIC


def test_reaction_of_a_robot_at_rest_is_its_weight():
    model = load_robot("toro").model
    (state,) = random_states(model, 1, 0)
    rest = np.zeros(model.nv - 6)
    for frame in ("B", state.links[0]):
        robot = fixed_base(model, state.q, rest, frame)
        reaction = robot.reaction(rest)
        weight = pin.computeTotalMass(model) * model.gravity.linear
        np.testing.assert_allclose(reaction[:3], -weight, rtol=1e-12, atol=1e-9)


def test_torques_of_a_wrench_are_those_of_the_fixed_base_jacobian_and_unique_there():
    """Seen from the held base no other wrench enters; seen from another link the reaction does."""
    model = random_robot(6, 5, branching=False)
    (state,) = random_states(model, 1, 3)
    frame, f = model.getFrameId("link_4"), np.arange(1.0, 7.0)
    J = pin.computeFrameJacobian(model, model.createData(), state.q, frame, MIXED)
    held = fixed_base(model, state.q, state.v[6:])
    np.testing.assert_allclose(held.torques_of(J, f), J[:, 6:].T @ f, atol=1e-12)
    elsewhere = fixed_base(model, state.q, state.v[6:], "link_4").torques_of(J, f)
    np.testing.assert_allclose(elsewhere, 0.0, atol=1e-12)
    assert np.abs(J[:, 6:].T @ f).max() > 0.1


def test_jacobian_of_the_wrong_shape_is_refused():
    model = random_robot(3, 0)
    (state,) = random_states(model, 1, 0)
    robot = fixed_base(model, state.q, state.v[6:])
    with pytest.raises(InputError, match=r"J has shape \(3, 9\); expected \(6, 9\)"):
        robot.torques_of(np.zeros((3, 9)), np.zeros(6))


@pytest.mark.parametrize("frame", ["centroidal", "G[B]", "link_1[link_2]"])
def test_what_is_no_link_cannot_be_held(frame):
    model = random_robot(3, 0)
    (state,) = random_states(model, 1, 0)
    with pytest.raises(FrameError, match="no link and cannot be held"):
        fixed_base(model, state.q, state.v[6:], frame)
