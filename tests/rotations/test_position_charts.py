"""Cylindrical and spherical coordinates and their rate maps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from balance.errors import ChartError
from balance.rotations import POSITION_CHARTS, PositionChart, get_position_chart

Array = NDArray[np.float64]

ALL = pytest.mark.parametrize("chart", POSITION_CHARTS.values(), ids=POSITION_CHARTS.keys())
CURVED = pytest.mark.parametrize("name", ["cylindrical", "spherical"])
ROUND_OFF = 1e-13
positions = arrays(float, 3, elements=st.floats(-10.0, 10.0, allow_subnormal=False))


@ALL
@given(r=positions)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_every_position_is_recovered(chart: PositionChart, r: Array) -> None:
    np.testing.assert_allclose(chart.to_cartesian(chart.from_cartesian(r)), r, atol=ROUND_OFF)


@ALL
@given(r=positions, velocity=positions)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_rate_maps_are_inverse_and_equal_finite_differences(
    chart: PositionChart, r: Array, velocity: Array
) -> None:
    assume(np.hypot(r[0], r[1]) > 0.1)
    chi = chart.from_cartesian(r)
    rates = chart.inverse_rate_map(chi) @ velocity
    np.testing.assert_allclose(chart.rate_map(chi) @ rates, velocity, atol=1e-11)
    h = 1e-6
    difference = (chart.to_cartesian(chi + h * rates) - chart.to_cartesian(chi - h * rates)) / (
        2 * h
    )
    np.testing.assert_allclose(difference, velocity, atol=1e-5)


def test_printed_maps() -> None:
    """RobotDynamicsETH (2.6), (2.8), (2.14) and (2.17) at one point each."""
    cylindrical, spherical = get_position_chart("cylindrical"), get_position_chart("spherical")
    rho, theta, phi = 2.0, 0.3, 1.1
    c, s, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    np.testing.assert_allclose(cylindrical.to_cartesian([rho, theta, 5.0]), [rho * c, rho * s, 5.0])
    np.testing.assert_allclose(
        spherical.to_cartesian([rho, theta, phi]), [rho * c * sp, rho * s * sp, rho * cp]
    )
    np.testing.assert_allclose(
        cylindrical.inverse_rate_map([rho, theta, 5.0]),
        [[c, s, 0.0], [-s / rho, c / rho, 0.0], [0.0, 0.0, 1.0]],
    )
    np.testing.assert_allclose(
        spherical.inverse_rate_map([rho, theta, phi]),
        [
            [c * sp, sp * s, cp],
            [-s / (rho * sp), c / (rho * sp), 0.0],
            [cp * c / rho, cp * s / rho, -sp / rho],
        ],
    )


@ALL
def test_a_batch_equals_its_samples(chart: PositionChart) -> None:
    r = np.random.default_rng(31).normal(size=(10_000, 3))
    chi = chart.from_cartesian(r)
    E, E_inv = chart.rate_map(chi), chart.inverse_rate_map(chi)
    assert np.abs(chart.to_cartesian(chi) - r).max() < ROUND_OFF
    scale = np.abs(E_inv).max(axis=(1, 2))
    assert (np.abs(E @ E_inv - np.eye(3)).max(axis=(1, 2)) < 1e-14 * scale).all()
    for i in range(0, 10_000, 1_000):
        np.testing.assert_allclose(chart.rate_map(chi[i]), E[i], rtol=1e-15)


@CURVED
def test_an_undefined_azimuth_is_zero(name: str) -> None:
    chi = get_position_chart(name).from_cartesian([0.0, 0.0, 2.0])
    np.testing.assert_array_equal(
        chi, [0.0, 0.0, 2.0] if name == "cylindrical" else [2.0, 0.0, 0.0]
    )


@pytest.mark.parametrize(
    ("name", "chi"),
    [
        ("cylindrical", [0.0, 0.3, 1.0]),
        ("spherical", [0.0, 0.3, 1.0]),
        ("spherical", [2.0, 0.3, 0.0]),
        ("spherical", [2.0, 0.3, np.pi]),
    ],
)
def test_rates_on_the_z_axis_are_refused(name: str, chi: list[float]) -> None:
    with pytest.raises(ChartError, match=f"chart '{name}' is singular on the z axis"):
        get_position_chart(name).inverse_rate_map(chi)


def test_bad_positions_are_named() -> None:
    with pytest.raises(ChartError, match=r"no position chart 'polar'.*cylindrical"):
        get_position_chart("polar")
    with pytest.raises(ChartError, match=r"'cylindrical' have shape \(2,\).*rho, theta, z"):
        get_position_chart("cylindrical").to_cartesian([1.0, 2.0])
    with pytest.raises(ChartError, match="coordinate 'theta' of chart 'spherical' is nan"):
        get_position_chart("spherical").rate_map([1.0, np.nan, 0.2])
