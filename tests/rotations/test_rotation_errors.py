"""Bad input to the rotation charts gives one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest

from balance.errors import ChartError
from balance.rotations import (
    CHARTS,
    Chart,
    check_rotation_matrix,
    convert,
    elementary_rotation,
    get_chart,
    nearest_rotation,
    quaternion_from_matrix,
    quaternion_inverse,
    quaternion_product,
    quaternion_rotate,
    quaternion_to_matrix,
)

ALL = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS.keys())


def test_an_unknown_chart_names_the_nearest() -> None:
    with pytest.raises(
        ChartError, match=r"'euler_zxy' \(did you mean 'euler_z.*valid: .*quaternion"
    ):
        get_chart("euler_zxy")
    with pytest.raises(ChartError, match="no rotation chart 'rodrigues'"):
        convert([0.0, 0.0, 0.0], "rotation_vector", "rodrigues")


@ALL
def test_a_matrix_that_is_not_orthogonal_is_refused(chart: Chart) -> None:
    batch = np.stack([np.eye(3), np.diag([1.0, 1.1, 1.0])])
    with pytest.raises(ChartError, match=r"matrix\[1\] is not orthogonal: .* 0\.21"):
        chart.from_matrix(batch)


@ALL
def test_a_reflection_is_refused(chart: Chart) -> None:
    with pytest.raises(ChartError, match="reflection"):
        chart.from_matrix(np.diag([1.0, 1.0, -1.0]))


def test_coordinates_of_a_reflection_are_refused() -> None:
    with pytest.raises(ChartError, match=r"matrix\[1\] is a reflection"):
        get_chart("rotation_matrix").to_matrix([np.eye(3).ravel(), -np.eye(3).ravel()])


@ALL
def test_a_matrix_of_the_wrong_shape_is_refused(chart: Chart) -> None:
    with pytest.raises(ChartError, match=r"shape \(\.\.\., 3, 3\), not \(4, 4\)"):
        chart.from_matrix(np.eye(4))


def test_what_is_no_array_of_numbers_is_refused() -> None:
    with pytest.raises(ChartError, match="a rotation matrix must be an array of numbers"):
        quaternion_from_matrix([[1.0, 0.0], [0.0]])
    with pytest.raises(ChartError, match="coordinates of chart 'quaternion' must be an array"):
        get_chart("quaternion").to_matrix("xyzw")
    with pytest.raises(ChartError, match="axis is 3; it must be 0, 1 or 2"):
        elementary_rotation(3, 0.1)


def test_a_matrix_with_nan_is_refused() -> None:
    with pytest.raises(ChartError, match="not finite"):
        check_rotation_matrix(np.full((3, 3), np.nan))


@ALL
def test_coordinates_of_the_wrong_shape_or_not_finite_are_refused(chart: Chart) -> None:
    with pytest.raises(
        ChartError, match=rf"'{chart.name}' have shape \(5,\).*{chart.size} entries"
    ):
        chart.to_matrix(np.zeros(5))
    chi = chart.from_matrix(np.eye(3))
    with pytest.raises(ChartError, match=f"coordinate '{chart.coordinates[1]}' of chart"):
        chart.rate_map(np.where(np.arange(chart.size) == 1, np.inf, chi))
    with pytest.raises(ChartError, match="have shape"):
        chart.partials_rate(chi, np.zeros(chart.size + 1))


@pytest.mark.parametrize("name", ["quaternion", "quaternion_scalar_first", "angle_axis"])
def test_coordinates_that_break_the_constraint_are_refused(name: str) -> None:
    chart = get_chart(name)
    with pytest.raises(ChartError, match=rf"'{name}' violate .*= 1 by 1 .*project"):
        chart.to_matrix(np.zeros(4))
    with pytest.raises(ChartError, match=r"zero .* cannot be normalised"):
        chart.project(np.zeros(4))


def test_a_flattened_matrix_that_is_not_orthogonal_is_refused() -> None:
    with pytest.raises(ChartError, match=r"violate R\^T R = 1 by 3"):
        get_chart("rotation_matrix").to_matrix(2.0 * np.eye(3).ravel())


def test_a_matrix_without_nearest_rotation_is_refused() -> None:
    with pytest.raises(ChartError, match="no unique nearest rotation"):
        nearest_rotation(np.diag([1.0, 1.0, -1.0]))


def test_quaternion_functions_refuse_what_is_no_rotation() -> None:
    with pytest.raises(ChartError, match="norm 0; a rotation needs norm 1"):
        quaternion_to_matrix(np.zeros(4))
    with pytest.raises(ChartError, match="norm 2; a rotation needs norm 1"):
        quaternion_inverse([0.0, 0.0, 0.0, 2.0])
    with pytest.raises(ChartError, match="norm nan"):
        quaternion_rotate([np.nan, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    with pytest.raises(ChartError, match=r"shape \(\.\.\., 4\), not \(3,\)"):
        quaternion_product([1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0])
    with pytest.raises(ChartError, match=r"a vector has shape \(\.\.\., 3\), not \(4,\)"):
        quaternion_rotate([0.0, 0.0, 0.0, 1.0], np.zeros(4))
    with pytest.raises(ChartError, match="not orthogonal"):
        quaternion_from_matrix(np.ones((3, 3)))


@pytest.mark.parametrize(
    ("name", "chi"),
    [
        ("euler_zyx", [0.3, np.pi / 2, -0.2]),
        ("euler_xyz", [0.3, -np.pi / 2, -0.2]),
        ("euler_zyz", [0.3, 0.0, -0.2]),
        ("euler_zxz", [0.3, np.pi, -0.2]),
        ("rotation_vector", [0.0, 2.0 * np.pi, 0.0]),
        ("angle_axis", [0.0, 1.0, 0.0, 0.0]),
    ],
)
def test_the_inverse_rate_map_is_refused_at_a_singularity(name: str, chi: list[float]) -> None:
    chart = get_chart(name)
    with pytest.raises(ChartError, match=f"chart '{name}' is singular here .*quaternion"):
        chart.inverse_rate_map(chi)
    regular = np.asarray(chi) + np.eye(len(chi))[0 if name == "angle_axis" else 1]
    with pytest.raises(ChartError, match=r"singular at sample \[1\]"):
        chart.inverse_rate_map([regular, chi])


@pytest.mark.parametrize("name", ["euler_zyx", "rotation_vector", "angle_axis"])
def test_charts_without_a_product_say_where_to_find_one(name: str) -> None:
    chart = get_chart(name)
    chi = chart.from_matrix(np.eye(3))
    with pytest.raises(ChartError, match=f"'{name}' has no product of its own"):
        chart.compose(chi, chi)


def test_euler_angles_have_no_inverse_of_their_own() -> None:
    with pytest.raises(ChartError, match="'euler_zyz' has no inverse of its own"):
        get_chart("euler_zyz").inverse([0.1, 0.2, 0.3])
