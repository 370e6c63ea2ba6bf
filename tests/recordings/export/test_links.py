"""The tree of links, its motion and its looks, against Pinocchio's own kinematics and volumes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from balance.recordings.export.links import WORLD, links_of, order, poses
from balance.recordings.export.looks import box, looks_of, turned
from balance.robots import Robot, load_robot

POSE_TOLERANCE = 1e-12  # m, and entries of a rotation matrix


@pytest.mark.parametrize("name", ["toro", "icub", "human", "solo12"])
def test_the_poses_chained_from_the_world_are_pinocchios(
    name: str, random_state: Callable[..., tuple[np.ndarray, np.ndarray]]
) -> None:
    """With a base whose axes are turned, with locked joints, and with four feet."""
    robot = load_robot(name)
    model, data = robot.model, robot.model.createData()
    rng = np.random.default_rng(5)
    q = np.array([random_state(robot, rng)[0] for _ in range(3)])
    links = links_of(robot)
    bodies = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert sorted(link.name for link in links) == sorted(bodies)
    relative = {link.name: poses(link, model, q) for link in links}
    for row in range(len(q)):
        pin.framesForwardKinematics(model, data, q[row])
        at = {WORLD: pin.SE3.Identity()}
        for link in links:
            position, quaternion = (values[row] for values in relative[link.name])
            turn = pin.Quaternion(*quaternion[[3, 0, 1, 2]])
            at[link.name] = at[link.parent] * pin.SE3(turn, position)
            wanted = data.oMf[model.getFrameId(link.name)].homogeneous
            error = np.abs(at[link.name].homogeneous - wanted).max()
            assert error < POSE_TOLERANCE, link.name


def test_a_links_path_names_all_that_it_hangs_on(toro: Robot) -> None:
    paths = order(links_of(toro))
    assert paths["hip"] == "hip"
    assert paths["left_sole"].split("/")[-2:] == ["left_foot", "left_sole"]


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    """Of a closed surface whose triangles turn outwards; negative if they turn inwards."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_surfaces_turn_outwards_and_hold_their_volume() -> None:
    assert volume(*box(np.array([0.1, 0.2, 0.3]))) == pytest.approx(8 * 0.1 * 0.2 * 0.3)
    profile = np.array([[0.0, -0.2], [0.1, -0.2], [0.1, 0.2], [0.0, 0.2]])
    inscribed = 24 / 2 * np.sin(2 * np.pi / 24) * 0.1**2 * 0.4  # a prism of 24 sides
    assert volume(*turned(profile)) == pytest.approx(inscribed)


def test_every_visual_shape_is_a_look_of_its_link_with_its_colour(toro: Robot) -> None:
    geometry = pin.buildGeomFromUrdf(
        toro.model, str(toro.urdf), pin.GeometryType.VISUAL, package_dirs=[str(toro.urdf.parent)]
    )
    shapes = {(toro.model.frames[s.parentFrame].name, tuple(s.meshColor)) for s in
              geometry.geometryObjects}  # fmt: skip
    looks = looks_of(toro)
    assert {(look.link, look.colour) for look in looks} == shapes
    for look in looks:
        assert volume(look.points, look.triangles) > 0.0
        assert np.abs(look.points).max() < 1.0  # m: in the link's frame, not in the world's
