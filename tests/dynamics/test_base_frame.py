"""Traversaro2016: the equations of motion for another base, against robots built from that base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import chain_from_both_ends, random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics.base_frame import change_base
from balance.dynamics.checks import symmetrise
from balance.errors import FrameError, InputError, SingularityError

ANALYTIC_TOLERANCE = 1e-9
DIFFERENCE_TOLERANCE = 1e-6


@settings(deadline=None, derandomize=True, max_examples=40)
@given(links=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_the_other_end_of_a_chain_as_base_is_the_chain_built_from_that_end(links, seed):
    first, last = chain_from_both_ends(links, seed)
    (state,) = random_states(first, 1, seed)
    change = change_base(first, state.q, state.v, "last_link", representation="body")

    reverse = np.concatenate([np.arange(6), 6 + np.arange(links - 1)[::-1]])
    pose = pin.SE3ToXYZQUAT(pin.SE3(change.rotation, change.origin))
    q = np.concatenate([pose, state.q[7:][::-1]])
    v = change.nu[reverse]
    data = last.createData()
    M = symmetrise(pin.crba(last, data, q))
    velocity_terms = pin.computeCoriolisMatrix(last, data, q, v) @ v
    gravity = pin.computeGeneralizedGravity(last, data, q)

    assert relative_difference(change.M[np.ix_(reverse, reverse)], M) < ANALYTIC_TOLERANCE
    assert relative_difference((change.C @ change.nu)[reverse], velocity_terms) < ANALYTIC_TOLERANCE
    assert relative_difference(change.G[reverse], gravity) < ANALYTIC_TOLERANCE


@pytest.mark.parametrize("base", ["link_2", "link_1[link_3]", "G[B]", "G[link_2]", "B[link_1]"])
def test_the_base_velocity_is_the_rate_of_its_pose(base):
    model = random_robot(6, seed=4)
    step = 1e-5
    for state in random_states(model, 5, seed=0):
        after, before = (
            change_base(model, pin.integrate(model, state.q, dt * state.v), state.v, base)
            for dt in (step, -step)
        )
        linear = (after.origin - before.origin) / (2.0 * step)
        angular = pin.log3(after.rotation @ before.rotation.T) / (2.0 * step)
        nu = change_base(model, state.q, state.v, base).nu
        assert relative_difference(nu[:3], linear) < DIFFERENCE_TOLERANCE
        assert relative_difference(nu[3:6], angular) < DIFFERENCE_TOLERANCE
        np.testing.assert_array_equal(nu[6:], state.v[6:])


@settings(deadline=None, derandomize=True, max_examples=40)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_velocity_rates_and_passivity_hold_in_every_representation(model, seed):
    (state,) = random_states(model, 1, seed)
    link = state.links[0]
    cases = [(link, "mixed"), (link, "body"), (link, "inertial"), ("G[B]", "body")]
    cases += [("centroidal", "mixed"), ("centroidal", "inertial")]
    step = 1e-5
    for frame, representation in cases:
        here, after, before = (
            change_base(
                model, pin.integrate(model, state.q, dt * state.v), state.v, frame, representation
            )
            for dt in (0.0, step, -step)
        )
        dT = (after.T - before.T) / (2.0 * step)
        dM = (after.M - before.M) / (2.0 * step)
        size_T, size_C = np.abs(here.T).max(), np.abs(here.C).max()
        assert relative_difference(here.dT, dT, size_T) < DIFFERENCE_TOLERANCE
        assert relative_difference(here.C + here.C.T, dM, size_C) < DIFFERENCE_TOLERANCE


def test_the_models_own_base_in_body_representation_is_pinocchio():
    model = random_robot(7, seed=8)
    (state,) = random_states(model, 1, seed=1)
    own = change_base(model, state.q, state.v, "B", representation="body")
    assert relative_difference(own.T, np.eye(model.nv)) < ANALYTIC_TOLERANCE
    assert relative_difference(own.M, state.M) < ANALYTIC_TOLERANCE
    assert relative_difference(own.C, state.C) < ANALYTIC_TOLERANCE
    assert relative_difference(own.G, state.gravity) < ANALYTIC_TOLERANCE
    assert relative_difference(own.nu, state.v) < ANALYTIC_TOLERANCE


def test_the_centroidal_base_has_no_rotation_and_a_block_diagonal_mass_matrix():
    model = random_robot(7, seed=8)
    (state,) = random_states(model, 1, seed=1)
    base = change_base(model, state.q, state.v, "centroidal")
    assert base.rotation is None
    coupling = np.concatenate([base.M[:3, 3:].ravel(), base.M[3:6, 6:].ravel()])
    assert np.abs(coupling).max() < 1e-12 * np.abs(base.M).max()
    weight = np.zeros(model.nv)
    weight[2] = 9.81 * pin.computeTotalMass(model)
    assert relative_difference(base.G, weight) < ANALYTIC_TOLERANCE


def test_a_wrench_on_the_old_base_asks_torques_of_the_joints_in_between_only():
    """Remark IV.2, with the minus sign that (21) has and the remark lacks."""
    model = random_robot(8, seed=3)
    (state,) = random_states(model, 1, seed=2)
    joint = model.getJointId("joint_5")
    between = [model.idx_vs[j] for j in model.supports[joint].tolist() if j > 1]
    assert 0 < len(between) < model.nv - 6, "the tree must have joints off the path"
    base = change_base(model, state.q, state.v, "link_5")
    wrench = np.array([10.0, -20.0, 30.0, 1.0, 2.0, -3.0])
    torques = (base.T_dual @ np.concatenate([wrench, np.zeros(model.nv - 6)]))[6:]
    moved = np.flatnonzero(np.abs(torques) > 0.0) + 6
    assert set(moved) <= set(between)
    at_new_origin = base.T_dual[:6, :6] @ wrench
    assert relative_difference(torques, -base.T[:6, 6:].T @ at_new_origin) < ANALYTIC_TOLERANCE


def refuse(error, match, frame="link_1", q=None, v=None, model=None, representation="mixed"):
    model = random_robot(3, seed=0, branching=False) if model is None else model
    q = pin.neutral(model) if q is None else q
    v = np.zeros(model.nv) if v is None else v
    with pytest.raises(error, match=match):
        change_base(model, q, v, frame, representation)


def test_a_frame_that_does_not_exist_is_refused_with_the_nearest_name():
    refuse(FrameError, "no frame 'link1'.*did you mean 'link_1'", frame="link1")
    refuse(FrameError, "no frame 'hand'", frame="hand[link_1]")
    refuse(FrameError, "no frame 'hand'", frame="link_1[hand]")
    refuse(FrameError, "no frame 'hand'", frame="G[hand]")


@pytest.mark.parametrize("frame", ["G", "link_1[G]", "G[G]"])
def test_axes_of_the_centre_of_mass_are_refused(frame):
    refuse(FrameError, "has a position but no axes", frame=frame)


def test_the_world_as_base_is_refused():
    refuse(FrameError, "'universe'.*fixed to the world", frame="universe")


def test_a_body_representation_of_the_average_velocity_is_refused():
    refuse(InputError, "no body representation", frame="centroidal", representation="body")


def test_an_unknown_representation_is_refused():
    refuse(InputError, "'hybrid'; valid: body, inertial, mixed", representation="hybrid")


def test_a_fixed_base_is_refused():
    refuse(InputError, "fixed base", model=pin.buildSampleModelManipulator())


def test_wrong_sizes_are_refused():
    refuse(InputError, "q has shape", q=np.zeros(3))
    refuse(InputError, "v has shape", v=np.zeros(3))


def test_a_jacobian_of_the_wrong_width_is_refused():
    model = random_robot(3, seed=0, branching=False)
    base = change_base(model, pin.neutral(model), np.zeros(model.nv), "link_1")
    with pytest.raises(InputError, match=r"J has shape \(6, 4\)"):
        base.jacobian(np.zeros((6, 4)))


@pytest.mark.parametrize("frame", ["G[B]", "centroidal"])
def test_a_robot_without_mass_has_no_centre_of_mass(frame):
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    refuse(SingularityError, "total mass of 0 kg", frame=frame, model=model)
