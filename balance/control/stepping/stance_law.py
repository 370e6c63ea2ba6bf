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
from balance.control.parts.support import moved_by, read_only
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.weighted_tasks import WeightedRows, WeightedTasks
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.stepping.limbs_apart import LimbsApart
from balance.control.stepping.sizes import ankles
from balance.dynamics.compiled import compiled
from balance.dynamics.placements import frame_points
from balance.robots import Robot
from balance.robots.capability.flywheel import carries_a_foot
from balance.robots.capability.usable import usable_ranges
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

# Weights per squared m/s^2, angular accelerations times the CoM's height.
COM, COM_UP, BASE, FOOT, FOOT_UP, FOOT_TURN, SPIN, POSTURE = (
    50.0,
    4.0,
    0.3,
    0.3,
    2.5,
    0.3,
    0.5,
    1e-3,
)
HELD = 0.05  # of waist and arms while no step is under way: a waist would run on to its stop
STEEPEST = 0.05  # sine of a sole's tilt, beyond which it is laid flat no faster
EASED = 0.05  # rad before the end of an ankle's range, in which a foot stops turning by it
APART = 3.0  # the same, of a leg and another limb that are near each other
BODY_ROWS = 9  # of CoM, angular momentum and base
UNIT = 0.1  # of the mass: what such an acceleration weighs beside the slack of joints' bounds
BASE_RATE, FOOT_RATE, FOOT_TURN_RATE, SPIN_RATE, POSTURE_RATE = 4.0, 14.0, 18.0, 2.0, 2.0  # omega


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
    ground under the feet that bear, and ``down`` (k,) the speeds at which those that do not touch
    it come down to it, m/s.  ``still`` is whether no step is under way.
    """

    acceleration: Array
    rotation: Array
    swing: SwingTarget | None
    least: Array
    most: Array
    normals: Array
    down: Array
    still: bool


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
        self._friction, self._damping = joint_friction, contact_damping
        attached, slices = self.body.attached, self.body.rows.slices
        joints = [(joint, own.start) for (_, joint, _), own in zip(attached, slices, strict=True)]
        self._feet = np.array(joints, dtype=np.intp).reshape(-1, 2)
        self._frames = np.array([frame_points(X, np.zeros((0, 3))) for _, _, X in attached])
        self._flattening = (0.5 * contact_damping) ** 2
        weight = float(np.linalg.norm(self.body.weight))
        self.height = float(robot.com()[2])
        self.omega = float(np.sqrt(weight / self.body.mass / self.height))
        force_weight = law.qp.regularisation**2 * self.force_metric
        self.weighted = WeightedTasks(self.limits, self.joint_bounds, force_weight, weight)
        self._unit = UNIT * self.body.mass
        self._posture = robot.q_nominal[7:].copy()
        moving = np.full(len(self._posture), self._unit * POSTURE**0.5 * self.height)
        still = moving * (HELD / POSTURE) ** 0.5
        still[carries_a_foot(robot)] = moving[0]
        self._joint_rows = moving, still
        self._gravity = np.array(robot.model.gravity.linear)
        self._swinging: dict[str, tuple[int, Array, Array]] = {}
        self._ankles: dict[str, tuple[NDArray[np.intp], Array, Array]] = {}
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

        Without it a foot that lands on an edge would be held there, as if it stood, and one that
        has lost the ground in the air.
        """
        drift = here.drift.copy()
        if self.wish is not None:
            lay_flat(
                self._feet, self._frames, here.placements, self.wish.normals, self._flattening,
                self.wish.down, self._damping, drift,
            )  # fmt: skip
        return drift

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """Torques and wrenches as near to what is wanted as contacts, drives and joints allow."""
        wish = self.wish
        assert wish is not None
        swing = wish.swing
        n = BODY_ROWS if swing is None else BODY_ROWS + 6
        rows, values = np.zeros((n, here.A.shape[1])), np.zeros(n)
        turn = pin.log3(wish.rotation.dot(here.R_WB.T))
        write_body_rows(
            self._unit, self.height, here.mass, self.omega, here.A, here.momentum,
            here.momentum_drift, here.R_WB, here.v, wish.acceleration, turn, rows, values,
        )  # fmt: skip
        if swing is not None:
            joint, moves, frame = self._swinging[swing.surface.name]
            pose = frame.dot(here.placements[joint])
            turn = pin.log3(swing.rotation.dot(pose[:3]))
            write_foot_rows(
                self._unit, self.height, self.omega, here.J, moves, here.v, pose, frame[3],
                here.placements[joint], here.accelerations[joint], self._gravity,
                swing.place, swing.velocity, swing.acceleration, swing.strongest, turn,
                here.q, *self._ankles[swing.surface.name], rows, values,
            )  # fmt: skip
        apart, rates = self.apart.rows(here)
        if len(rates):
            weight = self._unit * APART**0.5
            rows = np.vstack([rows, weight * apart])
            values = np.append(values, weight * rates)
        joint_rows, rate = self._joint_rows[wish.still], POSTURE_RATE * self.omega
        wanted = posture_values(self._posture, rate**2, 2.0 * rate, here.q, here.v, joint_rows)
        tasks = WeightedRows(rows, values, joint_rows, wanted)
        return self.weighted.solve(self.equations(here), tasks, here.q, here.v, self.solver)

    def may_swing(self, surface: ContactSurface) -> None:
        """Get ready to swing a sole: a period in which contacts change has no time for that.

        Of it are kept its joint, which coordinates move it (nv,), how it follows the joint, and its
        ankle's joints with the ends of their ranges.
        """
        frame = self.robot.model.frames[surface.frame_id]
        joint, placement = frame.parentJoint, frame.placement * surface.placement
        rows = frame_points(placement, np.zeros((0, 3)))
        self._swinging[surface.name] = joint, moved_by(self.robot.model, joint), rows
        joints = ankles(self.robot, [surface])
        lower, upper = (ends[joints] for ends in usable_ranges(self.robot))
        self._ankles[surface.name] = joints, lower, upper


@compiled
def posture_values(
    posture: Array, stiffness: float, damping: float, q: Array, v: Array, rows: Array
) -> Array:
    """``rows`` (nj,) times the accelerations that bring the joints back to the posture."""
    return rows * (stiffness * (posture - q[7:]) - damping * v[6:])


@compiled
def lay_flat(
    feet: NDArray[np.intp],
    frames: Array,
    placements: Array,
    normals: Array,
    gain: float,
    down: Array,
    damping: float,
    drift: Array,
) -> None:
    """Add to ``drift`` what turns soles onto the ground, which has ``normals`` under them.

    And what takes them ``down`` to it.  ``feet`` (k, 2) are their joints and first rows, ``frames``
    how they follow from the joints.
    """
    for i in range(len(feet)):
        joint, row = feet[i]
        tilt = frames[i, :2].dot(placements[joint]).dot(normals[i])
        drift[row + 3] += gain * min(max(tilt[1], -STEEPEST), STEEPEST)
        drift[row + 4] -= gain * min(max(tilt[0], -STEEPEST), STEEPEST)
        drift[row + 2] += damping * down[i]


@compiled
def write_body_rows(
    unit: float,
    z: float,
    mass: float,
    omega: float,
    A: Array,
    momentum: Array,
    drift: Array,
    R_WB: Array,
    v: Array,
    acceleration: Array,
    turn: Array,
    rows: Array,
    values: Array,
) -> None:
    """The first rows: the CoM's acceleration, the angular momentum to rest, and the base.

    ``turn`` (3,) is the rotation vector that takes the base to where it shall be, world axes.
    """
    level, up = unit * COM**0.5 / mass, unit * COM_UP**0.5 / mass
    spin, base = unit * SPIN**0.5 / (mass * z), unit * BASE**0.5 * z
    rate = BASE_RATE * omega
    for i in range(3):
        scale = up if i == 2 else level
        rows[i] = scale * A[i]
        values[i] = scale * (mass * acceleration[i] - drift[i])
        rows[3 + i] = spin * A[3 + i]
        values[3 + i] = spin * (-SPIN_RATE * omega * momentum[3 + i] - drift[3 + i])
        rows[6 + i, 3:6] = base * R_WB[i]
        turning = R_WB[i, 0] * v[3] + R_WB[i, 1] * v[4] + R_WB[i, 2] * v[5]
        values[6 + i] = base * (rate**2 * turn[i] - 2.0 * rate * turning)


@compiled
def write_foot_rows(
    unit: float,
    z: float,
    omega: float,
    J: Array,
    moves: Array,
    v: Array,
    pose: Array,
    centre: Array,
    axes: Array,
    joint_acceleration: Array,
    gravity: Array,
    place: Array,
    velocity: Array,
    acceleration: Array,
    strongest: float,
    turn: Array,
    q: Array,
    ankle: NDArray[np.intp],
    lower: Array,
    upper: Array,
    rows: Array,
    values: Array,
) -> None:
    """The last six rows: the swing foot's centre, then its turning, towards where they shall be.

    ``pose`` has the sole's axes and place, ``centre`` its place in the joint whose ``axes`` and
    spatial acceleration, without that of ``gravity``, are given; ``turn`` (3,) the rotation vector
    to go, ``strongest`` the largest acceleration that is asked for, ``ankle`` the numbers of the
    ankle's joints, ``lower`` and ``upper`` the ends of their ranges.
    """
    x, y, w = pose[3, 0], pose[3, 1], pose[3, 2]
    own, J_w = rows[BODY_ROWS:], J[3:] * moves
    own[0] = J[0] * moves + J_w[1] * w - J_w[2] * y
    own[1] = J[1] * moves + J_w[2] * x - J_w[0] * w
    own[2] = J[2] * moves + J_w[0] * y - J_w[1] * x
    own[3:] = J_w
    now = own.dot(v)
    turning_to = turned_by_ankles(
        (FOOT_TURN_RATE * omega) ** 2 * turn - 2.0 * FOOT_TURN_RATE * omega * now[3:],
        own, q, ankle, lower, upper,
    )  # fmt: skip
    rate = FOOT_RATE * omega
    weight, heavy = unit * FOOT**0.5, unit * FOOT_UP**0.5
    turning = unit * FOOT_TURN**0.5 * z
    # The drift is the acceleration of the sole's centre: the spatial one and omega x V.
    a, b = joint_acceleration[:3], joint_acceleration[3:]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        drift = gravity[i] + now[3 + j] * now[k] - now[3 + k] * now[j]
        bend = 0.0
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            drift += (a[m] + b[n] * centre[o] - b[o] * centre[n]) * axes[m, i]
            bend += b[m] * axes[m, i]
        scale = heavy if i == 2 else weight
        target = acceleration[i] + rate**2 * (place[i] - pose[3, i])
        target += 2.0 * rate * (velocity[i] - now[i])
        # Beyond what a leg can do an error would only be paid for by the rest of the body.
        target = min(max(target, -strongest), strongest)
        own[i] *= scale
        values[BODY_ROWS + i] = scale * (target - drift)
        own[3 + i] *= turning
        values[BODY_ROWS + 3 + i] = turning * (turning_to[i] - bend)


@compiled
def turned_by_ankles(
    wanted: Array, own: Array, q: Array, ankle: NDArray[np.intp], lower: Array, upper: Array
) -> Array:
    """Of a ``wanted`` angular acceleration (3,) of a foot what is not beyond its ankle's ends.

    All of the leg would give way for an ankle on its stop.
    """
    left = wanted.copy()
    for j in range(len(ankle)):
        angle, k = q[7 + ankle[j]], 6 + ankle[j]
        part = wanted[0] * own[3, k] + wanted[1] * own[4, k] + wanted[2] * own[5, k]
        room = upper[j] - angle if part > 0.0 else angle - lower[j]
        lost = (1.0 - min(max(room / EASED, 0.0), 1.0)) * part
        for i in range(3):
            left[i] -= lost * own[3 + i, k]
    return left
