"""The contact-wrench QP: what was asked for, in the cones, evenly shared, on soles at any tilt."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.control.qp import QPStatus, make_solver
from balance.control.qp.wrenches import WrenchDistribution
from balance.robots.contacts import ContactSurface, wrench_cone

Array = NDArray[np.float64]

X, Y, MU = 0.095, 0.0475, 0.6 / np.sqrt(2.0)
WEIGHT = 760.0  # N
MET = 100.0  # wanted minus achieved (N, N m), in units of regularisation times weight
INSIDE = 1e-9  # violation of a cone, relative to the weight
SAME = 1e-6  # relative to the weight
REQUESTS = 100


def surface(name: str) -> ContactSurface:
    return ContactSurface(name, name, 0, pin.SE3.Identity(), X, Y)


def two_soles(regularisation: float) -> WrenchDistribution:
    """Two soles with all limits set."""
    cone = wrench_cone(
        X, Y, MU, cop_margin=0.005, min_normal_force=10.0, max_normal_force=2.0 * WEIGHT
    )
    return WrenchDistribution(
        [surface("left sole"), surface("right sole")],
        [cone, cone],
        MU,
        make_solver("quadprog"),
        linear_weight=1.0,
        angular_weight=10.0,
        regularisation=regularisation,
    )


@pytest.fixture(scope="module")
def distribution() -> WrenchDistribution:
    return two_soles(1e-6)


def grasp_map(poses: list[pin.SE3], com: Array) -> Array:
    """(6, 6 k) by Pinocchio: dual action of each sole's placement relative to the CoM."""
    X_WG = pin.SE3(np.eye(3), com)
    return np.hstack([(X_WG.inverse() * pose).toDualActionMatrix() for pose in poses])


def flat_soles() -> list[pin.SE3]:
    return [pin.SE3(np.eye(3), np.array([0.0, y, 0.0])) for y in (0.1, -0.1)]


def tilted_soles(rng: np.random.Generator) -> list[pin.SE3]:
    """Soles at random places, tilted by up to a radian or so and turned by any yaw."""
    return [
        pin.SE3(
            pin.rpy.rpyToMatrix(*rng.uniform(-1.0, 1.0, 2), rng.uniform(-np.pi, np.pi)),
            np.array([0.0, y, 0.0]) + rng.uniform(-0.2, 0.2, 3),
        )
        for y in (0.1, -0.1)
    ]


def wrenches_in_cones(distribution: WrenchDistribution, rng: np.random.Generator) -> Array:
    """Stacked wrenches just inside: one force per sole, near a corner and its pyramid's edge."""
    stacked = []
    for _ in range(2):
        f_z = WEIGHT * rng.uniform(0.2, 0.8)
        force = np.array([*(0.98 * MU * f_z * rng.choice([-1.0, 0.3, 1.0], 2)), f_z])
        point = rng.choice(surface("").corners) * 0.88
        # Some of it spread over the sole, so that the wrench is off every face of the cone.
        wrench = np.concatenate([force, np.cross(point, force)])
        stacked.append(0.99 * wrench + 0.01 * np.array([0.0, 0.0, f_z, 0.0, 0.0, 0.0]))
    result = np.concatenate(stacked)
    assert (distribution.rows @ result > distribution.lower).all()
    return result


@pytest.mark.parametrize("regularisation", [1e-6, 1e-8])
def test_feasible_request_is_met_on_soles_of_any_tilt(regularisation: float) -> None:
    """Exactly where the even share does, and else but for the pull of the regularisation."""
    distribution = two_soles(regularisation)
    met = MET * regularisation * WEIGHT
    rng = np.random.default_rng(7)
    com, hard = np.array([0.0, 0.0, 0.9]), 0
    for _ in range(REQUESTS):
        G = grasp_map(tilted_soles(rng), com)
        wanted = G @ wrenches_in_cones(distribution, rng)
        solution = distribution.solve(G, wanted)
        stacked = solution.wrenches.ravel()
        assert solution.status is QPStatus.SOLVED
        np.testing.assert_allclose(G @ stacked, wanted, atol=met, rtol=0)
        np.testing.assert_allclose(solution.residual, wanted - G @ stacked, atol=1e-9)
        assert (distribution.rows @ stacked - distribution.lower).min() > -INSIDE * WEIGHT
        hard += len(solution.active) > 0
    assert hard > REQUESTS // 5, "the cones must bind in a good part of the requests"


def test_infeasible_request_gets_the_nearest_wrench_in_the_cones(
    distribution: WrenchDistribution,
) -> None:
    """No feasible wrench is nearer: checked along segments to random feasible wrenches."""
    rng = np.random.default_rng(8)
    G = grasp_map(flat_soles(), np.array([0.0, 0.0, 0.9]))
    weight = np.array([1.0, 1.0, 1.0, 10.0, 10.0, 10.0])

    def cost(stacked: Array, wanted: Array) -> float:
        error = G @ stacked - wanted
        return float(error @ (weight * error))

    for _ in range(20):
        wanted = np.concatenate([[0.0, 0.0, WEIGHT], np.zeros(3)]) + 600.0 * rng.normal(size=6)
        solution = distribution.solve(G, wanted)
        best = solution.wrenches.ravel()
        assert len(solution.active) > 0
        assert np.abs(solution.residual).max() > 1.0
        assert (distribution.rows @ best - distribution.lower).min() > -INSIDE * WEIGHT
        for _ in range(20):
            other = wrenches_in_cones(distribution, rng)
            for share in (1e-3, 0.1, 1.0):
                moved = best + share * (other - best)
                assert cost(moved, wanted) > cost(best, wanted) - 1e-6 * WEIGHT**2 * share


def test_weight_is_shared_evenly_and_symmetrically(distribution: WrenchDistribution) -> None:
    """CoM midway: each sole bears half the weight, in mirror images of one another."""
    G = grasp_map(flat_soles(), np.array([0.01, 0.0, 0.9]))
    wanted = np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0])
    left, right = distribution.solve(G, wanted).wrenches
    np.testing.assert_allclose([left[2], right[2]], 0.5 * WEIGHT, rtol=1e-12)
    mirror = np.array([1, -1, 1, -1, 1, -1])  # a wrench seen in the plane y = 0
    np.testing.assert_allclose(left, mirror * right, atol=1e-12 * WEIGHT)
    np.testing.assert_allclose(-left[4] / left[2], 0.01, rtol=1e-12)


def test_short_cut_of_the_even_share_is_the_solution_of_the_program(
    distribution: WrenchDistribution,
) -> None:
    rng = np.random.default_rng(9)
    taken = 0
    for _ in range(REQUESTS):
        G = grasp_map(flat_soles(), np.array([0.0, 0.0, 0.9]) + rng.uniform(-0.03, 0.03, 3))
        wanted = np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0]) + 20.0 * rng.normal(size=6)
        share = distribution.even_share(G, wanted)
        if (distribution.rows @ share < distribution.lower).any():
            continue
        taken += 1
        program = distribution.program(G, wanted, share)
        full = distribution.solver.solve(program)
        np.testing.assert_allclose(
            distribution.solve(G, wanted).wrenches.ravel(), full.x, atol=SAME * WEIGHT, rtol=0
        )
    assert taken > REQUESTS // 3


def test_even_share_is_the_least_in_units_of_what_a_contact_bears(
    distribution: WrenchDistribution,
) -> None:
    """Least-norm solution in scaled variables, by NumPy's pseudo-inverse."""
    rng = np.random.default_rng(10)
    capacity = np.tile([MU, MU, 1.0, Y, X, MU * (X + Y)], 2)
    for _ in range(20):
        G, wanted = grasp_map(tilted_soles(rng), rng.normal(size=3)), 100.0 * rng.normal(size=6)
        expected = capacity * (np.linalg.pinv(G * capacity) @ wanted)
        np.testing.assert_allclose(
            distribution.even_share(G, wanted), expected, rtol=1e-8, atol=1e-8
        )


def test_active_constraints_carry_the_names_of_sole_and_limit(
    distribution: WrenchDistribution,
) -> None:
    """Pulled up, only the minimum normal forces act; pulled forwards and down, front friction."""
    G = grasp_map(flat_soles(), np.array([0.0, 0.0, 0.9]))
    up = distribution.solve(G, np.array([0.0, 0.0, -500.0, 0.0, 0.0, 0.0]))
    assert set(distribution.describe(up.active)) == {
        "left sole: normal force at its minimum",
        "right sole: normal force at its minimum",
    }
    sideways = distribution.solve(G, np.array([0.0, 2.0 * WEIGHT, WEIGHT, 0.0, 0.0, 0.0]))
    assert "left sole: friction to the left" in distribution.describe(sideways.active)
    assert len(distribution.names) == 2 * 18


def test_limits_that_leave_no_wrench_give_a_status(distribution: WrenchDistribution) -> None:
    """A negative row bound turned round: no wrench can bear more and less than the same load."""
    impossible = wrench_cone(X, Y, MU, min_normal_force=10.0)
    lower = impossible.lower.copy()
    lower[[5, 6]] = 1e9  # the CoP before the front edge and behind the rear edge at once
    cone = type(impossible)(
        np.vstack([impossible.rows, [0, 0, -1, 0, 0, 0]]),
        np.append(lower, -20.0),
        (*impossible.names, "normal force at its maximum"),
    )
    stuck = WrenchDistribution(
        [surface("sole")],
        [cone],
        MU,
        make_solver("quadprog"),
        linear_weight=1.0,
        angular_weight=10.0,
        regularisation=1e-6,
    )
    G = grasp_map([pin.SE3.Identity()], np.array([0.0, 0.0, 0.9]))
    assert stuck.solve(G, np.zeros(6)).status is QPStatus.INFEASIBLE


def test_one_sole_spans_all_requests_or_gives_the_nearest(distribution: WrenchDistribution) -> None:
    """A G of less than full rank (two soles at one place, no yaw) still gives finite wrenches."""
    G = grasp_map(flat_soles(), np.array([0.0, 0.0, 0.9]))
    G[5] = 0.0
    solution = distribution.solve(G, np.array([0.0, 0.0, WEIGHT, 0.0, 0.0, 5.0]))
    assert np.isfinite(solution.wrenches).all()
    np.testing.assert_allclose(solution.residual, [0, 0, 0, 0, 0, 5.0], atol=1e-6 * WEIGHT)
