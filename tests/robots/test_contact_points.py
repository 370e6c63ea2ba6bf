"""The wrench cone of points is exactly the set of sums of forces in their pyramids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from balance.errors import InputError
from balance.robots import Robot
from balance.robots.contact_points import along_a_line, points_cone, surface_cone
from balance.robots.contacts import WrenchCone, wrench_cone

Array = NDArray[np.float64]

MU = 0.4
SHAPES = {
    "triangle": [[0.1, 0.04], [0.1, -0.04], [-0.1, 0.0]],
    "kite": [[0.1, 0.0], [0.02, 0.05], [-0.08, 0.0], [0.02, -0.05]],
    "off its centre": [[0.3, 0.2], [0.3, 0.25], [0.2, 0.2]],
    "with a point inside": [[0.1, 0.0], [-0.1, 0.05], [-0.1, -0.05], [-0.03, 0.0], [0.0, 0.04]],
    "two points": [[0.1, 0.0], [-0.1, 0.0]],
    "on a line": [[0.1, 0.0], [-0.02, 0.0], [-0.1, 0.0]],
}
BOUNDARY = 1e-6  # relative distance from the boundary at which both must agree


def edge_wrenches(points: Array, mu: float) -> Array:
    """(6, 4 n): the wrenches of the four edges of the friction pyramid at each point."""
    forces = [[mu, mu, 1.0], [mu, -mu, 1.0], [-mu, -mu, 1.0], [-mu, mu, 1.0]]
    return np.array(
        [np.concatenate([f, np.cross([x, y, 0.0], f)]) for x, y in points for f in forces]
    ).T


def sorted_rows(cone: WrenchCone) -> Array:
    """Rows of largest entry one, in an order of their own."""
    rows = cone.rows / np.abs(cone.rows).max(axis=1, keepdims=True)
    return rows[np.lexsort(np.round(rows, 6).T)]


def test_cone_of_a_rectangles_corners_is_the_rectangles() -> None:
    X, Y = 0.09, 0.04
    found = points_cone(np.array([[X, Y], [X, -Y], [-X, -Y], [-X, Y]]), MU)
    np.testing.assert_allclose(sorted_rows(found), sorted_rows(wrench_cone(X, Y, MU)), atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_cone_ends_where_no_forces_at_the_points_add_up(shape: str) -> None:
    """Along rays from inside, up to the cone's boundary non-negative least squares finds forces."""
    points = np.array(SHAPES[shape])
    V, rng = edge_wrenches(points, MU), np.random.default_rng(3)
    cone = points_cone(points, MU)
    scale = np.abs(V).max(axis=1)
    transmitted, scale = scale > 0.0, np.where(scale > 0.0, scale, 1.0)
    rays = 0
    while rays < 40:
        start = V @ rng.exponential(size=V.shape[1]) / V.shape[1]
        ray = transmitted * scale * rng.normal(size=6)
        rates = cone.rows @ ray
        if not (rates < 0.0).any():  # it stays inside for ever
            continue
        rays += 1
        length = np.min(cone.margin(start)[rates < 0.0] / -rates[rates < 0.0])
        for factor, reached in ((1.0 - BOUNDARY, True), (1.0 + BOUNDARY, False)):
            end = start + factor * length * ray
            missing = nnls(V / scale[:, None], end / scale)[1]
            assert (missing < 1e-10) == reached


def test_single_point_gives_the_forces_of_its_pyramid() -> None:
    """Five rows, exact on both sides of the boundary; what it cannot transmit has no row."""
    cone = points_cone(np.array([[0.0, 0.0]]), MU, cop_margin=0.01, min_normal_force=10.0)
    assert len(cone.rows) == 5 and not cone.rows[:, 3:].any()
    assert set(cone.names[1:]) == {
        "friction forwards", "friction backwards", "friction to the left", "friction to the right"
    }  # fmt: skip
    for f in ([1.0, -1.0], [0.0, 1.0], [-1.0, 0.3]):
        for share, inside in ((1.0 - BOUNDARY, True), (1.0 + BOUNDARY, False)):
            force = 100.0 * np.array([share * MU * f[0], share * MU * f[1], 1.0])
            assert (cone.margin(np.append(force, np.zeros(3))).min() > 0.0) == inside
    assert cone.margin(np.array([0.0, 0.0, 9.9, 0.0, 0.0, 0.0])).min() < 0.0


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
def test_points_on_a_line_are_laid_along_x(angle: float) -> None:
    direction = np.array([np.cos(angle), np.sin(angle)])
    points = np.array([[0.02, 0.01]]) + np.outer([-0.1, 0.03, 0.1], direction)
    laid, R = along_a_line(points)
    assert np.ptp(laid[:, 1]) < 1e-12 and np.ptp(laid[:, 0]) == pytest.approx(0.2)
    np.testing.assert_allclose(laid @ R[:2, :2].T, points, atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_held_components_are_those_of_robot_dynamics(toro: Robot) -> None:
    """RobotDynamicsETH (2.253)-(2.255): three of a point, five of two points, six of a patch."""
    sole = toro.soles[0]
    held = {
        n: replace(sole, points=tuple((0.05 * (-1) ** i, 0.03 * (i // 2)) for i in range(n))).held
        for n in (2, 3)
    }
    assert held == {2: (0, 1, 2, 4, 5), 3: (0, 1, 2, 3, 4, 5)}
    assert replace(sole, points=((0.0, 0.0),)).held == (0, 1, 2)
    assert sole.held == (0, 1, 2, 3, 4, 5)
    with pytest.raises(InputError, match=r"turn its placement so that they lie along x"):
        _ = replace(sole, points=((0.0, 0.05), (0.0, -0.05))).held


def test_margin_and_names_are_about_the_edges_between_points() -> None:
    points, margin, force = np.array(SHAPES["triangle"]), 0.01, 300.0
    cone = points_cone(points, MU, cop_margin=margin, max_normal_force=500.0)
    front = 0.1 - margin  # the toes' edge is across x
    for beyond in (-1e-6, 1e-6):
        cop = np.array([front + beyond, 0.0, 0.0])
        wrench = np.concatenate([[0, 0, force], np.cross(cop, [0, 0, force])])
        worst = int(cone.margin(wrench).argmin())
        assert (cone.margin(wrench).min() >= 0.0) == (beyond < 0.0)
    assert cone.names[worst] == "CoP at an edge of its points"
    sliding = force * np.array([1.01 * MU, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert cone.names[int(cone.margin(sliding).argmin())] == "friction forwards"
    assert cone.margin(np.array([0.0, 0.0, 501.0, 0.0, 0.0, 0.0])).min() == pytest.approx(-1.0)


def test_cone_of_a_surface_is_that_of_its_shape(toro: Robot) -> None:
    known = {surface.name: surface for surface in toro.surfaces}
    assert surface_cone(known["left sole"], MU).rows.shape == (17, 6)
    studs = known["left studded sole"]
    expected = points_cone(studs.corners[:, :2], MU)
    np.testing.assert_array_equal(surface_cone(studs, MU).rows, expected.rows)
    assert studs.has_area and not known["right knuckle"].has_area


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"cop_margin": 0.05}, "largest circle between the points"),
        ({"cop_margin": -0.001}, "cop_margin is -0.001 m"),
        ({"min_normal_force": -1.0}, "min_normal_force is -1.0 N"),
        ({"min_normal_force": 5.0, "max_normal_force": 4.0}, "max_normal_force is 4.0 N"),
        ({"pyramid_friction": 0.0}, "friction is 0.0"),
    ],
)
def test_impossible_limits_get_one_sentence(limits: dict[str, float], told: str) -> None:
    with pytest.raises(InputError) as caught:
        points_cone(np.array(SHAPES["triangle"]), **({"pyramid_friction": MU} | limits))
    assert told in str(caught.value) and "\n" not in str(caught.value)
