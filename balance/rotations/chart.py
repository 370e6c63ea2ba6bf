"""What a chart of SO(3) can do: coordinates to rotation and back, rates to angular velocity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.so3 import (
    CONSTRAINT_TOLERANCE,
    Array,
    check_coordinates,
    check_rotation_matrix,
)


class Chart(ABC):
    """Coordinates chi of a rotation R_AB, which takes components in frame B to frame A.

    Arrays may have any leading axes.  The angular velocity is that of B with respect to A, in the
    axes of A, as in RobotDynamicsETH (2.82).  A chart with more than three coordinates also has a
    constraint C(chi) = 0 (Bouyarmane2012, Table II).
    """

    name: str
    coordinates: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of coordinates d."""
        return len(self.coordinates)

    @final
    def check(self, chi: ArrayLike) -> Array:
        """``chi`` as a float array (..., d) that satisfies the constraint, or a clear error."""
        chi = check_coordinates(self.name, chi, self.coordinates)
        error = np.abs(self._constraint(chi))
        if np.any(error > CONSTRAINT_TOLERANCE):
            raise ChartError(
                f"coordinates of chart '{self.name}' violate {self._constraint_text()} by "
                f"{error.max():.3g} (at most {CONSTRAINT_TOLERANCE:g} is allowed); "
                "use project() of the chart first if they only drifted"
            )
        return self._check_domain(chi)

    @final
    def to_matrix(self, chi: ArrayLike) -> Array:
        """Rotation matrix (..., 3, 3)."""
        return self._to_matrix(self.check(chi))

    @final
    def from_matrix(self, R: ArrayLike) -> Array:
        """Coordinates (..., d) of rotation matrices (..., 3, 3)."""
        return self._from_matrix(check_rotation_matrix(R))

    @final
    def rate_map(self, chi: ArrayLike) -> Array:
        """E (..., 3, d) in omega = E(chi) dchi/dt; RobotDynamicsETH (2.82)."""
        return self._rate_map(self.check(chi))

    @final
    def inverse_rate_map(self, chi: ArrayLike) -> Array:
        """E^-1 (..., d, 3) in dchi/dt = E^-1(chi) omega; a ChartError where it does not exist.

        With more than three coordinates it is a right inverse: E E^-1 = 1, and E^-1 omega is the
        one rate that satisfies the constraint.
        """
        return self._inverse_rate_map(self.check(chi))

    @final
    def partials(self, chi: ArrayLike) -> Array:
        """dR/dchi of shape (..., 3, 3, d)."""
        return self._partials(self.check(chi))

    @final
    def partials_rate(self, chi: ArrayLike, chi_dot: ArrayLike) -> Array:
        """Time derivative of ``partials`` along ``chi_dot``, of shape (..., 3, 3, d)."""
        chi_dot = check_coordinates(self.name, chi_dot, self.coordinates)
        return self._partials_rate(self.check(chi), chi_dot)

    @final
    def constraint(self, chi: ArrayLike) -> Array:
        """C(chi) of shape (..., c); c = d - 3, Bouyarmane2012 (27)."""
        return self._constraint(check_coordinates(self.name, chi, self.coordinates))

    @final
    def constraint_rows(self, chi: ArrayLike) -> Array:
        """Half the Jacobian of C, of shape (..., c, d).

        C is quadratic, so rows(chi) dchi/dt = 0 is its first and
        rows(chi) d2chi/dt2 + rows(dchi/dt) dchi/dt = 0 its second derivative, each with the common
        factor 2 dropped as in Bouyarmane2012 (30).
        """
        return self._constraint_rows(check_coordinates(self.name, chi, self.coordinates))

    @final
    def project(self, chi: ArrayLike) -> Array:
        """Coordinates nearest to ``chi`` that satisfy the constraint to machine precision."""
        return self._project(check_coordinates(self.name, chi, self.coordinates))

    def compose(self, chi_AB: ArrayLike, chi_BC: ArrayLike) -> Array:
        """Coordinates of R_AB R_BC, for charts that have their own product."""
        raise ChartError(
            f"chart '{self.name}' has no product of its own; "
            "compose in 'quaternion' or 'rotation_matrix' and convert back"
        )

    def inverse(self, chi_AB: ArrayLike) -> Array:
        """Coordinates of R_BA, for charts that have their own inverse."""
        raise ChartError(
            f"chart '{self.name}' has no inverse of its own; "
            "invert in 'quaternion' or 'rotation_matrix' and convert back"
        )

    @abstractmethod
    def _to_matrix(self, chi: Array) -> Array: ...

    @abstractmethod
    def _from_matrix(self, R: Array) -> Array: ...

    @abstractmethod
    def _rate_map(self, chi: Array) -> Array: ...

    @abstractmethod
    def _inverse_rate_map(self, chi: Array) -> Array: ...

    @abstractmethod
    def _partials(self, chi: Array) -> Array: ...

    @abstractmethod
    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array: ...

    def _check_domain(self, chi: Array) -> Array:
        """``chi`` itself; raises if it satisfies the constraint and is no rotation all the same."""
        return chi

    def _constraint(self, chi: Array) -> Array:
        return np.empty((*chi.shape[:-1], 0))

    def _constraint_rows(self, chi: Array) -> Array:
        return np.empty((*chi.shape[:-1], 0, self.size))

    def _constraint_text(self) -> str:
        return "no constraint"

    def _project(self, chi: Array) -> Array:
        return chi.copy()
