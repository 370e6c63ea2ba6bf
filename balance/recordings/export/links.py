"""A robot's links as a tree of moving frames, and what each of them looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.recording import Recording
from balance.robots import Robot

Array = NDArray[np.float64]

WORLD = "world"
FRAMES_PER_S = 100.0  # at which the links' poses are exported
ROOT_JOINT = 1


@dataclass(frozen=True)
class Link:
    """A link: the one that it hangs on, the joint between them, and where that joint is in both.

    The pose in the parent is ``before`` times the joint's motion times ``after``; links that are
    fixed to their parent have no joint.
    """

    name: str
    parent: str
    joint: int | None
    before: pin.SE3
    after: pin.SE3


def links_of(robot: Robot) -> list[Link]:
    """The links of the URDF, parents first.

    The first link that a joint carries hangs on the first one of the joint above; the others that
    it carries are fixed to that one, wherever in the URDF they are: a model whose joints were
    locked does not know any more.
    """
    model, found = robot.model, []
    first: dict[int, pin.Frame] = {0: pin.Frame(WORLD, 0, 0, pin.SE3.Identity(), pin.BODY)}
    bodies = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    for frame in sorted(bodies, key=lambda frame: frame.parentJoint):
        joint = frame.parentJoint
        if joint in first:
            placement = first[joint].placement.actInv(frame.placement)
            found.append(Link(frame.name, first[joint].name, None, placement, pin.SE3.Identity()))
            continue
        above = first[model.parents[joint]]
        before = above.placement.actInv(model.jointPlacements[joint])
        found.append(Link(frame.name, above.name, joint, before, frame.placement))
        first[joint] = frame
    return found


def shown_rows(recording: Recording) -> NDArray[np.int64]:
    """Rows at which the links' poses are exported: every so many, the first and the last."""
    every = max(1, round(1.0 / (FRAMES_PER_S * recording.config.control_period_s)))
    last = recording.time.size - 1
    return np.unique(np.append(np.arange(0, last + 1, every), last))


def poses(link: Link, model: pin.Model, q: Array) -> tuple[Array, Array]:
    """Positions (n, 3) and quaternions (n, 4; x, y, z, w) of a link in its parent, for rows of q.

    All rows at once: a joint's motion is R(theta) = I + sin(theta) K + (1 - cos(theta)) K^2, or a
    way along its axis.
    """
    rows = len(q)
    if link.joint is None:
        rotations, ways = np.broadcast_to(np.eye(3), (rows, 3, 3)), np.zeros((rows, 3))
    elif link.joint == ROOT_JOINT:
        rotations, ways = _rotation_matrices(q[:, 3:7]), q[:, :3]
    else:
        rotations, ways = _joint_motion(model, link.joint, q)
    R_a, p_a = link.before.rotation, link.before.translation
    R_b, p_b = link.after.rotation, link.after.translation
    positions = p_a + (ways + rotations @ p_b) @ R_a.T
    return positions, _quaternions(R_a @ rotations @ R_b)


def _joint_motion(model: pin.Model, joint: int, q: Array) -> tuple[Array, Array]:
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, pin.neutral(model))
    way, axis = np.split(np.asarray(data.S).ravel(), 2)
    values = q[:, model.joints[joint].idx_q]
    K = pin.skew(axis)
    rotations = (
        np.eye(3)
        + np.sin(values)[:, None, None] * K
        + (1.0 - np.cos(values))[:, None, None] * (K @ K)
    )
    return rotations, values[:, None] * way


def _rotation_matrices(quaternions: Array) -> Array:
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def _quaternions(rotations: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotations).as_quat())


def urdf_text(robot: Robot) -> str:
    """The robot's URDF."""
    return robot.urdf.read_text(encoding="utf-8", errors="replace")


def order(links: Sequence[Link]) -> dict[str, str]:
    """Path of each link from the first one, joined by slashes."""
    paths: dict[str, str] = {}
    for link in links:
        above = paths.get(link.parent)
        paths[link.name] = f"{above}/{link.name}" if above else link.name
    return paths
