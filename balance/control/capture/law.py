"""Our own law: the capture point, with hips and arms when the soles are used up.

docs/capture.md derives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.values import NonNegative, Positive, PositiveVector3
from balance.control.capture.flywheel import Flywheel
from balance.control.parts.free_motion import FreeMotion, minimiser
from balance.control.parts.gains import gain_matrices
from balance.control.parts.limits import JointLimits
from balance.control.parts.setpoints import Desired
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.qp import QPStatus, QuadraticProgram
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""A moment (x, y) about the CoM moves the CMP by TURN @ moment / (m g)."""

# Weights per squared newton and newton metre.  The momentum comes before all else, but for yaw,
# which gets what friction leaves.  ``PLAN_WEIGHT`` is the cost of a moment that is left out.
LINEAR_WEIGHT, ANGULAR_WEIGHT, YAW_WEIGHT = 1e4, 1e4, 1.0
BASE_WEIGHT, BASE_YAW_WEIGHT, JOINT_WEIGHT, PLAN_WEIGHT = 1.0, 10.0, 1.0, 1.0
JOINT_INERTIA = 0.2  # of the base's: lighter joints count as if they had that inertia
JOINT_ACCELERATION = 80.0  # rad/s^2; no free joint is asked for more


@dataclass(frozen=True, slots=True)
class Plan:
    """What the law wants at one instant: ``hold``, plus as large a share, 0 to 1, of ``lean``.

    Both are rates of the momentum (6,), N and N m: of the CoP and the free joints, and of the base
    that turns.  ``turn`` (n,) are the accelerations of the flywheel's coordinates.
    """

    hold: Array
    lean: Array
    turn: Array


@final
class CaptureController(TaskLaw):
    """Holds the divergent part of the motion with the CoP, and beyond the sole's edge by leaning.

    In the linear inverted pendulum with a flywheel the motion diverges in one coordinate alone,

        zeta = x + dx/dt / omega + TURN (omega l + omega^2 lambda) / (m g),
        dzeta/dt = omega (zeta - p - TURN omega^2 lambda / (m g)),

    with the CoP p, the angular momentum l and the excursion lambda of the flywheel.  So the CoP is
    put at zeta + K_P / (m omega^2) zeta, or at the nearest point of the support polygon, and lambda
    makes up for what is missing.  The rate of the momentum follows from both, and a QP finds the
    largest share of the lean that contacts and drives can bear.
    """

    can_change_contacts = False  # its polygon is that of one stance

    class Config(BalancingLawConfig):
        """Capture point, with hips and arms when the soles are used up.

        Rates are in units of omega = sqrt(g / z), the rate at which the robot falls, so that one
        set of numbers suits robots of any size.
        """

        max_lean_rad: PositiveVector3 = (0.8, 0.75, 0.62)
        """How far the base may lean sideways, forwards and backwards."""
        arm_share: Annotated[float, Field(ge=0, le=1)] = 0.5
        """Share of their range that the arms may use with it [-]."""
        lean_rate: Positive = 3.0
        """Rate at which the lean reaches its target [omega]."""
        momentum_rate: Positive = 12.0
        """Rate at which its momentum does [omega]."""
        braking: tuple[Positive, Positive] = (0.17, 0.06)
        """Moments, roll and pitch, that are counted on to stop the lean [m g z]."""
        lean_reserve: NonNegative = 0.05
        """How much more than needed the body leans, over the capture point's distance [-]."""
        cop_reserve_m: NonNegative = 0.002
        """What the target of the centre of pressure keeps from the edge that
        `contacts.cop_margin_m` leaves."""
        crouch: NonNegative = 0.085
        """How far the CoM sinks, in CoM heights, times the square of the roll [1/rad^2]."""
        joint_friction: NonNegative = 0.0
        """Viscous friction of the joints that the law makes up for [N m s/rad]."""
        contact_damping: NonNegative = 40.0
        """Rate at which a contact that slips shall come to rest [1/s]; 0 switches it off."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        super().__init__(law, robot, {}, {}, law.contact_damping)
        self.law = law
        standing = self.body.at(robot.q_nominal, np.zeros(robot.model.nv))
        self._check_freedom(standing.equations(), {"its momentum": standing.A})
        self.weight = float(np.linalg.norm(self.body.weight))
        self.height = float(robot.com()[2])
        self.omega = float(np.sqrt(self.weight / self.body.mass / self.height))
        K_P = gain_matrices(law.gains, robot)[0]
        self.stiffness = K_P
        self._beyond = K_P[:2, :2] / (self.body.mass * self.omega**2)
        self._vertical_damping = 2.0 * float(np.sqrt(K_P[2, 2] * self.body.mass))
        self.polygon = support_polygon(robot, margin=law.contacts.cop_margin_m + law.cop_reserve_m)
        if not self.polygon.has_area:
            raise ConfigError(
                f"controller.law = capture: the contacts of robot '{robot.name}' on the ground "
                "lie on one line, so that there is no support polygon in which the centre of "
                "pressure could move; take another law, or more contacts"
            )
        self.flywheel = Flywheel(robot, standing, law.max_lean_rad, law.arm_share)
        self.joint_limits = JointLimits(robot)
        self._speeds = robot.rated_speeds[self.flywheel.free]
        self._force_weight = law.qp.regularisation**2 * self.force_metric
        self._scale = self._coordinate_scale(np.diag(standing.M)[6:])

    def _coordinate_scale(self, inertia: Array) -> Array:
        """Inertias (n,) of the flywheel's coordinates times the roots of their weights.

        ``inertia`` (nj,) is that of every joint in the nominal posture.
        """
        wheel = self.flywheel
        least = JOINT_INERTIA * float(wheel.inertia[:2].mean())
        joints = np.maximum(inertia[wheel.free], least)
        weights = np.repeat([BASE_WEIGHT, BASE_YAW_WEIGHT, JOINT_WEIGHT], [2, 1, len(joints)])
        return np.asarray(np.sqrt(weights) * np.concatenate([wheel.inertia, joints]))

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion with the joints' friction, which the torques make up for."""
        bias = here.bias.copy()
        bias[6:] += self.law.joint_friction * here.v[6:]
        return MotionEquations(here.M, bias, here.J_c, here.drift, self.body.moving)

    def plan(self, here: BodyView, desired: Desired) -> Plan:
        """The momentum rates and accelerations that the law wants at the state of ``here``."""
        law, omega, mass = self.law, self.omega, here.mass
        per_weight = TURN / self.weight
        # The divergent coordinate, from the desired CoM.
        offset = here.com - desired.com
        velocity = here.momentum[:3] / mass - desired.com_velocity
        delta, rates = self.flywheel.state(here, desired)
        excursion = self.flywheel.B.dot(delta)
        zeta = offset[:2] + velocity[:2] / omega
        zeta += per_weight.dot(omega * here.momentum[3:5] + omega**2 * excursion[:2])
        # Where the CoP shall be, and the excursion that makes up for what it cannot do.
        centre = desired.com[:2]
        cop = self.polygon.nearest(centre + zeta + self._beyond.dot(zeta)) - centre
        needed = centre + (1.0 + law.lean_reserve) * zeta
        lacking = needed - self.polygon.nearest(needed)
        wanted = np.append(TURN.T.dot(lacking) * self.weight / omega**2, 0.0)
        turn = self._turn(self.flywheel.allocate(wanted) - delta, rates)
        # Both as rates of the momentum.
        by_joints = self.flywheel.B[:, 3:].dot(turn[3:])
        by_base = self.flywheel.B[:, :3].dot(turn[:3])
        pull = -mass * omega**2 * per_weight
        hold, lean = np.zeros(6), np.zeros(6)
        hold[:2] = mass * omega**2 * (offset[:2] - cop) + pull.dot(by_joints[:2])
        depth = law.crouch * self.height * float(delta[0]) ** 2
        hold[2] = -self.stiffness[2, 2] * (offset[2] + depth)
        hold[2] -= self._vertical_damping * velocity[2]
        hold[:3] += mass * desired.com_acceleration
        hold[3:] = by_joints
        lean[:2], lean[3:] = pull.dot(by_base[:2]), by_base
        return Plan(hold, lean, turn)

    def _turn(self, error: Array, rates: Array) -> Array:
        """Accelerations (n,) that bring the flywheel's coordinates to rest at zero ``error``.

        Far away the rate is the one from which the braking moment still stops the excursion in
        time; nearer it is proportional to the error.  Free joints keep to their largest speed.
        """
        law, omega, wheel = self.law, self.omega, self.flywheel
        near = law.lean_rate * omega
        # In units of what the braking moments can stop, axis by axis.
        brakes = np.array(law.braking) * self.weight * self.height
        distance = float(np.linalg.norm(wheel.inertia[:2] * error[:2] / brakes))
        rate = near
        if distance * near**2 > 1.0:
            rate = float(np.sqrt(2.0 * distance - near**-2)) / distance
        wanted = rate * error
        wanted[3:] = np.clip(wanted[3:], -self._speeds, self._speeds)
        turn = law.momentum_rate * omega * (wanted - rates)
        turn[3:] = np.clip(turn[3:], -JOINT_ACCELERATION, JOINT_ACCELERATION)
        return np.asarray(turn)

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """Torques and wrenches of the plan, or of the largest possible share of its lean."""
        plan, equations = self.plan(here, desired), self.equations(here)
        free = FreeMotion(equations, self._force_weight)
        rows, values, shares = self._wanted(plan, here, desired)
        B, c = free.on_accelerations(equations, rows, values)
        H, g = _cost(np.column_stack([B, -shares]), c, plan)
        n_y, n = free.n_y, free.n_x + 1
        x = np.zeros(n)
        # With the whole lean the share is no unknown.
        y = minimiser(H[:n_y, :n_y], g[:n_y] - H[:n_y, -1])
        if y is None:
            return None
        x[:n_y] = y
        torques, wrenches = free.forces(x[:-1])
        C, d = self.joint_limits.rows(free, here.q[7:], here.v[6:])
        kept = self.limits.margins(wrenches, torques).min() >= 0.0
        if kept and (C.dot(x[:-1]) >= d).all():
            return Answer(torques, wrenches, wrenches)
        full_H, full_g = np.eye(n), np.zeros(n)
        moved = np.append(np.arange(n_y), n - 1)
        full_H[np.ix_(moved, moved)], full_g[moved] = H, g
        limits, lower = self.limits.rows(free)
        answer = self._minimise(full_H, full_g, np.concatenate([limits, C]), np.append(lower, d))
        if answer is None and len(d):  # a joint that cannot be stopped in time
            answer = self._minimise(full_H, full_g, limits, lower)
        return None if answer is None else Answer(*free.forces(answer[:-1]), wrenches)

    def _wanted(self, plan: Plan, here: BodyView, desired: Desired) -> tuple[Array, Array, Array]:
        """Weighted rows of rows @ dv/dt = values + share * shares: momentum, lean, posture."""
        wheel, scale = self.flywheel, self._scale
        nv, n = here.model.nv, len(scale)
        momentum = np.sqrt(np.repeat([LINEAR_WEIGHT, ANGULAR_WEIGHT, YAW_WEIGHT], [3, 2, 1]))
        posture, posture_values = self.tasks.evaluate(here, desired)
        rows = np.zeros((6 + n + len(posture), nv))
        values, shares = np.zeros(len(rows)), np.zeros(len(rows))
        rows[:6] = (here.A.T * momentum).T
        values[:6] = momentum * (plan.hold - here.momentum_drift)
        shares[:6] = momentum * plan.lean
        turn = desired.rotation.T.dot(here.R_WB)
        rows[6:9, 3:6] = (turn.T * scale[:3]).T
        rows[np.arange(9, 6 + n), 6 + wheel.free] = scale[3:]
        shares[6:9], values[9 : 6 + n] = scale[:3] * plan.turn[:3], scale[3:] * plan.turn[3:]
        rows[6 + n :], values[6 + n :] = posture, posture_values
        return rows, values, shares

    def _minimise(self, H: Array, g: Array, C: Array, d: Array) -> Array | None:
        """The minimiser where C x >= d and the share, the last unknown, is between 0 and 1."""
        share = np.zeros((2, len(g)))
        share[:, -1] = 1.0, -1.0
        limits = np.concatenate([np.column_stack([C, np.zeros(len(C))]), share])
        program = QuadraticProgram(H, g, limits, np.concatenate([d, [0.0, -1.0]]))
        solution = self.solver.solve(program)
        return solution.x if solution.status is QPStatus.SOLVED else None


def _cost(B: Array, c: Array, plan: Plan) -> tuple[Array, Array]:
    """H and g of |B u - c|^2 and the cost of a lean that is left out.

    u is the free motion y, then the share of the lean.
    """
    H, g = B.T.dot(B), B.T.dot(c)
    eagerness = PLAN_WEIGHT * float(plan.lean[3:].dot(plan.lean[3:])) + 1e-6
    H[-1, -1] += eagerness
    g[-1] += eagerness
    return H, g
