"""Write toro.urdf: a TORO-like humanoid made from tables of facts.

The model resembles DLR's TORO; it is not DLR's model. The figures are rounded ones from papers on
the robot (Garofalo2015 for the total mass; Englsberger et al. 2014; Mesesan et al. 2019) and from
public descriptions of it.

Published, rounded
- Range, largest torque and rated speed of every joint, in the tables below; none is an estimate.
  The speed is taken for the one up to which a drive has its full torque; how its torque falls
  beyond that is not published (the drives of balance: to nothing at 1.2 times the rated speed).
Adjusted
- The link masses found there sum to 74.71 kg. The robot weighs 77.5 kg with hands, battery and
  cabling, so each hand gets 0.6 kg and the trunk the other 1.59 kg. The trunk's inertia grows in
  the ratio of its mass.
- The trunk's CoM lies 6 mm beside the sagittal plane on the robot. Here it lies on the plane, so
  that the model is its own mirror image.
Estimated
- CoM and inertia of arms, hands, neck and head: homogeneous boxes (ESTIMATED).
- Products of inertia: zero.
- All shapes (shapes.py), but for the sole rectangle and the height of 1.7 m.

Conventions
- In the zero pose the robot stands upright, x forward, y left, z up, and every link frame has
  these axes. Points of joints and shapes are in the zero pose, z above the sole.
- The base link `hip` is the pelvis. Its frame lies midway between the two hip roll joints,
  0.125 m below the waist joint. The frames `left_sole` and `right_sole` lie on the ground below
  the ankles.
- Tables give the right side. On the left, points are reflected (y -> -y) and so are axes of
  rotation, as pseudo-vectors (x -> -x, z -> -z). Equal joint values left and right are therefore
  a symmetric posture, for all joints, with equal limits. To mirror a posture, swap the sides and
  negate waist yaw and neck yaw.
- Positive values: hip roll brings the leg inwards, hip pitch backwards, hip yaw turns the toes
  in, knee bends, ankle roll lifts the inner edge of the foot, ankle pitch lowers the toes;
  shoulder 1 and elbow bring the hand forwards, shoulder 2 lifts the arm sideways, shoulder 3,
  forearm yaw and wrist turn the hand outwards; neck pitch nods.

Usage: python build.py [FILE]    (default: toro.urdf beside this script)
"""

import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from shapes import COLOURS, PARTS, Box, Cylinder, Shape, Sphere, Vec3, reflect_part, reflect_point

BASE_POINT: Vec3 = (0, 0, 1.039)  # m, in the zero pose
SHOULDER_AXIS: Vec3 = (0, -math.sqrt(0.75), 0.5)


@dataclass(frozen=True)
class Joint:
    """A revolute joint: point in m, range in rad, torque limit in N m, rated speed in rad/s."""

    name: str
    child: str
    axis: Vec3
    point: Vec3
    range: tuple[float, float]
    torque: float
    speed: float


@dataclass(frozen=True)
class Inertial:
    """Mass (kg), CoM in the link frame (m), principal moments about the CoM (kg m2)."""

    mass: float
    com: Vec3
    moments: Vec3


# fmt: off
# Chains from the trunk or the hip outwards: a joint's parent is the child of the row above.
WAIST = (
    Joint("waist_yaw", "trunk", (0, 0, 1), (0, 0, 1.164), (-2.09, 2.09), 100, 2.74),
)
NECK = (
    Joint("neck_yaw",   "neck", (0, 0, 1), (0.055, 0, 1.515), (-1.57, 1.57), 8.4, 4.71),
    Joint("neck_pitch", "head", (0, 1, 0), (0.020, 0, 1.565), (-0.52, 1.57), 8.4, 4.71),
)
LEG = (
    Joint("hip_roll",    "hip_cross",   (1, 0, 0), (0, -0.100, 1.039), (-1.57, 0.785), 176, 1.92),
    Joint("hip_pitch",   "upper_thigh", (0, 1, 0), (0, -0.135, 0.919), (-2.01, 1.57),  100, 2.74),
    Joint("hip_yaw",     "lower_thigh", (0, 0, 1), (0, -0.135, 0.919), (-2.09, 2.09),  100, 2.74),
    Joint("knee",        "shank",       (0, 1, 0), (0, -0.135, 0.519), ( 0.00, 1.83),  165, 3.07),
    Joint("ankle_roll",  "ankle_cross", (1, 0, 0), (0, -0.113, 0.119), (-0.34, 0.34),   50, 2.09),
    Joint("ankle_pitch", "foot",        (0, 1, 0), (0, -0.113, 0.119), (-0.78, 0.78),  165, 3.07),
)
ARM = (
    Joint("shoulder_1", "shoulder_block", SHOULDER_AXIS,
          (0.000, -0.259, 1.520), (-2.09, 2.09), 100, 2.74),
    Joint("shoulder_2", "shoulder_cross", (-1, 0, 0),
          (0.054, -0.259, 1.520), (-0.26, 3.14), 100, 2.74),
    Joint("shoulder_3", "upper_arm", (0, 0, -1),
          (0.054, -0.259, 1.520), (-1.83, 1.83), 40, 2.09),
    Joint("elbow", "elbow_block", (0, -1, 0),
          (0.084, -0.259, 1.207), (0.00, 2.58), 40, 2.09),
    Joint("forearm_yaw", "forearm", (0, 0, -1),
          (0.054, -0.248, 0.901), (-2.53, 2.06), 40, 2.09),
    Joint("wrist", "hand", (-1, 0, 0),
          (0.068, -0.248, 0.845), (-1.83, 1.83), 40, 2.09),
)

# CoM in the link frame: the frame of the joint that carries the link, and BASE_POINT for the hip.
PUBLISHED = {
    "hip":         Inertial( 5.62, (-0.025,  0,      0.017), (0.057,  0.014,  0.052)),
    "trunk":       Inertial(18.98, (-0.077,  0,      0.195), (0.386,  0.396,  0.199)),
    "hip_cross":   Inertial( 2.78, ( 0.014,  0,     -0.081), (0.013,  0.013,  0.006)),
    "upper_thigh": Inertial( 2.25, ( 0,     -0.013, -0.118), (0.019,  0.018,  0.004)),
    "lower_thigh": Inertial( 2.63, ( 0,      0.020, -0.352), (0.018,  0.018,  0.005)),
    "shank":       Inertial( 5.70, ( 0,     -0.007, -0.170), (0.090,  0.089,  0.014)),
    "ankle_cross": Inertial( 0.39, ( 0.014,  0,      0),     (0.0005, 0.0005, 0.0008)),
    "foot":        Inertial( 1.42, ( 0,      0,     -0.074), (0.0039, 0.0056, 0.0049)),
}
# Published mass, estimated homogeneous box.
ESTIMATED = {
    "shoulder_block": (2.24, Box((0.027, -0.259, 1.520), (0.13, 0.12, 0.12))),
    "shoulder_cross": (1.10, Box((0.054, -0.259, 1.470), (0.10, 0.10, 0.16))),
    "upper_arm":      (2.36, Box((0.069, -0.259, 1.363), (0.10, 0.10, 0.28))),
    "elbow_block":    (0.72, Box((0.080, -0.257, 1.160), (0.09, 0.09, 0.12))),
    "forearm":        (2.28, Box((0.060, -0.249, 0.985), (0.09, 0.09, 0.25))),
    "hand":           (0.29, Box((0.068, -0.248, 0.765), (0.08, 0.04, 0.16))),
    "neck":           (0.34, Box((0.037,  0,     1.540), (0.06, 0.06, 0.07))),
    "head":           (1.45, Box((0.030,  0,     1.627), (0.15, 0.15, 0.14))),
}
EXTRA_MASS = {"hand": 0.60, "trunk": 1.59}  # kg, for the missing 2.79 kg
# fmt: on


def text(*numbers: float) -> str:
    """Numbers as URDF text, to 9 digits and without a negative zero."""
    return " ".join(f"{round(number, 9) + 0.0:.9g}" for number in numbers)


def sided(name: str, side: str) -> str:
    return f"{side}_{name}" if side else name


def minus(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def reflect_axis(a: Vec3) -> Vec3:
    """The mirror image of an axis of rotation, which is a pseudo-vector."""
    return (-a[0], a[1], -a[2])


def box_moments(mass: float, size: Vec3) -> Vec3:
    """Principal moments of a homogeneous box, kg m2."""
    x, y, z = (length**2 * mass / 12 for length in size)
    return (y + z, x + z, x + y)


def inertial(link: str, point: Vec3) -> Inertial:
    """The inertial data of a middle or right link whose frame is at `point`."""
    extra = EXTRA_MASS.get(link, 0.0)
    if link in PUBLISHED:
        found = PUBLISHED[link]
        growth = 1 + extra / found.mass
        x, y, z = found.moments
        return Inertial(found.mass + extra, found.com, (growth * x, growth * y, growth * z))
    mass, box = ESTIMATED[link]
    return Inertial(mass + extra, minus(box.centre, point), box_moments(mass + extra, box.size))


def add_shape(parent: ET.Element, shape: Shape, point: Vec3) -> None:
    """Append `<origin>` and `<geometry>` of a shape to a link whose frame is at `point`."""
    origin = ET.SubElement(parent, "origin")
    geometry = ET.SubElement(parent, "geometry")
    pitch = yaw = 0.0
    match shape:
        case Box(centre, size, pitch):
            ET.SubElement(geometry, "box", size=text(*size))
        case Sphere(centre, radius):
            ET.SubElement(geometry, "sphere", radius=text(radius))
        case Cylinder(start, end, radius):
            dx, dy, dz = minus(end, start)
            length = math.hypot(dx, dy, dz)
            pitch, yaw = math.atan2(math.hypot(dx, dy), dz), math.atan2(dy, dx)
            centre = (start[0] + dx / 2, start[1] + dy / 2, start[2] + dz / 2)
            ET.SubElement(geometry, "cylinder", radius=text(radius), length=text(length))
    origin.set("xyz", text(*minus(centre, point)))
    origin.set("rpy", text(0, pitch, yaw))


def add_link(robot: ET.Element, link: str, point: Vec3, side: str = "") -> None:
    """Append a link, its frame at `point` (of the right side, reflected if `side` is left)."""
    body, parts = inertial(link, point), PARTS[link]
    if side == "left":
        body = replace(body, com=reflect_point(body.com))
        point = reflect_point(point)
        parts = tuple(reflect_part(part) for part in parts)
    element = ET.SubElement(robot, "link", name=sided(link, side))
    mass = ET.SubElement(element, "inertial")
    ET.SubElement(mass, "origin", xyz=text(*body.com), rpy="0 0 0")
    ET.SubElement(mass, "mass", value=text(body.mass))
    ixx, iyy, izz = (text(moment) for moment in body.moments)
    ET.SubElement(mass, "inertia", ixx=ixx, ixy="0", ixz="0", iyy=iyy, iyz="0", izz=izz)
    for part in parts:
        visual = ET.SubElement(element, "visual")
        add_shape(visual, part.shape, point)
        ET.SubElement(visual, "material", name=part.material)
    for part in parts:
        if part.solid:
            add_shape(ET.SubElement(element, "collision"), part.shape, point)


def add_joint(
    robot: ET.Element, kind: str, name: str, parent: str, child: str, offset: Vec3
) -> ET.Element:
    element = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=child)
    ET.SubElement(element, "origin", xyz=text(*offset), rpy="0 0 0")
    return element


def add_chain(
    robot: ET.Element, root: str, root_point: Vec3, chain: tuple[Joint, ...], side: str = ""
) -> None:
    """Append the joints and links of a chain that hangs on the link `root`."""
    parent, parent_point = root, root_point
    for joint in chain:
        offset, axis, child = minus(joint.point, parent_point), joint.axis, sided(joint.child, side)
        if side == "left":
            offset, axis = reflect_point(offset), reflect_axis(axis)
        add_link(robot, joint.child, joint.point, side)
        element = add_joint(robot, "revolute", sided(joint.name, side), parent, child, offset)
        ET.SubElement(element, "axis", xyz=text(*axis))
        lower, upper = (text(angle) for angle in joint.range)
        effort, velocity = text(joint.torque), text(joint.speed)
        ET.SubElement(element, "limit", lower=lower, upper=upper, effort=effort, velocity=velocity)
        parent, parent_point = child, joint.point


def urdf() -> str:
    """The whole model as URDF text."""
    robot = ET.Element("robot", name="toro")
    robot.append(ET.Comment(" TORO-like humanoid, written by build.py: change the tables there. "))
    for name, rgba in COLOURS.items():
        ET.SubElement(ET.SubElement(robot, "material", name=name), "color", rgba=rgba)
    add_link(robot, "hip", BASE_POINT)
    add_chain(robot, "hip", BASE_POINT, WAIST)
    add_chain(robot, "trunk", WAIST[-1].point, NECK)
    for side in ("left", "right"):
        add_chain(robot, "hip", BASE_POINT, LEG, side)
        sole, foot = f"{side}_sole", f"{side}_foot"
        ET.SubElement(robot, "link", name=sole)
        add_joint(robot, "fixed", f"{sole}_fixed", foot, sole, (0, 0, -LEG[-1].point[2]))
        add_chain(robot, "trunk", WAIST[-1].point, ARM, side)
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("toro.urdf")
    target.write_text(urdf(), encoding="utf-8", newline="\n")
