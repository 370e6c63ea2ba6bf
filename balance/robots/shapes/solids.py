"""The solids of a URDF: what ``<collision>`` or ``<visual>`` say, without reading the meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from balance.errors import RobotError
from balance.robots.urdf_checks import numbers
from balance.robots.urdf_files import read_xml, referenced_file

Vector3 = tuple[float, float, float]

# Kind of a solid: its tag's attributes, and how many numbers each holds.
_SIZES = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
}


@dataclass(frozen=True)
class Solid:
    """A box, sphere, cylinder, capsule or mesh that is fixed to a link.

    ``placement`` is in the link's frame; ``size`` are the sides of a box, or radius and length, m.
    A mesh has a ``file`` and a ``scale`` for each of its axes instead.
    """

    link: str
    placement: pin.SE3
    kind: str
    size: tuple[float, ...] = ()
    file: Path | None = None
    scale: Vector3 = (1.0, 1.0, 1.0)


def read_solids(urdf: Path, packages: Sequence[Path], tag: str) -> list[Solid]:
    """All solids in elements ``tag`` of a URDF's links; ``packages`` hold its meshes."""
    found = []
    for link in read_xml(urdf).iter("link"):
        for element in link.findall(tag):
            where = f"the URDF {urdf}: a <{tag}> of link '{link.get('name')}'"
            found.append(_solid(str(link.get("name")), element, where, urdf, packages))
    return found


def _solid(
    link: str, element: ElementTree.Element, where: str, urdf: Path, packages: Sequence[Path]
) -> Solid:
    placement = _placement(element.find("origin"), where)
    for shape in element.findall("geometry/*"):
        if shape.tag == "mesh":
            name = shape.get("filename", "")
            scale = _numbers(shape, "scale", 3, where, "1 1 1")
            file = referenced_file(name, urdf, packages)
            if file is None:
                raise RobotError(
                    f"{where} names the mesh '{name[:200]}', which does not exist; give the file, "
                    "or set plant.collisions to none"
                )
            return Solid(link, placement, "mesh", file=file, scale=(scale[0], scale[1], scale[2]))
        if shape.tag in _SIZES:
            size = [
                value
                for key, count in _SIZES[shape.tag].items()
                for value in _numbers(shape, key, count, where)
            ]
            if min(size) <= 0.0:
                raise RobotError(f"{where} is a {shape.tag} of size {size}; give positive numbers")
            return Solid(link, placement, shape.tag, tuple(size))
    raise RobotError(f"{where} has no <geometry> with a {', '.join(_SIZES)} or mesh")


def _placement(origin: ElementTree.Element | None, where: str) -> pin.SE3:
    if origin is None:
        return pin.SE3.Identity()
    rpy = _numbers(origin, "rpy", 3, where, "0 0 0")
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(_numbers(origin, "xyz", 3, where, "0 0 0")))


def _numbers(
    element: ElementTree.Element, key: str, count: int, where: str, default: str = ""
) -> list[float]:
    text = element.get(key, default)
    found = numbers(text)
    if len(found) != count:
        raise RobotError(
            f'{where} has <{element.tag} {key}="{text[:40]}">, which is not {count} finite '
            f"number{'s' if count > 1 else ''}"
        )
    return found
