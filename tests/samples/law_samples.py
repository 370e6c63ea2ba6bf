"""Every law on the TORO-like robot, and what tests of laws need: oracles, symmetries, runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import LAWS, ExperimentConfig, load_config
from balance.control import Controller, make_controller
from balance.robots import Robot
from balance.simulation.plants import BodyImpulse, make_plant

Array = NDArray[np.float64]

CASES: dict[str, dict[str, Any]] = {name: {"law": name} for name in LAWS.ready()} | {
    "momentum, tracking": {"law": "momentum", "tracking": True},
    "whole_body_qp, quaternion": {"law": "whole_body_qp", "form": "quaternion"},
    "hierarchical, projection": {"law": "hierarchical", "method": "projection"},
}
"""The ``controller`` keys that select each law; with its defaults, and other forms of it."""

MIRROR = np.diag([1.0, -1.0, 1.0])


def law_config(case: str, experiment: str = "toro_side", **overrides: Any) -> ExperimentConfig:
    """A shipped experiment under the law of ``case``; in keywords, '__' stands for '.'."""
    keys = {f"controller.{key}": value for key, value in CASES[case].items()}
    keys |= {key.replace("__", "."): value for key, value in overrides.items()}
    return load_config(experiment, keys)


def law(case: str, robot: Robot, **overrides: Any) -> Controller:
    """The controller of ``case`` for ``robot`` with the gains of the paper's Table 1."""
    return make_controller(law_config(case, **overrides), robot)


def strong(robot: Robot) -> Robot:
    """The same robot with joints that never reach their torque limit."""
    model = robot.model.copy()
    model.upperEffortLimit = np.full(model.nv, 1e9)
    model.lowerEffortLimit = -model.upperEffortLimit
    return dataclasses.replace(robot, model=model)


def contact_jacobian(robot: Robot, q: Array) -> Array:
    """(6 k, nv) of all contacts in their own axes, from Pinocchio's frame Jacobians."""
    data = robot.model.createData()
    return np.concatenate(
        [
            sole.placement.toActionMatrixInverse()
            @ pin.computeFrameJacobian(robot.model, data, q, sole.frame_id, pin.LOCAL)
            for sole in robot.soles
        ]
    )


def wrench_at_com(robot: Robot, q: Array, wrenches: Array) -> Array:
    """Sum of the contacts' wrenches at the CoM in world axes, by Pinocchio's spatial forces."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    X_GW = pin.SE3(np.eye(3), -robot.com(q))
    total = pin.Force.Zero()
    for sole, wrench in zip(robot.soles, wrenches, strict=True):
        total += (X_GW * sole.pose(data)).act(pin.Force(wrench))
    return np.array(total.vector)


def spring_torque(K_R: Array, desired: Array, actual: Array) -> Array:
    """R_d tau_P (3,) below Garofalo2015 (39), world axes, of quaternions (x, y, z, w)."""
    R_d = pin.Quaternion(desired).matrix()
    u = pin.Quaternion(R_d.T @ pin.Quaternion(actual).matrix()).coeffs()
    eps, delta = (u[:3], u[3]) if u[3] >= 0.0 else (-u[:3], -u[3])
    return np.asarray(R_d @ (-2.0 * (delta * K_R @ eps + np.cross(eps, K_R @ eps))))


def moved(robot: Robot, size: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """A state that is off the nominal one by up to ``size`` in m, rad, m/s and rad/s."""
    model = robot.model
    offset, v = size * rng.uniform(-1.0, 1.0, (2, model.nv))
    q = pin.integrate(model, robot.q_nominal, offset)
    q[7:] = np.clip(q[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
    return q, v


def on_contacts(robot: Robot, q: Array, v: Array) -> Array:
    """The velocity nearest to ``v`` at which all contacts are at rest."""
    J = contact_jacobian(robot, q)
    return np.asarray(v - np.linalg.pinv(J) @ (J @ v))


def mirror_joints(names: Sequence[str], values: Array) -> Array:
    """Swap the sides and negate the yaw joints of waist and neck."""
    mirrored = np.empty_like(values)
    for i, name in enumerate(names):
        side, _, joint = name.partition("_")
        twin = {"left": f"right_{joint}", "right": f"left_{joint}"}.get(side, name)
        sign = -1.0 if name in ("waist_yaw", "neck_yaw") else 1.0
        mirrored[i] = sign * values[names.index(twin)]
    return mirrored


def mirror_state(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """The mirror image of a state of the TORO-like robot in the plane y = 0."""
    q_mirror, v_mirror, names = q.copy(), v.copy(), robot.joint_names
    R_WB = pin.Quaternion(q[3:7]).matrix()
    q_mirror[:3] = MIRROR @ q[:3]
    q_mirror[3:7] = pin.Quaternion(MIRROR @ R_WB @ MIRROR).coeffs()
    v_mirror[:3], v_mirror[3:6] = MIRROR @ v[:3], -MIRROR @ v[3:6]
    q_mirror[7:], v_mirror[6:] = mirror_joints(names, q[7:]), mirror_joints(names, v[6:])
    return q_mirror, v_mirror


def turn(q: Array, R: Array) -> Array:
    """The whole robot turned by ``R`` about the world's origin; velocities stay the same."""
    turned = q.copy()
    turned[:3] = R @ q[:3]
    turned[3:7] = pin.Quaternion(R @ pin.Quaternion(q[3:7]).matrix()).coeffs()
    return turned


def simulate(config: ExperimentConfig, robot: Robot, push: Array, periods: int) -> Array:
    """Configurations (periods, nq) after a push of ``push`` N s, spread over 20 ms, at the base.

    Unlike ``balance.run`` this takes a robot as an object, so that it can be an altered one.
    """
    controller, plant = make_controller(config, robot), make_plant(config.plant, robot)
    substeps, dt = config.n_substeps, config.plant.step_s
    share = push * dt / 0.02
    path = np.empty((periods, robot.model.nq))
    for i in range(periods):
        torques = controller.step(plant.q, plant.v, i * config.control_period_s).torques
        for _ in range(substeps):
            hit = plant.time < 0.02 - 0.5 * dt
            impulses = [BodyImpulse(robot.base_body, np.zeros(3), share)] if hit else []
            plant.step(torques, impulses)
        path[i] = plant.q
    return path
