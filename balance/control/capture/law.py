"""Our own law: the pendulum with a flywheel planned ahead, followed by the whole body.

docs/capture.md derives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from balance.config import (
    BalancingLawConfig,
    ContactAssumptionsConfig,
    ExperimentConfig,
    section_of,
)
from balance.config.values import NonNegative, Positive
from balance.control.capture.bounds import plan_regions, pressed_corners
from balance.control.capture.flywheel import Flywheel
from balance.control.capture.planner import Planner
from balance.control.parts.gains import gain_matrices
from balance.control.parts.grounding import Grounding
from balance.control.parts.output import ControlOutput
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import read_only
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.weighted_tasks import WeightedRows, WeightedTasks
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.qp import make_solver
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.capability.body import at_rest
from balance.robots.capability.leaning import leaning, motions
from balance.robots.capability.programme import TURN
from balance.robots.support_polygon import SupportPolygon

Array = NDArray[np.float64]

# Weights per squared newton and newton metre: the CoP comes before all else.
COP_WEIGHT, VERTICAL_WEIGHT, MOMENT_WEIGHT, POSTURE_WEIGHT = 1e4, 1e2, 20.0, 1.0
SERVO = 2.0  # omega: how fast the coordinates return to their shares
SINK_RATE = 2.0  # of the height, per part of the CoP's region that the capture point leaves
LIGHTEST = 0.01  # of the base's inertia, which lighter joints count as if they had
INSISTENCE = 0.25  # omega: rate at which a base that stays turned counts as turned further
MOST_INSISTENCE_RAD = 0.5
LONGEST_STEP_S = 0.02  # that counts for this: no law that slept for longer insists at once


class CaptureContactsConfig(ContactAssumptionsConfig):
    """What the law believes of every contact: its plan uses soles to their edges."""

    cop_margin_m: NonNegative = 0.0
    """Distance that the centre of pressure keeps from the edge of a sole."""


class HopelessError(Exception):
    """A plan ends beyond where leaning helps: whoever can step need not wait for torques."""


@dataclass(slots=True)
class Wanted:
    """What the plan wants now: N, N m and the accelerations of the flywheel's coordinates.

    ``pressure`` (2,) is m omega^2 (x - p), the force and what the moment adds to it;
    ``vertical`` the vertical force beyond the weight, ``moment`` (2,), ``turn`` (3 + n,).
    """

    pressure: Array
    vertical: float
    moment: Array
    turn: Array


@final
class CaptureController(TaskLaw):
    """Plans CoP and moment of the pendulum with a flywheel, and follows them with the whole body:

        minimise    1e4 |f + T dl/dt / z - m omega^2 (x - p)|^2      the CoP
                    + 1e2 |f_z - vertical|^2 + 20 |dl/dt - moment|^2  height, moment
                    + |ddelta/dt^2 - turn|^2_N                        in shares, N the inertia
                    + next to nothing for the posture and the share of the load
        subject to  the equation of motion, contacts at rest, wrenches in their cones, torques
                    within limits, joints within ranges and speeds (with a slack that costs more
                    than all of these).

    p and the moment u are the first ones of :class:`Planner`, every ``replan_s``.  With force and
    moment in one row for the CoP they shrink together where drives or contacts cannot give them.
    """

    can_change_contacts = False  # its polygon is that of one stance

    class Config(BalancingLawConfig):
        """Ankles, hips and arms by a plan of the pendulum with a flywheel.

        Ranges, speeds and moments are the robot's own; of the gains it uses K_P alone.
        """

        contacts: CaptureContactsConfig = CaptureContactsConfig()
        """What the law believes of every contact."""
        samples: Annotated[int, Field(ge=4, le=32)] = 12
        """Number of samples of the plan [-]."""
        replan_s: Positive = 0.004
        """Time from one plan to the next; each control step has its own if that is longer."""
        joint_friction: NonNegative = 0.0
        """Viscous friction of the joints that the law makes up for [N m s/rad]."""
        contact_damping: NonNegative = 100.0
        """Rate at which a contact that slips shall come to rest [1/s]; 0 switches it off."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        super().__init__(law, robot, {}, {}, law.contact_damping, bounds_joints=True)
        self.law = law
        standing = self.body.at(robot.q_nominal, np.zeros(robot.model.nv))
        self._check_freedom(standing.equations(), {"its momentum": standing.A})
        self._check_area(robot)
        self.weight, self.height = float(np.linalg.norm(self.body.weight)), float(robot.com()[2])
        self.omega = float(np.sqrt(self.weight / self.body.mass / self.height))
        self.numbers = leaning(robot, law.contacts.friction)
        self.flywheel = Flywheel(robot, self.numbers)
        self.stiffness = gain_matrices(law.gains, robot)[0]
        self._vertical_damping = 2.0 * float(np.sqrt(self.stiffness[2, 2] * self.body.mass))
        self.planner = Planner(
            plan_regions(robot, self.numbers, law.contacts),
            self.stiffness[:2, :2] / (self.body.mass * self.omega**2),
            TURN.dot(self.numbers.follows[:2, :2]) / (self.body.mass * self.height),
            law.samples,
            make_solver(law.qp.solver),
        )
        self.grounding = Grounding(self.body)
        self._force_weight = law.qp.regularisation**2 * self.force_metric
        self.weighted = WeightedTasks(
            self.limits, self.joint_bounds, self._force_weight, self.weight
        )
        self._metric, self._lever = self._inertia_metric(), TURN / self.height
        self._now, self._planned_at = 0.0, -np.inf
        self._cop, self._moment, self._room = np.zeros(2), np.zeros(2), 1.0
        self._kept_turned, self._seen_at = np.zeros(3), 0.0
        self.hopeless = np.inf
        """How far, in z, a plan's end may be beyond the support; if more, a step raises."""
        self.used = 0.0
        """How much of the CoP's region the robot's divergence used at the last plan."""

    def _check_area(self, robot: Robot) -> None:
        if not SupportPolygon(pressed_corners(robot, self.law.contacts)).has_area:
            raise ConfigError(
                f"controller.law = capture: the contacts of robot '{robot.name}' on the ground "
                "lie on one line, so that there is no support polygon in which the centre of "
                "pressure could move; take another law, or more contacts"
            )

    def _inertia_metric(self) -> Array:
        """R with R^T R = N, the inertia of the flywheel's coordinates, times that of the base.

        By Gauss's principle what gives way is what moves least mass: the pelvis, not the trunk.
        """
        resting = at_rest(self.robot, self.robot.q_nominal, self.robot.soles)
        motion = motions(self.robot, resting, self.numbers.free)[0]
        scale = float(np.linalg.norm(self.numbers.B[:2, :3])) / np.sqrt(2.0)
        inertia = motion.T.dot(resting.M).dot(motion) + LIGHTEST * scale * np.eye(motion.shape[1])
        return np.asarray(np.sqrt(POSTURE_WEIGHT * scale) * np.linalg.cholesky(inertia).T)

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """Torques for a finite configuration ``q``, velocity ``v`` and time ``t`` in s."""
        self._now = t
        return super().attempt(q, v, t)

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion with the joints' friction, which the torques make up for."""
        bias = here.bias
        if self.law.joint_friction:
            bias = bias.copy()
            bias[6:] += self.law.joint_friction * here.v[6:]
            bias = read_only(bias)
        drift = self.grounding.drift(here, self._cop)
        return MotionEquations(
            here.M, bias, here.J_c, drift, self.body.moving, columns=self.body.columns
        )

    def plan_state(self, here: BodyView, desired: Desired, delta: Array) -> Array:
        """(x, v, h, r) (8,) of the plan at a state."""
        numbers = self.numbers
        return plan_coordinates(
            here.com, here.momentum, desired.com, desired.com_velocity, numbers.B, numbers.follows,
            TURN, delta, here.mass, self.height, self.omega,
        )  # fmt: skip

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """Torques and wrenches that follow the plan as near as contacts, drives, joints allow."""
        delta, rates = self.flywheel.state(here, desired)
        self._insist(delta)
        if not 0.0 < self._now - self._planned_at < self.law.replan_s - 1e-9:
            state = self.plan_state(here, desired, delta)
            plan = self.planner.plan(state, desired.com[:2] / self.height)
            if plan is None:
                return None
            (self._cop, self._moment), self._planned_at = plan, self._now
            if self.planner.beyond > self.hopeless:
                raise HopelessError
            self.used = self.planner.used(state, desired.com[:2] / self.height)
            self._room = min(max(0.0, SINK_RATE * (1.0 - self.used)), 1.0)
        return self._follow(self._wanted(here, desired, delta, rates), here, desired)

    def _insist(self, delta: Array) -> None:
        """Count the base as turned further, in ``delta``, the longer it stays turned.

        An arm that rests on a thigh, or friction, may hold the body where it is, with forces of
        which the law does not know.
        """
        elapsed, self._seen_at = self._now - self._seen_at, self._now
        if elapsed < 0.0:  # another run
            self._kept_turned[:] = 0.0
        gain = INSISTENCE * self.omega * min(max(0.0, elapsed), LONGEST_STEP_S)
        if self._room < 1.0:  # there is more to do, and a lean may be meant
            self._kept_turned *= 1.0 - min(4.0 * gain, 1.0)
        else:
            self._kept_turned += gain * delta[:3]
            size = float(np.sqrt(self._kept_turned.dot(self._kept_turned)))
            self._kept_turned *= min(1.0, MOST_INSISTENCE_RAD / max(size, 1e-9))
        delta[:3] += self._kept_turned

    def _wanted(self, here: BodyView, desired: Desired, delta: Array, rates: Array) -> Wanted:
        """The plan as forces and accelerations."""
        omega, z, mass = self.omega, self.height, here.mass
        offset = here.com - desired.com
        moment = TURN.T.dot(self._moment) * self.weight * z
        acceleration = omega**2 * (offset[:2] - z * (self._cop + self._moment))
        own = moment - self.numbers.follows[:2, :2].dot(acceleration)
        turn = self.flywheel.wanted(delta, rates, own, SERVO * omega)
        pressure = mass * omega**2 * (offset[:2] - z * self._cop)
        pressure += mass * desired.com_acceleration[:2]
        sink = self.flywheel.sink(self.numbers.B[:2].dot(delta), self._room)
        vertical = -self.stiffness[2, 2] * (offset[2] + sink)
        vertical -= self._vertical_damping * (here.momentum[2] / mass - desired.com_velocity[2])
        vertical += mass * desired.com_acceleration[2]
        return Wanted(pressure, float(vertical), moment, turn)

    def _rows(self, wanted: Wanted, here: BodyView, desired: Desired) -> tuple[Array, Array]:
        """Weighted rows of rows @ dv/dt = values: CoP, height, moment, shares."""
        turn = desired.rotation.T.dot(here.R_WB)
        return plan_rows(
            here.A, here.momentum_drift, self._lever, self._metric, 6 + self.flywheel.free, turn,
            wanted.pressure, wanted.vertical, wanted.moment, wanted.turn,
        )  # fmt: skip

    def _follow(self, wanted: Wanted, here: BodyView, desired: Desired) -> Answer | None:
        """The minimiser of the program in the class's docstring."""
        rows, values = self._rows(wanted, here, desired)
        *_, joint_values = self.tasks.evaluate_apart(here, desired)
        tasks = WeightedRows(rows, values, self.tasks.joint_rows, joint_values)
        return self.weighted.solve(self.equations(here), tasks, here.q, here.v, self.solver)


@compiled
def plan_rows(
    A: Array,
    drift: Array,
    lever: Array,
    metric: Array,
    columns: NDArray[np.intp],
    turn: Array,
    pressure: Array,
    vertical: float,
    moment: Array,
    turns: Array,
) -> tuple[Array, Array]:
    """Rows and values of the tasks, from the momentum's matrix and drift.

    ``lever`` is T / z, ``metric`` the R of the coordinates' inertia, ``columns`` where the free
    joints are, ``turn`` takes the base's angular velocity to the desired frame.
    """
    rows = np.zeros((5 + len(turns), A.shape[1]))
    values = np.zeros(len(rows))
    level, moved = contiguous(A[3:5]), lever.dot(contiguous(drift[3:5]))
    rows[:2] = COP_WEIGHT**0.5 * (A[:2] + lever.dot(level))
    values[:2] = COP_WEIGHT**0.5 * (pressure - drift[:2] - moved)
    rows[2] = VERTICAL_WEIGHT**0.5 * A[2]
    values[2] = VERTICAL_WEIGHT**0.5 * (vertical - drift[2])
    rows[3:5] = MOMENT_WEIGHT**0.5 * level
    values[3:5] = MOMENT_WEIGHT**0.5 * (moment - drift[3:5])
    rows[5:, 3:6] = contiguous(metric[:, :3]).dot(turn)
    rows[5:, columns] = metric[:, 3:]
    values[5:] = metric.dot(turns)
    return rows, values


@compiled
def plan_coordinates(
    com: Array,
    momentum: Array,
    desired: Array,
    velocity: Array,
    B: Array,
    follows: Array,
    turn: Array,
    delta: Array,
    mass: float,
    z: float,
    omega: float,
) -> Array:
    """(x, v, h, r) (8,) of the plan, in its units; ``turn`` is T."""
    state, unit = np.empty(8), mass * z**2
    x = com[:2] - desired[:2]
    state[:2] = x / z
    state[2:4] = (momentum[:2] / mass - velocity[:2]) / (omega * z)
    excursion = B[:2].dot(delta) + contiguous(follows[:2, :2]).dot(x)
    state[4:6] = turn.dot(excursion) / unit
    state[6:] = turn.dot(momentum[3:5]) / (unit * omega)
    return state
