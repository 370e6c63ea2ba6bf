"""Shapes of bodies: where Pinocchio has them, as large as the URDF says, and none below a sole."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.errors import RobotError
from balance.robots import Robot, load_robot
from balance.robots.shapes.foot_clip import ABOVE_SOLE_M, TILT_RAD
from balance.robots.shapes.robot_shapes import APART_M, shapes_in_words
from balance.robots.shapes.solids import read_solids
from balance.robots.stance import robot_of
from balance.simulation.mismatch import simulated_robot

ROUNDING = 1e-9  # m


def sampled(robot: Robot) -> list[np.ndarray]:
    """Points of the surface of each shape in its joint's frame, from coal's support function."""
    rng = np.random.default_rng(4)
    directions = rng.standard_normal((400, 3))
    found = []
    for shape in robot.shapes:
        geometry = shape.geometry()
        if shape.kind in ("box", "hull"):
            points = shape.points
        else:
            points = np.array([_support(geometry, d) for d in directions])
        found.append(points @ shape.placement.rotation.T + shape.placement.translation)
    return found


def _support(geometry: object, direction: np.ndarray) -> np.ndarray:
    """Where a primitive reaches furthest along a direction."""
    x, y, z = direction / np.linalg.norm(direction)
    across = np.hypot(x, y)
    if isinstance(geometry, coal.Sphere):
        return geometry.radius * np.array([x, y, z])
    if isinstance(geometry, coal.Capsule):
        return geometry.radius * np.array([x, y, z]) + [0, 0, np.sign(z) * geometry.halfLength]
    assert isinstance(geometry, coal.Cylinder)
    return np.array(
        [*(geometry.radius / across * np.array([x, y])), np.sign(z) * geometry.halfLength]
    )


@pytest.mark.parametrize(
    ("name", "tag"), [("toro", "collision"), ("talos", "collision"), ("human", "visual")]
)
def test_solids_are_where_pinocchio_has_them(name: str, tag: str) -> None:
    """With joints locked (talos), meshes scaled, and the base's axes turned (human)."""
    robot = load_robot(name)
    kind = pin.GeometryType.COLLISION if tag == "collision" else pin.GeometryType.VISUAL
    folders = [str(folder) for folder in robot.package_dirs]
    theirs = pin.buildGeomFromUrdf(robot.model, str(robot.urdf), kind, package_dirs=folders)
    left = list(theirs.geometryObjects)
    for solid in read_solids(robot.urdf, robot.package_dirs, tag):
        frame = robot.model.frames[robot.model.getFrameId(solid.link)]
        placement = frame.placement * solid.placement
        same = [
            one
            for one in left
            if one.name.rpartition("_")[0] == solid.link
            and one.parentJoint == frame.parentJoint
            and one.placement.isApprox(placement, ROUNDING)
            and np.allclose(one.meshScale, solid.scale)
        ]
        assert same, solid
        left.remove(same[0])
    assert left == []


def test_primitives_are_those_of_the_urdf() -> None:
    robot = load_robot("toro")
    folders = [str(folder) for folder in robot.package_dirs]
    theirs = pin.buildGeomFromUrdf(
        robot.model, str(robot.urdf), pin.GeometryType.COLLISION, package_dirs=folders
    )
    volumes = {one.name: one.geometry.computeVolume() for one in theirs.geometryObjects}
    feet = {"left_foot", "right_foot"}  # cut off above their soles
    ours = [shape.geometry().computeVolume() for shape in robot.shapes if shape.body not in feet]
    wanted = [v for name, v in volumes.items() if name.rpartition("_")[0] not in feet]
    np.testing.assert_allclose(sorted(ours), sorted(wanted), rtol=1e-12)


@pytest.mark.parametrize("name", ["toro", "icub"])
def test_bodies_with_a_sole_end_above_it(name: str) -> None:
    robot = load_robot(name)
    points = sampled(robot)
    for sole in robot.surfaces:
        frame = robot.model.frames[sole.frame_id]
        pose = frame.placement * sole.placement
        heights = [
            (points[n] - pose.translation) @ pose.rotation[:, 2]
            for n, shape in enumerate(robot.shapes)
            if shape.joint == frame.parentJoint
        ]
        if sole.is_foot:
            lowest = min(float(height.min()) for height in heights)
            assert ABOVE_SOLE_M - ROUNDING < lowest < ABOVE_SOLE_M + 2e-3


def test_legs_on_point_feet_stay_off_the_ground_at_any_tilt() -> None:
    """Of Solo12's lower leg: below the plane through its foot's point there is nothing."""
    robot = load_robot("solo12")
    rng = np.random.default_rng(2)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    for sole in robot.soles:
        frame, R_WF = robot.model.frames[sole.frame_id], data.oMf[sole.frame_id].rotation
        shapes = [shape for shape in robot.shapes if shape.joint == frame.parentJoint]
        assert shapes
        for angle in rng.uniform(0.0, 2.0 * np.pi, 30):
            # Between two of the tilts that were cut off, a little is left below.
            tilt = np.sin(0.9 * TILT_RAD) * np.array([np.cos(angle), np.sin(angle)])
            normal = R_WF.T @ np.append(tilt, np.sqrt(1.0 - tilt @ tilt))
            for shape in shapes:
                pose = frame.placement.actInv(shape.placement)
                points = shape.points @ pose.rotation.T + pose.translation
                assert (points @ normal).min() > 0.0


def test_pairs_are_the_same_left_and_right() -> None:
    robot = load_robot("toro")
    names = [shape.name for shape in robot.shapes]
    pairs = {frozenset((names[i], names[j])) for i, j in robot.shape_pairs}

    def mirrored(name: str) -> str:
        swap = {"left": "right", "right": "left"}
        side, _, rest = name.partition("_")
        return f"{swap[side]}_{rest}" if side in swap else name

    assert {frozenset(map(mirrored, pair)) for pair in pairs} == pairs
    assert len(pairs) == len(robot.shape_pairs) > 300


def test_pairs_are_all_but_neighbours_and_those_that_overlap_as_the_robot_stands() -> None:
    """Coal's own distance between each two shapes is the judge."""
    robot = load_robot("icub")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    parents = list(robot.model.parents)
    wanted = set()
    for (i, one), (j, other) in combinations(enumerate(robot.shapes), 2):
        if one.joint == other.joint or one.joint in (parents[other.joint],):
            continue
        if other.joint == parents[one.joint]:
            continue
        poses = [data.oMi[shape.joint] * shape.placement for shape in (one, other)]
        frames = [coal.Transform3s(pose.rotation, pose.translation) for pose in poses]
        result = coal.DistanceResult()
        coal.distance(
            one.geometry(), frames[0], other.geometry(), frames[1], coal.DistanceRequest(), result
        )
        if result.min_distance > APART_M:
            wanted.add((i, j))
    assert set(robot.shape_pairs) == wanted


def test_shapes_survive_stance_mismatch_and_another_process() -> None:
    """Pairs come from the posture of the robot's own file, whatever posture it is in."""
    own = load_robot("toro")
    config = load_config("toro_table", {"mismatch": {"mass_scale": 1.1, "sole_scale": 0.9}})
    robot = simulated_robot(robot_of(config), config)
    assert not np.allclose(robot.q_nominal, own.q_nominal)
    assert robot.shape_pairs == own.shape_pairs
    sent = pickle.loads(pickle.dumps(robot))
    for one, other, third in zip(own.shapes, robot.shapes, sent.shapes, strict=True):
        assert one.name == other.name == third.name
        assert one.placement.isApprox(other.placement, ROUNDING)
        assert third.geometry().computeVolume() == one.geometry().computeVolume()


def test_a_robot_says_where_its_shapes_come_from() -> None:
    assert shapes_in_words(load_robot("toro")) == "28 shapes"
    assert shapes_in_words(load_robot("talos")) == "52 shapes, 47 of them meshes"
    assert shapes_in_words(load_robot("human")) == "23 shapes fitted to its visual ones"


@pytest.mark.parametrize(
    ("geometry", "said"),
    [
        ('<box size="0.1 0.2"/>', 'has <box size="0.1 0.2">, which is not 3 finite numbers'),
        ('<sphere radius="-0.1"/>', "is a sphere of size [-0.1]; give positive numbers"),
        ('<mesh filename="gone.stl"/>', "names the mesh 'gone.stl', which does not exist"),
        ("", "has no <geometry> with a box, sphere, cylinder, capsule or mesh"),
    ],
)
def test_what_cannot_be_a_body_is_told(tmp_path: Path, geometry: str, said: str) -> None:
    urdf = tmp_path / "odd.urdf"
    element = f"<collision><geometry>{geometry}</geometry></collision>"
    urdf.write_text(f'<robot name="odd"><link name="trunk">{element}</link></robot>')
    robot = replace(load_robot("toro"), urdf=urdf, package_dirs=(tmp_path,))
    with pytest.raises(RobotError) as error:
        _ = robot.shapes
    assert f"{urdf}: a <collision> of link 'trunk' {said}" in str(error.value)
