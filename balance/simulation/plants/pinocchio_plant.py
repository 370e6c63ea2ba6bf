"""Rigid-body simulation with Pinocchio alone, in velocity-level steps.

One step of size dt takes velocities from v to v+ by

    (M + dt B) (v+ - v) = dt (tau - B v - b(q, v)) + sum J_p^T i_p + J_c^T lambda,
    q+ = q (+) dt v+,

with b the Coriolis, centrifugal and gravity terms, B the viscous joint friction, i_p the impulses
of pushes and lambda those of the contacts.  Joint friction is implicit, so a light wrist with much
friction stays stable.  How the contact impulses are found is the business of
:mod:`balance.simulation.plants.contact_models`.

Of v+ the joints' part is kept; the base gets the velocity with which the robot has, at q+, the
momentum that it had before and what gravity, pushes and contacts gave it
(:mod:`balance.simulation.plants.momentum`).  The two differ by what the step is wrong by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.dynamics.checks import frame_id
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import cholesky
from balance.robots import Robot
from balance.robots.joint_values import joint_values
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.contact_models import Contacts
from balance.simulation.plants.end_stops import add_stops, end_stops
from balance.simulation.plants.interface import BodyImpulse, Touch
from balance.simulation.plants.momentum import Momentum

Array = NDArray[np.float64]


class PinocchioPlant:
    """The robot on its planes; ``q``, ``v`` and ``time`` are its true state.

    Whoever sets ``q`` or ``v`` gives a new array, by which the next step knows that it begins anew.
    """

    def __init__(
        self, config: PlantConfig, robot: Robot, ground: GroundMotion | None = None
    ) -> None:
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        self.dt = config.step_s
        self.q, self.v, self.time = robot.q_nominal.copy(), np.zeros(self.model.nv), 0.0
        most = robot.effort_limits if config.torque_limits else np.full(self.model.nv - 6, np.inf)
        self.torque_range = np.array([-most, most])
        """Least and largest torque of each joint (2, nj), N m; may be changed between steps."""
        self._damping = np.zeros(self.model.nv)
        self._damping[6:] = joint_values(config.joint_damping, robot, "plant.joint_damping")
        self.joint_damping = self._damping[6:]
        """Viscous friction of each joint (nj,), N m s/rad; may be changed between steps."""
        self._stops = end_stops(robot)
        self._contacts = Contacts(robot, config, self.data, ground)
        # Views of Pinocchio's memory; M is symmetric, and its transpose in C order.
        self._M, self._bias = self.data.M.T, self.data.nle
        self._momentum = Momentum(self.model, self.data, self.dt)
        self._last: tuple[Array | None, Array | None] = (None, None)  # state after the last step
        self._diagonal = self._M.ravel(order="K")[:: self.model.nv + 1]
        self.contact_wrenches = self._contacts.wrenches
        """Measured wrench of each sole in its own frame, mean over the last step (k, 6)."""
        self._frames: dict[str, pin.Frame] = {}

    @property
    def touches(self) -> tuple[Touch, ...]:
        """What touched in the last step besides the soles."""
        return self._contacts.touches

    @property
    def contact_residual(self) -> float:
        """Complementarity residual of the last contact solve, N s times m/s."""
        return self._contacts.model.residual

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one of the robot's soles."""
        self._contacts.model.set_friction(surface, friction)

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state; nothing of the past is kept."""
        self.q, self.v, self.time = q.copy(), v.copy(), 0.0
        self._contacts.forget()

    def remember(self) -> bool:
        """Keep the state for :meth:`go_back`."""
        state = self.q, self.v, self.time, self._last, self._momentum.value
        self._kept = state, self._contacts.model.memory()
        return True

    def go_back(self) -> None:
        """Be again where :meth:`remember` was called."""
        state, memory = self._kept
        self.q, self.v, self.time, self._last, self._momentum.value = state
        self._contacts.model.recall(memory)
        pin.crba(self.model, self.data, self.q, pin.Convention.WORLD)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step under joint torques (nj,) and pushes (N s)."""
        model, data, dt, q, v = self.model, self.data, self.dt, self.q, self.v
        if q is not self._last[0] or v is not self._last[1]:
            self._momentum.take(q, v)
            pin.crba(model, data, q, pin.Convention.WORLD)
        pin.nonLinearEffects(model, data, q, v)

        drive = self._contacts.drive
        factor, regular = loaded(
            self._M, self._diagonal, self._bias, self._damping, self._stops, self.torque_range,
            q, v, torques, dt, drive,
        )  # fmt: skip
        if not regular:
            raise FloatingPointError("the mass matrix is not positive definite")
        pushes = [self._generalised(impulse) for impulse in impulses]
        for push in pushes:
            drive += push
        self._contacts.carry(self.time, dt)
        self.v = self._contacts.resolve(factor, q, v, dt)
        outer = self._contacts.on_base
        for push in pushes:
            outer += push[:6]
        self._momentum.add(outer)
        self.q = pin.integrate(model, q, dt * self.v)
        # In the world convention crba leaves the joints' placements and Jacobians as well.
        pin.crba(model, data, self.q, pin.Convention.WORLD)
        self._momentum.give_base(self.v)
        self._last = self.q, self.v
        self.time += dt

    def _generalised(self, impulse: BodyImpulse) -> Array:
        """J_p^T i: a push as generalised impulse (nv,)."""
        if impulse.body not in self._frames:
            self._frames[impulse.body] = self.model.frames[frame_id(self.model, impulse.body)]
        frame = self._frames[impulse.body]
        placement = frame.placement * pin.SE3(np.eye(3), impulse.point)
        rotation = self.data.oMi[frame.parentJoint].rotation @ placement.rotation
        J = pin.getFrameJacobian(
            self.model, self.data, frame.parentJoint, placement, pin.LOCAL_WORLD_ALIGNED
        )
        vector = rotation @ impulse.vector if impulse.in_body_axes else impulse.vector
        return np.asarray(vector @ J[:3])


@compiled
def loaded(
    M: Array,
    diagonal: Array,
    bias: Array,
    damping: Array,
    stops: Array,
    torque_range: Array,
    q: Array,
    v: Array,
    torques: Array,
    dt: float,
    drive: Array,
) -> tuple[Array, bool]:
    """The Cholesky factor U of M + dt B, and whether there is one; dt (tau - B v - b) to ``drive``.

    ``diagonal`` is that of ``M``, which gets dt B, with that of ``stops`` (4, nj) in touch.
    """
    drive[:] = damping * v
    drive += bias
    drive[6:] -= np.minimum(np.maximum(torques, torque_range[0]), torque_range[1])
    diagonal += dt * damping
    add_stops(stops, q, v, dt, diagonal, drive)
    drive *= -dt
    return cholesky(M)
