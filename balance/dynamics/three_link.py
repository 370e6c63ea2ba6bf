"""The planar three-link mechanism of Saccon2017, section V, as a Pinocchio model for any d.

A base link and two distal links turn about +z in the plane z = 0.  Joint 1 is 1 m to the left of
the base link's CoM, joint 2 is 1 m to the right; the CoM of a distal link is a distance d below
its joint at s = 0.  For d = 0 the centroidal frame is a function of s, for d = 1 it is not.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.errors import InputError

MASS = 1.0
"""Mass of each of the three links, kg."""
BASE_INERTIA = 4.0
"""Rotational inertia of the base link about the z axis through its CoM, kg m^2."""
DISTAL_INERTIA = 1.0
"""The same of each distal link, kg m^2."""
JOINT_OFFSET = 1.0
"""Distance of each joint from the base link's CoM, m."""

_LINK = """  <link name="{name}">
    <inertial>
      <origin xyz="0 {y} 0"/>
      <mass value="{mass}"/>
      <inertia ixx="{half}" ixy="0" ixz="0" iyy="{half}" iyz="0" izz="{inertia}"/>
    </inertial>
    <visual>
      <origin xyz="0 {y} 0"/>
      <geometry><box size="{box}"/></geometry>
    </visual>
  </link>
"""

_JOINT = """  <joint name="{name}" type="continuous">
    <parent link="base"/>
    <child link="{child}"/>
    <origin xyz="{x} 0 0"/>
    <axis xyz="0 0 1"/>
  </joint>
"""


def three_link_urdf(d: float) -> str:
    """URDF of the mechanism with the distal CoM ``d`` (m) from its joint.

    The plane fixes only the inertias about z; the links are thin plates in the other directions.
    """
    if not np.isfinite(d):
        raise InputError(f"d is {d}; it must be a finite distance in m")
    links = [_link("base", 0.0, BASE_INERTIA, "2.4 0.4 0.05")]
    joints = []
    for k, side in ((1, -1.0), (2, 1.0)):
        links.append(_link(f"link{k}", -d, DISTAL_INERTIA, "0.3 2.2 0.05"))
        joints.append(_JOINT.format(name=f"joint{k}", child=f"link{k}", x=side * JOINT_OFFSET))
    return '<robot name="three_link">\n' + "".join(links + joints) + "</robot>\n"


def three_link(d: float) -> pin.Model:
    """The mechanism with a free-flyer base; ``d`` (m) is the distal CoM's offset from its joint."""
    return pin.buildModelFromXML(three_link_urdf(d), pin.JointModelFreeFlyer())


def three_link_curvature(s: ArrayLike) -> Array:
    """(6,) B_12 for d = 1 in closed form, as printed in Saccon2017, section V."""
    s1, s2 = check_vector("s", s, 2)
    S1, S2, C1, C2 = np.sin(s1), np.sin(s2), np.cos(s1), np.cos(s2)
    S12, C12 = np.sin(s1 - s2), np.cos(s1 - s2)
    x = 2.0 * (C1 + C2) * (4.0 * C1 + 4.0 * C2 - 3.0 * C1 * S2 + 3.0 * C2 * S1)
    y = 2.0 * C1 * (4.0 * S1 + 4.0 * S2 - 3.0 * S1 * S2 - 3.0 * S2 * S2)
    y += 2.0 * C2 * (4.0 * S1 + 4.0 * S2 + 3.0 * S1 * S2 + 3.0 * S1 * S1)
    wz = -18.0 * S12 - 24.0 * C1 - 24.0 * C2
    return np.array([x, y, 0.0, 0.0, 0.0, wz]) / (2.0 * C12 + 6.0 * S1 - 6.0 * S2 - 28.0) ** 2


def joint_trajectory(t: float, period: float = 1.0) -> Array:
    """(2,) joint angles (rad) of section V at time ``t`` (s), back at zero after one period."""
    phase = 2.0 * np.pi * t / period
    return np.array([1.5 * np.pi * (np.cos(phase) - 1.0), 0.5 * np.pi * np.sin(phase)])


def _link(name: str, y: float, inertia: float, box: str) -> str:
    return _LINK.format(name=name, y=y, mass=MASS, inertia=inertia, half=0.5 * inertia, box=box)
