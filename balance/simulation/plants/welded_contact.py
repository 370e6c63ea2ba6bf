"""Soles that stay where they are, whatever force that takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.config import PlantConfig
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows
from balance.simulation.plants.body_impulses import BodyImpulses
from balance.simulation.plants.body_points import BodyPoints
from balance.simulation.plants.surface import Surfaces

Array = NDArray[np.float64]

WELD_RECOVERY = 0.1  # share of a weld's position error that is removed in one step


class WeldedContact:
    """The surfaces are fixed to the world; for studies of a law without slipping or tipping.

    Bodies touch as in a hard contact.
    """

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._held = ContactRows(robot.soles)
        self._bodies = BodyImpulses(robot.model, config)
        self.forget()

    def set_friction(self, surface: int, friction: float) -> None:
        """What is welded holds on any ground."""

    def forget(self) -> None:
        self._anchors: Array | None = None
        self._bodies.last = {}
        self.residual = 0.0

    def memory(self) -> tuple[Any, ...]:
        return self._anchors, self._bodies.last

    def recall(self, memory: tuple[Any, ...]) -> None:
        self._anchors, self._bodies.last = memory

    def at_rest(self, factor: Array, rows: Array, v: Array, surfaces: Surfaces, dt: float) -> None:
        return None

    def impulses(
        self, W: Array, free: Array, surfaces: Surfaces, dt: float, near: BodyPoints | None = None
    ) -> Array:
        poses, soles = surfaces.poses(), 6 * surfaces.count
        if self._anchors is None:
            self._anchors = poses
        change = -WELD_RECOVERY / dt * _displacements(self._anchors, poses) - free[:soles]
        entries = self._held.entries
        W_held, change = W[np.ix_(entries, entries)], change[entries]
        if near is None:
            _, impulses, failed = dposv(W_held, change)
            if failed:  # the surfaces hinder each other: take the least impulses
                impulses = np.linalg.lstsq(W_held, change, rcond=1e-10)[0]
            self.residual = float(np.abs(W_held.dot(impulses) - change).max())
            return self._held.each(impulses).ravel()
        g = self._bodies.approach(free[soles:], near, dt)
        W_hb, W_bb = W[entries, soles:], W[soles:, soles:]
        impulses, own, _ = self._bodies.beside_held(W_held, change, W_hb, W_bb, g, near)
        self.residual = float(np.abs(W_held.dot(impulses) + W_hb.dot(own) - change).max())
        return np.concatenate([self._held.each(impulses).ravel(), own])


def _displacements(anchors: Array, poses: Array) -> Array:
    """Displacements (6 k,) of surfaces from their anchors, both (k, 4, 3), in surface axes."""
    moved = np.empty((len(poses), 6))
    for index, (anchor, pose) in enumerate(zip(anchors, poses, strict=True)):
        R_SP = pose[:3]
        moved[index, :3] = R_SP.dot(pose[3] - anchor[3])
        moved[index, 3:] = R_SP.dot(pin.log3(R_SP.T @ anchor[:3]))
    return moved.ravel()
