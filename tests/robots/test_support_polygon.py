"""One support polygon for all who ask, made of what the robot's file calls feet."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml
from scipy.optimize import linprog

from balance.config import load_config
from balance.config.paths import data_folder
from balance.config.stance import StanceConfig
from balance.control.capture import CaptureController
from balance.errors import ConfigError
from balance.recordings.metrics import ankle_limit, support_reach
from balance.robots import Robot, load_robot
from balance.robots.stance import robot_of, take_stance
from balance.robots.support_polygon import SupportPolygon, feet, support_polygon

TORO = data_folder("robots") / "toro"
TABLE = {"frame": "right_hand", "centre": [-0.04, 0.0, -0.06], "rpy": [0.0, 1.5707963, 0.0]}
SIDES = {"length": 0.09, "width": 0.06}
FORWARDS = np.array([1.0, 0.0, 0.0])


def with_surfaces(folder: Path, **surfaces: dict[str, Any]) -> Robot:
    """The TORO-like robot with more contact surfaces."""
    tree = yaml.safe_load((TORO / "robot.yaml").read_text())
    tree["urdf"] = str(TORO / "toro.urdf")
    tree["surfaces"] |= surfaces
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    return load_robot(path)


def on_a_table(robot: Robot, name: str) -> Robot:
    table = load_config("toro_table").stance
    assert table is not None
    tree = table.model_dump()
    tree["contacts"] = ["left sole", "right sole", name]
    tree["planes"] = {name: table.model_dump()["planes"]["right palm"]}
    return take_stance(robot, StanceConfig.model_validate(tree))


def in_hull(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether some weights of the corners make the point: an oracle without facets."""
    weights = linprog(
        np.zeros(len(corners)),
        A_eq=np.vstack([corners.T, np.ones(len(corners))]),
        b_eq=np.append(point, 1.0),
    )
    return bool(weights.success)


def test_a_console_is_no_foot(tmp_path: Path) -> None:
    """Its name ends in 'sole'; the palm in its place changes nothing about the ankle limit."""
    robot = with_surfaces(tmp_path, console=TABLE | SIDES)
    with_console, with_palm = on_a_table(robot, "console"), on_a_table(robot, "right palm")
    assert [foot.name for foot in feet(with_console)] == ["left sole", "right sole"]
    limit = ankle_limit(with_console, FORWARDS)
    assert limit == pytest.approx(ankle_limit(with_palm, FORWARDS), rel=1e-9)
    assert limit == pytest.approx(ankle_limit(robot, FORWARDS), rel=0.2)


def test_the_file_says_what_is_a_foot(tmp_path: Path) -> None:
    """Without a word it is the soles and whatever else is on their bodies."""
    robot = with_surfaces(
        tmp_path,
        **{
            "left toes": {"frame": "left_sole", "points": [[0.1, 0.0]]},
            "left strap": {"frame": "left_sole", "points": [[0.1, 0.0]], "foot": False},
            "paw": TABLE | SIDES | {"foot": True},
        },
    )
    found = {surface.name: surface.is_foot for surface in robot.surfaces}
    assert found == {
        "left sole": True,
        "right sole": True,
        "left studded sole": True,
        "right studded sole": True,
        "left toes": True,
        "left strap": False,
        "paw": True,
        "left palm": False,
        "right palm": False,
        "left fist": False,
        "right fist": False,
        "left knuckle": False,
        "right knuckle": False,
        "left flat hand": False,
        "right flat hand": False,
        "left knee": False,
        "right knee": False,
        "left thigh": False,
        "right thigh": False,
        "left toe": False,
        "right toe": False,
    }
    assert len(feet(on_a_table(robot, "paw"))) == 3


def test_contacts_of_which_none_is_a_foot_all_bear(toro: Robot) -> None:
    hands = tuple(dataclasses.replace(sole, is_foot=False) for sole in toro.soles)
    assert feet(dataclasses.replace(toro, soles=hands)) == hands


@pytest.mark.parametrize(
    "name", ["toro_push", "toro_single_support", "toro_table", "toro_wall", "toro_slope"]
)
def test_capture_law_and_ankle_limit_see_the_same_edges(name: str) -> None:
    """The law's region without margin and least forces is that of the ankle limit."""
    controller = load_config("toro_capture").controller.model_dump()
    controller["contacts"] |= {"cop_margin_m": 0.0, "min_normal_force_N": 1e-6}
    config = load_config(name, {"controller": controller})
    robot = robot_of(config)
    region = CaptureController(config, robot).planner.regions.cop
    polygon, com, height = support_polygon(robot), robot.com()[:2], robot.com()[2]
    corners = polygon.vertices / height @ region.normals.T
    np.testing.assert_allclose(corners.max(axis=0), region.offsets, rtol=0, atol=1e-6)
    omega = np.sqrt(9.81 / height)
    for angle in np.linspace(0.0, 6.0, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        reach = ankle_limit(robot, direction) / (robot.mass * omega)
        assert polygon.contains(com + 0.999 * reach * direction)
        assert not polygon.contains(com + 1.001 * reach * direction)


def test_polygon_reaches_as_far_as_the_soles_less_the_margin(toro: Robot) -> None:
    margin, com = 0.01, toro.com()[:2]
    polygon = support_polygon(toro, margin=margin)
    for direction in np.eye(2):
        for side in (direction, -direction):
            far = polygon.nearest(com + 10.0 * side) - com
            assert far @ side == pytest.approx(support_reach(toro, side) - margin, rel=1e-9)


def test_nearest_point_of_the_polygon(toro: Robot) -> None:
    """No point of a dense grid over the polygon is nearer."""
    rng, polygon = np.random.default_rng(61), support_polygon(toro, margin=0.005)
    vertices = polygon.vertices
    shares = rng.dirichlet(np.ones(len(vertices)), size=4000)
    inside = shares @ vertices
    for point in vertices.mean(axis=0) + rng.uniform(-0.4, 0.4, (40, 2)):
        nearest = polygon.nearest(point)
        best = np.linalg.norm(inside - point, axis=1).min()
        assert np.linalg.norm(nearest - point) <= best + 1e-12
    for point in inside[:40]:
        np.testing.assert_array_equal(polygon.nearest(point), point)


def test_points_inside_are_those_that_the_corners_span() -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        corners = rng.normal(size=(8, 2)) * [0.2, 0.1]
        polygon = SupportPolygon(corners)
        for point in rng.normal(size=(20, 2)) * [0.2, 0.1]:
            assert polygon.contains(point) == in_hull(corners, point)
            inside = np.array_equal(polygon.nearest(point), point)
            assert inside == polygon.contains(point)


def test_only_loaded_feet_count(toro: Robot) -> None:
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
    left = support_polygon(toro, data, loaded=np.array([True, False]))
    alone = support_polygon(dataclasses.replace(toro, soles=toro.soles[:1]))
    np.testing.assert_array_equal(left.vertices, alone.vertices)
    none = support_polygon(toro, data, loaded=np.array([False, False]))
    assert len(none.vertices) == 0


def test_feet_on_one_line_have_its_nearest_point_and_no_inside() -> None:
    ends = np.array([[0.0, -0.1], [0.0, 0.2]])
    polygon = SupportPolygon(np.concatenate([ends, [[0.0, 0.05]]]))
    assert not polygon.has_area
    assert not polygon.contains(np.array([0.0, 0.0]))
    assert polygon.reach(np.zeros(2), np.array([1.0, 0.0])) == 0.0
    np.testing.assert_allclose(polygon.nearest(np.array([0.3, 0.1])), [0.0, 0.1], atol=1e-15)
    np.testing.assert_allclose(polygon.nearest(np.array([0.3, 0.9])), ends[1], atol=1e-15)
    point = SupportPolygon(ends[:1])
    np.testing.assert_array_equal(point.nearest(np.array([0.3, 0.9])), ends[0])


@pytest.mark.parametrize("name", ["left", "left sole"])
def test_surfaces_that_a_recording_could_not_tell_apart_are_refused(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(ConfigError, match=rf"'soles.left' and 'surfaces.{name}'.*rename"):
        with_surfaces(tmp_path, **{name: TABLE | SIDES})
