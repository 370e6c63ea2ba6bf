"""Our own law: the capture point, with hips and arms when the soles are used up.

docs/capture.md derives it.
"""

from __future__ import annotations

from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.values import NonNegative, Positive
from balance.control.capture.bounds import law_bounds
from balance.control.capture.flywheel import Flywheel
from balance.control.capture.planner import Planner
from balance.control.parts.free_motion import FreeMotion, minimiser
from balance.control.parts.gains import gain_matrices
from balance.control.parts.limits import JointBounds
from balance.control.parts.setpoints import Desired
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.qp import QPStatus, QuadraticProgram, make_solver
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""A moment (x, y) about the CoM moves the CMP by TURN @ moment / (m g)."""

# Weights per squared newton and newton metre.
COP_WEIGHT, VERTICAL_WEIGHT, MOMENT_WEIGHT, POSTURE_WEIGHT = 1e4, 1e3, 1e2, 1.0
SLACK_WEIGHT = 1e6

_WHEELS: dict = {}
_ANGLES = np.linspace(0.0, 2 * np.pi, 9)


def flywheel(robot, standing, share):
    key = (robot.name, robot.q_nominal.tobytes(), tuple(s.name for s in robot.soles), share)
    if key not in _WHEELS:
        _WHEELS[key] = Flywheel(robot, standing, share)
    return _WHEELS[key]


class Grounding:
    def __init__(self, body, rate):
        self.rate, self.body = rate, body
        import pinocchio as pin
        data = body.model.createData()
        pin.forwardKinematics(body.model, data, body.robot.q_nominal)
        self.nominal = [data.oMi[j] * X for _, j, X in body._attached]
        self.nominal = [(X.translation.copy(), X.rotation[:, 2].copy()) for X in self.nominal]

    def drift(self, here, shares):
        drift = here.drift.copy()
        k = len(shares)
        for own, (surface, joint, X), (place, normal), share in zip(self.body.rows.slices, self.body._attached, self.nominal, shares):
            slack = min(1.0, max(0.0, 1.0 - k * share))
            if slack == 0.0 or not surface.has_area:
                continue
            now = here.data.oMi[joint] * X
            b = now.rotation.T.dot(normal)
            height = normal.dot(now.translation - place)
            gain = slack * self.rate**2
            drift[own.start + 2] += gain * height
            drift[own.start + 3] += gain * b[1]
            drift[own.start + 4] -= gain * b[0]
        return drift


@final
class CaptureController(TaskLaw):
    """Holds the divergent part of the motion with the CoP, and beyond the sole's edge by leaning."""

    class Config(BalancingLawConfig):
        """Capture point, with hips and arms when the soles are used up."""

        samples: Annotated[int, Field(ge=4, le=32)] = 12
        replan_s: Positive = 0.005
        servo: Positive = 4.7
        cop_reserve_m: NonNegative = 0.0
        joint_friction: NonNegative = 0.0
        contact_damping: NonNegative = 100.0
        moment_weight: NonNegative = 5.0
        posture_weight: NonNegative = 1.0
        moment: NonNegative = 1.0
        foot_return: NonNegative = 1.0
        lean_scale: NonNegative = 1.0
        rate_scale: NonNegative = 1.0
        arm_share: float = 0.5
        joint_floor: float = 0.2
        gauss: bool = True
        crouch: float = 1.0
        vertical_weight: float = 100.0

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
        self._vertical_damping = 2.0 * float(np.sqrt(K_P[2, 2] * self.body.mass))
        self.polygon = support_polygon(robot, margin=law.contacts.cop_margin_m + law.cop_reserve_m)
        if not self.polygon.has_area:
            raise ConfigError(
                f"controller.law = capture: the contacts of robot '{robot.name}' on the ground "
                "lie on one line, so that there is no support polygon in which the centre of "
                "pressure could move; take another law, or more contacts"
            )
        self.flywheel = flywheel(robot, standing, law.arm_share)
        self.joint_bounds = JointBounds(robot, self.omega)
        self._force_weight = law.qp.regularisation**2 * self.force_metric
        self._metric = self._posture_metric(standing)
        regions = law_bounds(self, robot, standing)
        stiffness = K_P[:2, :2] / (self.body.mass * self.omega**2)
        following = TURN.dot(self.flywheel.C[:2, :2]) / (self.body.mass * self.height)
        self.planner = Planner(regions, stiffness, following, law.samples, make_solver(law.qp.solver))
        self._planned_at = -np.inf
        self.grounding = Grounding(self.body, 0.5 * law.contact_damping * law.foot_return)
        data = robot.model.createData()
        import pinocchio as pin
        pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
        centres = np.array([sole.pose(data).translation[:2] for sole in robot.soles])
        full = np.linalg.pinv(np.vstack([(centres.T - robot.com()[:2, None]) / self.height, np.ones(len(centres))]))
        self._shares = full
        self._plan = (np.zeros(2), np.zeros(2))
        self.now = 0.0

    def _posture_metric(self, standing: BodyView) -> Array:
        wheel = self.flywheel
        inertia = np.diag(standing.M)[6:]
        scale = float(wheel.inertia[:2].mean())
        if self.law.gauss:
            N = wheel.motion.T.dot(standing.M).dot(wheel.motion)
            N += np.diag(np.full(len(N), 0.01 * scale))
            return np.sqrt(self.law.posture_weight * scale) * np.linalg.cholesky(N).T
        joints = np.maximum(inertia[wheel.free], self.law.joint_floor * scale)
        return np.sqrt(self.law.posture_weight) * np.diag(np.concatenate([wheel.inertia, joints]))

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion with the joints' friction, which the torques make up for."""
        bias = here.bias.copy()
        bias[6:] += self.law.joint_friction * here.v[6:]
        drift = here.drift
        if self.law.foot_return and self._shares is not None:
            drift = self.grounding.drift(here, self._shares.dot(np.append(self._plan[0], 1.0)))
        return MotionEquations(here.M, bias, here.J_c, drift, self.body.moving)

    def conflict(self, q, v):
        return ""

    def attempt(self, q, v, t):
        self.now = t
        return super().attempt(q, v, t)

    def state(self, here: BodyView, desired: Desired, excursion: Array) -> Array:
        """(x, v, h, r) (8,) in the planner's units."""
        omega, z, mass = self.omega, self.height, here.mass
        unit = mass * z**2
        return np.concatenate([
            (here.com - desired.com)[:2] / z,
            (here.momentum[:2] / mass - desired.com_velocity[:2]) / (omega * z),
            TURN.dot(excursion[:2]) / unit,
            TURN.dot(here.momentum[3:5]) / (unit * omega),
        ])

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """Torques and wrenches that follow the plan as near as contacts, drives and joints allow."""
        wheel, omega, mass = self.flywheel, self.omega, here.mass
        delta, rates = wheel.state(here, desired)
        own = wheel.B[:2].dot(delta)
        follows = wheel.C[:2, :2]
        place = (here.com - desired.com)[:2]
        speed = here.momentum[:2] / mass - desired.com_velocity[:2]
        excursion = own + follows.dot(place)
        if not 0.0 < self.now - self._planned_at < self.law.replan_s - 1e-9:
            state = self.state(here, desired, excursion)
            plan = self.planner.plan(state, desired.com[:2] / self.height)
            if plan is None:
                return None
            self._plan, self._planned_at = plan, self.now
        cop, moment = self._plan
        moment_rate = TURN.T.dot(moment) * self.weight * self.height
        servo = self.law.servo * omega
        share, target = wheel.shares(own)
        acceleration = omega**2 * (place - self.height * (cop + moment))
        turn = share.dot(moment_rate - follows.dot(acceleration))
        own_rate = wheel.B[:2].dot(rates)
        turn += servo**2 * (target - delta) + 2.0 * servo * (share.dot(own_rate) - rates)
        offset = here.com - desired.com
        pressure = mass * omega**2 * (offset[:2] - self.height * cop)
        pressure += mass * desired.com_acceleration[:2]
        to = TURN.dot(own)
        angle = np.arctan2(to[1], to[0]) % (2 * np.pi)
        sink = float(np.interp(angle, _ANGLES, self.sink)) * float(own.dot(own))
        vertical = -self.stiffness[2, 2] * (offset[2] + self.law.crouch * sink)
        vertical += mass * desired.com_acceleration[2]
        vertical -= self._vertical_damping * (here.momentum[2] / mass - desired.com_velocity[2])
        return self._follow(here, desired, pressure, vertical, moment_rate, turn)

    def _follow(self, here, desired, pressure, vertical, moment_rate, turn):
        wheel = self.flywheel
        n, nv = len(turn), here.model.nv
        posture, posture_values = self.tasks.evaluate(here, desired)
        rows, values = np.zeros((5 + n + len(posture), nv)), np.zeros(5 + n + len(posture))
        A, drift = here.A, here.momentum_drift
        lever = TURN / self.height
        rows[:2] = COP_WEIGHT**0.5 * (A[:2] + lever.dot(A[3:5]))
        values[:2] = COP_WEIGHT**0.5 * (pressure - drift[:2] - lever.dot(drift[3:5]))
        rows[2] = self.law.vertical_weight**0.5 * A[2]
        values[2] = self.law.vertical_weight**0.5 * (vertical - drift[2])
        w = self.law.moment_weight**0.5
        rows[3:5] = w * A[3:5]
        values[3:5] = w * (moment_rate - drift[3:5])
        turning = desired.rotation.T.dot(here.R_WB)
        metric = self._metric
        rows[5 : 5 + n, 3:6] = metric[:, :3].dot(turning)
        rows[5 : 5 + n, 6 + wheel.free] = metric[:, 3:]
        values[5 : 5 + n] = metric.dot(turn)
        rows[5 + n :], values[5 + n :] = posture, posture_values

        equations = self.equations(here)
        free = FreeMotion(equations, self._force_weight)
        B, c = free.on_accelerations(equations, rows, values)
        H, g = B.T.dot(B), B.T.dot(c)
        n_y, n_x = free.n_y, free.n_x
        y = minimiser(H, g)
        if y is None:
            return None
        x = np.zeros(n_x)
        x[:n_y] = y
        torques, wrenches = free.forces(x)
        C, d = self.joint_bounds.rows(free, here.q[7:], here.v[6:])
        if self.limits.margins(wrenches, torques).min() >= 0.0 and (C.dot(x) >= d).all():
            return Answer(torques, wrenches, wrenches)
        limits, lower = self.limits.rows(free)
        m, k = len(limits), len(C)
        full_H, full_g = np.eye(n_x + 1), np.zeros(n_x + 1)
        full_H[:n_y, :n_y], full_g[:n_y] = H, g
        full_H[-1, -1] = SLACK_WEIGHT
        rows_all = np.zeros((m + k + 1, n_x + 1))
        rows_all[:m, :-1] = limits
        rows_all[m : m + k, :-1] = C
        rows_all[m:, -1] = 1.0
        program = QuadraticProgram(full_H, full_g, rows_all, np.concatenate([lower, d, [0.0]]))
        solution = self.solver.solve(program)
        if solution.status is not QPStatus.SOLVED:
            return None
        return Answer(*free.forces(solution.x[:-1]), wrenches)
