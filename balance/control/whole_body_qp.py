"""One quadratic program over accelerations, contact wrenches and torques; Bouyarmane2012 V."""

from __future__ import annotations

from typing import Annotated, Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.tasks import (
    WANTED_FORCES,
    FrameTaskConfig,
    WantedForceConfig,
    check_weights,
)
from balance.config.values import Positive
from balance.control.parts.free_motion import FreeMotion, minimiser
from balance.control.parts.grounding import Grounding
from balance.control.parts.guidance import Guidance
from balance.control.parts.held_columns import HeldColumns, held_columns
from balance.control.parts.joint_bounds import JointRows, with_slack
from balance.control.parts.quaternion_form import quaternion_equations
from balance.control.parts.setpoints import Desired
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.wanted_forces import WantedForces
from balance.control.parts.weighted_tasks import WeightedRows, WeightedTasks
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.control.qp import QPStatus, QuadraticProgram
from balance.robots import Robot

Array = NDArray[np.float64]

FIRM_WEIGHT = 1.0  # of a limb on its way to a contact, as that of the CoM
LOOSE_WEIGHT = 0.05  # of one that must not drag the body along where it cannot follow


@final
class WholeBodyController(TaskLaw):
    """Weighted tasks under the full equation of motion, Bouyarmane2012 (36) or (38):

        minimise    sum_i w_i |J_i dv/dt + dJ_i/dt v - target_i|^2 + w_f |f - f_wanted|^2 + |z|^2
        subject to  the equation of motion, contacts at rest, wrenches in their cones,
                    torques within their limits, joints within their ranges and speeds,

    where |z|^2 is the small cost of contact forces that differ from the even share, and f are those
    components of contact forces, if any, that ``wanted_forces`` asks for.

    Differs: the paper's unknowns are accelerations, torques and forces, with the equation of motion
    and the contacts as equality rows.  Here those rows are solved first, which leaves one unknown
    for each joint and inequalities alone: the same minimiser, from a program a third of the size.
    Without violated limits that minimiser solves a linear system, and no iteration is needed.
    Contacts are surfaces with a wrench in a cone in place of points with friction cones.  The
    paper has no joint limits: without them limbs run into their stops, and knees lock straight,
    where the soles are used up and the task of the CoM asks for more.  Nor has it drives with
    friction, which lifts a foot that bears little (:mod:`balance.control.parts.grounding`).
    """

    class Config(BalancingLawConfig):
        """Keys of `law: whole_body_qp`."""

        form: Literal["plain", "quaternion"] = "plain"
        """Form of the equation of motion: Pinocchio's, or with the base's quaternion as
        coordinates."""
        tasks: dict[str, Positive] = Field({"com": 1.0, "base": 1.0, "posture": 0.1}, min_length=1)
        """Weight of each task, by its name [-]."""
        frames: dict[str, FrameTaskConfig] = Field(default_factory=dict)
        """Tasks of your own that hold or move a frame, by their names."""
        wanted_forces: dict[str, WantedForceConfig] = Field(default_factory=dict)
        """How hard contacts press, by the surfaces' names."""
        joint_bounds: bool = True
        """Whether joints are kept within their usable ranges and speeds."""
        contact_damping: Annotated[float, Field(ge=0, le=500)] = 100.0
        """Rate at which a contact that slips shall come to rest [1/s]; 0 switches it off."""
        feet_down: bool = True
        """Whether feet that bear little are kept on the ground, at half the rate above."""

        @model_validator(mode="after")
        def _known_tasks(self) -> Self:
            check_weights(self.tasks, self.frames, self.wanted_forces)
            return self

        def with_limb(self, name: str, task: FrameTaskConfig, firm: bool) -> Self:
            """The same law with a task that leads a limb, as firmly as the CoM or not."""
            weight = FIRM_WEIGHT if firm else LOOSE_WEIGHT
            tasks, frames = {**self.tasks, name: weight}, {**self.frames, name: task}
            return self.model_copy(update={"tasks": tasks, "frames": frames})

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        motion = {name: weight for name, weight in law.tasks.items() if name != WANTED_FORCES}
        super().__init__(
            law, robot, motion, law.frames, law.contact_damping, bounds_joints=law.joint_bounds
        )
        self.form = law.form
        self.grounding = Grounding(self.body) if law.feet_down else None
        self._wanted_forces = WantedForces(law.wanted_forces, robot)
        self._wanted_weight = law.qp.linear_weight * law.tasks.get(WANTED_FORCES, 0.0)
        # Small even against a task's smallest weight: no motion is given up for an even share.
        # Beside wanted forces that would leave a program of condition 1e12.
        small = law.qp.regularisation ** (1 if law.wanted_forces else 2)
        self._force_weight = small * self.force_metric
        weight = float(np.linalg.norm(self.body.weight))
        self.weighted = WeightedTasks(self.limits, self.joint_bounds, self._force_weight, weight)
        self._chart: HeldColumns | None = None
        if law.form == "quaternion":
            standing = self.body.at(robot.q_nominal, np.zeros(robot.model.nv))
            equations = quaternion_equations(standing)
            self._chart = held_columns(equations.J, equations.moving, equations.base)

    def formulation(self, here: BodyView) -> tuple[MotionEquations, Array]:
        """The equations of motion in the chosen form, and the weights of its forces."""
        equations = self.equations(here)
        if self.form == "plain":
            return equations, self._force_weight
        equations = quaternion_equations(here, equations, self._chart)
        # A multiplier of the chart follows from the motion: its weight does not matter.
        multipliers = np.ones(len(equations.J) - len(self._force_weight))
        return equations, np.concatenate([self._force_weight, multipliers])

    def guide(self, guidance: Guidance) -> None:
        """As other laws; what a foot is set down on may be higher or lower than it was planned."""
        super().guide(guidance)
        self.grounding = None

    def equations(self, here: BodyView) -> MotionEquations:
        """The equations of motion, with feet that bear little kept on the ground."""
        equations, feet = here.equations(), self.grounding
        if feet is not None:
            equations.drift = feet.drift(here, feet.capture_point(here))
        return equations

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """The minimiser of the program above."""
        if not self._wanted_weight:
            rows, values, joint_values = self.tasks.evaluate_apart(here, desired)
            wanted = WeightedRows(rows, values, self.tasks.joint_rows, joint_values)
            equations = self.equations(here)
            if self.form == "quaternion":
                equations = quaternion_equations(here, equations, self._chart)
            return self.weighted.solve(equations, wanted, here.q, here.v, self.solver, self.planned)
        return self._with_wanted_forces(here, desired)

    def _with_wanted_forces(self, here: BodyView, desired: Desired) -> Answer | None:
        """The same where the cost of forces is not that of the even share alone."""
        free, H, g = self._cost(here, desired)
        chosen = minimiser(H, g)
        if chosen is None:
            return None
        x = np.zeros(free.n_x)
        x[: len(chosen)] = chosen
        torques, wrenches = self._forces(free, x)
        margins = self.limits.margins(wrenches, torques)
        joints = self._joint_rows(free, here)
        if margins[margins.argmin()] >= 0.0 and (joints is None or joints.kept(x)):
            return Answer(torques, wrenches, wrenches)
        solution = self.solver.solve(self._limited(free, H, g, joints))
        if solution.status is not QPStatus.SOLVED:
            return None
        x = solution.x[: free.n_x]
        answer = Answer(*self._forces(free, x), wrenches)
        if joints is not None:
            answer.joints = joints.active(x)
        return answer

    def program(self, here: BodyView, desired: Desired) -> QuadraticProgram:
        """The program with all its limits at the state of ``here``."""
        free, H, g = self._cost(here, desired)
        return self._limited(free, H, g, self._joint_rows(free, here))

    def _joint_rows(self, free: FreeMotion, here: BodyView) -> JointRows | None:
        bounds = self.joint_bounds
        return None if bounds is None else bounds.rows(free, here.q[7:], here.v[6:])

    def _cost(self, here: BodyView, desired: Desired) -> tuple[FreeMotion, Array, Array]:
        """What is free to choose, and the cost 1/2 x^T H x - g^T x of it.

        Where no forces are wanted z costs |z|^2 / 2 and nothing else, and H and g are those of the
        motion y alone.
        """
        equations, force_weight = self.formulation(here)
        planned = self.planned
        if planned is not None and len(planned) < len(force_weight):
            planned = np.append(planned, np.zeros(len(force_weight) - len(planned)))
        free = FreeMotion(equations, force_weight, planned=planned)
        rows, values = self.tasks.evaluate(here, desired)
        B, c = free.on_accelerations(equations, rows, values)
        H_y, g_y = B.T.dot(B), c.dot(B)
        if not self._wanted_weight:
            return free, H_y, g_y
        H, g = _with_forces(free, H_y, g_y)
        A, b = self._wanted_forces.conditions(free)
        H += self._wanted_weight * A.T.dot(A)
        g += self._wanted_weight * b.dot(A)
        return free, H, g

    def _limited(
        self, free: FreeMotion, H: Array, g: Array, joints: JointRows | None
    ) -> QuadraticProgram:
        if joints is not None:
            return with_slack(free, H, g, self.limits.rows(free), joints)
        if len(g) < free.n_x:
            H, g = _with_forces(free, H, g)
        return QuadraticProgram(H, g, *self.limits.rows(free))

    def _forces(self, free: FreeMotion, x: Array) -> tuple[Array, Array]:
        """Torques, and contact wrenches without the multipliers of a chart."""
        torques, forces = free.forces(x)
        return torques, forces[: len(self._force_weight)]


def _with_forces(free: FreeMotion, H_y: Array, g_y: Array) -> tuple[Array, Array]:
    """The cost of the motion y with |z|^2 / 2 beside it."""
    H, g = np.zeros((free.n_x, free.n_x)), np.zeros(free.n_x)
    H.ravel()[:: free.n_x + 1] = 1.0
    H[: free.n_y, : free.n_y], g[: free.n_y] = H_y, g_y
    return H, g
