"""The simulated robot differs from the modelled one by exactly what the file says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import load_config
from balance.dynamics.checks import symmetrise
from balance.errors import ConfigError
from balance.robots import Robot, load_robot
from balance.robots.stance import robot_of
from balance.simulation.mismatch import modelled_mass, simulated_robot

Array = NDArray[np.float64]

STUDS = np.array([[0.095, 0.0475, 0.0], [0.095, -0.0475, 0.0], [-0.095, 0.0, 0.0]])  # of toro, m
ROUNDING = 1e-10  # of kg, kg m and kg m^2 below 1e3


def changed(robot: Robot, **mismatch: Any) -> Robot:
    overrides = {f"mismatch.{key}": value for key, value in mismatch.items()}
    return simulated_robot(robot, load_config("toro_push", overrides))


def mass_matrix(robot: Robot, q: Array) -> Array:
    return symmetrise(pin.crba(robot.model, robot.model.createData(), q))


def test_nothing_changed_is_the_same_robot(toro: Robot) -> None:
    config = load_config("toro_push")
    assert simulated_robot(toro, config) is toro


def test_mass_scale_scales_the_mass_matrix_and_leaves_the_com(toro: Robot) -> None:
    heavy = changed(toro, mass_scale=1.05)
    q = pin.integrate(toro.model, toro.q_nominal, 0.3 * np.ones(33))
    np.testing.assert_allclose(mass_matrix(heavy, q), 1.05 * mass_matrix(toro, q), atol=ROUNDING)
    np.testing.assert_allclose(heavy.com(q), toro.com(q), atol=1e-12)
    assert heavy.mass == pytest.approx(1.05 * toro.mass)


def test_mass_that_the_law_has_in_mind_follows_from_the_simulated_robot(toro: Robot) -> None:
    """The least normal force goes by it: a share of the weight that the law knows of."""
    mismatch = {
        "mass_scale": 1.05,
        "links": {"trunk": {"mass_scale": 0.8}, "left_hand": {"mass_scale": 2.0}},
        "payload": {"body": "left_hand", "mass_kg": 4.0},
    }
    config = load_config("toro_push", {"mismatch": mismatch})
    simulated = simulated_robot(toro, config)
    assert abs(simulated.mass - toro.mass) > 1.0
    assert modelled_mass(simulated, config) == pytest.approx(toro.mass, rel=1e-12)


def test_inertia_scale_leaves_masses_and_adds_rotational_energy(toro: Robot) -> None:
    """Kinetic energy of a spinning body: the mass matrix gains R I R^T of each body only."""
    stiff = changed(toro, inertia_scale=1.2)
    q = toro.q_nominal
    data = toro.model.createData()
    pin.computeJointJacobians(toro.model, data, q)
    gain = np.zeros((33, 33))
    for j in range(1, toro.model.njoints):
        J = pin.getJointJacobian(toro.model, data, j, pin.LOCAL)[3:]
        gain += 0.2 * J.T @ toro.model.inertias[j].inertia @ J
    expected = mass_matrix(toro, q) + gain
    np.testing.assert_allclose(mass_matrix(stiff, q), expected, atol=ROUNDING)
    assert stiff.mass == pytest.approx(toro.mass)


def test_payload_adds_a_point_mass_where_the_hand_is(toro: Robot) -> None:
    """M gains m J^T J of the point, and the CoM moves towards it by the share of the mass."""
    mass, point = 4.0, np.array([0.02, 0.01, -0.1])
    loaded = changed(
        toro, payload={"body": "right_hand", "mass_kg": mass, "point_m": point.tolist()}
    )
    q = pin.integrate(toro.model, toro.q_nominal, 0.2 * np.ones(33))
    data = toro.model.createData()
    pin.computeJointJacobians(toro.model, data, q)
    pin.framesForwardKinematics(toro.model, data, q)
    hand = toro.model.getFrameId("right_hand")
    frame = toro.model.frames[hand]
    offset = frame.placement * pin.SE3(np.eye(3), point)
    J = pin.getFrameJacobian(toro.model, data, frame.parentJoint, offset, pin.LOCAL_WORLD_ALIGNED)[
        :3
    ]
    expected = mass_matrix(toro, q) + mass * J.T @ J
    np.testing.assert_allclose(mass_matrix(loaded, q), expected, atol=ROUNDING)
    at = data.oMf[hand].act(point)
    com = (toro.mass * toro.com(q) + mass * at) / (toro.mass + mass)
    np.testing.assert_allclose(loaded.com(q), com, atol=1e-12)


def test_links_change_alone(toro: Robot) -> None:
    offset = (0.01, -0.02, 0.03)
    links = {"trunk": {"mass_scale": 1.1, "inertia_scale": 0.8, "com_offset_m": offset}}
    odd = changed(toro, links=links)
    trunk = toro.model.frames[toro.model.getFrameId("trunk")].parentJoint
    for j in range(1, toro.model.njoints):
        before, after = toro.model.inertias[j], odd.model.inertias[j]
        scale, shift = (1.1, np.array(offset)) if j == trunk else (1.0, np.zeros(3))
        assert after.mass == pytest.approx(scale * before.mass)
        np.testing.assert_allclose(after.lever, before.lever + shift, atol=1e-12)
        turning = 0.8 * scale if j == trunk else 1.0
        np.testing.assert_allclose(after.inertia, turning * before.inertia, atol=1e-12)


def test_com_of_the_whole_robot_moves_by_the_offset_and_nothing_else_changes(toro: Robot) -> None:
    """Also with other errors; the offset is in the axes of the base, which icub has turned."""
    icub, offset = load_robot("icub"), np.array([0.02, -0.01, 0.005])
    for robot in (toro, icub):
        shifted = changed(robot, com_offset_m=offset.tolist(), mass_scale=1.1)
        axes = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        np.testing.assert_allclose(shifted.com(), robot.com() + axes @ offset, atol=1e-12)
        for before, after in zip(robot.model.inertias, shifted.model.inertias, strict=True):
            np.testing.assert_allclose(after.inertia, 1.1 * before.inertia, atol=1e-12)
            assert after.mass == pytest.approx(1.1 * before.mass)


def test_soles_shrink_about_their_centre(toro: Robot) -> None:
    small = changed(toro, sole_scale=0.9)
    for before, after in zip(toro.soles, small.soles, strict=True):
        np.testing.assert_allclose(after.corners, 0.9 * before.corners, atol=1e-15)
    assert small.mass == toro.mass and small.model is not toro.model
    pointed = changed(robot_of(load_config("toro_points")), sole_scale=0.9)
    np.testing.assert_allclose(pointed.soles[0].corners, 0.9 * STUDS, atol=1e-15)


def test_rotors_add_their_inertia_to_the_joints(toro: Robot) -> None:
    value = {"left_knee": 0.4, "right_knee": 0.3}
    config = load_config("toro_push", {"actuators.rotor_inertia": value})
    geared = simulated_robot(toro, config)
    gain = mass_matrix(geared, toro.q_nominal) - mass_matrix(toro, toro.q_nominal)
    expected = np.zeros(33)
    for name, inertia in value.items():
        expected[6 + toro.joint_names.index(name)] = inertia
    np.testing.assert_allclose(gain, np.diag(expected), atol=1e-12)


def test_the_modelled_robot_is_left_as_it_was(toro: Robot) -> None:
    before = mass_matrix(toro, toro.q_nominal)
    changed(toro, mass_scale=2.0, payload={"body": "right_hand", "mass_kg": 5.0})
    np.testing.assert_array_equal(mass_matrix(toro, toro.q_nominal), before)


@pytest.mark.parametrize(
    ("mismatch", "told"),
    [
        ({"payload": {"body": "right_hnd", "mass_kg": 1.0}}, "did you mean 'right_hand'?"),
        ({"links": {"torso": {}}}, "mismatch.links names a body 'torso'"),
        ({"mass_scale": 0.0}, "mass_scale"),
        ({"payload": {"body": "right_hand", "mass_kg": -1.0}}, "mass_kg"),
        ({"mass": 1.1}, "unknown key 'mismatch.mass'"),
    ],
)
def test_wrong_mismatch_gets_one_sentence(toro: Robot, mismatch: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        changed(toro, **mismatch)
    assert told in str(caught.value) and "\n" not in str(caught.value)
