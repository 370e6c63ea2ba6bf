"""The static posture of a robot on given surfaces, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.constrained_fit import Fit
from balance.dynamics.static_posture import Bearing, Point, StaticPosture, Touch, Wanted
from balance.dynamics.surface_place import Place, Turn
from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.contact_points import surface_cone
from balance.robots.contacts import ContactSurface, friction_pyramid

Array = NDArray[np.float64]

COP_MARGIN_M, COP_SHARE = 0.015, 0.3  # of the CoP from an edge: the less of it and this half side
GRAVITY = 9.81


@dataclass(frozen=True)
class Grip:
    """What the search believes of contacts: friction, and the least normal force (N)."""

    friction: float = 0.6
    least_force: float = 10.0


@dataclass(frozen=True)
class SurfaceGoal:
    """Where a surface is to be, and whether it bears.

    ``pose`` is a world frame on the face, z out of it; ``position`` and ``turn`` say what of it is
    given, and ``window`` how far the centre may be from its origin along what is not.
    """

    surface: ContactSurface
    pose: pin.SE3
    bears: bool
    position: tuple[int, ...] = (0, 1, 2)
    turn: Turn = "all"
    window: tuple[float, float] | None = None

    @property
    def place(self) -> Place:
        """The goal as conditions."""
        surface = self.surface
        return Place(
            surface.frame_id, surface.placement, self.pose, self.position, self.window, self.turn
        )


@dataclass(frozen=True)
class Hints:
    """What a posture is to be near to; see :class:`balance.config.phases.PhaseConfig`."""

    q_reference: Array
    hinted: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    com_xy: Array | None = None


@dataclass(frozen=True)
class Stance:
    """A static posture found: wrenches (6,) of what bears, and the joint torques."""

    q: Array
    wrenches: Mapping[str, Array]


def full_turn(surface: ContactSurface) -> Turn:
    """What a surface on a face has of a given orientation: nothing of a point."""
    return {6: "all", 5: "line", 3: "none"}[len(surface.held)]  # type: ignore[return-value]


def free_turn(surface: ContactSurface) -> Turn:
    """The same where its heading is left open."""
    return {6: "flat", 5: "flat line", 3: "none"}[len(surface.held)]  # type: ignore[return-value]


def find_stance(
    robot: Robot, goals: Sequence[SurfaceGoal], hints: Hints, starts: Sequence[Array], grip: Grip
) -> Stance:
    """A static posture with every surface at its goal, from the first start that leads to one."""
    wanted = Wanted(
        touches=tuple(_touch(robot, goal, grip) for goal in goals),
        q_reference=hints.q_reference,
        hinted=hints.hinted,
        kept=hints.kept,
        com_xy=hints.com_xy,
    )
    best: Fit[Point] | None = None
    for q in starts:
        search = StaticPosture(robot.model, wanted)
        fit = search.search(q)
        if fit.met:
            q = _exact(robot.model, search, fit.x.q)
            return Stance(q, search.wrenches(fit.x))
        if best is None or fit.terms.violation < best.terms.violation:
            best = fit
    assert best is not None
    raise RobotError(f"no static posture found: {best.terms.violation}")


def _touch(robot: Robot, goal: SurfaceGoal, grip: Grip) -> Touch:
    surface = goal.surface
    if not goal.bears:
        return Touch(surface.name, goal.place)
    X, Y = surface.half_length, surface.half_width
    margin = min(COP_MARGIN_M, COP_SHARE * min(X, Y)) if surface.has_area else 0.0
    mu = friction_pyramid(grip.friction)
    cone = surface_cone(surface, mu, cop_margin=margin, min_normal_force=grip.least_force)
    weight = GRAVITY * robot.mass
    units = weight * np.array([mu, mu, 1.0, Y, X, mu * (X + Y)])
    axes = None if surface.has_area else surface.axes(goal.pose.rotation)
    return Touch(
        surface.name, goal.place, Bearing(cone.rows, cone.lower, units, surface.held, axes)
    )


def _exact(model: pin.Model, search: StaticPosture, q: Array) -> Array:
    """``q`` with the places met to rounding: Newton steps of least norm."""
    from balance.dynamics.surface_place import place_rows

    data = model.createData()
    for _ in range(4):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        rows = [place_rows(model, data, touch.place) for touch in search.wanted.touches]
        c = np.concatenate([row.c for row in rows])
        J = np.concatenate([row.J_c for row in rows])
        q = pin.integrate(model, q, -np.linalg.lstsq(J, c, rcond=1e-9)[0])
    return q
