"""Charts of SO(3), their rate maps, and position coordinates (RobotDynamicsETH 2.2-2.5)."""

from __future__ import annotations

from balance.rotations.quaternion import quaternion_from_matrix

__all__ = ["quaternion_from_matrix"]
