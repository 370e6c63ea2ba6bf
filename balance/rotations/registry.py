"""The charts by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from numpy.typing import ArrayLike

from balance.errors import ChartError, known_names
from balance.rotations.angle_axis import AngleAxis
from balance.rotations.chart import Chart
from balance.rotations.euler import EulerAngles
from balance.rotations.matrix import RotationMatrix
from balance.rotations.quaternion_chart import Quaternion
from balance.rotations.rotation_vector import RotationVector
from balance.rotations.so3 import Array

_ALL: Final[tuple[Chart, ...]] = (
    RotationMatrix(),
    Quaternion(scalar_first=False),
    Quaternion(scalar_first=True),
    AngleAxis(),
    RotationVector(),
    EulerAngles((2, 1, 0)),
    EulerAngles((0, 1, 2)),
    EulerAngles((2, 1, 2)),
    EulerAngles((2, 0, 2)),
)

CHARTS: Final = MappingProxyType({chart.name: chart for chart in _ALL})
"""Every rotation chart by name."""


def get_chart(name: str) -> Chart:
    """The rotation chart called ``name``, or an error that lists them."""
    if name not in CHARTS:
        raise ChartError(f"there is no rotation chart '{name}'{known_names(str(name), CHARTS)}")
    return CHARTS[name]


def convert(chi: ArrayLike, source: str, target: str) -> Array:
    """Coordinates in chart ``target`` of the rotation with coordinates ``chi`` in ``source``."""
    return get_chart(target).from_matrix(get_chart(source).to_matrix(chi))
