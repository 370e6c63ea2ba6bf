"""The whole body on one set of feet: momentum, base, swing foot and posture in one program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import BalancingLawConfig
from balance.control.parts.joint_bounds import JointBounds
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import read_only
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.weighted_tasks import WeightedRows, WeightedTasks
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.stepping.limbs_apart import LimbsApart
from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

# Weights per squared m/s^2, angular accelerations times the CoM's height.
COM, COM_UP, BASE, FOOT, FOOT_UP, FOOT_TURN, SPIN, POSTURE = (
    50.0,
    1.0,
    0.3,
    0.3,
    0.9,
    0.3,
    0.5,
    1e-3,
)
STEEPEST = 0.05  # sine of a sole's tilt, beyond which it is laid flat no faster
APART = 3.0  # the same, of a leg and another limb that are near each other
UNIT = 0.1  # of the mass: what such an acceleration weighs beside the slack of joints' bounds
BASE_RATE, FOOT_RATE, FOOT_TURN_RATE, SPIN_RATE, POSTURE_RATE = 4.0, 14.0, 25.0, 2.0, 2.0  # omega


@dataclass(slots=True)
class SwingTarget:
    """Where a sole shall be: place, velocity, acceleration (3,) of its centre and its rotation.

    ``strongest`` is the largest acceleration that is asked of it, m/s^2.
    """

    surface: ContactSurface
    place: Array
    velocity: Array
    acceleration: Array
    rotation: Array
    strongest: float


@dataclass(slots=True)
class Wish:
    """What is wanted now: acceleration (3,) of the CoM, the base's rotation, the swing foot.

    ``least`` and ``most`` (k,) bound the normal forces, N; ``normals`` (k, 3) are those of the
    ground under the feet that bear.
    """

    acceleration: Array
    rotation: Array
    swing: SwingTarget | None
    least: Array
    most: Array
    normals: Array


@final
class StanceLaw(TaskLaw):
    """A law for the contacts of ``robot``, told in each step what is wanted."""

    def __init__(
        self,
        law: BalancingLawConfig,
        robot: Robot,
        contact_damping: float,
        joint_friction: float,
        bounds: JointBounds,
        apart: LimbsApart,
    ) -> None:
        super().__init__(law, robot, {}, {}, contact_damping)
        self.joint_bounds, self.apart = bounds, apart
        self._friction = joint_friction
        self._feet = [
            (joint, place, own)
            for (_, joint, place), own in zip(
                self.body.attached, self.body.rows.slices, strict=True
            )
        ]
        self._flattening = (0.5 * contact_damping) ** 2
        weight = float(np.linalg.norm(self.body.weight))
        self.height = float(robot.com()[2])
        self.omega = float(np.sqrt(weight / self.body.mass / self.height))
        force_weight = law.qp.regularisation**2 * self.force_metric
        self.weighted = WeightedTasks(self.limits, self.joint_bounds, force_weight, weight)
        self._unit = UNIT * self.body.mass
        self._posture = robot.q_nominal[7:].copy()
        self._joint_rows = np.full(len(self._posture), self._unit * POSTURE**0.5 * self.height)
        self.wish: Wish | None = None

    def ask(self, wish: Wish) -> None:
        """Take what is wanted of the next step."""
        self.wish = wish
        self.distribution.bound(wish.least, wish.most)
        self.fallback.bound(wish.least, wish.most)

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion with the joints' friction, which the torques make up for."""
        bias = here.bias
        if self._friction:
            bias = bias.copy()
            bias[6:] += self._friction * here.v[6:]
            bias = read_only(bias)
        body = self.body
        drift = read_only(self._flattened(here))
        return MotionEquations(here.M, bias, here.J_c, drift, body.moving, columns=body.columns)

    def _flattened(self, here: BodyView) -> Array:
        """The contacts' drift (r,), so that soles that bear lay themselves flat on the ground.

        Without it a foot that lands on an edge would be held there, as if it stood.
        """
        drift = here.drift.copy()
        if self.wish is not None:
            for (joint, place, own), normal in zip(self._feet, self.wish.normals, strict=True):
                tilt = (here.data.oMi[joint] * place).rotation.T.dot(normal)
                pull = self._flattening * np.minimum(np.maximum(tilt[:2], -STEEPEST), STEEPEST)
                drift[own.start + 3] += pull[1]
                drift[own.start + 4] -= pull[0]
        return drift

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """Torques and wrenches as near to what is wanted as contacts, drives and joints allow."""
        wish = self.wish
        assert wish is not None
        rows, values = self._rows(here, wish)
        apart, rates = self.apart.rows(here)
        if len(rates):
            weight = self._unit * APART**0.5
            rows = np.vstack([rows, weight * apart])
            values = np.append(values, weight * rates)
        rate = POSTURE_RATE * self.omega
        wanted = rate**2 * (self._posture - here.q[7:]) - 2.0 * rate * here.v[6:]
        tasks = WeightedRows(rows, values, self._joint_rows, self._joint_rows * wanted)
        return self.weighted.solve(self.equations(here), tasks, here.q, here.v, self.solver)

    def _rows(self, here: BodyView, wish: Wish) -> tuple[Array, Array]:
        unit, z, mass, omega = self._unit, self.height, here.mass, self.omega
        n = 9 if wish.swing is None else 15
        rows, values = np.zeros((n, here.A.shape[1])), np.zeros(n)
        level, up = unit * COM**0.5 / mass, unit * COM_UP**0.5 / mass
        force = mass * wish.acceleration - here.momentum_drift[:3]
        rows[:2], rows[2] = level * here.A[:2], up * here.A[2]
        values[:2], values[2] = level * force[:2], up * force[2]
        scale = unit * SPIN**0.5 / (mass * z)
        rows[3:6] = scale * here.A[3:]
        spin = -SPIN_RATE * omega * here.momentum[3:]
        values[3:6] = scale * (spin - here.momentum_drift[3:])
        scale, rate = unit * BASE**0.5 * z, BASE_RATE * omega
        rows[6:9, 3:6] = scale * here.R_WB
        error = pin.log3(wish.rotation.dot(here.R_WB.T))
        turned = here.R_WB.dot(here.v[3:6])
        values[6:9] = scale * (rate**2 * error - 2.0 * rate * turned)
        if wish.swing is not None:
            self._foot_rows(here, wish.swing, rows[9:], values[9:])
        return rows, values

    def _foot_rows(self, here: BodyView, swing: SwingTarget, rows: Array, values: Array) -> None:
        model, data, surface, omega = here.model, here.data, swing.surface, self.omega
        frame = model.frames[surface.frame_id]
        placement = frame.placement * surface.placement
        joint = frame.parentJoint
        J = pin.getFrameJacobian(model, data, joint, placement, pin.LOCAL_WORLD_ALIGNED)
        X = data.oMi[joint] * placement
        velocity = J.dot(here.v)
        drift = placement.actInv(here.acceleration(joint))
        rate, turn = FOOT_RATE * omega, FOOT_TURN_RATE * omega
        target = np.empty(6)
        target[:3] = swing.acceleration + rate**2 * (swing.place - X.translation)
        target[:3] += 2.0 * rate * (swing.velocity - velocity[:3])
        # Beyond what a leg can do an error would only be paid for by the rest of the body.
        target[:3] = np.minimum(np.maximum(target[:3], -swing.strongest), swing.strongest)
        target[:3] -= X.rotation.dot(drift.linear) + np.cross(velocity[3:], velocity[:3])
        target[3:] = turn**2 * pin.log3(swing.rotation.dot(X.rotation.T))
        target[3:] -= 2.0 * turn * velocity[3:] + X.rotation.dot(drift.angular)
        weights = np.sqrt([FOOT, FOOT, FOOT_UP, *3 * [FOOT_TURN * self.height**2]]) * self._unit
        rows[:] = weights[:, None] * J
        values[:] = weights * target
