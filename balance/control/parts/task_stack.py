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
        ends = np.cumsum([task.size for task in self.tasks])
        self.slices = [
            slice(end - task.size, end) for task, end in zip(self.tasks, ends, strict=True)
        ]
        self._rows, self._values = np.zeros((int(ends[-1]), nv)), np.zeros(int(ends[-1]))
        self._parts = [
            (task, self._rows[part], self._values[part])
            for task, part in zip(self.tasks, self.slices, strict=True)
        ]
        for task, rows, _ in self._parts:
            task.prepare(rows)
        self._timed = [task for task in self.tasks if isinstance(task, FrameTask)]
        self._limbs = {task.name: task for task in self._timed}
        scale = [
            np.repeat(
                [weight * linear_weight, weight * angular_weight],
                [task.linear, task.size - task.linear],
            )
            for task, weight in zip(self.tasks, weights, strict=True)
        ]
        self._scale = np.sqrt(np.concatenate(scale))
        self._row_scale = np.repeat(self._scale[:, None], nv, axis=1)

    def aim(self, time: float) -> None:
        """Take the targets at ``time`` in s."""
        for task in self._timed:
            task.aim(time)

    def lead(self, guidance: Guidance) -> None:
        """Take posture and limbs from a sequence of stances."""
        for task in self.tasks:
            if isinstance(task, PostureTask):
                task.lead(guidance.joints, guidance.rates, guidance.accelerations)
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
