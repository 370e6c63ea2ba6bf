"""The Pinocchio plant does what the formulas of its docstrings say, written out plainly here."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from plant_steps import step_velocity

from balance.config import load_config
from balance.control import make_controller
from balance.dynamics.checks import symmetrise
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.stance import robot_of
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant
from balance.simulation.plants.surface import Surfaces, place_surfaces

Array = NDArray[np.float64]

AGREEMENT = 1e-10  # of velocities in rad/s and m/s, and of forces relative to the weight


def plain_sticking_step(
    plant: PinocchioPlant, damping: Array, torques: Array, push: BodyImpulse
) -> tuple[Array, Array]:
    """Velocity after a step, and wrenches (k, 6) in surface axes, if no surface slides or tips.

    Solves the equation of motion and J v+ = c together, with every matrix written out; c closes
    what gap rounding has left below the surfaces.
    """
    model, data, dt, v = plant.model, plant.model.createData(), plant.dt, plant.v
    nv = model.nv
    M = symmetrise(pin.crba(model, data, plant.q)) + dt * np.diag(damping)
    pin.computeJointJacobians(model, data, plant.q)
    pin.updateFramePlacements(model, data)
    J = np.concatenate(
        [
            sole.placement.toActionMatrixInverse()
            @ pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL)
            for sole in plant.robot.soles
        ]
    )
    body = model.getFrameId(push.body)
    J_push = pin.getFrameJacobian(model, data, body, pin.LOCAL_WORLD_ALIGNED)[:3]
    force = -pin.rnea(model, data, plant.q, v, np.zeros(nv)) - damping * v
    force[6:] += np.clip(torques, -plant.robot.effort_limits, plant.robot.effort_limits)
    rows = len(J)
    system = np.block([[M, -J.T], [J, np.zeros((rows, rows))]])
    closing = [closing_velocity(sole, sole.pose_on_plane(data), dt) for sole in plant.robot.soles]
    right = np.concatenate([M @ v + dt * force + J_push.T @ push.vector, *closing])
    solution = np.linalg.solve(system, right)
    return solution[:nv], solution[nv:].reshape(-1, 6) / dt


def closing_velocity(sole: ContactSurface, pose: pin.SE3, dt: float) -> Array:
    """Velocity (6,) of a sole, in its axes, that takes its corners to the plane within a step.

    It sinks along the plane's normal and turns about its own x and y axes.
    """
    normal = pose.rotation[2]
    turns = np.stack([np.cross(np.eye(3)[axis], sole.corners) @ normal for axis in (0, 1)], axis=1)
    heights = sole.corners @ normal + pose.translation[2]
    sink, turn_x, turn_y = np.linalg.lstsq(np.column_stack([np.ones(4), turns]), -heights / dt)[0]
    return np.concatenate([sink * normal, [turn_x, turn_y, 0.0]])


@pytest.mark.parametrize("config_name", ["toro_push", "talos_push", "toro_single_support"])
def test_step_of_a_standing_robot_is_the_plain_formula(config_name: str) -> None:
    config = load_config(config_name)
    robot = robot_of(config)
    plant, law = PinocchioPlant(config.plant, robot), make_controller(config, robot)
    damping = np.zeros(robot.model.nv)
    damping[6:] = plant.joint_damping
    weight = 9.81 * robot.mass
    push = BodyImpulse(robot.push_body, np.zeros(3), plant.dt * np.array([10.0, 15.0, 0.0]))
    for _ in range(40):
        torques = law.step(plant.q, plant.v, plant.time).torques
        v, wrenches = plain_sticking_step(plant, damping, torques, push)
        before, q = plant.q, pin.integrate(robot.model, plant.q, plant.dt * v)
        plant.step(torques, [push])
        np.testing.assert_allclose(step_velocity(plant, robot, before), v, rtol=0, atol=AGREEMENT)
        np.testing.assert_allclose(plant.v[6:], v[6:], rtol=0, atol=AGREEMENT)
        np.testing.assert_allclose(plant.q, q, rtol=0, atol=AGREEMENT)
        np.testing.assert_allclose(plant.contact_wrenches / weight, wrenches / weight, atol=1e-9)
        assert plant.contact_residual < AGREEMENT


def test_flat_and_sliding_solvers_agree_where_both_apply(toro: Robot) -> None:
    """Impulses that hold the soles still are also what the solver for the corners finds."""
    config = load_config("toro_push").plant
    fast, exact = PinocchioPlant(config, toro), PinocchioPlant(config, toro)
    exact._contacts.model._sticking = -np.ones_like(exact._contacts.model._sticking)  # type: ignore[attr-defined]
    law = make_controller(load_config("toro_push"), toro)
    push = BodyImpulse(toro.push_body, np.zeros(3), fast.dt * np.array([0.0, 20.0, 0.0]))
    for _ in range(20):
        exact.reset(fast.q, fast.v)
        torques = law.step(fast.q, fast.v, fast.time).torques
        fast.step(torques, [push])
        exact.step(torques, [push])
        assert exact.contact_residual < 1e-8
        np.testing.assert_allclose(exact.v, fast.v, rtol=0, atol=1e-6)


@pytest.mark.parametrize("config_name", ["toro_push", "toro_slope", "g1_push"])
def test_places_and_jacobians_of_surfaces_are_those_of_their_frames(config_name: str) -> None:
    """Surface by surface, and of all in one call, as compiled plants ask."""
    robot = robot_of(load_config(config_name))
    model, data, rng = robot.model, robot.model.createData(), np.random.default_rng(7)
    J = np.zeros((6 * len(robot.soles), model.nv))
    surfaces = Surfaces(robot, data, J)
    q = pin.integrate(model, robot.q_nominal, 0.3 * rng.standard_normal(model.nv))
    pin.crba(model, data, q, pin.Convention.WORLD)
    surfaces.update()
    one_by_one = J.copy(), surfaces.poses(), surfaces.gaps.copy()
    J[:] = np.nan
    place_surfaces(
        surfaces._placements, surfaces._joints, surfaces._rows, surfaces._planes, data.J,
        surfaces._moves, surfaces._points, surfaces._to_axes, J,
    )  # fmt: skip
    for each, same in zip((J, surfaces.poses(), surfaces.gaps), one_by_one, strict=True):
        np.testing.assert_allclose(each, same, rtol=0, atol=1e-14)
    other = model.createData()
    pin.computeJointJacobians(model, other, q)
    pin.updateFramePlacements(model, other)
    for sole, own, gaps in zip(robot.soles, J.reshape(-1, 6, model.nv), surfaces.gaps, strict=True):
        frame = pin.getFrameJacobian(model, other, sole.frame_id, pin.LOCAL)
        np.testing.assert_allclose(
            own, sole.placement.toActionMatrixInverse() @ frame, rtol=0, atol=1e-13
        )
        corners = [sole.pose_on_plane(other).act(corner)[2] for corner in sole.corners]
        np.testing.assert_allclose(gaps, corners, rtol=0, atol=1e-14)
