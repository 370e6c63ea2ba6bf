"""Whole experiments, drawn at random: the same seed and number always give the same one."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import yaml
from campaign.robots import varied
from numpy.random import Generator

from balance.config import load_config
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot
from balance.simulation.pushes import effective_mass

Tree = dict[str, Any]

ROBOTS = ("toro", "talos", "g1", "icub", "romeo", "human", "solo12", "alexander")
LAWS = (
    "momentum", "ott2011", "whole_body_qp", "hierarchical", "virtual_model", "joint_pd", "capture",
    "stepping",
)  # fmt: skip
MOTIONS = ("toro_lift_foot", "toro_palm", "toro_box", "talos_lift_foot", "toro_three_steps")
MOST = 2.0  # of the ankle limit, in one push
FASTEST = 3.0  # m/s that a push may give the point that it hits, were it free
SETTLE_S = {True: 0.26, False: 3.0}  # after the last push, in short runs and others


@dataclass(frozen=True)
class Drawn:
    """An experiment, and the robot's size and mass over those of the one it names."""

    tree: Tree
    size: float = 1.0
    mass: float = 1.0

    def with_(self, **keys: Any) -> Drawn:
        """The same with other sections."""
        return Drawn({**self.tree, **keys}, self.size, self.mass)

    def scaled(self, push: float) -> Drawn:
        """The same with all pushes ``push`` times as large."""
        pushes = [
            {**one, **{key: push * one[key] for key in ("impulse_Ns", "force_N") if key in one}}
            for one in self.tree["pushes"]
        ]
        return self.with_(pushes=pushes)

    def to_yaml(self) -> str:
        """As text that :func:`from_yaml` reads."""
        return yaml.safe_dump(asdict(self), sort_keys=False, default_flow_style=None, width=110)


def from_yaml(text: str) -> Drawn:
    """An experiment that was kept."""
    return Drawn(**yaml.safe_load(text))


def draw(seed: int, index: int, short: bool = False) -> Drawn:
    """The experiment of a number; a ``short`` one takes a fraction of the time to run."""
    rng = np.random.default_rng([seed, index])
    if rng.random() < (0.02 if short else 0.05):
        return _motion(rng, short)
    name = _one_of(rng, ROBOTS)
    size, mass = _near(rng, 0.1), _near(rng, 0.2)
    robot = varied(name, size, mass)
    tree: Tree = {"robot": name, "duration_s": 1.0, "seed": int(rng.integers(1000))}
    tree |= _rates(rng, short, robot)
    tree["controller"] = _law(rng, robot)
    tree["plant"] |= _plant(rng, robot)
    _maybe(rng, 0.25, tree, "stance", _stance, robot)
    _maybe(rng, 0.4, tree, "mismatch", _mismatch, robot)
    _maybe(rng, 0.4, tree, "actuators", _actuators, robot)
    _maybe(rng, 0.3, tree, "sensors", _sensors, robot)
    if "sensors" in tree and rng.random() < 0.5:
        tree["state"] = "estimated"
    _maybe(rng, 0.25, tree, "ground", _ground, robot)
    pushes, end = _pushes(rng, robot, 0.08 if short else 0.5)
    tree["pushes"] = pushes
    tree["duration_s"] = round(end + SETTLE_S[short], 3)
    _maybe(rng, 0.25, tree, "faults", _faults, robot)
    tree["after_fall"] = _one_of(rng, ("hold", "hold", "law", "limp"))
    tree["stop_after_fall_s"] = 0.1 if short else 0.5
    return Drawn(tree, size, mass)


def _maybe(rng: Generator, share: float, tree: Tree, key: str, of: Any, robot: Robot) -> None:
    if rng.random() < share and (found := of(rng, robot)):
        tree[key] = found


def _one_of(rng: Generator, names: Any) -> Any:
    return names[int(rng.integers(len(names)))]


def _near(rng: Generator, spread: float) -> float:
    """1, or a factor around it, in steps of which there are few: robots are kept."""
    return round(1.0 + spread * float(rng.integers(-1, 2)), 3) if rng.random() < 0.6 else 1.0


def _number(rng: Generator, low: float, high: float, digits: int = 4) -> float:
    return float(f"{rng.uniform(low, high):.{digits}g}")


def _between(rng: Generator, low: float, high: float) -> float:
    """A number whose logarithm is evenly spread."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")


def _rates(rng: Generator, short: bool, robot: Robot) -> Tree:
    """Steps and control periods; those of a robot of a few kg, whose legs are fast, are shorter."""
    step = _one_of(rng, (0.002, 0.004) if short else (0.0005, 0.001, 0.002, 0.004))
    longest = 0.008 if robot.mass > 10.0 else 0.002
    step = min(step, longest)
    periods = [n for n in (1, 2, 3, 4) if 0.001 <= n * step <= longest]
    return {"control_period_s": round(step * _one_of(rng, periods), 6), "plant": {"step_s": step}}


def _plant(rng: Generator, robot: Robot) -> Tree:
    contact = _one_of(rng, ("hard",) * 8 + ("soft", "welded"))
    weight = robot.mass * robot.com()[2]  # of a joint's friction: 1 N m s/rad on the toro
    plant: Tree = {
        "friction": _between(rng, 0.2, 1.2),
        "joint_damping": float(f"{rng.uniform(0.0, 2.0) * weight / 73.0:.4g}"),
        "contact": contact,
        "collisions": _one_of(rng, ("all",) * 6 + ("ground", "none")),
    }
    if contact == "soft":
        plant["soft"] = {
            "stiffness": float(f"{2500.0 * robot.mass * rng.uniform(0.5, 2.0):.4g}"),
            "damping": float(f"{13.0 * robot.mass * rng.uniform(0.5, 2.0):.4g}"),
        }
    return plant


@cache
def _shipped_gains(name: str) -> Tree | None:
    found = {"toro": "toro_side", "alexander": "alexander_push"}.get(name, f"{name}_push")
    law = load_config(found).controller.model_dump(exclude_unset=True, mode="json")
    gains = law.get("gains")
    if gains is None or "K_P" not in gains or "designed_for" in gains:
        return gains
    robot = varied(name)
    build = {"mass_kg": float(robot.mass), "com_height_m": float(robot.com()[2])}
    return {**gains, "designed_for": build}


def _law(rng: Generator, robot: Robot) -> Tree:
    flat = robot.soles[0].has_area
    laws = [law for law in LAWS if flat or law not in ("capture", "stepping")]
    law: Tree = {"law": _one_of(rng, laws)}
    kind = rng.integers(3)
    if kind == 0:
        law["gains"] = {
            key: {"frequency_hz": _number(rng, 0.5, 1.5), "damping_ratio": _number(rng, 0.3, 1.5)}
            for key in ("com", "rotation")
        }
    elif kind == 1 and (gains := _shipped_gains(robot.name)):
        law["gains"] = gains
    if rng.random() < 0.5:
        law["contacts"] = {
            "friction": _number(rng, 0.3, 0.9),
            "cop_margin_m": _number(rng, 0, 0.01),
        }
    if rng.random() < 0.2 and law["law"] != "joint_pd":
        law["contact_damping"] = _number(rng, 0.0, 200.0)
    if rng.random() < 0.15:
        law["setpoints"] = [
            {
                "time_s": _number(rng, 0.0, 0.3),
                "duration_s": _number(rng, 0.3, 0.6),
                "com_m": [_number(rng, -0.02, 0.02), _number(rng, -0.02, 0.02), 0.0],
                "base_rpy_rad": [0.0, _number(rng, -0.05, 0.05), 0.0],
            }
        ]
    return law


def _stance(rng: Generator, robot: Robot) -> Tree | None:
    soles = [sole.name for sole in robot.soles]
    if len(soles) != 2:
        return None
    stance: Tree = {"contacts": soles}
    if rng.random() < 0.5:
        stance["moved_m"] = {soles[0]: [_number(rng, -0.04, 0.04), _number(rng, 0.0, 0.03)]}
    if rng.random() < 0.5 or len(stance) == 1:
        stance["com_offset_m"] = [_number(rng, -0.02, 0.02), _number(rng, -0.02, 0.02)]
    return stance


def _mismatch(rng: Generator, robot: Robot) -> Tree:
    found: Tree = {"mass_scale": _number(rng, 0.9, 1.1), "inertia_scale": _number(rng, 0.9, 1.1)}
    if rng.random() < 0.4:
        found["com_offset_m"] = [_number(rng, -0.01, 0.01) for _ in range(3)]
    if rng.random() < 0.3:
        found["sole_scale"] = _number(rng, 0.9, 1.1)
    if rng.random() < 0.3:
        found["payload"] = {
            "body": robot.push_body,
            "mass_kg": float(f"{robot.mass * rng.uniform(0.01, 0.08):.4g}"),
            "point_m": [_number(rng, -0.1, 0.1), _number(rng, -0.1, 0.1), _number(rng, 0.0, 0.2)],
        }
    return found


def _actuators(rng: Generator, robot: Robot) -> Tree:
    """Drives; what has the unit of a torque or an inertia goes with the robot's own."""
    torque = float(robot.effort_limits.min())
    found: Tree = {}
    for key, value in (
        ("lag_s", _number(rng, 0.0005, 0.005)),
        ("coulomb_Nm", float(f"{torque * rng.uniform(0.0, 0.05):.4g}")),
        ("rotor_inertia", float(f"{1e-4 * robot.mass * rng.uniform(0.0, 5.0):.4g}")),
        ("resolution_Nm", float(f"{torque * rng.uniform(0.0, 0.01):.4g}")),
        ("dropped_share", _number(rng, 0.0, 0.3)),
        ("speed_torque", "none"),
    ):
        if rng.random() < 0.35:
            found[key] = value
    return found


def _sensors(rng: Generator, robot: Robot) -> Tree:
    found: Tree = {"preset": "default"} if rng.random() < 0.6 else {}
    if rng.random() < 0.5:
        found["delay_s"] = _number(rng, 0.0, 0.004)
    if not found:
        found["encoder_noise_rad"] = _between(rng, 1e-5, 1e-3)
    return found


def _ground(rng: Generator, robot: Robot) -> Tree:
    found: Tree = {}
    if rng.random() < 0.5:
        found["tilt_deg"] = [_number(rng, -3.0, 3.0), _number(rng, -3.0, 3.0)]
    if rng.random() < 0.4 and len(robot.soles) == 2:
        found["heights_m"] = {robot.soles[0].name: _number(rng, -0.01, 0.01)}
    if rng.random() < 0.5 or not found:
        small = {
            "translation_m": [_number(rng, -0.02, 0.02), _number(rng, -0.02, 0.02), 0.0],
            "tilt_deg": [_number(rng, -1.5, 1.5), _number(rng, -1.5, 1.5)],
            "start_s": _number(rng, 0.0, 0.3),
        }
        kind = {"type": "ramp", "duration_s": _number(rng, 0.3, 1.0)}
        if rng.random() < 0.5:
            kind = {"type": "swing", "frequency_hz": _number(rng, 0.5, 2.0), "cycles": 1}
        found["motion"] = [kind | small]
    return found


def _pushes(rng: Generator, robot: Robot, pause: float) -> tuple[list[Tree], float]:
    """One to four pushes with ``pause`` s at most between them, and when the last one is over."""
    heavy = _heavy_bodies(robot)
    pushes: list[Tree] = []
    end = 0.0
    for _ in range(int(_one_of(rng, (1, 1, 1, 2, 2, 3, 4)))):
        angle = rng.uniform(0.0, 2.0 * math.pi)
        direction = np.round([math.cos(angle), math.sin(angle), rng.normal(0.0, 0.15)], 4)
        body = robot.push_body if rng.random() < 0.6 else str(_one_of(rng, heavy))
        point = [_number(rng, -0.05, 0.05, 3) for _ in range(3)]
        unit = direction / np.linalg.norm(direction)
        felt = effective_mass(robot, robot.q_nominal, body, np.array(point), unit, False)
        size = MOST * rng.random() ** 2 * ankle_limit(robot, direction)
        size = float(f"{max(min(size, FASTEST * felt), 1e-3):.4g}")
        duration = _between(rng, 0.01, 2.0 * min(pause, 0.15))
        kind = _one_of(rng, ("half_sine", "half_sine", "force", "impulse"))
        start = round(end + rng.uniform(0.02, pause), 3)
        push: Tree = {"type": kind, "body": body, "point_m": point, "time_s": start,
                      "direction": direction.tolist(), "duration_s": duration}  # fmt: skip
        if kind == "force":
            push["force_N"] = float(f"{size / duration:.4g}")
        else:
            push["impulse_Ns"] = size
        if kind == "impulse" and rng.random() < 0.5:
            push["duration_s"] = duration = 0.0
        if rng.random() < 0.15:
            push["axes"] = "body"
        pushes.append(push)
        end = start + duration
    return pushes, end


def _heavy_bodies(robot: Robot) -> list[str]:
    """Bodies whose joint carries a hundredth of the robot's mass or more."""
    joints = {
        i for i in range(1, robot.model.njoints) if robot.model.inertias[i].mass > 0.01 * robot.mass
    }
    return [f.name for f in robot.model.frames if f.type.name == "BODY" and f.parentJoint in joints]


def _faults(rng: Generator, robot: Robot) -> list[Tree]:
    joint, when = str(_one_of(rng, robot.joint_names)), _number(rng, 0.0, 0.8, 3)
    limit = float(robot.effort_limits[robot.joint_names.index(joint)])
    weak = float(f"{limit * rng.uniform(0.0, 0.6):.4g}")
    slippery = {"type": "slippery", "surface": _one_of(rng, robot.soles).name}
    found: list[Tree] = [
        {"type": "sensor_dropout", "duration_s": _number(rng, 0.005, 0.1)},
        {"type": "weak_joint", "joint": joint, "torque_Nm": weak},
        {"type": "locked_joint", "joint": joint},
        {**slippery, "friction": _between(rng, 0.05, 0.4)},
    ]
    return [{**_one_of(rng, found), "time_s": when}]


def _motion(rng: Generator, short: bool) -> Drawn:
    """A motion that ships with the package, its rate and friction varied, pushed at the base."""
    name = _one_of(rng, MOTIONS)
    config = load_config(name)
    tree = config.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    tree.pop("provenance", None)
    robot = varied(tree["robot"])
    angle = rng.uniform(0.0, 2.0 * math.pi)
    direction = np.round([math.cos(angle), math.sin(angle), 0.0], 4)
    push = {
        "type": "half_sine", "direction": direction.tolist(), "duration_s": 0.1,
        "time_s": _number(rng, 0.1, 0.6 if short else 6.0),
        "impulse_Ns": float(f"{0.5 * rng.random() * ankle_limit(robot, direction):.4g}"),
    }  # fmt: skip
    tree["plant"] = {**tree.get("plant", {}), "step_s": 0.002, "friction": _between(rng, 0.4, 1.2)}
    tree |= {"control_period_s": 0.002, "pushes": [push], "stop_after_fall_s": 0.1}
    tree["duration_s"] = push["time_s"] + (0.5 if short else 8.0)
    return Drawn(tree)
