"""Inverse kinematics with several targets in order of priority, on contacts that stay.

RobotDynamicsETH 2.9.3 with the multi-task steps of 2.9.2, and 2.10.5 for contacts: each step is the
prioritised solution (2.207) of the linearised errors, with the contacts above all targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, frame_id, jacobian_rows
from balance.dynamics.constraints import Contact, attachment
from balance.dynamics.differential_kinematics import Task, prioritised_velocity
from balance.dynamics.inverse_kinematics import Target, rotation_error, target_error
from balance.errors import InputError

LARGEST_STEP = 0.5
"""Longest step in rad or m for one joint; beyond it the linearisation says little."""
_PRIORITY = 100.0
"""What an error weighs more than one of the next priority, when a step is judged."""
_LOOK_AHEAD = 4
"""Full steps after which the errors must be down."""
_LEAST_DAMPING, _LARGEST_DAMPING, _CHANGE = 1e-2, 1e4, 3.0


@dataclass(frozen=True, slots=True)
class PrioritisedSolution:
    """Outcome of the iteration.

    Attributes:
        q: last configuration (nq).
        errors: norm of what is left of each target, in the order of the targets; metres and the
            unit of the rotation error, mixed.
        contact_error: the same of the contacts together, zero without contacts.
        settled: whether nothing is left to gain: no target can come nearer without moving a contact
            or a target of higher priority (to first order, within the tolerance).
        tolerance: what counts as reached.
        path: all configurations from start to end (iterations + 1, nq).
    """

    q: Array
    errors: tuple[float, ...]
    contact_error: float
    settled: bool
    tolerance: float
    path: Array

    @property
    def reached(self) -> tuple[bool, ...]:
        """Whether each target was reached."""
        return tuple(error < self.tolerance for error in self.errors)

    @property
    def converged(self) -> bool:
        """Whether every target was reached with the contacts in place."""
        return all(self.reached) and self.contact_error < self.tolerance


def prioritised_kinematics(
    model: pin.Model,
    q_start: ArrayLike,
    targets: Sequence[Target],
    contacts: Sequence[Contact] = (),
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 200,
) -> PrioritisedSolution:
    """Configuration that meets each target as well as those before it, and the contacts, allow.

    ``contacts`` hold the places that they have at ``q_start``; as the first task of every step
    (2.257)-(2.260) they do not move, and what a finite step moved them all the same is corrected
    with the next one.  A target out of reach is an outcome, not an exception: ``errors`` tell.

    Steps are full ones, and converge quadratically, as long as they bring the errors down in the
    order of their priority within a few steps.  If not, they are tried again with damped inverses
    (2.195): at the edge of the workspace, or where two targets are at odds, full steps lead astray.
    """
    q = check_vector("q_start", q_start, model.nq)
    if not targets:
        raise InputError("the list of targets is empty; give at least one")
    if not tolerance > 0.0:
        raise InputError(f"tolerance is {tolerance:g}; it must be positive")
    problem = _Problem(model, model.createData(), targets, contacts, q)
    tasks, damping, path = problem.tasks(q), 0.0, [q]
    while True:
        errors = _sizes(tasks)
        step = prioritised_velocity(tasks, damping)
        size = float(np.abs(step).max(initial=0.0))
        # A damped step is short for two reasons; only that nothing is left to gain counts.  At the
        # optimum of a target out of reach, rounding hides gains before steps are that short.
        short = size * (1.0 + damping**2) < tolerance
        settled = short or max(errors) < tolerance or damping > _LARGEST_DAMPING
        if settled or len(path) > max_iterations:
            held, *left = errors
            return PrioritisedSolution(q, tuple(left), held, settled, tolerance, np.array(path))
        ahead = problem.look_ahead(q, tasks, step, damping)
        if _merit(_sizes(ahead[-1][1])) < _merit(errors):
            q, tasks = ahead[-1]
            damping = damping / _CHANGE if damping > _LEAST_DAMPING else 0.0
            path.extend(there for there, _ in ahead)
        else:
            damping = max(_LEAST_DAMPING, damping * _CHANGE)


def _sizes(tasks: Sequence[Task]) -> list[float]:
    return [float(np.linalg.norm(task.velocity)) for task in tasks]


def _merit(errors: Sequence[float]) -> float:
    """One number that falls when an error falls, unless one of higher priority rises with it."""
    return sum(error / _PRIORITY**level for level, error in enumerate(errors))


class _Problem:
    """The linearised errors of contacts and targets at a configuration, the contacts first."""

    def __init__(
        self,
        model: pin.Model,
        data: pin.Data,
        targets: Sequence[Target],
        contacts: Sequence[Contact],
        q_start: Array,
    ) -> None:
        self.model, self.data = model, data
        self.targets = [(frame_id(model, target.frame), target) for target in targets]
        pin.forwardKinematics(model, data, q_start)
        places = [(contact, *attachment(model, contact)) for contact in contacts]
        self.contacts = [(c, joint, X, data.oMi[joint] * X) for c, joint, X in places]

    def tasks(self, q: Array) -> list[Task]:
        goals = [
            target_error(self.model, self.data, q, index, target) for index, target in self.targets
        ]
        return [self._hold(q), *(Task(J, error) for error, J in goals)]

    def look_ahead(
        self, q: Array, tasks: list[Task], step: Array, damping: float
    ) -> list[tuple[Array, list[Task]]]:
        """Configurations from ``step`` on, with their tasks, until the errors are down.

        A full step moves the contacts a little, which the next one corrects: judged alone, it would
        be refused for it.  A damped step is shorter, and stands alone.
        """
        before, ahead = _merit(_sizes(tasks)), [self._after(q, step)]
        while not damping and len(ahead) < _LOOK_AHEAD:
            here, left = ahead[-1]
            if _merit(_sizes(left)) < before:
                break
            ahead.append(self._after(here, prioritised_velocity(left)))
        return ahead

    def _after(self, q: Array, step: Array) -> tuple[Array, list[Task]]:
        """Where a step leads, or as much of it as the linearisation is good for."""
        size = float(np.abs(step).max(initial=0.0))
        there = pin.integrate(self.model, q, step * (LARGEST_STEP / max(size, LARGEST_STEP)))
        return there, self.tasks(there)

    def _hold(self, q: Array) -> Task:
        """The step that brings the contacts back to their places."""
        pin.computeJointJacobians(self.model, self.data, q)
        errors, rows = [np.zeros(0)], [np.zeros((0, self.model.nv))]
        for contact, joint, offset, place in self.contacts:
            axes = pin.LOCAL_WORLD_ALIGNED
            J = jacobian_rows(pin.getFrameJacobian(self.model, self.data, joint, offset, axes))
            X = self.data.oMi[joint] * offset
            errors.append(place.translation - X.translation)
            if contact.face:
                errors.append(rotation_error(X.rotation, place.rotation)[0])
            rows.append(J[: contact.rows])
        return Task(np.vstack(rows), np.concatenate(errors))
