"""Laws that decide on accelerations, contact wrenches and torques together, from tasks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from balance.config import BalancingLawConfig
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.distribution import make_distribution
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.guidance import Guidance
from balance.control.parts.joint_bounds import JointBounds
from balance.control.parts.limits import Limits
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.setpoints import Desired, Path, setpoint_path
from balance.control.parts.task_stack import TaskStack, make_tasks
from balance.control.parts.tasks import PostureTask
from balance.control.parts.weighted_tasks import Answer as Answer
from balance.control.parts.whole_body import BodyView, MotionEquations, WholeBody
from balance.control.qp import make_solver
from balance.control.qp.diagnosis import conflict_sentence
from balance.errors import ConfigError
from balance.robots import Robot

Array = NDArray[np.float64]


_STATUS = {
    (missed, wrench, torque): ControlStatus(
        missed * ControlStatus.TARGET_MISSED
        + wrench * ControlStatus.WRENCH_LIMITED
        + torque * ControlStatus.TORQUE_LIMITED
    )
    for missed in (False, True)
    for wrench in (False, True)
    for torque in (False, True)
}
"""The status by what limits a step: flags that are put together anew cost microseconds."""

PATIENCE = 8  # programs for which a solver is not asked after it has failed
NO_FREEDOM = 1e-8  # of a task's rows, relative to their size, that is left within the free motion


class TaskLaw(BalancingLaw):
    """The steps that such laws have in common; a law says how it weighs its tasks."""

    can_change_contacts = True
    holds_contacts = True
    """Whether the contacts come before all tasks."""

    def __init__(
        self,
        law: BalancingLawConfig,
        robot: Robot,
        tasks: Mapping[str, float],
        frames: Mapping[str, FrameTaskConfig],
        contact_damping: float,
        *,
        bounds_joints: bool = False,
    ) -> None:
        """``tasks`` gives the weight of each task, ``frames`` what its own ones hold.

        With ``bounds_joints`` the law keeps joints within their usable ranges and speeds.
        """
        self.distribution = make_distribution(robot, law.contacts, law.qp)
        self.robot, self.body = robot, WholeBody(robot, contact_damping)
        super().__init__(law, robot, make_solver(law.qp.solver, PATIENCE))
        # With no wanted wrench only the regulariser of the contact-wrench QP is left.
        k = self.distribution.n
        nothing = self.distribution.program(np.zeros((6, k)), np.zeros(6), np.zeros(k))
        self.force_metric = nothing.H.diagonal() / law.qp.regularisation
        """Diagonal of the metric in which the contacts share the load evenly (r,)."""
        weight = float(np.linalg.norm(self.body.weight))
        self.limits = Limits(robot, self.distribution, weight)
        self._negligible = 1e-4 * weight  # as in the laws that share out a wrench
        omega = float(np.sqrt(weight / self.body.mass / robot.com()[2]))
        self.planned: Array | None = None
        """Contact forces (r,) of a static posture, of which those of a motion are near."""
        self.joint_bounds = JointBounds(robot, omega) if bounds_joints else None
        self.path: Path = setpoint_path(law.setpoints, robot)
        impedance = law.impedance or robot.impedance
        pace = (impedance.frequency_hz, impedance.damping_ratio)
        # Whatever the tasks leave open goes to the posture, at next to no cost.
        rest = PostureTask(robot, *pace, frames.values())
        self.tasks = TaskStack(
            [*make_tasks(law.gains, robot, tasks, frames, *pace), rest],
            [*tasks.values(), law.qp.regularisation],
            robot.model.nv,
            linear_weight=law.qp.linear_weight,
            angular_weight=law.qp.angular_weight,
        )
        standing = self.body.at(robot.q_nominal, np.zeros(robot.model.nv))
        rows = self.tasks.evaluate(standing, self.path.at(0.0))[0]
        self._check_freedom(
            standing.equations(),
            {
                f"the task '{name}'": rows[part]
                for name, part in zip(tasks, self.tasks.slices[:-1], strict=True)
            },
        )

    def _check_freedom(self, equations: MotionEquations, wanted: Mapping[str, Array]) -> None:
        """Refuse what the contacts leave no freedom for in the nominal posture.

        ``wanted`` has rows (n, nv) on dv/dt for each name.  No gain would make a difference.
        """
        Z = FreeMotion(equations, self.force_metric, hold_contacts=self.holds_contacts).Z
        idle = [
            name
            for name, rows in wanted.items()
            if np.linalg.norm(rows.dot(Z)) <= NO_FREEDOM * np.linalg.norm(rows)
        ]
        if idle:
            raise ConfigError(
                f"the contacts leave robot '{self.robot.name}' no freedom for "
                f"{' and '.join(idle)}: their {len(equations.J)} conditions hold "
                f"{len(equations.M) - Z.shape[1]} of its {len(equations.M)} velocities; leave that "
                "out, or let the robot stand on fewer contacts, or on points"
            )

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of wrench cones and torque limits, and of joint bounds if there are."""
        return self.limits.names + (self.joint_bounds.names if self.joint_bounds else ())

    def guide(self, guidance: Guidance) -> None:
        """Take setpoint, posture, limbs and loads of the contacts from a sequence of stances."""
        self.path = guidance
        self.tasks.lead(guidance)
        self.distribution.bound(guidance.least, guidance.most)
        self.fallback.bound(guidance.least, guidance.most)
        self.planned = self.body.rows.stacked(guidance.wrenches)

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """Torques for a finite configuration ``q``, velocity ``v`` and time ``t`` in s."""
        here = self.body.at(q, v)
        self.tasks.aim(t)
        answer = self.solve(here, self.path.at(t))
        if answer is None:
            return None
        wrenches, torques, margins = answer.wrenches, answer.torques, answer.margins
        residual = here.G.dot(answer.wanted - wrenches)
        if margins is None:
            margins = self.limits.margins(wrenches, torques)
            # A projection has no limits of torque, and a solver's rounding may leave some.
            torques = self.limits.cut(torques)
        active = self.limits.active(margins)
        rows, missed = self.limits.n_cone_rows, not self.tasks.on_target
        status = _STATUS[
            missed,
            # In the order of the rows: cones first.
            len(active) > 0
            and bool(active[0] < rows)
            and bool(residual.dot(residual) > self._negligible**2),
            len(active) > 0 and bool(active[-1] >= rows),
        ]
        if len(answer.joints):
            active = np.concatenate((active, len(self.limits.names) + answer.joints))
        return ControlOutput(torques, self.body.rows.each(wrenches), status, active, residual)

    @abstractmethod
    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """The answer at the state of ``here``, None if there is none."""

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion that the law assumes, in Pinocchio's velocity coordinates."""
        return here.equations()

    def conflict(self, q: Array, v: Array) -> str:
        """Why there is no answer at a state: limits that contradict each other, in words."""
        free = FreeMotion(self.equations(self.body.at(q, v)), self.force_metric)
        bounded = np.isfinite(np.concatenate([self.limits.lower, *2 * [self.limits.torques]]))
        named = [limit for limit, kept in zip(self.limits.named, bounded, strict=True) if kept]
        return conflict_sentence(*self.limits.rows(free), named)
