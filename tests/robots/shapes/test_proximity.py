"""What is near what: against coal's own distances, sampled surfaces, and a look without memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from shape_looks import measured_pairs, placed, random_posture, robot_of

from balance.robots import Robot
from balance.robots.shapes.ground_points import GroundPoints
from balance.robots.shapes.proximity import MARGIN_M, Plate, Proximity
from balance.robots.shapes.shape import Shape, shape_of
from balance.robots.shapes.travel import travel_weights

SAME_M = 5e-6  # to which two ways to a distance agree: GJK ends at 1e-6


def coal_distances(robot: Robot, data: pin.Data) -> dict[tuple[int, int], float]:
    """Distance of every pair that may touch, one by one."""
    poses = [data.oMi[shape.joint] * shape.placement for shape in robot.shapes]
    frames = [coal.Transform3s(pose.rotation, pose.translation) for pose in poses]
    shapes = [shape.geometry() for shape in robot.shapes]
    found = {}
    for i, j in robot.shape_pairs:
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        found[i, j] = coal.distance(shapes[i], frames[i], shapes[j], frames[j], request, result)
    return found


@pytest.mark.parametrize(("name", "postures"), [("toro", 20), ("icub", 8)])
def test_pairs_that_are_near_are_those_that_coal_finds(name: str, postures: int) -> None:
    robot = robot_of(name)
    rng = np.random.default_rng(7)
    proximity = Proximity(robot)
    seen = 0
    for _ in range(postures):
        q = random_posture(robot, rng, 0.4)
        data = placed(robot, q)
        wanted = {pair: d for pair, d in coal_distances(robot, data).items() if d < MARGIN_M}
        found = {(near.i, near.j): near for near in proximity.contacts(q, data)}
        assert set(found) == set(wanted)
        for pair, near in found.items():
            assert near.distance == pytest.approx(wanted[pair], abs=SAME_M)
            assert np.linalg.norm(near.normal) == pytest.approx(1.0)
            _check_normal(robot, data, near.i, near.j, near.normal, near.distance)
        seen += len(found)
    assert seen > postures


def _check_normal(
    robot: Robot, data: pin.Data, i: int, j: int, normal: np.ndarray, distance: float
) -> None:
    """Along the normal the shapes are as far apart, or as deep in each other, as it says."""
    low, high = (_reach(robot.shapes[n], data, sign * normal) for n, sign in ((i, -1.0), (j, 1.0)))
    assert -low - high == pytest.approx(distance, abs=1e-4)


def _reach(shape: Shape, data: pin.Data, direction: np.ndarray) -> float:
    pose = data.oMi[shape.joint] * shape.placement
    return shape.reach(pose.rotation.T @ direction) + float(direction @ pose.translation)


@pytest.mark.parametrize("name", ["toro", "icub"])
def test_nothing_is_missed_on_the_way(name: str) -> None:
    """A motion in small steps, most of which are not looked at, against looks at each of them."""
    robot = robot_of(name)
    rng = np.random.default_rng(3)
    watching, looking = Proximity(robot), Proximity(robot)
    measured = measured_pairs(watching)
    data = robot.model.createData()
    start, touching, steps = robot.q_nominal, 0, 0
    for _ in range(3):
        goal = random_posture(robot, rng, 0.3)
        goal[3:7] *= np.sign(goal[3:7] @ start[3:7])
        for share in np.linspace(0.0, 1.0, 300):
            q = pin.normalize(robot.model, (1.0 - share) * start + share * goal)
            pin.forwardKinematics(robot.model, data, q)
            fresh = looking.self_contacts(data)
            found = watching.contacts(q, data)
            assert [near[:2] for near in found] == [near[:2] for near in fresh]
            np.testing.assert_allclose(
                [near.distance for near in found], [near.distance for near in fresh], atol=SAME_M
            )
            touching += len(found)
            steps += 1
        start = goal
    assert touching > 10
    # What touches is measured in every step; of the others few are.
    assert len(measured) - touching < 0.05 * steps * len(robot.shape_pairs)


def _counted(proximity: Proximity) -> list[None]:
    """A list that grows whenever all distances are computed."""
    calls: list[None] = []
    original = proximity._all_gaps

    def counting(data: pin.Data) -> np.ndarray:
        calls.append(None)
        return original(data)

    proximity._all_gaps = counting  # type: ignore[method-assign]
    return calls


def test_a_standing_robot_is_looked_at_once() -> None:
    robot = robot_of("toro")
    proximity = Proximity(robot)
    looks = _counted(proximity)
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = robot.q_nominal.copy()
        q[7:] += 1e-4 * rng.standard_normal(len(q) - 7)
        q[:3] += rng.standard_normal(3)  # wherever it is carried
        assert proximity.contacts(q, placed(robot, q)) == []
    assert len(looks) == 1


def test_no_point_goes_further_than_the_bound() -> None:
    robot = robot_of("toro")
    weights = travel_weights(robot.model, robot.shapes)
    rng = np.random.default_rng(5)
    used = 0.0
    for _ in range(40):
        one = random_posture(robot, rng, 0.3)
        other = one.copy()
        other += rng.choice([0.0, 0.1], len(one)) * rng.standard_normal(len(one))
        other = pin.normalize(robot.model, other)
        data = [placed(robot, q) for q in (one, other)]
        for shape, bound in zip(robot.shapes, weights @ np.abs(other - one), strict=True):
            before, after = (
                d.oMi[shape.joint] * shape.placement * pin.SE3(np.eye(3), point)
                for d, point in zip(data, (shape.points[0],) * 2, strict=True)
            )
            way = float(np.linalg.norm(after.translation - before.translation))
            assert way <= bound + 1e-12
            used = max(used, way / max(bound, 1e-12))
    assert used > 0.3  # it is a bound that is worth having


SHAPES = (
    shape_of("box", (0.1, 0.2, 0.3), pin.SE3.Random()),
    shape_of("sphere", (0.15,), pin.SE3.Random()),
    shape_of("cylinder", (0.1, 0.3), pin.SE3.Random()),
    shape_of("capsule", (0.1, 0.2), pin.SE3.Random()),
    shape_of("hull", (), pin.SE3.Random(), np.random.default_rng(1).standard_normal((12, 3))),
)


def surface_points(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Points all over a shape, in its joint's frame."""
    if shape.kind in ("box", "hull"):
        shares = rng.dirichlet(np.full(len(shape.points), 0.1), 4000)
        points = np.concatenate([shares @ shape.points, shape.points])
    else:
        ends = shape.points[rng.integers(len(shape.points), size=20000)]
        around = rng.standard_normal((20000, 3))
        if shape.kind == "cylinder":
            around[:, 2] = 0.0
        around *= shape.size[0] / np.linalg.norm(around, axis=1)[:, None]
        points = ends + around
    return points @ shape.placement.rotation.T + shape.placement.translation


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=[s.kind for s in SHAPES])
def test_the_lowest_point_of_a_shape_is_that_of_all_its_points(number: int) -> None:
    shape, rng = SHAPES[number], np.random.default_rng(number)
    points = GroundPoints([shape])
    samples = surface_points(shape, rng)
    for _ in range(20):
        pose, plane = pin.SE3.Random(), pin.SE3.Random()
        placements = np.vstack([pose.rotation.T, pose.translation])[None]
        above = samples @ pose.rotation.T + pose.translation - plane.translation
        lowest = float((above @ plane.rotation[:, 2]).min())
        height = float(points.lowest(placements, plane)[0])
        assert lowest - 0.01 < height < lowest + 1e-9  # samples just miss the lowest of a round one
        found, heights, numbers = points.near(placements, plane, height + 1e-6)
        assert heights.min() == pytest.approx(height, abs=1e-12)
        assert set(numbers) == {0}
        on_plane = (found - plane.translation) @ plane.rotation[:, 2]
        np.testing.assert_allclose(on_plane, heights, atol=1e-12)


def test_a_cylinder_touches_with_its_rim() -> None:
    """Standing with four points, a square on the end's rim; lying with one below each end."""
    shape = shape_of("cylinder", (0.1, 0.3), pin.SE3.Identity())
    points, plane = GroundPoints([shape]), pin.SE3.Identity()
    standing = np.vstack([np.eye(3), [0.0, 0.0, 0.3]])[None]
    found, heights, _ = points.near(standing, plane, 1e-3)
    assert len(found) == 4
    np.testing.assert_allclose(heights, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found[:, :2], axis=1), 0.1)
    turn = pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0]))
    lying = np.vstack([turn.T, [0.0, 0.0, 0.1]])[None]
    found, heights, _ = points.near(lying, plane, 1e-3)
    np.testing.assert_allclose(sorted(found[:, 0]), [-0.3, 0.3], atol=1e-12)
    np.testing.assert_allclose(heights, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["toro", "icub"])
def test_the_floor_is_watched_without_missing_anything(name: str) -> None:
    """Sinking, tilting and rising again in small steps, against a watch that knows nothing."""
    robot = robot_of(name)
    watching = Proximity(robot)
    data = robot.model.createData()
    rng = np.random.default_rng(2)
    touched = 0
    for step in range(200):
        q = robot.q_nominal.copy()
        way = np.sin(2.0 * np.pi * step / 100.0)
        q[2] -= 0.01 * way + 1e-4 * rng.standard_normal()
        q[3:7] = pin.Quaternion(pin.exp3(np.array([0.05, 0.1, 0.0]) * way)).coeffs()
        pin.forwardKinematics(robot.model, data, q)
        found = watching.ground_points(data)
        fresh = Proximity(robot, bodies=False).ground_points(data) if step % 10 == 0 else found
        for one, other in zip(found, fresh, strict=True):
            assert np.array_equal(one, other)
        touched += len(found[0]) > 0
    assert 20 < touched < 180


def test_a_standing_robot_touches_with_its_soles_alone() -> None:
    for name in ("toro", "icub", "solo12"):
        robot = robot_of(name)
        points, _, _ = Proximity(robot).ground_points(placed(robot, robot.q_nominal))
        assert len(points) == 0


def test_a_floor_that_moves_is_looked_at_again() -> None:
    robot = robot_of("toro")
    data = placed(robot, robot.q_nominal)
    proximity = Proximity(robot)
    assert len(proximity.ground_points(data)[0]) == 0
    proximity.move_floor(pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.01])))
    points, heights, numbers = proximity.ground_points(data)
    assert {robot.shapes[n].body for n in numbers} == {"left_foot", "right_foot"}
    np.testing.assert_allclose(heights.min(), 2e-3 - 0.01, atol=1e-9)
    np.testing.assert_allclose(points[:, 2] - 0.01, heights, atol=1e-9)


def test_a_plate_is_touched_at_its_edge_too() -> None:
    """A forearm across a plate's edge, with no point of its ends near."""
    robot = robot_of("toro")
    data = placed(robot, robot.q_nominal)
    arm = next(n for n, shape in enumerate(robot.shapes) if shape.body == "left_forearm")
    shape = robot.shapes[arm]
    pose = data.oMi[shape.joint] * shape.placement
    radius, half = shape.size
    assert half > 0.1
    # The side of the plate is across the middle of the forearm, 1 mm inside of it.
    top = pose * pin.SE3(np.eye(3), np.array([radius - 1e-3 + 0.03, 0.0, 0.01]))
    proximity = Proximity(robot, plates=[Plate(top, (0.03, 0.03, 0.01))], bodies=False)
    (near,) = proximity.contacts(robot.q_nominal, data)
    assert (near.i, near.j) == (arm, len(robot.shapes))
    assert near.distance == pytest.approx(-1e-3, abs=SAME_M)
    np.testing.assert_allclose(near.normal, -pose.rotation[:, 0], atol=1e-4)
    proximity.move_plate(0, pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0])))
    assert proximity.contacts(robot.q_nominal, data) == []
    spared = Plate(top, (0.03, 0.03, 0.01), (shape.joint,))
    assert Proximity(robot, plates=[spared]).contacts(robot.q_nominal, data) == []


def test_a_box_lies_on_a_plate_with_its_corners() -> None:
    """The sole's box of a foot, 1 mm in a plate that is larger."""
    robot = robot_of("toro")
    data = placed(robot, robot.q_nominal)
    foot = next(n for n, shape in enumerate(robot.shapes) if shape.body == "left_foot")
    x, y, _ = (data.oMi[robot.shapes[foot].joint] * robot.shapes[foot].placement).translation
    top = pin.SE3(np.eye(3), np.array([x, y, 3e-3]))
    proximity = Proximity(robot, plates=[Plate(top, (0.15, 0.08, 0.02))], bodies=False)
    on_it = [near for near in proximity.contacts(robot.q_nominal, data) if near.i == foot]
    assert len(on_it) == 4
    for near in on_it:
        assert near.distance == pytest.approx(-1e-3, abs=SAME_M)
        np.testing.assert_allclose(near.normal, [0.0, 0.0, 1.0], atol=1e-9)


def test_a_robot_without_shapes_touches_nothing(tmp_path: Path) -> None:
    urdf = tmp_path / "bare.urdf"
    urdf.write_text('<robot name="bare"><link name="trunk"/></robot>')
    robot = replace(robot_of("toro"), urdf=urdf, package_dirs=(tmp_path,))
    data = placed(robot, robot.q_nominal)
    proximity = Proximity(robot, plates=[Plate(pin.SE3.Identity(), (1.0, 1.0, 1.0))])
    assert proximity.contacts(robot.q_nominal, data) == []
    assert len(proximity.ground_points(data)[0]) == 0
    assert proximity.clearance(data) == np.inf
