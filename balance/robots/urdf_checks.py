"""What the numbers of a URDF must be: readable, and the masses and joints of something real.

The parser drops an ``<inertial>`` that it cannot read and goes on without it, and knows nothing of
``<mimic>``: either way the robot would be another one, without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from balance.errors import RobotError

Array = NDArray[np.float64]

# As the parser reads them: no blanks, no unit, no comma, nothing infinite.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_SHOWN = 40  # characters of an offending text
ROUNDING = 1e-3  # of the largest principal inertia: what the few digits of a URDF leave open
LEAST_INERTIA = 1e-12  # kg m^2; what is smaller is nothing
_SAME_ANGLE_RAD = 1e-6


def read_inertias(root: ElementTree.Element, urdf: Path) -> dict[str, Array]:
    """Inertia about its centre (3, 3), kg m^2, of every link that has an ``<inertial>``.

    Refuses one that cannot be read or has a negative mass, naming file and link.
    """
    found = {}
    for link in root.iter("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        where = f"the URDF {urdf}: link '{link.get('name')}'"
        mass = _attribute(inertial, "mass", "value", where)
        if mass < 0.0:
            raise RobotError(f"{where} weighs {mass:g} kg; a mass must not be negative")
        xx, xy, xz, yy, yz, zz = (_attribute(inertial, "inertia", key, where) for key in _INERTIA)
        _check_origin(inertial, where)
        found[str(link.get("name"))] = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return found


def triangle_excess(inertia: Array) -> float:
    """By how much (kg m^2) an inertia (3, 3) breaks A + B >= C; 0 if it does not beyond rounding.

    No distribution of positive mass has a principal inertia larger than the sum of the others; a
    negative one breaks this too.
    """
    smallest, middle, largest = np.linalg.eigvalsh(inertia)
    excess = float(largest - middle - smallest)
    return excess if excess > LEAST_INERTIA + ROUNDING * abs(float(largest)) else 0.0


def check_joints(root: ElementTree.Element, urdf: Path, lock: Mapping[str, float]) -> None:
    """Refuse a joint without an axis, and one that follows another and is not locked with it."""
    joints = {str(joint.get("name")): joint for joint in root.findall("joint")}
    for name, joint in joints.items():
        axis, mimic = joint.find("axis"), joint.find("mimic")
        if joint.get("type") == "fixed":
            continue
        if axis is not None and not any(numbers(axis.get("xyz", "1 0 0"))):
            raise RobotError(f"the URDF {urdf}: joint '{name}' has an axis of length zero")
        if mimic is not None:
            _check_mimic(name, mimic, joints, f"the URDF {urdf}", lock)


def _check_mimic(
    name: str,
    mimic: ElementTree.Element,
    joints: Mapping[str, ElementTree.Element],
    where: str,
    lock: Mapping[str, float],
) -> None:
    """A joint tied to another is not modelled; both may be locked, in angles that agree."""
    leader = mimic.get("joint", "")
    multiplier, offset = (
        (numbers(mimic.get(key, text)) or [float("nan")])[0]
        for key, text in (("multiplier", "1"), ("offset", "0"))
    )
    fixed = leader in joints and joints[leader].get("type") == "fixed"
    follows = multiplier * (0.0 if fixed else lock.get(leader, float("nan"))) + offset
    if name in lock and abs(lock[name] - follows) <= _SAME_ANGLE_RAD:
        return
    rule = f"{multiplier:g} times it plus {offset:g}"
    both = f"'{name}'" if fixed else f"'{leader}' and '{name}'"
    raise RobotError(
        f"{where}: joint '{name}' mimics '{leader}' ({rule}), which is not modelled; fix {both} "
        "with 'lock', in angles that agree"
    )


def _attribute(inertial: ElementTree.Element, tag: str, key: str, where: str) -> float:
    element = inertial.find(tag)
    text = None if element is None else element.get(key)
    if text is None:
        raise RobotError(
            f"{where} has an <inertial> without <{tag} {key}=...>; give it, or leave out the whole "
            "<inertial> of a link without mass"
        )
    if not _NUMBER.fullmatch(text) or not np.isfinite(float(text)):
        raise RobotError(
            f'{where} has <{tag} {key}="{text[:_SHOWN]}">, which is not a finite number; write '
            "one like 5.62, without blanks or a unit"
        )
    return float(text)


def _check_origin(inertial: ElementTree.Element, where: str) -> None:
    origin = inertial.find("origin")
    for key in () if origin is None else ("xyz", "rpy"):
        text = origin.get(key, "0 0 0") if origin is not None else ""
        if len(numbers(text)) != 3:
            raise RobotError(
                f'{where} has <origin {key}="{text[:_SHOWN]}"> in its <inertial>, which is not '
                "three finite numbers"
            )


def numbers(text: str) -> list[float]:
    """The numbers of a text; none if any part of it is not one."""
    parts = text.split()
    if not all(_NUMBER.fullmatch(part) for part in parts):
        return []
    numbers = [float(part) for part in parts]
    return numbers if np.isfinite(numbers).all() else []
