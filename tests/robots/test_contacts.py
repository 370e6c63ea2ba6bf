"""The wrench cone of a rectangle is exactly the set of sums of corner forces in their pyramids."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array

from balance.errors import InputError
from balance.robots.contacts import WrenchCone, centre_of_pressure, friction_pyramid, wrench_cone

Array = NDArray[np.float64]

# half length, half width (m), side of the friction pyramid
SOLES = {
    "toro": (0.095, 0.0475, 0.6 / np.sqrt(2.0)),
    "talos": (0.100, 0.060, 0.3),
    "square": (0.080, 0.080, 0.7),
    "wide and icy": (0.030, 0.120, 0.05),
    "narrow and sticky": (0.150, 0.010, 1.5),
}
RAYS_PER_SOLE = 1000
BOUNDARY = 1e-6  # relative distance from the boundary at which both tests must agree
FAR = 10.0  # rays longer than this are cut, since a cone may contain a whole ray


def corner_wrenches(X: float, Y: float, mu: float) -> Array:
    """(6, 16): the wrenches of the four edges of the friction pyramid at each of four corners."""
    columns = []
    for x, y in ((X, Y), (X, -Y), (-X, -Y), (-X, Y)):
        for f_x, f_y in ((mu, mu), (mu, -mu), (-mu, -mu), (-mu, mu)):
            force = np.array([f_x, f_y, 1.0])
            columns.append(np.concatenate([force, np.cross([x, y, 0.0], force)]))
    return np.array(columns).T


def ray_lengths(V: Array, starts: Array, rays: Array) -> Array:
    """Largest t, at most FAR, with start + t ray = V lambda and lambda >= 0: a linear program.

    The programs of all rays are independent, so that the sum of their t has the same solution.
    """
    n = len(starts)
    blocks = [csr_array(np.column_stack([V, -ray])) for ray in rays]
    cost = np.tile(np.append(np.zeros(V.shape[1]), -1.0), n)
    bounds = ([(0.0, None)] * V.shape[1] + [(0.0, FAR)]) * n
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    solution = linprog(
        cost, A_eq=block_diag(blocks), b_eq=starts.ravel(), bounds=bounds, options=tight
    )
    assert solution.success, solution.message
    return np.asarray(solution.x[V.shape[1] :: V.shape[1] + 1])


def inside(cone: WrenchCone, wrenches: Array) -> NDArray[np.bool_]:
    return np.asarray((wrenches @ cone.rows.T >= cone.lower).all(axis=1))


@pytest.mark.parametrize("sole", SOLES)
def test_cone_is_the_corner_force_cone(sole: str) -> None:
    """Along random rays from inside, the linear program and the inequalities end at one point."""
    X, Y, mu = SOLES[sole]
    rng = np.random.default_rng(2015)
    V = corner_wrenches(X, Y, mu)
    # Rows of one size: forces over mu, moments over their levers.
    scale = np.array([mu, mu, 1.0, Y, X, mu * (X + Y)])
    V_scaled = V / scale[:, None]
    starts = rng.exponential(size=(RAYS_PER_SOLE, 16)) @ V_scaled.T / 16.0
    rays = rng.normal(size=(RAYS_PER_SOLE, 6))
    batches = np.split(np.arange(RAYS_PER_SOLE), 4)
    length = np.concatenate([ray_lengths(V_scaled, starts[b], rays[b]) for b in batches])

    cone = wrench_cone(X, Y, mu)
    short = length < FAR
    assert short.mean() > 0.8
    for factor, expected in ((1.0 - BOUNDARY, True), (1.0 + BOUNDARY, False)):
        ends = (starts + factor * length[:, None] * rays)[short] * scale
        np.testing.assert_array_equal(inside(cone, ends), expected)
    np.testing.assert_array_equal(inside(cone, (starts + rays) * scale), length >= 1.0)
    assert inside(cone, (starts + FAR * rays)[~short] * scale).all()


@pytest.mark.parametrize("sole", SOLES)
def test_cone_has_17_rows_and_an_18th_for_the_largest_normal_force(sole: str) -> None:
    X, Y, mu = SOLES[sole]
    assert wrench_cone(X, Y, mu).rows.shape == (17, 6)
    limited = wrench_cone(X, Y, mu, min_normal_force=20.0, max_normal_force=500.0)
    assert limited.rows.shape == (18, 6)
    assert len(limited.names) == len(limited.lower) == 18
    for force, expected in ((19.9, False), (20.1, True), (499.9, True), (500.1, False)):
        assert inside(limited, np.array([[0.0, 0.0, force, 0.0, 0.0, 0.0]])) == expected


def test_force_at_a_corner_fixes_the_yaw_torque() -> None:
    """With the CoP in a corner a torsion bound of its own would admit far too much."""
    X, Y, mu = SOLES["toro"]
    cone = wrench_cone(X, Y, mu)
    force = np.array([0.3 * mu, -0.5 * mu, 1.0]) * 400.0
    at_corner = np.concatenate([force, np.cross([X, Y, 0.0], force)])
    rounding = 1e-12 * 400.0
    assert cone.margin(at_corner).min() >= -rounding
    for twist in (1e-6, -1e-6):
        twisted = at_corner + np.array([0, 0, 0, 0, 0, twist])
        assert cone.margin(twisted).min() < -0.9e-6


@pytest.mark.parametrize(
    ("edge", "axis", "sign"),
    [("front", 0, 1), ("rear", 0, -1), ("left", 1, 1), ("right", 1, -1)],
)
def test_cop_margin_keeps_the_centre_of_pressure_from_every_edge(
    edge: str, axis: int, sign: int
) -> None:
    X, Y, mu = SOLES["toro"]
    margin, force = 0.01, 300.0
    cone = wrench_cone(X, Y, mu, cop_margin=margin)
    row = cone.names.index(f"CoP at its {edge} edge")
    for beyond in (-1e-6, 1e-6):
        cop = np.zeros(3)
        cop[axis] = sign * ((X, Y)[axis] - margin + beyond)
        wrench = np.concatenate([[0.0, 0.0, force], np.cross(cop, [0.0, 0.0, force])])
        np.testing.assert_allclose(centre_of_pressure(wrench), cop[:2], atol=1e-15)
        assert cone.margin(wrench)[row] == pytest.approx(-beyond * force, rel=1e-6)
        assert (cone.margin(wrench).min() >= 0.0) == (beyond < 0.0)


@pytest.mark.parametrize(
    ("name", "force"),
    [
        ("friction forwards", (1, 0)),
        ("friction backwards", (-1, 0)),
        ("friction to the left", (0, 1)),
        ("friction to the right", (0, -1)),
    ],
)
def test_friction_rows_are_named_after_the_force_on_the_robot(
    name: str, force: tuple[int, int]
) -> None:
    X, Y, mu = SOLES["toro"]
    cone = wrench_cone(X, Y, mu)
    wrench = 100.0 * np.array([1.01 * mu * force[0], 1.01 * mu * force[1], 1.0, 0, 0, 0])
    assert cone.names[int(cone.margin(wrench).argmin())] == name


def test_pyramid_is_inscribed_in_the_circular_cone() -> None:
    side = friction_pyramid(0.6)
    assert np.hypot(side, side) == pytest.approx(0.6, rel=1e-15)


def test_centre_of_pressure_is_nan_without_load() -> None:
    wrenches = np.array([[[0, 0, 100, 2, -5, 0], [0, 0, 0.5, 2, -5, 0]]], dtype=float)
    cop = centre_of_pressure(wrenches)
    np.testing.assert_allclose(cop[0, 0], [0.05, 0.02], rtol=1e-15)
    assert np.isnan(cop[0, 1]).all()


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"half_length": 0.0}, ["half_length", "positive", "0.0"]),
        ({"half_length": INF}, ["half_length", "finite", "inf"]),
        ({"half_width": -0.1}, ["half_width", "positive", "-0.1"]),
        ({"half_width": NAN}, ["half_width", "nan"]),
        ({"pyramid_friction": 0.0}, ["friction", "positive"]),
        ({"pyramid_friction": INF}, ["friction", "finite", "inf"]),
        ({"cop_margin": -0.001}, ["cop_margin", "-0.001", "0.05"]),
        ({"cop_margin": 0.05}, ["cop_margin", "0.05"]),
        ({"cop_margin": NAN}, ["cop_margin", "nan"]),
        ({"min_normal_force": -1.0}, ["min_normal_force", "-1.0"]),
        ({"min_normal_force": NAN}, ["min_normal_force", "nan"]),
        ({"min_normal_force": 10.0, "max_normal_force": 10.0}, ["max_normal_force", "10.0"]),
        ({"max_normal_force": NAN}, ["max_normal_force", "nan"]),
    ],
)
def test_impossible_contact_is_refused_in_one_sentence(
    arguments: dict[str, float], told: list[str]
) -> None:
    good = {"half_length": 0.1, "half_width": 0.05, "pyramid_friction": 0.4}
    with pytest.raises(InputError) as caught:
        wrench_cone(**(good | arguments))
    message = str(caught.value)
    assert "\n" not in message
    for part in told:
        assert part in message
