"""One balancing law per file, all with the same ``step(q, v, t)``."""

from __future__ import annotations

from collections.abc import Callable

from balance.config import LAWS, ExperimentConfig
from balance.control.parts.foreign_law import ForeignLaw
from balance.control.parts.gain_schedule import GainSchedule
from balance.control.parts.output import Controller, ControlOutput, ControlStatus
from balance.control.parts.safety_frame import BalancingLaw
from balance.robots import Robot

__all__ = ["ControlOutput", "ControlStatus", "Controller", "make_controller"]


def make_controller(config: ExperimentConfig, robot: Robot) -> Controller:
    """The law that ``config.controller`` describes, for ``robot``, in its safety frame."""
    if config.controller.gain_changes:
        return GainSchedule(config, robot, _make_law)
    return _make_law(config, robot)


def _make_law(config: ExperimentConfig, robot: Robot) -> Controller:
    make = LAWS.find(config.controller.law, "controller.law").target
    if isinstance(make, type) and issubclass(make, BalancingLaw):
        ours: Callable[[ExperimentConfig, Robot], Controller] = make
        return ours(config, robot)
    return ForeignLaw(make, config, robot)
