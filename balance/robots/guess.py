"""A first robot file from a URDF alone: feet, soles, posture, and what had to be guessed.

For ``balance robots --new``.  Everything that is found is written down, so that it can be judged
and corrected; nothing of this is used when a robot is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.schema import dump_yaml
from balance.dynamics.checks import symmetrise
from balance.errors import RobotError
from balance.robots.guessed_soles import Foot, find_feet
from balance.robots.mjcf import is_mjcf, urdf_file
from balance.robots.model import root_body
from balance.robots.urdf_files import package_folders, parser_output, read_xml

Array = NDArray[np.float64]

KNEE_RAD = 0.6  # by which knees are bent
PITCH = 0.9  # cosine from which on a joint's axis counts as sideways
SLOWEST, FASTEST = 0.1, 60.0  # rad/s: rated speeds outside of this are not believed
USUAL_SPEED = 10.0  # rad/s
LIGHT = 1e-8  # smallest eigenvalue of the mass matrix, over the largest, that is believed


@dataclass
class Guess:
    """The keys of a robot's file, and in words what they rest on."""

    keys: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    key: str = "urdf"
    """Or ``mjcf``: what the robot's file calls the model."""


def guess_robot(file: Path) -> Guess:
    """What a robot's file would say about a URDF, or an MJCF file."""
    mjcf = is_mjcf(file)
    urdf = urdf_file(file) if mjcf else file
    root = read_xml(urdf)
    packages = (file.absolute().parent,) if mjcf else package_folders(urdf)
    with parser_output():
        try:
            model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        except (ValueError, RuntimeError) as error:
            raise RobotError(f"the URDF {urdf} cannot be loaded: {error}") from None
    guess = Guess({"name": str(root.get("name") or file.stem)}, key="mjcf" if mjcf else "urdf")
    lock = _locked(model, {str(j.get("name")) for j in root.iter("joint") if _follows(j)})
    model = _reduced(model, lock)
    if lock:
        guess.notes.append(
            f"{len(lock)} joints are locked at zero: they are continuous, follow others, have no "
            f"torque, or carry next to no mass ({_some(lock)})"
        )
    _check_kinds(model, file)
    feet, backwards = find_feet(model, urdf, packages)
    base = root_body(model)
    guess.keys |= {
        "description": f"from {file.name}",
        "base_body": base,
        "push_body": base,
        "soles": {name: foot.keys() for name, foot in feet.items()},
    }
    way = "backwards, as its feet do" if backwards else "forwards"
    guess.notes.append(
        f"the base is the root of the {guess.key.upper()}, {base}, with z upwards and x {way}"
    )
    guess.notes += [f"{name} foot: {foot.words()}" for name, foot in feet.items()]
    if lock:
        guess.keys["lock"] = dict.fromkeys(sorted(lock), 0.0)
    guess.keys["posture"] = _posture(model, feet, guess.notes)
    guess.keys["stand"] = {"yaw": round(np.pi, 6)} if backwards else {}
    _guess_speeds(model, guess)
    guess.keys["impedance"] = {"frequency_hz": 2.0, "damping_ratio": 0.7}
    guess.notes.append("joints that a law leaves free have springs of 2 Hz, damped by 0.7")
    return guess


def _follows(joint: Any) -> bool:
    return joint.find("mimic") is not None


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


def _locked(model: pin.Model, followers: set[str]) -> list[str]:
    """Joints that cannot be balanced with."""
    found = []
    for index in range(2, model.njoints):
        joint, name = model.joints[index], str(model.names[index])
        if joint.nq != 1 or name in followers or not model.upperEffortLimit[joint.idx_v] > 0.0:
            found.append(name)
    while (massless := _massless(_reduced(model, found))) is not None:
        found.append(massless)
    return found


def _reduced(model: pin.Model, lock: list[str]) -> pin.Model:
    ids = [model.getJointId(name) for name in lock]
    return pin.buildReducedModel(model, ids, pin.neutral(model)) if lock else model


def _massless(model: pin.Model) -> str | None:
    """A joint that moves next to no mass: the one that makes the mass matrix singular."""
    M = symmetrise(pin.crba(model, model.createData(), pin.neutral(model)))
    values, vectors = np.linalg.eigh(M)
    if model.nv <= 6 or values[0] > LIGHT * values[-1]:
        return None
    return str(model.names[2 + int(np.argmax(np.abs(vectors[6:, 0])))])


def _check_kinds(model: pin.Model, file: Path) -> None:
    if model.njoints < 4:
        raise RobotError(
            f"{file} leaves {model.njoints - 2} joints to balance with; its joints need an effort "
            "limit above zero (in MJCF: actuatorfrcrange), and bodies with mass"
        )


def _posture(model: pin.Model, feet: dict[str, Foot], notes: list[str]) -> dict[str, float]:
    """Bent knees: of each leg the joint between two others whose range is the most one-sided."""
    posture: dict[str, float] = {}
    for name, foot in feet.items():
        chain = [j for j in model.supports[foot.joint].tolist() if j > 1]
        pitch = [(j, sign) for j in chain if (sign := _pitch(model, j))]
        if len(pitch) < 2:
            notes.append(f"{name} leg: no knee was found; its joints are at zero")
            continue
        # From the hip down: the first turns the thigh, the next one is the knee.
        (hip, hip_sign), (knee, knee_sign) = pitch[-3:][:2] if len(pitch) > 2 else pitch[-2:]
        low, high = _range(model, knee)
        bend = KNEE_RAD if high >= -low else -KNEE_RAD
        middle = 0.5 * (low + high)
        if not low < bend < high:
            bend = middle
        angles = {knee: bend, hip: -0.5 * bend * knee_sign * hip_sign}
        if len(pitch) > 2:
            ankle, sign = pitch[-1]
            angles[ankle] = -0.5 * bend * knee_sign * sign
        for joint, angle in angles.items():
            low, high = _range(model, joint)
            posture[str(model.names[joint])] = float(round(np.clip(angle, low, high), 4))
        notes.append(f"{name} leg: bent by {abs(bend):.2g} rad at {model.names[knee]}")
    return posture


def _range(model: pin.Model, joint: int) -> tuple[float, float]:
    index = model.joints[joint].idx_q
    low, high = model.lowerPositionLimit[index], model.upperPositionLimit[index]
    return max(float(low), -np.pi), min(float(high), np.pi)


def _pitch(model: pin.Model, joint: int) -> int:
    """The sense in which a joint's axis points sideways, to the left, at zero; 0 if it does not."""
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    kind = model.joints[joint].createData()
    model.joints[joint].calc(kind, pin.neutral(model))
    axis = data.oMi[joint].rotation @ np.asarray(kind.S).ravel()[3:]
    return int(np.sign(axis[1])) if abs(axis[1]) > PITCH else 0


def _guess_speeds(model: pin.Model, guess: Guess) -> None:
    speeds = model.upperVelocityLimit[6:]
    odd = [
        str(model.names[index + 2])
        for index, speed in enumerate(speeds)
        if not SLOWEST <= speed <= FASTEST
    ]
    if odd:
        everywhere = len(odd) == len(speeds)
        guess.keys["rated_speed"] = USUAL_SPEED if everywhere else dict.fromkeys(odd, USUAL_SPEED)
        guess.notes.append(
            f"rated speed of {'all' if everywhere else len(odd)} joints: {USUAL_SPEED:g} rad/s is "
            "a guess, because nothing credible is said; look it up"
        )


def robot_yaml(guess: Guess, model: str) -> str:
    """The robot's file, with ``model`` as it names the URDF, and the notes as comments above."""
    keys = {"name": guess.keys["name"], "description": guess.keys["description"], guess.key: model}
    notes = "".join(f"# - {note}\n" for note in guess.notes)
    kind = guess.key.upper()
    head = f"# A first guess from the {kind} alone; judge it, and correct what is wrong:\n{notes}"
    return head + dump_yaml({**keys, **guess.keys})
