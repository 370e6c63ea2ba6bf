"""One balancing law per file, all with the same ``step(q, v, t)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from balance.config import LAWS, ExperimentConfig, LawConfig
from balance.config.schema import validate
from balance.config.sections import check_code, section_schema
from balance.control.parts.foreign_law import ForeignLaw, made
from balance.control.parts.gain_schedule import GainSchedule
from balance.control.parts.output import Controller, ControlOutput, ControlStatus
from balance.control.parts.safety_frame import BalancingLaw
from balance.errors import InputError
from balance.robots import Robot

__all__ = [
    "ControlOutput",
    "ControlStatus",
    "Controller",
    "frame_controller",
    "make_controller",
    "with_controller",
]


def make_controller(config: ExperimentConfig, robot: Robot) -> Controller:
    """The law that ``config.controller`` describes, for ``robot``, in its safety frame."""
    if config.controller.gain_changes:
        return GainSchedule(config, robot, _make_law)
    return _make_law(config, robot)


def _make_law(config: ExperimentConfig, robot: Robot) -> Controller:
    found = LAWS.find(config.controller.law, "controller.law")
    check_code(found, config.code)
    return frame_controller(found.target, config, robot)


def frame_controller(controller: Any, config: ExperimentConfig, robot: Robot) -> Controller:
    """A law, or the class of one, in the safety frame; ours are in it already."""
    if isinstance(controller, type):
        if issubclass(controller, BalancingLaw):
            ours: Callable[[ExperimentConfig, Robot], Controller] = controller
            return ours(config, robot)
        controller = made(controller, config, robot)
    if isinstance(controller, BalancingLaw | GainSchedule):
        return controller
    return ForeignLaw(controller, config, robot)


def with_controller(config: ExperimentConfig, controller: Any) -> ExperimentConfig:
    """The experiment as ``controller``, a law or its class, runs it: named by its class.

    Contacts and setpoints stay; keys that only the law in the file has go.
    """
    if not callable(getattr(controller, "step", None)):
        raise InputError(
            f"controller = {controller!r}: it has no method 'step(q, v, t)', which every law needs "
            "(docs/extending.md)"
        )
    kind = controller if isinstance(controller, type) else type(controller)
    if kind is GainSchedule:
        return config
    name = _name_of(kind)
    if name == config.controller.law:
        return config
    keys = {"law": name} | {
        key: getattr(config.controller, key) for key in ("contacts", "setpoints")
    }
    schema = section_schema(kind, name, "law", LawConfig)
    section = validate(schema, keys, f"the config of controller {kind.__name__}")
    return config.model_copy(update={"controller": section, "code": None})


def _name_of(kind: type) -> str:
    """The name of a law's class: that of the registry for ours; else its own."""
    for name, where in LAWS.ours.items():
        if where == f"{kind.__module__}:{kind.__name__}":
            return name
    taken = kind.__name__ in LAWS.names()
    return f"{kind.__module__}:{kind.__name__}" if taken else kind.__name__
