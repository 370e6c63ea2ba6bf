"""MuJoCo's format: read by Pinocchio, and written down as a URDF, which everything else reads.

Masses, joints, limits and shapes are those that Pinocchio finds.  What a URDF has no words for is
left out: rotor inertias, springs, tendons, equalities, and speeds, which MJCF does not give.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.errors import RobotError
from balance.robots.shapes.fit_cache import cache_folder, write_whole
from balance.robots.urdf_files import parser_output

Array = NDArray[np.float64]
Element = ElementTree.Element

NEXT_TO = "_at_its_joint"  # a link whose joint is not at the body's origin
ENOUGH_RAD = 1e-9


def is_mjcf(file: Path) -> bool:
    """Whether a file is MuJoCo's, by its outermost element."""
    try:
        return ElementTree.parse(file).getroot().tag == "mujoco"
    except (OSError, ElementTree.ParseError):
        return False


def urdf_file(mjcf: Path) -> Path:
    """A URDF of the robot in an MJCF file, in the cache."""
    text = urdf_text(mjcf)
    kept = (
        cache_folder().with_name("mjcf") / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.urdf"
    )
    if not kept.is_file():
        write_whole(kept, text)
    if not kept.is_file():
        raise RobotError(f"{kept} cannot be written; set XDG_CACHE_HOME to a folder that can")
    return kept


def urdf_text(mjcf: Path) -> str:
    """The robot in an MJCF file as a URDF."""
    model = read_mjcf(mjcf)
    robot = Element("robot", name=str(model.name) or mjcf.stem)
    shapes = {
        "visual": _geometry(model, mjcf, pin.GeometryType.VISUAL),
        "collision": _geometry(model, mjcf, pin.GeometryType.COLLISION),
    }
    names = [_link_name(model, joint) for joint in range(model.njoints)]
    for joint in range(1, model.njoints):
        link = ElementTree.SubElement(robot, "link", name=names[joint])
        _add_inertia(link, model.inertias[joint])
        for tag, found in shapes.items():
            for shape in found:
                if shape.parentJoint == joint:
                    _add_shape(link, tag, shape)
        if joint > 1:
            _add_joint(robot, model, joint, names)
        for frame in _fixed(model, joint, names[joint]):
            ElementTree.SubElement(robot, "link", name=frame.name)
            fixed = ElementTree.SubElement(robot, "joint", name=f"{frame.name}_fixed", type="fixed")
            _connect(fixed, names[joint], frame.name, frame.placement)
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def read_mjcf(mjcf: Path) -> pin.Model:
    """Pinocchio's model of an MJCF file with one floating robot."""
    reason = ""
    try:
        with parser_output():
            model = pin.buildModelFromMJCF(str(mjcf))
            if model.njoints > 1 and model.joints[1].shortname() != "JointModelFreeFlyer":
                model = pin.buildModelFromMJCF(str(mjcf), pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError, IndexError) as error:
        reason = (str(error).strip().splitlines() or ["not an MJCF file"])[0]
    if reason:
        raise RobotError(f"the MJCF file {mjcf} cannot be loaded: {reason}")
    for joint in range(2, model.njoints):
        if model.joints[joint].nv != 1:
            raise RobotError(
                f"the MJCF file {mjcf}: joint '{model.names[joint]}' has several axes "
                f"({model.joints[joint].shortname()}); give each axis a body of its own"
            )
    return model


def _geometry(model: pin.Model, mjcf: Path, kind: pin.GeometryType) -> list[pin.GeometryObject]:
    try:
        with parser_output():
            found = pin.buildGeomFromMJCF(model, str(mjcf), kind)
    except (ValueError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise RobotError(f"the shapes of the MJCF file {mjcf} cannot be read: {reason}") from None
    return [shape for shape in found.geometryObjects if shape.parentJoint > 0]


def _bodies(model: pin.Model, joint: int) -> list[pin.Frame]:
    return [
        frame
        for frame in model.frames
        if frame.parentJoint == joint and frame.type == pin.FrameType.BODY
    ]


def _link_name(model: pin.Model, joint: int) -> str:
    """That of the first body at a joint, if they are in the same place."""
    bodies = _bodies(model, joint)
    if not bodies:
        return f"{model.names[joint]}_link"
    at_joint = np.abs(bodies[0].placement.homogeneous - np.eye(4)).max() < ENOUGH_RAD
    return str(bodies[0].name) if at_joint else f"{bodies[0].name}{NEXT_TO}"


def _fixed(model: pin.Model, joint: int, link: str) -> Iterator[pin.Frame]:
    """Other bodies, and sites, that a joint carries."""
    taken = {link}
    sites = (pin.FrameType.OP_FRAME, pin.FrameType.BODY)
    for frame in model.frames:
        if frame.parentJoint == joint and frame.type in sites and frame.name not in taken:
            taken.add(str(frame.name))
            yield frame


def _add_inertia(link: Element, inertia: pin.Inertia) -> None:
    if inertia.mass <= 0.0:
        return
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_text(inertia.lever), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=repr(float(inertia.mass)))
    matrix = inertia.inertia
    keys = {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }
    values = {key: repr(float(matrix[at])) for key, at in keys.items()}
    ElementTree.SubElement(inertial, "inertia", values)


def _add_joint(robot: Element, model: pin.Model, joint: int, names: list[str]) -> None:
    motion = model.joints[joint].createData()
    model.joints[joint].calc(motion, pin.neutral(model))
    way, axis = np.split(np.asarray(motion.S).ravel(), 2)
    turns, at = bool(axis.any()), model.joints[joint]
    kind = "revolute" if turns else "prismatic"
    if at.nq != 1:
        kind = "continuous"
    found = ElementTree.SubElement(robot, "joint", name=str(model.names[joint]), type=kind)
    _connect(found, names[model.parents[joint]], names[joint], model.jointPlacements[joint])
    ElementTree.SubElement(found, "axis", xyz=_text(axis if turns else way))
    limits = {
        "effort": _finite(model.upperEffortLimit[at.idx_v]),
        "velocity": _finite(model.upperVelocityLimit[at.idx_v]),
    }
    if at.nq == 1:
        limits["lower"] = repr(float(model.lowerPositionLimit[at.idx_q]))
        limits["upper"] = repr(float(model.upperPositionLimit[at.idx_q]))
    ElementTree.SubElement(found, "limit", limits)


def _finite(value: float) -> str:
    """A limit; 0, which is then asked for, where there is none."""
    return repr(float(value)) if np.isfinite(value) else "0"


def _connect(joint: Element, parent: str, child: str, placement: pin.SE3) -> None:
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    _add_origin(joint, placement)


def _add_origin(element: Element, placement: pin.SE3) -> None:
    rpy = pin.rpy.matrixToRpy(placement.rotation)
    ElementTree.SubElement(element, "origin", xyz=_text(placement.translation), rpy=_text(rpy))


def _text(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)


def _add_shape(link: Element, tag: str, shape: pin.GeometryObject) -> None:
    for name, sizes, way in _solids(shape):
        element = ElementTree.SubElement(link, tag)
        _add_origin(element, shape.placement * pin.SE3(np.eye(3), np.array([0.0, 0.0, way])))
        ElementTree.SubElement(ElementTree.SubElement(element, "geometry"), name, sizes)
        if tag == "visual":
            material = ElementTree.SubElement(element, "material", name=f"of {shape.name}")
            ElementTree.SubElement(material, "color", rgba=_text(shape.meshColor))


def _solids(shape: pin.GeometryObject) -> list[tuple[str, dict[str, str], float]]:
    """What a URDF has for a shape: tag, sizes, and the way along its z axis, m.

    The URDF's parser knows no capsules: one is a cylinder and two spheres.  An ellipsoid is the box
    around it; planes and height fields are no parts of a robot.
    """
    geometry, kind = shape.geometry, type(shape.geometry).__name__
    if shape.meshPath and Path(shape.meshPath).is_file():
        file = Path(shape.meshPath).resolve().as_uri()
        return [("mesh", {"filename": file, "scale": _text(shape.meshScale)}, 0.0)]
    if kind in ("Box", "Ellipsoid"):
        half = geometry.halfSide if kind == "Box" else geometry.radii
        return [("box", {"size": _text(2.0 * np.array(half))}, 0.0)]
    if kind not in ("Sphere", "Cylinder", "Capsule"):
        return []
    radius = {"radius": repr(float(geometry.radius))}
    if kind == "Sphere":
        return [("sphere", radius, 0.0)]
    half_length = float(geometry.halfLength)
    round_ends = [("sphere", radius, way) for way in (-half_length, half_length)]
    middle = ("cylinder", {**radius, "length": repr(2.0 * half_length)}, 0.0)
    return [middle, *(round_ends if kind == "Capsule" else [])]
