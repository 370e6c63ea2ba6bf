"""Equations of motion of the whole body on its contacts, evaluated once per control step.

    M a + bias = S^T tau + J^T f,        J a + drift = 0,

with a the accelerations, tau the joint torques, f what the contacts transmit of wrenches, J the
Jacobian of what they hold (:mod:`balance.robots.contact_rows`: three rows of a point, six of a
patch) and S the selection of the actuated coordinates.

Differs: the papers have drift = dJ/dt v, which keeps a contact surface that slips or tips at its
velocity.  With drift = dJ/dt v + k J v it comes to rest at the rate k; nothing changes for contacts
at rest, and k = 0 is the papers' form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.held_columns import HeldColumns, held_columns
from balance.control.parts.support import Support, SupportView, read_only
from balance.dynamics.compiled import compiled
from balance.dynamics.placements import spatial_vectors
from balance.robots import Robot
from balance.robots.contact_rows import held_part

Array = NDArray[np.float64]


@dataclass(slots=True)
class MotionEquations:
    """The equations above in coordinates whose first ``base`` entries are not actuated.

    ``M`` (n, n), ``bias`` (n,), ``J`` (r, n), ``drift`` (r,); ``moving`` are the columns of J that
    are not zero, ``columns`` which of them follow from the others.  Pinocchio's dv/dt is
    ``to_dv @ a + dv_bias``, or ``a`` itself if they are None.
    """

    M: Array
    bias: Array
    J: Array
    drift: Array
    moving: NDArray[np.intp]
    base: int = 6
    to_dv: Array | None = None
    dv_bias: Array | None = None
    columns: HeldColumns | None = None

    def on_coordinates(self, rows: Array, values: Array) -> tuple[Array, Array]:
        """Conditions ``rows @ dv/dt = values`` as conditions on a."""
        if self.to_dv is None or self.dv_bias is None:
            return rows, values
        return rows.dot(self.to_dv), values - rows.dot(self.dv_bias)


class BodyView(SupportView):
    """The robot on its contacts with its mass matrix, velocity terms and contact drift, a view.

    ``M`` (nv, nv), ``bias`` (nv,) with gravity, ``drift`` (r,) in the contacts' axes,
    ``momentum_drift`` (6,) the part dA/dt v of dh/dt = A dv/dt + dA/dt v, world axes.
    """

    __slots__ = ("M", "_body", "bias", "drift", "momentum_drift")

    def __init__(self, body: WholeBody) -> None:
        super().__init__(body)
        self.M, self.bias = read_only(body._data.M), read_only(body._data.nle)
        self.drift, self.momentum = read_only(body._drift), read_only(body._momentum)
        self.momentum_drift = read_only(body._momentum_drift)
        self.locked = body._data.oYcrb[0]
        self._body = body

    def equations(self) -> MotionEquations:
        """The equations in Pinocchio's velocity coordinates."""
        body = self._body
        return MotionEquations(
            self.M, self.bias, self.J_c, self.drift, body.moving, columns=body.columns
        )

    @property
    def placements(self) -> Array:
        """Axes and origins of all joints, as ``dynamics.placements.joint_placements``."""
        return self._body._placements

    @property
    def accelerations(self) -> Array:
        """Spatial ones (njoints, 6) of joints in their own axes, gravity's taken off, as
        :meth:`acceleration` has them with it.
        """
        return self._body._joint_accelerations

    @property
    def velocities(self) -> Array:
        """Spatial ones (njoints, 6) of joints in their own axes."""
        return self._body._joint_velocities

    @property
    def J(self) -> Array:
        """Pinocchio's Jacobian (6, nv) of all joints, at the world's origin and in its axes."""
        return self._body._J

    @property
    def chart_moving(self) -> NDArray[np.intp]:
        """The columns that move a contact, with the base's quaternion as coordinates."""
        return self._body.chart_moving

    def acceleration(self, joint: int) -> pin.Motion:
        """Spatial acceleration of a joint in its own axes if no coordinate accelerates."""
        data = self.data
        return data.a_gf[joint] + data.oMi[joint].actInv(self._body.fall)


class WholeBody(Support):
    """A robot on its contacts whose :meth:`at` has the equations of motion as well.

    Two passes of Pinocchio are enough.  ``crba`` in world axes leaves Jacobians, the centroidal
    momentum matrix, CoM and locked inertia behind, as ``ccrba`` would; ``nonLinearEffects`` leaves
    the velocities of the joints, and their accelerations less gravity where no coordinate
    accelerates.
    """

    def __init__(self, robot: Robot, contact_damping: float = 0.0) -> None:
        """``contact_damping`` is the rate k, 1/s, at which a moving contact comes to rest."""
        super().__init__(robot)
        self.contact_damping = contact_damping
        model, data = robot.model, self._data
        self.fall = pin.Motion(np.array(model.gravity.linear), np.zeros(3))
        """The acceleration of whatever falls, in world axes."""
        self._drift, self._momentum = np.zeros(self.rows.count), np.zeros(6)
        self._momentum_drift = np.zeros(6)
        self._gravity = np.array(model.gravity.linear)
        self.chart_moving = np.concatenate([np.arange(7), self.moving[6:] + 1])
        self._joint_velocities = spatial_vectors(data.v)
        self._joint_accelerations = spatial_vectors(data.a_gf)
        self._own_accelerations = np.zeros(6 * len(robot.soles))
        frames = [model.frames[surface.frame_id] for surface in robot.soles]
        self.attached = [
            (surface, frame.parentJoint, frame.placement * surface.placement)
            for frame, surface in zip(frames, robot.soles, strict=True)
        ]
        self._first_rows = np.array([own.start for own in self.rows.slices], dtype=np.intp)
        self._body_view = BodyView(self)
        self.columns: HeldColumns | None = None
        standing = self.at(robot.q_nominal, np.zeros(model.nv))
        self.columns = held_columns(standing.J_c, self.moving, base=6)

    def at(self, q: Array, v: Array) -> BodyView:
        """Everything at configuration ``q`` and velocity ``v``."""
        model, data, here = self.model, self._data, self._body_view
        here.q, here.v = q, v
        pin.crba(model, data, q, pin.Convention.WORLD)
        pin.nonLinearEffects(model, data, q, v)
        self._carry_wrenches(here)
        write_drifts(
            self._placements, self._joint_accelerations, self._firm, self._first_rows,
            self._to_joints, self._gravity, self._J_c, v, self.contact_damping,
            here.A, here.bias, here.com, q, here.mass,
            self._own_accelerations, self._drift, self._momentum, self._momentum_drift,
        )  # fmt: skip
        if self._turning:
            self._fill_turning_drifts(here)
        return here

    def _fill_turning_drifts(self, here: BodyView) -> None:
        """The drift of contacts whose axes do not turn with their joint."""
        data, damping = here.data, self.contact_damping
        for own, (surface, joint, placement) in zip(self.rows.slices, self.attached, strict=True):
            if surface.has_area:
                continue
            drift = placement.actInv(here.acceleration(joint)).vector
            velocity = placement.actInv(data.v[joint])
            drift[:3] += np.cross(velocity.angular, velocity.linear)
            R_WS = data.oMi[joint].rotation @ placement.rotation
            rows = self._J_c[own]
            self._drift[own] = held_part(surface, R_WS, drift) + damping * rows.dot(here.v)


@compiled
def write_drifts(
    placements: Array,
    joint_accelerations: Array,
    firm: NDArray[np.intp],
    first_rows: NDArray[np.intp],
    to_joints: Array,
    gravity: Array,
    J_c: Array,
    v: Array,
    damping: float,
    A: Array,
    bias: Array,
    com: Array,
    q: Array,
    mass: float,
    accelerations: Array,
    drift: Array,
    momentum: Array,
    momentum_drift: Array,
) -> None:
    """Fill the contacts' ``drift``, the ``momentum`` h = A v and its drift dA/dt v.

    A contact's drift is the acceleration of the surface's points, the classical one: the spatial
    one and omega x V.  The momentum's are the unactuated rows of the equation of motion, carried
    from the base to the CoM.
    """
    for joint, number in firm:
        own = accelerations[6 * number : 6 * number + 6]
        own[:] = joint_accelerations[joint]
        own[:3] += placements[joint, :3].dot(gravity)
    velocity = J_c.dot(v)
    drift[:] = accelerations.dot(to_joints)
    for _, number in firm:
        i = first_rows[number]
        x, y, z = velocity[i], velocity[i + 1], velocity[i + 2]
        a, b, c = velocity[i + 3], velocity[i + 4], velocity[i + 5]
        drift[i] += b * z - c * y
        drift[i + 1] += c * x - a * z
        drift[i + 2] += a * y - b * x
    drift += damping * velocity
    momentum[:] = A.dot(v)
    axes = placements[1, :3]
    momentum_drift[:3] = bias[:3].dot(axes)
    momentum_drift[3:] = bias[3:6].dot(axes)
    x, y, z = q[0] - com[0], q[1] - com[1], q[2] - com[2]
    a, b, c = momentum_drift[0], momentum_drift[1], momentum_drift[2]
    momentum_drift[3] += y * c - z * b
    momentum_drift[4] += z * a - x * c
    momentum_drift[5] += x * b - y * a
    momentum_drift[:3] += mass * gravity
