"""One balancing law per file, all with the same ``step(q, v, t)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.control.capture import CaptureController
from balance.control.hierarchical import HierarchicalController
from balance.control.momentum import MomentumController
from balance.control.ott2011 import OttController
from balance.control.parts.gain_schedule import GainSchedule
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.setpoints import SetpointPath
from balance.control.virtual_model import VirtualModelController
from balance.control.whole_body_qp import WholeBodyController
from balance.robots import Robot

__all__ = ["ControlOutput", "ControlStatus", "Controller", "make_controller"]

Array = NDArray[np.float64]


class Controller(Protocol):
    """What every law offers; it never knows which plant runs it."""

    path: SetpointPath

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""
        ...

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration, velocity and time."""
        ...

    def conflict(self) -> str:
        """Why the last step's QP had no solution, in words; empty if the law cannot tell."""
        ...


_CONTROLLERS: dict[str, Callable[[ExperimentConfig, Robot], Controller]] = {
    "momentum": MomentumController,
    "ott2011": OttController,
    "whole_body_qp": WholeBodyController,
    "hierarchical": HierarchicalController,
    "virtual_model": VirtualModelController,
    "capture": CaptureController,
}


def make_controller(config: ExperimentConfig, robot: Robot) -> Controller:
    """The law that ``config.controller`` describes, for ``robot``."""
    make = _CONTROLLERS[config.controller.law]
    if config.controller.gain_changes:
        return GainSchedule(config, robot, make)
    return make(config, robot)
