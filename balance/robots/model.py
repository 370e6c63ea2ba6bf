"""Reading a robot's URDF, and refusing models that cannot be balanced with one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array, frame_id, symmetrise
from balance.errors import ConfigError, FrameError, RobotError, known_names
from balance.robots.urdf_checks import check_joints, read_inertias, triangle_excess
from balance.robots.urdf_files import check_references, parser_output, read_xml

_RELATIVE_RANK_TOLERANCE = 1e-9  # smallest eigenvalue of a usable mass matrix, over the largest


def read_model(urdf: Path, lock: Mapping[str, float], packages: Sequence[Path]) -> pin.Model:
    """The model of a URDF with a free-flyer root and the joints of ``lock`` fixed (rad).

    ``packages`` are the folders that its meshes may be in.
    """
    root = read_xml(urdf)
    check_references(root, urdf, packages)
    inertias = read_inertias(root, urdf)
    check_joints(root, urdf, lock)
    model = _lock(_parse(urdf), lock)
    _check_coordinates(model)
    _check_inertias(model, urdf, inertias)
    _check_mass_matrix(model)
    _check_efforts(model)
    return model


def _parse(urdf: Path) -> pin.Model:
    """The model; what the parser calls an error is one, also where it goes on without a part."""
    model, reason = None, "not a URDF"
    try:
        with parser_output() as printed:
            model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError, IndexError) as error:
        reason = (str(error).strip().splitlines() or [reason])[0]
    said = [line.partition("Error:")[2].strip() for line in printed if "Error:" in line]
    if model is None or said:
        raise RobotError(f"the URDF {urdf} cannot be loaded: {(said or [reason])[0]}")
    return model


def turn_base(model: pin.Model, rpy: tuple[float, float, float]) -> pin.Model:
    """``model`` with other axes of its base, whose orientation in those it has is ``rpy`` (rad).

    Nothing but the coordinates of the free-flyer changes.
    """
    if not any(rpy):
        return model
    old = pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.zeros(3)).inverse()  # in the new axes
    turned = model.copy()
    turned.inertias[1] = old.act(model.inertias[1])
    for joint in range(2, model.njoints):
        if model.parents[joint] == 1:
            turned.jointPlacements[joint] = old * model.jointPlacements[joint]
    for index, frame in enumerate(model.frames):
        # The frame of the free-flyer itself is its axes.
        if frame.parentJoint == 1 and frame.type != pin.FrameType.JOINT:
            turned.frames[index].placement = old * frame.placement
    return turned


def joint_id(model: pin.Model, name: str, key: str) -> int:
    """Index of an actuated joint; ``key`` says in the error which key of the file names it."""
    names = list(model.names)[2:]
    if name not in names:
        raise ConfigError(
            f"'{key}' names a joint '{name}' that does not exist{known_names(name, names)}"
        )
    return int(model.getJointId(name))


def root_body(model: pin.Model) -> str:
    """Name of the body at the root of the tree: the floating base."""
    return next(str(frame.name) for frame in model.frames if frame.type == pin.FrameType.BODY)


def body_frame(model: pin.Model, name: str, key: str) -> int:
    """Index of a frame; ``key`` says in the error which key of the file names it."""
    try:
        return frame_id(model, name)
    except FrameError as error:
        raise FrameError(f"'{key}' = '{name}': {error}") from None


def _lock(model: pin.Model, lock: Mapping[str, float]) -> pin.Model:
    if not lock:
        return model
    q = pin.neutral(model)
    ids = []
    for name, angle in lock.items():
        ids.append(joint_id(model, name, "lock"))
        joint = model.joints[ids[-1]]
        # A continuous joint has the cosine and sine of its angle as coordinates.
        coordinates = [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        if joint.nq > 2:
            raise ConfigError(f"'lock' names a joint '{name}' that has no single angle")
        q[joint.idx_q : joint.idx_q + joint.nq] = coordinates
    return pin.buildReducedModel(model, ids, q)


def _check_coordinates(model: pin.Model) -> None:
    for index in range(2, model.njoints):
        joint = model.joints[index]
        if joint.nq != 1:
            raise RobotError(
                f"joint '{model.names[index]}' is of a kind without limits or with several axes "
                f"({joint.shortname()}); make it revolute or prismatic in the URDF, or 'lock' it"
            )


def _check_efforts(model: pin.Model) -> None:
    for index in range(2, model.njoints):
        effort = float(model.upperEffortLimit[model.joints[index].idx_v])
        if not effort > 0.0:
            raise RobotError(
                f"joint '{model.names[index]}' has an effort limit of {effort:g} N m in the URDF; "
                "it must be positive, or 'lock' the joint"
            )


def rate_speeds(model: pin.Model, rated: float | Mapping[str, float]) -> None:
    """Write the rated speeds of a robot's file over those of its URDF, for all joints or by name.

    Every joint must have one in the end: a drive cannot be any faster than that.
    """
    speeds = np.array(model.upperVelocityLimit)
    if isinstance(rated, Mapping):
        for name, speed in rated.items():
            speeds[model.joints[joint_id(model, name, "rated_speed")].idx_v] = speed
    else:
        speeds[6:] = rated
    for index, speed in enumerate(speeds[6:]):
        if not 0.0 < speed < np.inf:
            raise RobotError(
                f"joint '{model.names[index + 2]}' has a rated speed of {speed:g} rad/s in the "
                "URDF; it must be positive and finite: give it with 'rated_speed', or 'lock' the "
                "joint"
            )
    model.upperVelocityLimit = speeds


def _check_inertias(model: pin.Model, urdf: Path, links: Mapping[str, Array]) -> None:
    """Refuse a body that nothing real can be; links fixed to each other are one body.

    Engines see such bodies only: the odd inertia of a sensor of a few grams is lost in its trunk's.
    """
    for index in range(1, model.njoints):
        excess = triangle_excess(model.inertias[index].inertia)
        if not excess:
            continue
        carried = [
            frame.name
            for frame in model.frames
            if frame.parentJoint == index and frame.type == pin.FrameType.BODY
        ]
        # A sum of inertias that can be is one that can be.
        wrong = [name for name in carried if name in links and triangle_excess(links[name])]
        names = ", ".join(f"'{name}'" for name in wrong or carried)
        raise RobotError(
            f"the URDF {urdf}: the inertia of link {names} is not that of any body: its largest "
            f"principal moment exceeds the sum of the others by {excess:.3g} kg m^2; correct "
            "<inertia>"
        )


def _check_mass_matrix(model: pin.Model) -> None:
    """Every joint must move some mass: M is singular otherwise."""
    M = symmetrise(pin.crba(model, model.createData(), pin.neutral(model)))
    values, vectors = np.linalg.eigh(M)
    if values[0] > _RELATIVE_RANK_TOLERANCE * values[-1]:
        return
    joint = int(np.argmax(np.abs(vectors[6:, 0]))) if model.nv > 6 else -1
    raise RobotError(
        f"its mass matrix is singular: the links that joint '{model.names[joint + 2]}' moves have "
        "no mass or inertia; give them one in the URDF, or fix the joint with 'lock'"
    )
