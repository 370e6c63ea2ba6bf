"""Cartesian, cylindrical and spherical coordinates of a point (RobotDynamicsETH 2.2-2.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from balance.errors import ChartError, known_names
from balance.rotations.so3 import SINGULARITY_MARGIN, Array, check_coordinates


class PositionChart(ABC):
    """Coordinates chi of a position r; arrays may have any leading axes, lengths in m."""

    name: str
    coordinates: tuple[str, str, str]

    @final
    def to_cartesian(self, chi: ArrayLike) -> Array:
        """Position r (..., 3)."""
        return self._to_cartesian(check_coordinates(self.name, chi, self.coordinates))

    @final
    def from_cartesian(self, r: ArrayLike) -> Array:
        """Coordinates (..., 3); an angle that the position does not define is zero."""
        return self._from_cartesian(check_coordinates("cartesian", r, ("x", "y", "z")))

    @final
    def rate_map(self, chi: ArrayLike) -> Array:
        """E (..., 3, 3) in dr/dt = E dchi/dt; RobotDynamicsETH (2.10)."""
        return self._rate_map(check_coordinates(self.name, chi, self.coordinates))

    @final
    def inverse_rate_map(self, chi: ArrayLike) -> Array:
        """E^-1 (..., 3, 3); RobotDynamicsETH (2.11), a ChartError on the z axis."""
        return self._inverse_rate_map(check_coordinates(self.name, chi, self.coordinates))

    @abstractmethod
    def _to_cartesian(self, chi: Array) -> Array: ...

    @abstractmethod
    def _from_cartesian(self, r: Array) -> Array: ...

    @abstractmethod
    def _rate_map(self, chi: Array) -> Array: ...

    @abstractmethod
    def _inverse_rate_map(self, chi: Array) -> Array: ...


class Cartesian(PositionChart):
    """chi = (x, y, z); RobotDynamicsETH (2.3)-(2.4), (2.12)."""

    name = "cartesian"
    coordinates = ("x", "y", "z")

    def _to_cartesian(self, chi: Array) -> Array:
        return chi.copy()

    def _from_cartesian(self, r: Array) -> Array:
        return r.copy()

    def _rate_map(self, chi: Array) -> Array:
        return np.broadcast_to(np.eye(3), (*chi.shape, 3)).copy()

    def _inverse_rate_map(self, chi: Array) -> Array:
        return self._rate_map(chi)


class Cylindrical(PositionChart):
    """chi = (rho, theta, z): radius, azimuth, height; RobotDynamicsETH (2.5)-(2.6)."""

    name = "cylindrical"
    coordinates = ("rho", "theta", "z")

    def _to_cartesian(self, chi: Array) -> Array:
        rho, theta, z = np.moveaxis(chi, -1, 0)
        return np.stack([rho * np.cos(theta), rho * np.sin(theta), z], axis=-1)

    def _from_cartesian(self, r: Array) -> Array:
        x, y, z = np.moveaxis(r, -1, 0)
        return np.stack([np.hypot(x, y), np.arctan2(y, x), z], axis=-1)

    def _rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.15)."""
        rho, theta, _ = np.moveaxis(chi, -1, 0)
        c, s, zero, one = np.cos(theta), np.sin(theta), np.zeros_like(rho), np.ones_like(rho)
        return _matrix([[c, -rho * s, zero], [s, rho * c, zero], [zero, zero, one]])

    def _inverse_rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.14)."""
        rho, theta, _ = np.moveaxis(chi, -1, 0)
        _check_off_axis(self.name, rho == 0.0)
        c, s, zero, one = np.cos(theta), np.sin(theta), np.zeros_like(rho), np.ones_like(rho)
        return _matrix([[c, s, zero], [-s / rho, c / rho, zero], [zero, zero, one]])


class Spherical(PositionChart):
    """chi = (r, theta, phi): radius, azimuth, polar angle from z; RobotDynamicsETH (2.7)-(2.8)."""

    name = "spherical"
    coordinates = ("r", "theta", "phi")

    def _to_cartesian(self, chi: Array) -> Array:
        r, theta, phi = np.moveaxis(chi, -1, 0)
        rho = r * np.sin(phi)
        return np.stack([rho * np.cos(theta), rho * np.sin(theta), r * np.cos(phi)], axis=-1)

    def _from_cartesian(self, r: Array) -> Array:
        x, y, z = np.moveaxis(r, -1, 0)
        rho = np.hypot(x, y)
        return np.stack([np.hypot(rho, z), np.arctan2(y, x), np.arctan2(rho, z)], axis=-1)

    def _rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.16)."""
        r, theta, phi = np.moveaxis(chi, -1, 0)
        ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        return _matrix(
            [
                [ct * sp, -r * sp * st, r * cp * ct],
                [sp * st, r * ct * sp, r * cp * st],
                [cp, np.zeros_like(r), -r * sp],
            ]
        )

    def _inverse_rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.17)."""
        r, theta, phi = np.moveaxis(chi, -1, 0)
        ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
        _check_off_axis(self.name, (r == 0.0) | (np.abs(sp) < SINGULARITY_MARGIN))
        return _matrix(
            [
                [ct * sp, sp * st, cp],
                [-st / (r * sp), ct / (r * sp), np.zeros_like(r)],
                [cp * ct / r, cp * st / r, -sp / r],
            ]
        )


POSITION_CHARTS: Final = MappingProxyType(
    {chart.name: chart for chart in (Cartesian(), Cylindrical(), Spherical())}
)
"""Every position chart by name."""


def get_position_chart(name: str) -> PositionChart:
    """The position chart called ``name``, or an error that lists them."""
    if name not in POSITION_CHARTS:
        raise ChartError(
            f"there is no position chart '{name}'{known_names(str(name), POSITION_CHARTS)}"
        )
    return POSITION_CHARTS[name]


def _check_off_axis(chart: str, on_axis: NDArray[np.bool_]) -> None:
    if np.any(on_axis):
        raise ChartError(
            f"chart '{chart}' is singular on the z axis, where the azimuth is not defined; "
            "use 'cartesian' there"
        )


def _matrix(rows: list[list[Array]]) -> Array:
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
