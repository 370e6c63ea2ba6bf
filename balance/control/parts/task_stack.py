"""The tasks of a law by name, and all of them in one matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from balance.config import GainsConfig
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.frame_task import FrameTask
from balance.control.parts.gains import gain_matrices, velocity_gains
from balance.control.parts.guidance import Guidance
from balance.control.parts.setpoints import Desired
from balance.control.parts.tasks import (
    BaseTask,
    ComTask,
    MomentumTask,
    PostureTask,
    Task,
)
from balance.control.parts.whole_body import BodyView
from balance.robots import Robot

Array = NDArray[np.float64]


def make_tasks(
    gains: GainsConfig,
    robot: Robot,
    names: Iterable[str],
    frames: Mapping[str, FrameTaskConfig],
    frequency_hz: float,
    damping_ratio: float,
) -> list[Task]:
    """The motion tasks with these names: built-in ones, and those that ``frames`` defines."""
    K_P, K_D, K_R, D = gain_matrices(gains, robot)
    _, D_omega = velocity_gains(K_D, D, robot)
    built_in: dict[str, Task] = {
        "com": ComTask(K_P, K_D),
        "base": BaseTask(K_R, D_omega),
        "momentum": MomentumTask(robot, K_P, K_D, K_R, D),
        "posture": PostureTask(robot, frequency_hz, damping_ratio, frames.values()),
    }
    return [
        built_in[name]
        if name in built_in
        else FrameTask(robot, name, frames[name], frequency_hz, damping_ratio)
        for name in names
    ]


class TaskStack:
    """Tasks below each other, in one matrix that is written anew at each state.

    ``weights`` has one number for each task; a row's cost is that number times ``linear_weight``
    for a force and ``angular_weight`` for a moment, squared.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        weights: Iterable[float],
        nv: int,
        *,
        linear_weight: float,
        angular_weight: float,
    ) -> None:
        self.tasks = list(tasks)
        # Those of joints alone come last: their rows have one entry each, which never changes.
        order = sorted(self.tasks, key=lambda task: isinstance(task, PostureTask))
        ends = np.cumsum([task.size for task in order]).tolist()
        places = {
            id(task): slice(end - task.size, end) for task, end in zip(order, ends, strict=True)
        }
        self.slices = [places[id(task)] for task in self.tasks]
        """Where the rows of each task are."""
        self._rows, self._values = np.zeros((ends[-1], nv)), np.zeros(ends[-1])
        self._parts = [
            (task, self._rows[part], self._values[part])
            for task, part in zip(self.tasks, self.slices, strict=True)
        ]
        for task, rows, _ in self._parts:
            task.prepare(rows)
        self._timed = [task for task in self.tasks if isinstance(task, FrameTask)]
        self._limbs = {task.name: task for task in self._timed}
        self._scale = np.zeros(ends[-1])
        for task, part, weight in zip(self.tasks, self.slices, weights, strict=True):
            squared = [weight * linear_weight, weight * angular_weight]
            self._scale[part] = np.sqrt(np.repeat(squared, [task.linear, task.size - task.linear]))
        self._row_scale = np.repeat(self._scale[:, None], nv, axis=1)
        self._dense = [part for part in self._parts if not isinstance(part[0], PostureTask)]
        end = sum(task.size for task, _, _ in self._dense)
        self._dense_rows, self._dense_values = self._rows[:end], self._values[:end]
        self._dense_row_scale, self._dense_scale = self._row_scale[:end], self._scale[:end]
        postures = [task for task in self.tasks if isinstance(task, PostureTask)]
        scales = [self._scale[places[id(task)]] for task in postures]
        self._posture = PostureTask.merged(postures, scales) if postures else None
        self.joint_rows = np.zeros(nv - 6) if self._posture is None else self._posture.inertia
        """What the postures' rows are together (nj,), on the joints' accelerations."""
        self._joint_values = np.zeros(nv - 6)

    def aim(self, time: float) -> None:
        """Take the targets at ``time`` in s."""
        for task in self._timed:
            task.aim(time)

    def lead(self, guidance: Guidance) -> None:
        """Take posture and limbs from a sequence of stances."""
        for task in self.tasks:
            if isinstance(task, PostureTask):
                task.lead(guidance.joints, guidance.rates, guidance.accelerations)
        if self._posture is not None:
            self._posture.lead(guidance.joints, guidance.rates, guidance.accelerations)
        for name, target in guidance.limbs.items():
            self._limbs[name].lead(target)

    @property
    def on_target(self) -> bool:
        """Whether all frames were near their moving targets at the last state."""
        return all(task.is_near for task in self._timed)

    def evaluate(self, body: BodyView, desired: Desired) -> tuple[Array, Array]:
        """Scaled ``(rows, values)`` of all tasks: the cost is |rows @ dv/dt - values|^2."""
        for task, rows, values in self._parts:
            task.write(body, desired, rows, values)
        return self._rows * self._row_scale, self._values * self._scale

    def evaluate_apart(self, body: BodyView, desired: Desired) -> tuple[Array, Array, Array]:
        """The same without the rows of joints alone, ``(rows, values, joint_values)``: the cost is

        |rows @ dv/dt - values|^2 + |joint_rows * ddq/dt - joint_values|^2.
        """
        for task, rows, values in self._dense:
            task.write(body, desired, rows, values)
        if self._posture is not None:
            self._posture.write_values(body, self._joint_values)
        scaled = self._dense_rows * self._dense_row_scale
        return scaled, self._dense_values * self._dense_scale, self._joint_values
