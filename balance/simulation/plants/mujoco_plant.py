"""Rigid-body simulation with MuJoCo, of the same robot on the same planes.

MuJoCo's discrete integrator takes the velocity over a step of size dt by

    (M + dt B) (v+ - v) = dt (tau - B v - c(q, v) + J_p^T f_p + J_c^T f_c),

with B the viscous joint friction, and finds the contact forces f_c of that very step.  Its older
integrators (``implicitfast`` among them) find the forces first and apply the friction afterwards:
what friction then takes from the joints is missing at the soles, which hop by up to a centimetre
when the robot is pushed.

MuJoCo writes quaternions as (w, x, y, z) and the linear velocity of the base in world axes, and
computes forces, contacts and kinematics at the start of a step; ``q`` and ``v`` here are
Pinocchio's, at its end.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.dynamics.checks import frame_id
from balance.robots import Robot
from balance.robots.joint_values import joint_values
from balance.simulation.ground import GroundMotion
from balance.simulation.plants import mujoco_self_pairs
from balance.simulation.plants.interface import BodyImpulse, Touch
from balance.simulation.plants.mujoco_bodies import BodyContacts, add_bodies
from balance.simulation.plants.mujoco_contacts import (
    CornerContacts,
    add_corners,
    friction_impedance_ratio,
)
from balance.simulation.plants.mujoco_ground import MovingGround, add_ground
from balance.simulation.plants.mujoco_model import compiled, robot_spec
from balance.simulation.plants.mujoco_self_pairs import SelfPairs
from balance.simulation.plants.mujoco_sliding import Sliding
from balance.simulation.world import Obstacle, obstacles

Array = NDArray[np.float64]

MAX_ITERATIONS = 100
STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS | mujoco.mjtState.mjSTATE_WARMSTART)

if mujoco.get_mju_user_warning() is None:
    # MuJoCo would print its warnings and write them to a file in the current folder; what they tell
    # of, a state that is not finite, the experiment sees for itself.
    mujoco.set_mju_user_warning(logging.getLogger(__name__).info)


class MujocoPlant:
    """The robot in MuJoCo; ``q``, ``v`` and ``time`` are its true state."""

    engine_steps = (mujoco.mj_step, mujoco.mj_step1, mujoco.mj_step2)
    """All that is not Python in a step."""

    def __init__(
        self, config: PlantConfig, robot: Robot, ground: GroundMotion | None = None
    ) -> None:
        self.robot, self.dt = robot, config.step_s
        around = obstacles(robot, ground)
        self.model = _model(config, robot, around, ground)
        self.joint_damping = self.model.dof_damping[6 : robot.model.nv]
        """Viscous friction of each joint (nj,), N m s/rad; may be changed between steps."""
        self.joint_damping[:] = joint_values(config.joint_damping, robot, "plant.joint_damping")
        self.data = mujoco.MjData(self.model)
        most = robot.effort_limits if config.torque_limits else np.full(robot.model.nv - 6, np.inf)
        self.torque_range = np.array([-most, most])
        """Least and largest torque of each joint (2, nj), N m; may be changed between steps."""
        self._lowest, self._highest = self.torque_range
        # Views of MuJoCo's memory, and room for the inverse rotation of the base.
        nq, nv = robot.model.nq, robot.model.nv
        self._qpos, self._qvel = self.data.qpos[:nq], self.data.qvel[:nv]
        self._quaternion, self._linear = self._qpos[3:7], self._qvel[:3]
        self._torques = self.data.qfrc_applied[6:nv]
        self._inverse = np.zeros(4)
        self._engine_state = np.zeros(mujoco.mj_stateSize(self.model, STATE))
        self.contact_wrenches = np.zeros((len(robot.soles), 6))
        """Measured wrench of each sole in its own frame, mean over the last step (k, 6)."""
        self.touches: tuple[Touch, ...] = ()
        """What touched in the last step besides the soles."""
        self._write(robot.q_nominal, np.zeros(nv))
        self._ground = None if ground is None else MovingGround(ground, self.model, self.data)
        self._contacts = CornerContacts(self.model, self.data, robot, config, ground is not None)
        self._bodies = BodyContacts(self.model, self.data, robot, config, around)
        self._sliding = Sliding(self.model, self.data)
        self._self_pairs: SelfPairs | None = None
        many = len(robot.shape_pairs) >= mujoco_self_pairs.FEWEST_PAIRS
        if config.collisions == "all" and ground is None and many:
            without = config.model_copy(update={"collisions": "ground"})
            self._self_pairs = SelfPairs(self.model, _model(without, robot, around), robot)
        self.reset(robot.q_nominal, np.zeros(nv))

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one of the robot's soles."""
        self._contacts.set_friction(surface, friction)

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state; nothing of the past is kept."""
        mujoco.mj_resetData(self.model, self.data)
        self._write(q, v)
        self._contacts.anchor()
        self.q, self.v, self.time = q.copy(), v.copy(), 0.0
        self.contact_wrenches[:] = 0.0
        self.touches = ()

    def remember(self) -> bool:
        """Keep the state for :meth:`go_back`."""
        self._kept = self.q, self.v, self.time
        mujoco.mj_getState(self.model, self.data, self._engine_state, STATE)
        return True

    def go_back(self) -> None:
        """Be again where :meth:`remember` was called."""
        self.q, self.v, self.time = self._kept
        mujoco.mj_setState(self.model, self.data, self._engine_state, STATE)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step under joint torques (nj,) and pushes (N s)."""
        np.maximum(torques, self._lowest, out=self._torques)
        np.minimum(self._torques, self._highest, out=self._torques)
        if impulses:
            self._push(impulses)
        if self._ground is not None:
            self._ground.set(self.time, self.dt)
        model = self.model if self._self_pairs is None else self._self_pairs.model(self.q)
        self._sliding.step(*self.engine_steps, model)
        if impulses:
            self.data.xfrc_applied[:] = 0.0
        others = self._contacts.read(self.contact_wrenches)
        self.touches = () if others is None else self._bodies.touches(others)
        self._read()
        self.time += self.dt

    def _write(self, q: Array, v: Array) -> None:
        """Pinocchio's state into MuJoCo's."""
        self._qpos[:] = q
        self._quaternion[:] = q[6], q[3], q[4], q[5]
        self._qvel[:] = v
        mujoco.mju_rotVecQuat(self._linear, v[:3], self._quaternion)

    def _read(self) -> None:
        """MuJoCo's state into Pinocchio's; into new arrays, for others may keep the old ones."""
        q, v = self._qpos.copy(), self._qvel.copy()
        q[3:6], q[6] = q[4:7], q[3]
        mujoco.mju_negQuat(self._inverse, self._quaternion)
        mujoco.mju_rotVecQuat(v[:3], self._linear, self._inverse)
        self.q, self.v = q, v

    def _push(self, impulses: Sequence[BodyImpulse]) -> None:
        """Forces on bodies that deliver the impulses within the next step."""
        data, pin_model = self.data, self.robot.model
        mujoco.mj_kinematics(self.model, data)
        for impulse in impulses:
            frame = pin_model.frames[frame_id(pin_model, impulse.body)]
            body = frame.parentJoint  # bodies have the numbers of Pinocchio's joints
            rotation = data.xmat[body].reshape(3, 3)
            vector = impulse.vector
            if impulse.in_body_axes:
                vector = rotation @ frame.placement.rotation @ vector
            force = vector / self.dt
            point = data.xpos[body] + rotation @ frame.placement.act(impulse.point)
            data.xfrc_applied[body, :3] += force
            data.xfrc_applied[body, 3:] += np.cross(point - data.xipos[body], force)


def _model(
    config: PlantConfig,
    robot: Robot,
    around: tuple[Obstacle, ...],
    ground: GroundMotion | None = None,
) -> mujoco.MjModel:
    """The robot and what is ``around`` it, compiled; how hard contacts are is not set yet."""
    spec = robot_spec(robot)
    _set_options(spec.option, config)
    moving = None if ground is None else add_ground(spec)
    add_corners(spec, robot, config, frozenset() if ground is None else ground.surfaces, moving)
    add_bodies(spec, robot, config, around, moving)
    return compiled(spec, robot)


def _set_options(option: mujoco.MjOption, config: PlantConfig) -> None:
    option.timestep = config.step_s
    option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = friction_impedance_ratio(config)
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.iterations = MAX_ITERATIONS
    option.tolerance = config.contact_tolerance**2  # of a cost, quadratic in the residual
    # Right for this size, and MuJoCo 4.0.0 factorises sparse ones wrongly.
    option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    # A diverged run shall show; and contacts are stiffer than MuJoCo deems safe for its older
    # integrators.
    option.disableflags = int(
        mujoco.mjtDisableBit.mjDSBL_AUTORESET | mujoco.mjtDisableBit.mjDSBL_REFSAFE
    )
