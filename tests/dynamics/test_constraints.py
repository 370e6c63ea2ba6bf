"""Contact Jacobians against finite differences, and ranks against the cases of RobotDynamicsETH."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from example_robot_data import robots_loader
from hypothesis import given, settings
from hypothesis import strategies as st

from balance.dynamics.constraints import (
    Contact,
    constraint_rank,
    contact_drift,
    contact_jacobian,
)
from balance.errors import FrameError, InputError

STEP = 1e-6
FINITE_DIFFERENCE = 1e-7  # m/s, rad/s or m/s^2 per unit velocity

pin.seed(4)
HUMANOID = pin.buildSampleModelHumanoidRandom(True)
CONTACTS = (
    Contact("lleg6_body", (0.1, 0.05, -0.1)),
    Contact("rleg6_body", (0.0, -0.1, 0.2), face=True),
)
CORNERS = ((0.1, 0.05, -0.1), (0.1, -0.05, -0.1), (-0.1, -0.05, -0.1), (-0.1, 0.05, -0.1))

seeds = st.integers(0, 2**32 - 1)


def random_state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = pin.integrate(HUMANOID, pin.neutral(HUMANOID), rng.normal(size=HUMANOID.nv))
    return q, rng.normal(size=HUMANOID.nv)


def contact_pose(q: np.ndarray, contact: Contact) -> pin.SE3:
    data = HUMANOID.createData()
    pin.framesForwardKinematics(HUMANOID, data, q)
    carrier = data.oMf[HUMANOID.getFrameId(contact.frame)]
    return carrier * pin.SE3(np.eye(3), np.array(contact.position))


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seeds)
def test_jacobian_is_the_derivative_of_the_contact_placements(seed: int) -> None:
    q, v = random_state(seed)
    ahead, behind = (pin.integrate(HUMANOID, q, sign * STEP * v) for sign in (1, -1))
    velocity = []
    for contact in CONTACTS:
        X_after, X_before = contact_pose(ahead, contact), contact_pose(behind, contact)
        velocity.append((X_after.translation - X_before.translation) / (2 * STEP))
        if contact.face:
            velocity.append(pin.log3(X_after.rotation @ X_before.rotation.T) / (2 * STEP))
    np.testing.assert_allclose(
        contact_jacobian(HUMANOID, q, CONTACTS) @ v,
        np.concatenate(velocity),
        atol=FINITE_DIFFERENCE,
    )


@settings(deadline=None, derandomize=True, max_examples=30)
@given(seeds)
def test_drift_is_the_derivative_of_the_jacobian_times_the_velocity(seed: int) -> None:
    q, v = random_state(seed)
    after, before = (
        contact_jacobian(HUMANOID, pin.integrate(HUMANOID, q, sign * STEP * v), CONTACTS) @ v
        for sign in (1, -1)
    )
    np.testing.assert_allclose(
        contact_drift(HUMANOID, q, v, CONTACTS),
        (after - before) / (2 * STEP),
        atol=100 * FINITE_DIFFERENCE,
    )


@pytest.mark.parametrize(
    ("feet", "independent", "base", "internal"),
    [(1, 3, 3, 0), (2, 6, 5, 1), (3, 9, 6, 3), (4, 12, 6, 6)],
)
def test_point_feet_of_a_quadruped(feet: int, independent: int, base: int, internal: int) -> None:
    """Figure 2.16: two feet leave the base free to turn about their line, three do not."""
    loader = robots_loader.ROBOTS["solo12"]
    path = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    model = pin.buildModelFromUrdf(
        f"{robots_loader.getModelPath(path)}/{path}", pin.JointModelFreeFlyer()
    )
    q = pin.integrate(
        model, pin.neutral(model), np.random.default_rng(0).uniform(-0.6, 0.6, model.nv)
    )
    contacts = [Contact(name) for name in ("FL_FOOT", "HR_FOOT", "FR_FOOT", "HL_FOOT")[:feet]]
    rank = constraint_rank(model, q, contacts)
    assert (rank.independent, rank.base, rank.internal) == (independent, base, internal)
    assert rank.base_is_controllable == (feet >= 3)
    assert rank.redundant == 0


@pytest.mark.parametrize(("points", "independent"), [(0, 0), (1, 3), (2, 5), (3, 6), (4, 6)])
def test_points_on_one_foot_of_a_humanoid(points: int, independent: int) -> None:
    """Figure 2.18: the points of one rigid foot constrain the base only, by at most six."""
    q, _ = random_state(0)
    contacts = [Contact("lleg6_body", corner) for corner in CORNERS[:points]]
    rank = constraint_rank(HUMANOID, q, contacts)
    assert (rank.rows, rank.independent, rank.base) == (3 * points, independent, independent)
    assert (rank.internal, rank.redundant) == (0, 3 * points - independent)


def test_two_faces_of_a_humanoid_close_a_loop_of_six_internal_constraints() -> None:
    q, _ = random_state(0)
    faces = [Contact("lleg6_body", face=True), Contact("rleg6_body", face=True)]
    rank = constraint_rank(HUMANOID, q, faces)
    assert (rank.independent, rank.base, rank.internal) == (12, 6, 6)


def test_a_face_and_its_four_corners_are_the_same_constraint() -> None:
    q, _ = random_state(1)
    corners = [Contact("lleg6_body", corner) for corner in CORNERS]
    both = [*corners, Contact("lleg6_body", face=True)]
    assert constraint_rank(HUMANOID, q, both).independent == 6


def test_unknown_frame_is_named() -> None:
    q, _ = random_state(0)
    with pytest.raises(FrameError, match="did you mean 'lleg6_body'"):
        contact_jacobian(HUMANOID, q, [Contact("lleg6_bdy")])


@pytest.mark.parametrize("position", [(0.0, 0.0), (0.0, 0.0, np.nan)])
def test_wrong_contact_position_is_named(position: tuple[float, ...]) -> None:
    q, v = random_state(0)
    with pytest.raises(InputError, match="'lleg6_body' has position"):
        contact_drift(HUMANOID, q, v, [Contact("lleg6_body", position)])  # type: ignore[arg-type]
