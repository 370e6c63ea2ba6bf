"""The settings of the driver's panel, and the experiment that they make.

Whatever comes from a page passes through :meth:`PanelSettings.set` or
:meth:`PanelSettings.choose`, which clamp numbers to their ranges and refuse names that were not
offered.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pinocchio as pin

from balance.app.live.ranges import RANGES, WORLD
from balance.config import (
    ENGINES,
    LAWS,
    ExperimentConfig,
    GainsConfig,
    PlantConfig,
    PushConfig,
    load_config,
)
from balance.config.experiment import parse_config
from balance.config.laws import LawConfig
from balance.config.sections import is_unread, law_section, push_config, shared_keys
from balance.config.sensors import PRESETS
from balance.config.trust import check_loaded
from balance.config.user_code import shown_name
from balance.errors import BalanceError, InputError
from balance.robots import Robot, robot_files

PAPER_PUSH = push_config(
    type="pendulum",
    direction=(0.0, 1.0, 0.0),
    time_s=0.0,
    mass_kg=5.0,
    energy_J=17.4,
    restitution=0.3,
    duration_s=0.02,
)
"""The hit of Garofalo2015, Section 5, on the body that a robot names for pushes."""


class PanelSettings:
    """What the driver has chosen; the experiment follows from it."""

    def __init__(self, config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> None:
        self._robot_folders = robot_folders
        self._own_law = config if config.controller.law not in LAWS.ready() else None
        self._own_engine = config if config.plant.engine not in ENGINES.names() else None
        known = config.robot in robot_files(robot_folders)
        self._given = None if known else config  # its robot is a file of its own
        self.numbers = {name: item.first for name, item in RANGES.items()}
        self.body: str | None = None
        self.load(config)
        self.accept()

    def load(self, config: ExperimentConfig) -> None:
        """Take over an experiment."""
        self.base = config
        self.law, self.engine = config.controller.law, config.plant.engine
        self.contact = config.plant.contact
        self.state = "estimated" if config.state == "estimated" else "true"
        self.numbers |= {key: RANGES[key].first for key in ("mass_error", "delay", "noise")}
        self.numbers["friction"] = RANGES["friction"].clamp(config.plant.friction)
        if config.mismatch is not None:
            percent = 100.0 * (config.mismatch.mass_scale - 1.0)
            self.numbers["mass_error"] = RANGES["mass_error"].clamp(percent)
        if config.sensors is not None:
            self.numbers["delay"] = RANGES["delay"].clamp(1e3 * config.sensors.delay_s)
        given = bool(config.pushes) and not is_unread(config.pushes[0])
        self.paper_push: PushConfig = config.pushes[0] if given else PAPER_PUSH
        self._touched: set[str] = set()

    @property
    def choices(self) -> dict[str, list[str]]:
        """What can be chosen from lists."""
        engines = ["pinocchio"]
        if importlib.util.find_spec("mujoco"):
            engines.append("mujoco")
        robots = sorted(robot_files(self._robot_folders))
        own_law = [] if self._own_law is None else [shown_name(self._own_law.controller.law)]
        if self._own_engine is not None:
            engines.append(shown_name(self._own_engine.plant.engine))
        return {
            "robot": robots if self._given is None else [_robot_name(self._given), *robots],
            "law": [*LAWS.ready(), *own_law],
            "engine": engines,
            "contact": ["hard", "soft", "welded"],
            "state": ["true", "estimated"],
        }

    def chosen(self, name: str) -> str:
        """What is chosen from a list."""
        return _robot_name(self.base) if name == "robot" else shown_name(str(getattr(self, name)))

    def accept(self) -> None:
        """The choices made a session; remember them."""
        self._accepted = self._settings()

    def take_back(self) -> None:
        """Return to the choices that last made a session; gains and pushes are not concerned."""
        settings, touched, numbers = self._accepted
        vars(self).update(settings)
        self._touched = set(touched)
        self.numbers |= numbers

    def _settings(self) -> tuple[dict[str, Any], set[str], dict[str, float]]:
        kept = ("base", "law", "engine", "contact", "state", "paper_push")
        settings = {name: getattr(self, name) for name in kept}
        return settings, set(self._touched), {name: self.numbers[name] for name in WORLD}

    def set_gains(self, gains: GainsConfig) -> None:
        """Other gains, for good."""
        self.set_law_keys({"gains": gains})

    def set_law_keys(self, keys: Mapping[str, Any]) -> None:
        """Other values of the law's own keys, for good."""
        self.base = _with_keys(self.base, keys)
        self._accepted[0]["base"] = _with_keys(self._accepted[0]["base"], keys)

    def set(self, name: str, value: object) -> float:
        """A number from a slider, clamped."""
        if name not in RANGES:
            raise InputError(f"there is no setting '{name}'")
        self.numbers[name] = RANGES[name].clamp(value)
        self._touched.add(name)
        return self.numbers[name]

    def choose(self, name: str, value: object) -> None:
        """An entry of a list; one that was not offered is refused."""
        if name not in self.choices or value not in self.choices[name]:
            raise InputError(f"'{value}' cannot be chosen as {name}")
        if name == "robot" and self._given is not None and value == _robot_name(self._given):
            self.load(self._given)
        elif name == "robot":
            self.load(config_for(str(value), self.base, self._robot_folders))
        elif name == "law":
            self._choose_law(str(value))
        elif name == "engine" and value not in ENGINES.names():
            assert self._own_engine is not None
            self.engine = self._own_engine.plant.engine
        else:
            setattr(self, name, value)
            self._touched.add(name)

    def _choose_law(self, name: str) -> None:
        """A law; one of the user's own comes with the keys of his file."""
        own = self._own_law
        if name not in LAWS.ready():
            assert own is not None
            self.law = own.controller.law
            if self.base.controller.law != self.law:
                self.base = self.base.model_copy(update={"controller": own.controller})
            return
        self.law = name
        if own is not None and self.base.controller.law == own.controller.law:
            # The sliders of another law must find keys of that law.
            self.base = parse_config(self._with_law(), "the panel")

    def choose_body(self, robot: Robot, body: object) -> None:
        """Which body is pushed."""
        if body not in bodies(robot):
            raise InputError(f"robot '{robot.name}' has no body '{body}'")
        self.body = str(body)

    def body_of(self, robot: Robot) -> str:
        """The body that is pushed."""
        known = self.body is not None and robot.model.existBodyName(self.body)
        return str(self.body) if known else robot.push_body

    def config(self) -> ExperimentConfig:
        """The experiment as chosen; what was not touched stays as the file has it."""
        check_loaded(self.base)  # a page never loads the code of a result
        tree = self._with_law()
        if self.engine != self.base.plant.engine:
            given = self.base if self._own_engine is None else self._own_engine
            keys = given.plant.model_dump(mode="json", exclude_none=True)
            own = self.engine not in ENGINES.names()
            shared = {k: v for k, v in tree["plant"].items() if k in PlantConfig.model_fields}
            tree["plant"] = (keys if own else {}) | shared
        plant = tree["plant"]
        plant["engine"], plant["contact"] = self.engine, self.contact
        if "friction" in self._touched:
            plant["friction"] = self.numbers["friction"]
        if "mass_error" in self._touched:
            scale = 1.0 + self.numbers["mass_error"] / 100.0
            tree.setdefault("mismatch", {})["mass_scale"] = scale
        if "noise" in self._touched:
            place = tree.get("sensors", {}).get("imu", {}).get("body")  # is no matter of noise
            tree["sensors"] = scaled_sensors(self.numbers["noise"])
            if place is not None:
                tree["sensors"].setdefault("imu", {})["body"] = place
        if self._touched & {"delay", "noise"}:
            tree.setdefault("sensors", {})["delay_s"] = 1e-3 * self.numbers["delay"]
        if self.state == "estimated":
            tree["state"] = "estimated"
            tree.setdefault("sensors", scaled_sensors(1.0))
        else:
            tree.pop("state", None)
        return parse_config(tree, "the panel")

    def _with_law(self) -> dict[str, Any]:
        """The experiment under the chosen law, as a tree."""
        tree: dict[str, Any] = self.base.model_dump(mode="json", exclude_none=True)
        law = tree["controller"]
        if self.law != law["law"]:
            kept = _kept_keys(self.base.controller, self.law)
            tree["controller"] = {"law": self.law} | {key: law[key] for key in kept if key in law}
        return tree

    def push(self, robot: Robot, direction: Sequence[float]) -> PushConfig:
        """A push by hand."""
        return push_config(
            type="half_sine",
            body=self.body_of(robot),
            direction=_vector(direction),
            time_s=0.0,
            impulse_Ns=self.numbers["impulse"],
            duration_s=1e-3 * self.numbers["duration"],
        )

    def pendulum(self, robot: Robot, direction: Sequence[float]) -> PushConfig:
        """A hit with a pendulum."""
        return push_config(
            type="pendulum",
            body=self.body_of(robot),
            direction=_vector(direction),
            time_s=0.0,
            mass_kg=self.numbers["mass"],
            energy_J=self.numbers["energy"],
            restitution=self.numbers["restitution"],
            duration_s=0.02,
        )

    def dial(self) -> tuple[float, float, float]:
        """The horizontal direction of the dial."""
        angle = math.radians(self.numbers["angle"])
        return (math.cos(angle), math.sin(angle), 0.0)


def _robot_name(config: ExperimentConfig) -> str:
    """The robot's name; of a path, its end."""
    return Path(config.robot).name


def _with_keys(config: ExperimentConfig, keys: Mapping[str, Any]) -> ExperimentConfig:
    known = {key: x for key, x in keys.items() if key in type(config.controller).model_fields}
    law = config.controller.model_copy(update=known)
    return config.model_copy(update={"controller": law})


def _kept_keys(law: LawConfig, other: str) -> list[str]:
    """Keys of ``law`` that say the same to the ``other`` law and were chosen by somebody.

    A value that is the law's own default is none that anybody chose: the other law has its own.
    """
    fields = type(law).model_fields
    return [
        key
        for key in sorted(shared_keys(type(law), law_section({"law": other})))
        if key != "law" and getattr(law, key) != fields[key].get_default(call_default_factory=True)
    ]


def _vector(direction: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in direction)
    return (x, y, z)


def scaled_sensors(factor: float) -> dict[str, Any]:
    """The preset's sensors with all noise and offsets times ``factor``."""
    if factor <= 0.0:
        return {}
    preset = PRESETS["default"]
    noise = ("encoder_noise_rad", "force_noise_N", "moment_noise_Nm")
    sensors = {key: preset[key] for key in preset}
    sensors |= {key: factor * preset[key] for key in noise if key in preset}
    sensors["imu"] = {key: factor * value for key, value in preset["imu"].items()}
    return sensors


def bodies(robot: Robot) -> list[str]:
    """Bodies that can be pushed: those that move, by name."""
    frames = robot.model.frames
    found = [str(f.name) for f in frames if f.type == pin.FrameType.BODY and f.parentJoint > 0]
    return sorted(found)


def config_for(
    robot: str, current: ExperimentConfig, folders: Sequence[Path] = ()
) -> ExperimentConfig:
    """An experiment with another robot: the shipped one, or the current one with default gains."""
    try:
        config = load_config(f"{robot}_push")
        if config.robot == robot:
            return config
    except BalanceError:
        pass
    law = {"law": current.controller.law}
    plant = current.plant.model_dump(mode="json")
    plant["joint_damping"] = 1.0
    tree = {"robot": robot, "duration_s": 10.0, "controller": law, "plant": plant}
    return parse_config(tree, "the panel")
