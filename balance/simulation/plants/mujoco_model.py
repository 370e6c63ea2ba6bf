"""The robot as a MuJoCo model, built body by body from its Pinocchio model.

Masses, inertias, axes, limits and reflected inertias are copied from the model that the controller
uses, so the URDF is interpreted once.  MuJoCo's own URDF reader is not used: it does not find
meshes named ``package://``, knows nothing of locked joints, and refuses links whose inertia is
zero.  Each Pinocchio joint becomes one MuJoCo body whose origin is the joint's frame.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.errors import MissingExtraError, RobotError
from balance.robots import Robot
from balance.robots.urdf_checks import LEAST_INERTIA, triangle_excess
from balance.simulation.plants.end_stops import stop_springs

Array = NDArray[np.float64]

LEAST_VERSION = (3, 13)  # the first with the integrator that mujoco_plant uses
LEAST_MASS = 1e-12  # kg; MuJoCo wants every moving body to have some
STOP_IMPEDANCE = 1e-3  # d of a stop; mujoco_contacts says what it means
UNLIMITED_RAD = 1e6  # position limits beyond this are none

if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) < LEAST_VERSION:
    raise MissingExtraError("mujoco>=" + ".".join(map(str, LEAST_VERSION)), "mujoco")


def robot_spec(robot: Robot) -> mujoco.MjSpec:
    """An editable MuJoCo model of the robot alone: bodies, joints, gravity; nothing to touch."""
    model = robot.model
    spec = mujoco.MjSpec()
    spec.modelname = robot.name
    spec.compiler.degree = False
    spec.option.gravity = model.gravity.linear
    bodies = [spec.worldbody]
    for index in range(1, model.njoints):
        parent = bodies[model.parents[index]]
        placement = model.jointPlacements[index]
        body = parent.add_body(
            name=model.names[index],
            pos=placement.translation,
            quat=quaternion(placement.rotation),
            **_inertial(model.inertias[index]),
        )
        bodies.append(body)
        if index == 1:
            body.add_freejoint(name=model.names[index])
        else:
            _add_joint(body, model, index)
    return spec


def compiled(spec: mujoco.MjSpec, robot: Robot) -> mujoco.MjModel:
    """The model of a spec, with its joints in the order of Pinocchio's."""
    try:
        result = spec.compile()
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise RobotError(f"MuJoCo cannot take robot '{robot.name}': {reason}") from None
    ours = list(robot.model.names)[1:]  # what stands after them is not the robot
    if [result.joint(index).name for index in range(len(ours))] != ours:
        raise RobotError(
            f"the joints of robot '{robot.name}' are not numbered from the base along each limb, "
            "as MuJoCo numbers them; use the engine 'pinocchio'"
        )
    _set_stops(result, robot)
    return result


def _set_stops(model: mujoco.MjModel, robot: Robot) -> None:
    """Give the stops their springs and dampers, by MuJoCo's estimate of what the joints move."""
    stiffness, damping = stop_springs(robot)
    moved = model.dof_invweight0[6 : robot.model.nv]
    for index, (inverse, K, D) in enumerate(zip(moved, stiffness, damping, strict=True), 1):
        model.jnt_solref[index] = -inverse * (1.0 - STOP_IMPEDANCE) * np.array([K, D])


def quaternion(rotation: Array) -> Array:
    """Quaternion (w, x, y, z) of a rotation matrix."""
    return np.array(pin.Quaternion(rotation).coeffs())[[3, 0, 1, 2]]


def _inertial(inertia: pin.Inertia) -> dict[str, object]:
    """Mass, centre of mass and principal inertias of a body.

    Links without extent (a point mass in the URDF) get an inertia that is too small to matter.
    """
    values, axes = np.linalg.eigh(inertia.inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    values = np.maximum(values, LEAST_INERTIA)
    if not triangle_excess(inertia.inertia):
        # MuJoCo wants A + B >= C exactly; a plate's rounded numbers just miss it.
        values[2] = min(values[2], values[0] + values[1])
    return {
        "mass": max(float(inertia.mass), LEAST_MASS),
        "ipos": inertia.lever,
        "iquat": quaternion(axes),
        "inertia": values,
        "explicitinertial": True,
    }


def _add_joint(body: mujoco.MjsBody, model: pin.Model, index: int) -> None:
    joint = model.joints[index]
    data = joint.createData()
    joint.calc(data, np.zeros(1))
    subspace = np.array(data.S).ravel()
    hinge = bool(subspace[3:].any())
    limits = np.array(
        [model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]]
    )
    body.add_joint(
        name=model.names[index],
        type=mujoco.mjtJoint.mjJNT_HINGE if hinge else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=subspace[3:] if hinge else subspace[:3],
        armature=float(model.armature[joint.idx_v]),
        limited=bool((np.abs(limits) < UNLIMITED_RAD).any()),
        range=np.clip(limits, -UNLIMITED_RAD, UNLIMITED_RAD),
        solimp_limit=[STOP_IMPEDANCE, STOP_IMPEDANCE, 1e-3, 0.5, 2.0],
    )
