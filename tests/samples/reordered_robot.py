"""The TORO-like robot with its joints in another order, and the map between the two orders.

The URDF parser keeps the joints of a tree sorted by name, so that new names give a new order.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import yaml
from numpy.typing import NDArray

from balance.config.paths import data_folder
from balance.robots import Robot, load_robot

Array = NDArray[np.float64]


def reordered_toro(folder: Path) -> tuple[Robot, NDArray[np.intp]]:
    """The robot with joints named such that their order is reversed, and their old indices.

    With ``order`` the second value, ``new = old[order]`` for vectors over the joints.
    """
    source = data_folder("robots") / "toro"
    tree = ET.parse(source / "toro.urdf")
    joints = sorted(joint.attrib["name"] for joint in tree.iter("joint"))
    renamed = {name: f"j{len(joints) - i:03d}_{name}" for i, name in enumerate(joints)}
    for joint in tree.iter("joint"):
        joint.attrib["name"] = renamed[joint.attrib["name"]]
    tree.write(folder / "toro.urdf")
    spec = yaml.safe_load((source / "robot.yaml").read_text(encoding="utf-8"))
    spec["posture"] = {renamed[name]: angle for name, angle in spec["posture"].items()}
    spec["stand"]["held"] = [renamed[name] for name in spec["stand"]["held"]]
    path = folder / "robot.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    robot = load_robot(path)
    old = load_robot("toro").joint_names
    order = [old.index(name.split("_", 1)[1]) for name in robot.joint_names]
    return robot, np.array(order, dtype=np.intp)
