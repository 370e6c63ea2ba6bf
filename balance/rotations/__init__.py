"""Charts of SO(3), their rate maps, and position coordinates (RobotDynamicsETH 2.2-2.5)."""

from __future__ import annotations

from balance.rotations.angle_axis import AngleAxis
from balance.rotations.chart import Chart
from balance.rotations.euler import EulerAngles
from balance.rotations.generic import angular_velocity_jacobian, angular_velocity_jacobian_rate
from balance.rotations.matrix import RotationMatrix, elementary_rotation
from balance.rotations.positions import POSITION_CHARTS, PositionChart, get_position_chart
from balance.rotations.quaternion import (
    quaternion_from_matrix,
    quaternion_inverse,
    quaternion_left_matrix,
    quaternion_product,
    quaternion_right_matrix,
    quaternion_rotate,
    quaternion_to_matrix,
)
from balance.rotations.quaternion_chart import Quaternion
from balance.rotations.registry import CHARTS, convert, get_chart
from balance.rotations.rotation_vector import RotationVector
from balance.rotations.so3 import check_rotation_matrix, nearest_rotation, skew, unskew

__all__ = [
    "CHARTS",
    "POSITION_CHARTS",
    "AngleAxis",
    "Chart",
    "EulerAngles",
    "PositionChart",
    "Quaternion",
    "RotationMatrix",
    "RotationVector",
    "angular_velocity_jacobian",
    "angular_velocity_jacobian_rate",
    "check_rotation_matrix",
    "convert",
    "elementary_rotation",
    "get_chart",
    "get_position_chart",
    "nearest_rotation",
    "quaternion_from_matrix",
    "quaternion_inverse",
    "quaternion_left_matrix",
    "quaternion_product",
    "quaternion_right_matrix",
    "quaternion_rotate",
    "quaternion_to_matrix",
    "skew",
    "unskew",
]
