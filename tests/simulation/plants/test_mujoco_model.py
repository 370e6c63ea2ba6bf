"""MuJoCo simulates the very robot that Pinocchio describes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.dynamics.checks import symmetrise
from balance.errors import RobotError
from balance.robots import Robot, load_robot

mujoco = pytest.importorskip("mujoco")

from balance.simulation.plants.mujoco_plant import MujocoPlant  # noqa: E402

Array = NDArray[np.float64]

EXACT = 1e-9  # in SI units, and relative for numbers above 1
SEEDS = (0, 1, 2)


def wild_state(robot: Robot, seed: int) -> tuple[Array, Array]:
    """Any place and orientation of the base, joints anywhere in their range, all moving."""
    rng, model = np.random.default_rng(seed), robot.model
    q = pin.integrate(model, robot.q_nominal, rng.uniform(-2.0, 2.0, model.nv))
    q[7:] = np.clip(q[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
    return q, rng.uniform(-2.0, 2.0, model.nv)


def at_state(robot: Robot, seed: int) -> tuple[MujocoPlant, Array, Array, Array]:
    """The plant in a wild state with all its quantities computed, and T: v_mujoco = T v."""
    plant = MujocoPlant(PlantConfig(joint_damping=1.0), robot)
    q, v = wild_state(robot, seed)
    plant.reset(q, v)
    mujoco.mj_forward(plant.model, plant.data)
    T = np.eye(robot.model.nv)
    T[:3, :3] = pin.Quaternion(q[3:7]).toRotationMatrix()
    return plant, q, v, T


def mass_matrix(plant: MujocoPlant) -> Array:
    """MuJoCo's inertia matrix, column by column."""
    nv = plant.model.nv
    M = np.zeros((nv, nv))
    for column, unit in enumerate(np.eye(nv)):
        mujoco.mj_mulM(plant.model, plant.data, M[column], unit)
    return M


@pytest.fixture(scope="module", params=("toro", "talos", "icub", "g1", "romeo", "human"))
def each_robot(request: pytest.FixtureRequest) -> Robot:
    """Every robot that ships with the package."""
    return load_robot(request.param)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_pinocchios(each_robot: Robot, seed: int) -> None:
    plant, q, _, T = at_state(each_robot, seed)
    model = each_robot.model
    M = symmetrise(pin.crba(model, model.createData(), q))
    np.testing.assert_allclose(T.T @ mass_matrix(plant) @ T, M, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_forces_are_pinocchios(each_robot: Robot, seed: int) -> None:
    """MuJoCo's base accelerates in world axes, so its bias lacks M (omega x v)."""
    plant, q, v, T = at_state(each_robot, seed)
    model = each_robot.model
    turning = np.zeros(model.nv)
    turning[:3] = np.cross(v[3:6], v[:3])
    bias = T.T @ (plant.data.qfrc_bias + mass_matrix(plant) @ T @ turning)
    expected = pin.nonLinearEffects(model, model.createData(), q, v)
    np.testing.assert_allclose(bias, expected, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_sole_jacobians_and_centre_of_mass_are_pinocchios(each_robot: Robot, seed: int) -> None:
    plant, q, _, T = at_state(each_robot, seed)
    model, data = each_robot.model, each_robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for sole in each_robot.soles:
        frame = model.frames[sole.frame_id]
        expected = pin.getFrameJacobian(
            model,
            data,
            frame.parentJoint,
            frame.placement * sole.placement,
            pin.LOCAL_WORLD_ALIGNED,
        )
        J = np.zeros((6, model.nv))
        centre = sole.pose(data).translation
        mujoco.mj_jac(plant.model, plant.data, J[:3], J[3:], centre, frame.parentJoint)
        np.testing.assert_allclose(J @ T, expected, rtol=EXACT, atol=EXACT)
        corners = [plant.data.geom(f"corner {number} of {sole.name}").xpos for number in range(4)]
        # A corner is the lowest point of a ball of a micrometre.
        np.testing.assert_allclose(np.mean(corners, axis=0), centre, atol=2e-6)
    np.testing.assert_allclose(
        plant.data.subtree_com[1], pin.centerOfMass(model, data, q), rtol=EXACT, atol=EXACT
    )
    assert plant.model.body_subtreemass[1] == pytest.approx(each_robot.mass, rel=EXACT)


def test_joint_limits_rotor_inertia_and_friction_are_taken_over(toro: Robot) -> None:
    model = toro.model.copy()
    model.armature = np.concatenate([np.zeros(6), np.linspace(0.01, 0.2, model.nv - 6)])
    robot = dataclasses.replace(toro, model=model)
    name = toro.joint_names[3]
    plant = MujocoPlant(PlantConfig(joint_damping={name: 0.7}), robot)
    limits = np.stack([model.lowerPositionLimit[7:], model.upperPositionLimit[7:]], axis=1)
    np.testing.assert_allclose(plant.model.jnt_range[1:], limits, rtol=1e-12)
    assert plant.model.jnt_limited[1:].all()
    np.testing.assert_allclose(plant.model.dof_armature, model.armature, rtol=1e-12)
    expected = np.zeros(model.nv)
    expected[6 + 3] = 0.7
    np.testing.assert_array_equal(plant.model.dof_damping, expected)


def test_impossible_inertia_is_named(toro: Robot) -> None:
    """Pinocchio takes principal inertias that no body can have; MuJoCo does not."""
    model = toro.model.copy()
    inertia = model.inertias[4]
    model.inertias[4] = pin.Inertia(inertia.mass, inertia.lever, np.diag([1.0, 1.0, 3.0]))
    with pytest.raises(RobotError, match=r"toro.*inertia"):
        MujocoPlant(PlantConfig(), dataclasses.replace(toro, model=model))
