"""Ground that moves, in MuJoCo: a body so heavy that the robot cannot push it about.

MuJoCo takes bodies without joints for resting, however they are placed from step to step, so their
friction would not drag the robot along.  A free body whose pose and velocity are set before every
step does.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

from balance.simulation.ground import GroundMotion
from balance.simulation.plants.mujoco_model import quaternion

NAME = "ground"
HALF_SIZE_M = (20.0, 20.0, 1.0)
INERT = {"contype": 0, "conaffinity": 0, "mass": 0.0}  # of geoms that touch in given pairs alone
MASS = 1e6  # kg, and kg m^2: a robot's weight changes its velocity by less than 1e-6 m/s in a step


def add_ground(spec: mujoco.MjSpec) -> mujoco.MjsBody:
    """Add the body that carries the planes of the ground, after those of the robot."""
    body = spec.worldbody.add_body(
        name=NAME,
        mass=MASS,
        inertia=np.full(3, MASS),
        explicitinertial=True,
        gravcomp=1.0,
    )
    body.add_freejoint(name=NAME)
    return body


def add_plane(
    spec: mujoco.MjSpec, name: str, top: pin.SE3, moving: mujoco.MjsBody | None
) -> mujoco.MjsGeom:
    """Add a plane, z out of it: in the world, or on the ground that moves."""
    carrier, kind, size = spec.worldbody, mujoco.mjtGeom.mjGEOM_PLANE, (1.0, 1.0, 0.1)
    if moving is not None:  # MuJoCo allows no plane on a body that moves
        carrier, kind, size = moving, mujoco.mjtGeom.mjGEOM_BOX, HALF_SIZE_M
        top = top * pin.SE3(np.eye(3), np.array([0.0, 0.0, -size[2]]))
    return carrier.add_geom(
        name=name,
        type=kind,
        size=size,
        pos=top.translation,
        quat=quaternion(top.rotation),
        **INERT,
    )


class MovingGround:
    """The ground in a compiled model, moved as ``motion`` says."""

    def __init__(self, motion: GroundMotion, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._motion = motion
        joint = model.joint(NAME)
        first_q, first_v = int(joint.qposadr[0]), int(joint.dofadr[0])
        self._qpos, self._qvel = data.qpos[first_q:], data.qvel[first_v:]
        # The solver stops when the cost falls by little, measured by the mean inertia.
        model.stat.meaninertia = float(model.dof_M0[:first_v].mean())

    def set(self, time: float, dt: float) -> None:
        """Pose at ``time`` and the velocity that takes the ground on to ``time + dt``."""
        pose, twist = self._motion.pose(time), self._motion.twist(time, dt)
        self._qpos[:3], self._qpos[3:] = pose.translation, quaternion(pose.rotation)
        body = pose.actInv(pin.Motion(twist))
        self._qvel[:3], self._qvel[3:] = pose.rotation @ body.linear, body.angular
