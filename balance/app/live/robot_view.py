"""The robot in the page: its visual shapes, one node for each joint and colour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
import viser
from numpy.typing import NDArray

from balance.app.live.follow import ROOT as WORLD
from balance.app.live.layer import at_home
from balance.robots import Robot
from balance.simulation.plants.visuals import colour_of, triangles_of, visual_shapes

Array = NDArray[np.float64]

MAX_TRIANGLES = 2000  # of one shape: more only cost time where no graphics card draws
CELLS_M = (0.003, 0.005, 0.008, 0.012)  # detail that is given up for it
SHARP_ANGLE_RAD = 0.6  # edges sharper than this stay sharp
ROUND_SECTIONS = 28
GLASS = 0.35  # opacity
LOOKS = ("solid", "transparent", "hidden")
MOVED = 2e-4  # m, or components of a quaternion: less cannot be seen


class RobotView:
    """Draws one robot below ``root`` of the scene; a click on a link calls ``on_click(body)``."""

    def __init__(
        self,
        server: viser.ViserServer,
        robot: Robot,
        on_click: Callable[[str, Any], None] | None = None,
        root: str = f"{WORLD}/robot",
    ) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._frames: dict[int, viser.FrameHandle] = {}
        self._nodes: list[viser.MeshHandle] = []
        self._root = server.scene.add_frame(root, show_axes=False)
        for (joint, colour), mesh in _merged_shapes(robot).items():
            name = f"{root}/{robot.model.names[joint]}"
            if joint not in self._frames:
                self._frames[joint] = at_home(server.scene.add_frame(name, show_axes=False))
            node = server.scene.add_mesh_simple(
                f"{name}/{len(self._frames)}_{colour[0]}_{colour[1]}_{colour[2]}",
                np.asarray(mesh.vertices, dtype=np.float32),
                np.asarray(mesh.faces, dtype=np.uint32),
                color=colour,
                side="double",
            )
            self._nodes.append(node)
            if on_click is not None:
                body = body_of(robot, joint)
                node.on_click(partial(_clicked, on_click, body))
        self._sent = np.full((len(self._frames), 7), np.inf)

    def set_look(self, look: str) -> None:
        """Make the robot solid, transparent, to see what is inside, or hide it."""
        self._root.visible = look != "hidden"
        for node in self._nodes:
            node.opacity = GLASS if look == "transparent" else None

    def remove(self) -> None:
        """Take the robot off the scene."""
        self._root.remove()

    def joints(self) -> Array:
        """Where the joints are shown (n, 3)."""
        return np.array([pose.translation for pose in self._data.oMi[1:]])

    def draw(self, q: Array) -> None:
        """Show the configuration ``q``; only links that have moved visibly are sent."""
        pin.forwardKinematics(self._model, self._data, q)
        poses = np.array([pin.SE3ToXYZQUAT(self._data.oMi[joint]) for joint in self._frames])
        moved = (np.abs(poses - self._sent) > MOVED).any(axis=1)
        self._sent[moved] = poses[moved]
        for frame, (x, y, z, qx, qy, qz, qw), sent in zip(
            self._frames.values(), poses.tolist(), moved, strict=True
        ):
            if sent:
                frame.position = (x, y, z)
                frame.wxyz = (qw, qx, qy, qz)


def _clicked(on_click: Callable[[str, Any], None], body: str, event: Any) -> None:
    on_click(body, event)


def body_of(robot: Robot, joint: int) -> str:
    """The first body that a joint carries."""
    for frame in robot.model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint == joint:
            return str(frame.name)
    return robot.push_body


def _merged_shapes(robot: Robot) -> dict[tuple[int, tuple[int, int, int]], trimesh.Trimesh]:
    """All shapes of one joint and colour as one mesh in the joint's frame."""
    parts: dict[tuple[int, tuple[int, int, int]], list[trimesh.Trimesh]] = defaultdict(list)
    for shape in visual_shapes(robot) or _inertia_boxes(robot):
        red, green, blue = (round(255 * float(value)) for value in colour_of(shape)[:3])
        mesh = _mesh(shape)
        mesh.apply_transform(shape.placement.homogeneous)
        parts[shape.parentJoint, (red, green, blue)].append(mesh)
    joined: dict[Any, Any] = {k: trimesh.util.concatenate(meshes) for k, meshes in parts.items()}
    return joined


def _inertia_boxes(robot: Robot) -> list[pin.GeometryObject]:
    """Where meshes cannot be read: one box for each joint, with its inertia."""
    boxes = []
    for joint in range(1, robot.model.njoints):
        inertia = robot.model.inertias[joint]
        if inertia.mass <= 0.0:
            continue
        moments, axes = np.linalg.eigh(inertia.inertia)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        squares = 6.0 / inertia.mass * (moments.sum() - 2.0 * moments)
        sides = np.sqrt(np.maximum(squares, 1e-4))
        placement = pin.SE3(axes, inertia.lever)
        box = pin.hppfcl.Box(*sides) if hasattr(pin, "hppfcl") else pin.coal.Box(*sides)
        boxes.append(pin.GeometryObject(robot.model.names[joint], joint, 0, placement, box))
    return boxes


def _mesh(shape: pin.GeometryObject) -> trimesh.Trimesh:
    """The triangles of a shape, with vertices doubled where an edge is sharp."""
    geometry, kind = shape.geometry, type(shape.geometry).__name__
    if kind == "Box":
        mesh = trimesh.creation.box(2.0 * np.array(geometry.halfSide))
    elif kind == "Sphere":
        mesh = trimesh.creation.icosphere(2, geometry.radius)
    elif kind == "Cylinder":
        mesh = trimesh.creation.cylinder(
            geometry.radius, 2.0 * geometry.halfLength, sections=ROUND_SECTIONS
        )
    elif kind == "Capsule":
        mesh = trimesh.creation.capsule(2.0 * geometry.halfLength, geometry.radius)
        mesh.apply_translation([0.0, 0.0, -geometry.halfLength])
    else:
        points, triangles = triangles_of(shape)
        points, triangles = coarser(points * np.array(shape.meshScale), triangles)
        mesh = trimesh.Trimesh(points, triangles, process=False)
        mesh.merge_vertices()
    return _sharp(mesh)


def coarser(points: Array, triangles: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """A mesh of at most ``MAX_TRIANGLES`` or so: points that share a cell of a grid become one."""
    merged, faces = points, triangles
    for cell in CELLS_M:
        if len(faces) <= MAX_TRIANGLES:
            break
        cells = np.round(points / cell).astype(np.int64)
        _, owner, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        owner = owner.ravel()
        merged = np.zeros((len(count), 3))
        np.add.at(merged, owner, points)
        merged /= count[:, None]
        a, b, c = owner[triangles].T
        faces = np.stack([a, b, c], axis=1)[(a != b) & (b != c) & (c != a)]
        faces = faces[np.unique(np.sort(faces, axis=1), axis=0, return_index=True)[1]]
    return merged, faces


def _sharp(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """``mesh`` with its own vertices on both sides of a sharp edge: smooth only where round."""
    smooth = mesh.face_adjacency[mesh.face_adjacency_angles < SHARP_ANGLE_RAD]
    patch = trimesh.graph.connected_component_labels(smooth, node_count=len(mesh.faces))
    corners = np.stack([mesh.faces.ravel(), np.repeat(patch, 3)], axis=1)
    own, faces = np.unique(corners, axis=0, return_inverse=True)
    return trimesh.Trimesh(mesh.vertices[own[:, 0]], faces.reshape(-1, 3), process=False)
