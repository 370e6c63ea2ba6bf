"""Bad input to the dynamics in rotation charts gives one clear sentence."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from gauss_samples import make_sample, make_tree
from numpy.typing import NDArray

from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.forward import (
    PointForce,
    applied_force,
    multiplier_acceleration,
    projected_acceleration,
)
from balance.dynamics.gauss.motion import integrate_gauss
from balance.errors import ChartError, FrameError, InputError, SingularityError

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def tree() -> pin.Model:
    return make_tree(armature=0.05)


def test_an_unknown_chart_is_refused(tree: pin.Model) -> None:
    with pytest.raises(ChartError, match=r"'quaternions' \(did you mean 'quaternion'\?\)"):
        gauss_dynamics(tree, "quaternions", np.zeros(10), np.zeros(10))


def test_a_state_of_the_wrong_length_is_refused(tree: pin.Model) -> None:
    with pytest.raises(InputError, match=r"q has shape \(10,\); expected \(15,\)"):
        gauss_dynamics(tree, "rotation_matrix", np.zeros(10), np.zeros(15))
    with pytest.raises(InputError, match=r"qdot has shape \(9,\); expected \(10,\)"):
        gauss_dynamics(tree, "quaternion", np.zeros(10), np.zeros(9))


def test_coordinates_off_the_constraint_are_refused(tree: pin.Model) -> None:
    q = np.zeros(10)
    with pytest.raises(ChartError, match="'quaternion' violate"):
        gauss_dynamics(tree, "quaternion", q, q)
    q[6], qdot = 1.0, np.zeros(10)
    qdot[6] = 0.5
    with pytest.raises(ChartError, match=r"qdot\[3:7\] moves the quaternion off.*rate of 0\.5"):
        gauss_dynamics(tree, "quaternion", q, qdot)


def test_a_singular_chart_is_refused(tree: pin.Model) -> None:
    q = np.zeros(9)
    q[4] = np.pi / 2
    with pytest.raises(ChartError, match="chart 'euler_zyx' is singular here"):
        gauss_dynamics(tree, "euler_zyx", q, np.zeros(9))


def test_a_fixed_base_is_refused() -> None:
    fixed = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        gauss_dynamics(fixed, "quaternion", np.zeros(10), np.zeros(10))


def test_a_massless_tip_is_refused() -> None:
    model = make_tree(tip_mass=0.0)
    sample = make_sample(model, "quaternion", 19)
    for accelerate in (projected_acceleration, multiplier_acceleration):
        with pytest.raises(SingularityError, match="inertia matrix is singular"):
            accelerate(sample.dynamics, np.zeros(10))


def test_forces_of_the_wrong_shape_or_place_are_refused(tree: pin.Model) -> None:
    sample = make_sample(tree, "quaternion", 20)

    def apply(torques: Array, *contacts: PointForce) -> Array:
        return applied_force(tree, "quaternion", sample.q, torques, contacts)

    with pytest.raises(InputError, match=r"torques has shape \(4,\); expected \(3,\)"):
        apply(np.zeros(4))
    with pytest.raises(FrameError, match=r"no frame 'whel_body' \(did you mean 'wheel_body'"):
        apply(np.zeros(3), PointForce("whel_body", np.zeros(3), np.zeros(3)))
    with pytest.raises(FrameError, match="fixed to the world"):
        apply(np.zeros(3), PointForce("universe", np.zeros(3), np.zeros(3)))
    with pytest.raises(InputError, match=r"force has shape \(6,\)"):
        apply(np.zeros(3), PointForce("wheel_body", np.zeros(3), np.zeros(6)))
    with pytest.raises(InputError, match=r"applied force has shape \(9,\)"):
        projected_acceleration(sample.dynamics, np.zeros(9))


def test_a_motion_without_steps_is_refused(tree: pin.Model) -> None:
    sample = make_sample(tree, "quaternion", 21)
    for duration_s, step_s in ((0.1, 0.0), (0.1, 0.2), (0.1, -1.0), (0.1, np.nan)):
        with pytest.raises(InputError, match="0 < step_s <= duration_s"):
            integrate_gauss(
                tree,
                "quaternion",
                sample.q,
                sample.qdot,
                lambda _t: np.zeros(3),
                duration_s=duration_s,
                step_s=step_s,
            )
