"""Prioritised tasks on accelerations, contact wrenches and torques; RobotDynamicsETH 3.10."""

from __future__ import annotations

from typing import Literal, Self, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from balance.config import BalancingLawConfig, ExperimentConfig, section_of
from balance.config.tasks import (
    CONSTRAINTS,
    FORCE_TASKS,
    WANTED_FORCES,
    FrameTaskConfig,
    WantedForceConfig,
    check_priorities,
)
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.priorities import Hierarchy, Level
from balance.control.parts.setpoints import Desired
from balance.control.parts.task_law import Answer, TaskLaw
from balance.control.parts.wanted_forces import WantedForces
from balance.control.parts.whole_body import BodyView
from balance.control.qp import QPStatus
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class HierarchicalController(TaskLaw):
    """Each task as well as the tasks of higher priority allow, RobotDynamicsETH (3.102).

    The unknowns are (dv/dt, wrenches, torques), (3.108).  The first priority, which the equation of
    motion (3.109) has, is solved in advance: what it leaves free are the coordinates of
    :class:`FreeMotion`, and the tasks below, (3.110) to (3.112), are linear in them.  What all
    tasks leave open goes to the posture of all joints and an even share of the load.

    ``method: projection`` is algorithm 2, which knows equalities only.  When its wrenches leave
    their cones they are replaced by the wrenches in the cones with the nearest sum, as the second
    priority, and the rest is solved again; torques beyond their limit are cut.  The status reports
    both.  ``method: qp`` is the sequence of programs (3.107) with the inequalities in each.
    Algorithm 2 comes first here too: where its answer keeps all limits no program does better.

    Differs: the notes count the contact force on the environment; here it acts on the robot.
    """

    class Config(BalancingLawConfig):
        """Keys of `law: hierarchical`."""

        method: Literal["qp", "projection"] = "qp"
        """Solve a QP for each priority, or project onto null spaces."""
        priorities: tuple[tuple[str, ...], ...] = (
            ("dynamics", "contacts", "cones", "torque_limits"),
            ("com",),
            ("base",),
            ("posture",),
            ("forces",),
        )
        """Names of the tasks of each priority, the highest first."""
        frames: dict[str, FrameTaskConfig] = Field(default_factory=dict)
        """Tasks of your own that hold or move a frame, by their names."""
        wanted_forces: dict[str, WantedForceConfig] = Field(default_factory=dict)
        """How hard contacts press, by the surfaces' names."""

        @model_validator(mode="after")
        def _consistent_priorities(self) -> Self:
            check_priorities(self.priorities, self.frames, self.wanted_forces)
            return self

        def with_limb(self, name: str, task: FrameTaskConfig, firm: bool) -> Self:
            """The same law with a task that leads a limb: below the first of motion, or last."""
            levels, frames = self.priorities, {**self.frames, name: task}
            if firm:
                levels = (*levels[:2], (name,), *levels[2:])
            else:
                levels = (*levels[:-1], (*levels[-1], name))
            return self.model_copy(update={"priorities": levels, "frames": frames})

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, self.Config)
        self.method, self.priorities = law.method, law.priorities
        self.holds_contacts = "contacts" in law.priorities[0]
        motion = [
            name
            for level in law.priorities
            for name in level
            if name not in CONSTRAINTS and name not in FORCE_TASKS
        ]
        super().__init__(law, robot, dict.fromkeys(motion, 1.0), law.frames, law.contact_damping)
        self._wanted_forces = WantedForces(law.wanted_forces, robot)
        *parts, self._rest = self.tasks.slices
        self._parts = dict(zip(motion, parts, strict=True))

    def solve(self, here: BodyView, desired: Desired) -> Answer | None:
        """The solution of all levels at the state of ``here``."""
        free = FreeMotion(
            self.equations(here),
            self.force_metric,
            hold_contacts=self.holds_contacts,
            planned=self.planned,
        )
        levels = self._levels(here, free, desired)
        hierarchy = Hierarchy(levels, free.n_x)
        torques, wrenches = free.forces(hierarchy.project())
        margins = self.limits.margins(wrenches, torques)
        if margins.min() >= 0.0:
            return Answer(torques, wrenches, wrenches)
        if self.method == "qp":
            x, status = hierarchy.solve(*self.limits.rows(free), self.solver)
            return Answer(*free.forces(x), wrenches) if status is QPStatus.SOLVED else None
        if margins[: self.limits.n_cone_rows].min() >= 0.0:
            return Answer(torques, wrenches, wrenches)
        nearest = self.distribution.solve(here.G, here.G.dot(wrenches))
        if nearest.status is not QPStatus.SOLVED:
            return None
        projected = nearest.stacked
        held = Level(free.F, projected - free.f_0)
        x = Hierarchy([held, *levels], free.n_x).project()
        return Answer(free.forces(x)[0], projected, wrenches)

    def _levels(self, here: BodyView, free: FreeMotion, desired: Desired) -> list[Level]:
        """The priorities below the first, then the rest, as conditions on x."""
        equations = self.equations(here)
        rows, values = self.tasks.evaluate(here, desired)
        B, c = free.on_accelerations(equations, rows, values)
        B = np.concatenate([B, np.zeros((len(B), free.n_z))], axis=1)
        parts = {name: (B[part], c[part]) for name, part in self._parts.items()}
        parts["forces"] = (np.eye(free.n_x)[free.n_y :], np.zeros(free.n_z))
        parts["torques"] = (free.T, -free.tau_0)
        if len(self._wanted_forces.rows):
            parts[WANTED_FORCES] = self._wanted_forces.conditions(free)
        if not self.holds_contacts:
            J = np.zeros((len(equations.J), free.n_x))
            J[:, : free.n_y] = equations.J
            parts["contacts"] = (J, -equations.drift)
        levels = [[parts[name] for name in names] for names in self.priorities[1:]]
        levels.append([(B[self._rest], c[self._rest]), parts["forces"]])
        return [
            Level(np.concatenate([A for A, _ in level]), np.concatenate([b for _, b in level]))
            for level in levels
        ]
