"""Numbers of a robot, kept on disk: finding them takes seconds, reading them back none.

A file is named by a hash of all that they follow from: the model, the posture, the contacts, the
shapes, the code of this folder and the libraries' versions.  So it never is out of date.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pinocchio as pin
import scipy

from balance.robots import Robot
from balance.robots.shapes.fit_cache import cache_folder, write_whole


def kept(
    robot: Robot, what: str, find: Callable[[], dict[str, Any]], *, shapes: bool = True
) -> dict[str, Any]:
    """The JSON tree that ``find`` gives, from memory or from the disk if it is there.

    ``what`` names it and everything but the robot that it depends on; ``shapes`` says whether it
    depends on those of the robot's bodies.
    """
    memory: dict[str, dict[str, Any]] = robot.__dict__.setdefault("_kept", {})
    if what not in memory:
        digest = hashlib.sha256(f"{_code()} {what}".encode() + robot_digest(robot, shapes))
        memory[what] = _from_disk(digest.hexdigest(), find)
    return memory[what]


def _from_disk(name: str, find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    path = cache_folder().parent / "robots" / f"{name}.json"
    with suppress(OSError, ValueError):
        tree = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(tree, dict):
            return tree
    tree = find()
    write_whole(path, json.dumps(tree))
    return tree


def robot_digest(robot: Robot, shapes: bool = True) -> bytes:
    """A hash of what a robot can do: model with its limits, posture, contacts and shapes."""
    text = [robot.model.saveToString(), robot.q_nominal.tobytes().hex()]
    borne = {contact.name for contact in robot.soles}
    for surface in (*robot.soles, *robot.surfaces):
        poses = _numbers(surface.placement), _numbers(surface.plane)
        size = surface.half_length, surface.half_width, surface.points
        bears = surface.name in borne
        text.append(repr((surface.name, surface.frame_id, poses, size, surface.is_foot, bears)))
    for shape in robot.shapes if shapes else ():
        points = shape.points.tobytes().hex()
        text.append(repr((shape.kind, shape.size, shape.joint, _numbers(shape.placement), points)))
    return hashlib.sha256("\n".join(text).encode()).digest()


def _numbers(pose: pin.SE3) -> list[list[float]]:
    rows: list[list[float]] = pose.homogeneous.tolist()
    return rows


@cache
def _code() -> str:
    """A hash of the code that finds the numbers, and of the libraries that it calls."""
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return f"{hashlib.sha256(sources).hexdigest()} {scipy.__version__} {pin.__version__}"
