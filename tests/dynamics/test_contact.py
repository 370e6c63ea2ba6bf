"""Hard contacts and impacts against Pinocchio's solvers and the identities of the notes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balance.dynamics.constraints import Contact
from balance.dynamics.contact import constrained_dynamics, impact, support
from balance.errors import InputError, SingularityError

SAME = 1e-9  # relative to the largest entry
IDENTITY = 1e-10  # relative to the largest entry

pin.seed(4)
HUMANOID = pin.buildSampleModelHumanoidRandom(True)
CORNERS = ((0.1, 0.05, -0.1), (0.1, -0.05, -0.1), (-0.1, -0.05, -0.1), (-0.1, 0.05, -0.1))
CONTACT_SETS = {
    "one point": (Contact("lleg6_body", (0.1, 0.05, -0.1)),),
    "two faces": (Contact("lleg6_body", face=True), Contact("rleg6_body", (0.0, 0.1, 0.0), True)),
    "face and hand": (Contact("lleg6_body", face=True), Contact("rarm6_body", (0.0, 0.0, 0.1))),
}
FOUR_CORNERS = tuple(Contact("lleg6_body", corner) for corner in CORNERS)
TWO_FEET_OF_CORNERS = FOUR_CORNERS + tuple(Contact("rleg6_body", corner) for corner in CORNERS)
FACE = (Contact("lleg6_body", face=True),)

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=20)


def random_state(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = pin.integrate(HUMANOID, pin.neutral(HUMANOID), rng.normal(size=HUMANOID.nv))
    return q, rng.normal(size=HUMANOID.nv), 10.0 * rng.normal(size=HUMANOID.nv - 6)


def assert_same(actual: np.ndarray, expected: np.ndarray, tolerance: float = SAME) -> None:
    np.testing.assert_allclose(actual, expected, atol=tolerance * np.abs(expected).max(), rtol=0)


class PinocchioContacts:
    """The same contacts as rigid constraints of Pinocchio."""

    def __init__(self, contacts: tuple[Contact, ...]) -> None:
        self.data = HUMANOID.createData()
        self.models = pin.StdVec_RigidConstraintModel()
        self.datas = pin.StdVec_RigidConstraintData()
        for contact in contacts:
            carrier = HUMANOID.frames[HUMANOID.getFrameId(contact.frame)]
            model = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D if contact.face else pin.ContactType.CONTACT_3D,
                HUMANOID,
                carrier.parentJoint,
                carrier.placement * pin.SE3(np.eye(3), np.array(contact.position)),
                pin.LOCAL_WORLD_ALIGNED,
            )
            self.models.append(model)
            self.datas.append(model.createData())
        pin.initConstraintDynamics(HUMANOID, self.data, self.models, self.datas)

    def acceleration(
        self, q: np.ndarray, v: np.ndarray, torques: np.ndarray, proximal: pin.ProximalSettings
    ) -> np.ndarray:
        tau = np.concatenate([np.zeros(6), torques])
        return pin.constraintDynamics(
            HUMANOID, self.data, q, v, tau, self.models, self.datas, proximal
        ).copy()

    def velocity_after(
        self, q: np.ndarray, v: np.ndarray, proximal: pin.ProximalSettings
    ) -> np.ndarray:
        return pin.impulseDynamics(
            HUMANOID, self.data, q, v, self.models, self.datas, 0.0, proximal
        ).copy()

    def reaction(self, contacts: tuple[Contact, ...]) -> np.ndarray:
        """Forces or impulses on the robot of the last call."""
        return np.concatenate(
            [
                data.contact_force.vector[: contact.rows]
                for data, contact in zip(self.datas, contacts, strict=True)
            ]
        )


EXACT = pin.ProximalSettings(1e-14, 0.0, 1)


@pytest.mark.parametrize("name", CONTACT_SETS)
@some
@given(seed=seeds)
def test_motion_and_forces_are_those_of_pinocchio(name: str, seed: int) -> None:
    q, v, torques = random_state(seed)
    contacts = CONTACT_SETS[name]
    # Of a face Pinocchio constrains the spatial acceleration, the notes that of the point; the two
    # are the same only if the face is at rest.
    v = support(HUMANOID, q, contacts).N_c @ v
    oracle = PinocchioContacts(contacts)
    expected = oracle.acceleration(q, v, torques, EXACT)
    ours = constrained_dynamics(HUMANOID, q, v, torques, contacts)
    assert_same(ours.acceleration, expected)
    assert_same(-ours.force_on_environment, oracle.reaction(contacts))


@pytest.mark.parametrize("name", CONTACT_SETS)
@some
@given(seed=seeds)
def test_impact_is_that_of_pinocchio(name: str, seed: int) -> None:
    q, v, _ = random_state(seed)
    contacts = CONTACT_SETS[name]
    oracle = PinocchioContacts(contacts)
    expected = oracle.velocity_after(q, v, EXACT)
    ours = impact(HUMANOID, q, v, contacts)
    assert_same(ours.v_after, expected)
    assert_same(-ours.impulse_on_environment, oracle.reaction(contacts))


@pytest.mark.parametrize("contacts", [FOUR_CORNERS, TWO_FEET_OF_CORNERS], ids=["4", "8"])
@some
@given(seed=seeds)
def test_redundant_corners_move_and_push_as_pinocchio_with_its_proximal_term(
    contacts: tuple[Contact, ...], seed: int
) -> None:
    q, v, torques = random_state(seed)
    at_contacts = support(HUMANOID, q, contacts)
    assert at_contacts.rank == 6 * len(contacts) // 4
    v = at_contacts.N_c @ v
    oracle = PinocchioContacts(contacts)
    expected = oracle.acceleration(q, v, torques, pin.ProximalSettings(1e-14, 1e-3, 200))
    ours = constrained_dynamics(HUMANOID, q, v, torques, contacts)
    assert_same(ours.acceleration, expected)
    assert_same(-ours.force_on_environment, oracle.reaction(contacts))


@pytest.mark.parametrize("contacts", [FOUR_CORNERS, TWO_FEET_OF_CORNERS], ids=["4", "8"])
@some
@given(seed=seeds)
def test_redundant_corners_stop_as_in_pinocchio(contacts: tuple[Contact, ...], seed: int) -> None:
    q, v, _ = random_state(seed)
    # Pinocchio does not iterate on an impact, so its answer is off by the order of this term.
    nearly_exact = pin.ProximalSettings(1e-14, 1e-14, 1)
    expected = PinocchioContacts(contacts).velocity_after(q, v, nearly_exact)
    assert_same(impact(HUMANOID, q, v, contacts).v_after, expected)


@some
@given(seed=seeds)
def test_four_corners_act_as_the_face_between_them(seed: int) -> None:
    q, v, torques = random_state(seed)
    after = impact(HUMANOID, q, v, FOUR_CORNERS)
    assert_same(after.v_after, impact(HUMANOID, q, v, FACE).v_after)
    at_rest = after.v_after
    corners = constrained_dynamics(HUMANOID, q, at_rest, torques, FOUR_CORNERS)
    face = constrained_dynamics(HUMANOID, q, at_rest, torques, FACE)
    assert_same(corners.acceleration, face.acceleration)
    for ours, J in ((corners, corners.support.J_c), (face, face.support.J_c)):
        # The wrench on the foot is unique even where its share of each corner is not.
        assert_same(J.T @ ours.force_on_environment, face.support.J_c.T @ face.force_on_environment)


@pytest.mark.parametrize("contacts", [*CONTACT_SETS.values(), TWO_FEET_OF_CORNERS])
def test_motion_satisfies_the_equations_it_comes_from(contacts: tuple[Contact, ...]) -> None:
    """(3.56), (3.60), (3.63) and (3.64), each with its own residual."""
    q, v, torques = random_state(7)
    v = support(HUMANOID, q, contacts).N_c @ v
    ours = constrained_dynamics(HUMANOID, q, v, torques, contacts)
    M, J_c, Lambda_c, N_c = (
        ours.support.M,
        ours.support.J_c,
        ours.support.Lambda_c,
        ours.support.N_c,
    )
    a, h, drift = ours.acceleration, ours.h, ours.drift
    applied = np.concatenate([np.zeros(6), torques])
    size = np.abs(h).max()
    assert np.abs(M @ a + h + J_c.T @ ours.force_on_environment - applied).max() < IDENTITY * size
    assert np.abs(J_c @ a + drift).max() < IDENTITY * np.abs(a).max()
    consistent = M @ a + N_c.T @ h + J_c.T @ Lambda_c @ drift - N_c.T @ applied
    assert np.abs(consistent).max() < IDENTITY * size
    assert np.abs(N_c.T @ (M @ a + h - applied)).max() < IDENTITY * size


@pytest.mark.parametrize("contacts", [*CONTACT_SETS.values(), TWO_FEET_OF_CORNERS])
def test_support_null_space_is_a_projector_that_contacts_do_not_feel(
    contacts: tuple[Contact, ...],
) -> None:
    q, _, _ = random_state(5)
    ours = support(HUMANOID, q, contacts)
    assert_same(ours.N_c @ ours.N_c, ours.N_c, IDENTITY)
    assert np.abs(ours.J_c @ ours.N_c).max() < IDENTITY
    M_inv_Jt = np.linalg.solve(ours.M, ours.J_c.T)
    assert np.abs(ours.N_c @ M_inv_Jt).max() < IDENTITY * np.abs(M_inv_Jt).max()
    assert_same(ours.Lambda_c, np.linalg.pinv(ours.J_c @ M_inv_Jt, rcond=1e-10), 1e-8)
    assert_same(ours.J_c_bar, M_inv_Jt @ ours.Lambda_c, 1e-8)
    assert round(np.trace(ours.N_c)) == HUMANOID.nv - ours.rank


@pytest.mark.parametrize("contacts", [*CONTACT_SETS.values(), TWO_FEET_OF_CORNERS])
def test_energy_lost_in_an_impact_is_the_same_in_joints_and_at_the_contacts(
    contacts: tuple[Contact, ...],
) -> None:
    """(3.65), (3.70) and (3.71) against the difference of the kinetic energies."""
    q, v, _ = random_state(9)
    ours = impact(HUMANOID, q, v, contacts)
    M, J_c = ours.support.M, ours.support.J_c
    jump = ours.v_after - v
    assert_same(M @ jump, -J_c.T @ ours.impulse_on_environment, IDENTITY)
    assert np.abs(J_c @ ours.v_after).max() < IDENTITY
    data = HUMANOID.createData()
    lost = pin.computeKineticEnergy(HUMANOID, data, q, ours.v_after) - pin.computeKineticEnergy(
        HUMANOID, data, q, v
    )
    assert lost < 0.0
    assert ours.energy_change == pytest.approx(lost, rel=SAME)
    assert ours.energy_change == pytest.approx(-0.5 * jump @ M @ jump, rel=SAME)


def test_touching_at_rest_changes_nothing() -> None:
    q, v, _ = random_state(2)
    at_rest = support(HUMANOID, q, FACE).N_c @ v
    ours = impact(HUMANOID, q, at_rest, FACE)
    assert_same(ours.v_after, at_rest, IDENTITY)
    assert abs(ours.energy_change) < 1e-20


def test_without_contacts_the_robot_falls_freely() -> None:
    q, v, torques = random_state(3)
    ours = constrained_dynamics(HUMANOID, q, v, torques, ())
    free = pin.aba(HUMANOID, HUMANOID.createData(), q, v, np.concatenate([np.zeros(6), torques]))
    assert_same(ours.acceleration, free)
    assert ours.force_on_environment.shape == (0,)
    np.testing.assert_array_equal(impact(HUMANOID, q, v, ()).v_after, v)


def test_a_single_body_lands_as_in_the_closed_form() -> None:
    """A falling ball stopped at its centre loses m v^2 / 2 with the impulse m v."""
    ball = pin.Model()
    joint = ball.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    ball.addJointFrame(joint)
    ball.appendBodyToJoint(joint, pin.Inertia.FromSphere(2.0, 0.1), pin.SE3.Identity())
    v = np.array([0.0, 0.0, -3.0, 0.0, 0.0, 1.0])
    ours = impact(ball, pin.neutral(ball), v, (Contact("root_joint"),))
    np.testing.assert_allclose(ours.v_after, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], atol=1e-15)
    np.testing.assert_allclose(ours.impulse_on_environment, [0.0, 0.0, -6.0], atol=1e-14)
    assert ours.energy_change == pytest.approx(-9.0)


def test_massless_link_is_named_as_the_cause() -> None:
    model = HUMANOID.copy()
    leaf = model.getJointId("rarm6_joint")
    model.inertias[leaf] = pin.Inertia.Zero()
    with pytest.raises(SingularityError, match="not positive definite"):
        support(model, pin.neutral(model), FACE)


def test_wrong_number_of_torques_is_named() -> None:
    q, v, _ = random_state(0)
    with pytest.raises(InputError, match=r"torques has shape \(3,\)"):
        constrained_dynamics(HUMANOID, q, v, np.zeros(3), FACE)
