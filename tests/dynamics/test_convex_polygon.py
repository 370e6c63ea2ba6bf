"""Hulls of few points, and what is in them, against Qhull and against distances of many points."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from balance.dynamics.convex_polygon import convex_hull, is_inside, nearest_in

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize("seed", range(20))
def test_hull_is_that_of_qhull(seed):
    points = np.random.default_rng(seed).normal(size=(8, 2))
    expected = points[ConvexHull(points).vertices]
    found = convex_hull(points)
    start = int(np.linalg.norm(expected - found[0], axis=1).argmin())
    np.testing.assert_array_equal(found, np.roll(expected, -start, axis=0))


def test_points_on_sides_are_no_vertices():
    middles = 0.5 * (SQUARE + np.roll(SQUARE, 1, axis=0))
    twice = np.concatenate([middles, SQUARE, SQUARE])
    assert sorted(map(tuple, convex_hull(twice))) == sorted(map(tuple, SQUARE))


@pytest.mark.parametrize("seed", range(20))
def test_a_point_is_inside_as_qhull_says(seed):
    rng = np.random.default_rng(seed)
    points, asked = rng.normal(size=(8, 2)), rng.normal(size=2)
    edges = ConvexHull(points).equations
    assert is_inside(convex_hull(points), asked) == bool((edges @ [*asked, 1.0] <= 0.0).all())


@pytest.mark.parametrize("seed", range(20))
def test_no_point_of_the_polygon_is_nearer_than_the_nearest(seed):
    rng = np.random.default_rng(seed)
    vertices, asked = convex_hull(rng.normal(size=(8, 2))), 3.0 * rng.normal(size=2)
    nearest = nearest_in(vertices, asked)
    weights = rng.dirichlet(np.ones(len(vertices)), size=5000)
    distances = np.linalg.norm(weights @ vertices - asked, axis=1)
    assert np.linalg.norm(nearest - asked) <= distances.min() + 1e-12
    inwards = vertices.mean(axis=0) - nearest
    assert is_inside(vertices, nearest + 1e-9 * inwards)


def test_a_point_inside_is_its_own_nearest():
    np.testing.assert_array_equal(nearest_in(SQUARE, np.array([0.3, 0.6])), [0.3, 0.6])
