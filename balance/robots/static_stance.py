"""The static posture of a robot with its surfaces in given places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.constrained_fit import Fit
from balance.dynamics.static_posture import Bearing, Point, StaticPosture, Touch, Wanted
from balance.dynamics.surface_place import Place, Turn, place_rows
from balance.robots import Robot
from balance.robots.contact_points import surface_cone
from balance.robots.contacts import ContactSurface, friction_pyramid
from balance.robots.objects import WorldObject
from balance.robots.posture_clearance import BodyClearance

Array = NDArray[np.float64]

GRAVITY = 9.81
LOOKS = 6  # for bodies that have come near, after each of which the search goes on
RANDOM_STARTS, RANDOM_RAD = 4, 0.4
TOLERANCE = 1e-6  # of every condition, in m, rad, or shares of the weight and of torque limits


@dataclass(frozen=True)
class Margins:
    """How far a posture keeps from its limits.

    ``torque_share`` of the torque limits are used at most; joints stay ``range_rad`` inside of
    their ranges; the CoP stays inside of an edge by the less of ``cop_m`` and ``cop_share`` of the
    half side; ``friction`` and ``clearance`` are the shares of the friction that is believed in
    and of the least distances of bodies.
    """

    torque_share: float
    range_rad: float
    cop_m: float
    cop_share: float
    friction: float
    clearance: float


COMFORTABLE = Margins(0.8, 0.05, 0.02, 0.4, 0.7, 1.0)
TIGHT = Margins(0.98, 0.005, 0.006, 0.2, 1.0, 0.3)


@dataclass(frozen=True)
class Grip:
    """What the search believes of contacts: friction, and the least normal force (N)."""

    friction: float = 0.6
    least_force: float = 10.0


@dataclass(frozen=True)
class SurfaceGoal:
    """Where a surface is to be, and whether it bears.

    ``pose`` is a world frame on the face of ``on`` (an object, the floor, or None for the air), z
    out of it; ``position`` and ``turn`` say what of it is given, and ``window`` how far the centre
    may be from its origin along what is not.
    """

    surface: ContactSurface
    pose: pin.SE3
    bears: bool
    on: str | None = None
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
class StanceProblem:
    """A robot, where its surfaces are to be, what is around it, and what it is to be near to.

    ``q_reference`` is the posture wanted; ``hinted`` and ``kept`` are velocity indices of joints
    that are to be near to it, or exactly there; ``com_xy`` is where the CoM is to be, if anywhere.
    """

    robot: Robot
    goals: tuple[SurfaceGoal, ...]
    objects: Mapping[str, WorldObject]
    grip: Grip
    q_reference: Array
    hinted: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    com_xy: Array | None = None

    def wanted(self, margins: Margins) -> Wanted:
        """The problem without clearances, as conditions."""
        return Wanted(
            touches=tuple(self._touch(goal, margins) for goal in self.goals),
            q_reference=self.q_reference,
            hinted=self.hinted,
            kept=self.kept,
            com_xy=self.com_xy,
            torque_share=margins.torque_share,
            range_margin=margins.range_rad,
        )

    def clearance(self) -> BodyClearance:
        """What must stay apart."""
        lying = {goal.surface.name: goal.on for goal in self.goals}
        return BodyClearance(self.robot, self.objects, lying)

    def _touch(self, goal: SurfaceGoal, margins: Margins) -> Touch:
        surface = goal.surface
        if not goal.bears:
            return Touch(surface.name, goal.place)
        X, Y = surface.half_length, surface.half_width
        edge = min(margins.cop_m, margins.cop_share * min(X, Y)) if surface.has_area else 0.0
        mu = friction_pyramid(margins.friction * self.grip.friction)
        least = self.grip.least_force
        cone = surface_cone(surface, mu, cop_margin=edge, min_normal_force=least)
        units = GRAVITY * self.robot.mass * np.array([mu, mu, 1.0, Y, X, mu * (X + Y)])
        axes = None if surface.has_area else surface.axes(goal.pose.rotation, goal.pose.rotation)
        bearing = Bearing(cone.rows, cone.lower, units, surface.held, axes)
        return Touch(surface.name, goal.place, bearing)


@dataclass(frozen=True)
class Stance:
    """A static posture found: its configuration, and wrenches (6,) of what bears."""

    q: Array
    wrenches: Mapping[str, Array]
    margins: Margins


def full_turn(surface: ContactSurface) -> Turn:
    """What a surface on a face has of a given orientation: nothing of a point."""
    turns: dict[int, Turn] = {6: "all", 5: "line", 3: "none"}
    return turns[len(surface.held)]


def free_turn(surface: ContactSurface) -> Turn:
    """The same where its heading is left open."""
    turns: dict[int, Turn] = {6: "flat", 5: "flat line", 3: "none"}
    return turns[len(surface.held)]


def find_stance(
    problem: StanceProblem, starts: Sequence[Array], margins: Margins = COMFORTABLE
) -> Stance | None:
    """A static posture with given margins from the first of ``starts`` that leads to one."""
    wanted, clearance = problem.wanted(margins), problem.clearance()
    for q in starts:
        search, fit = search_clear(problem.robot.model, wanted, clearance, q, margins.clearance)
        if fit.met:
            q = _exact(problem.robot.model, wanted, fit.x.q)
            return Stance(q, search.wrenches(fit.x), margins)
    return None


def search_clear(
    model: pin.Model, wanted: Wanted, clearance: BodyClearance, q: Array, share: float
) -> tuple[StaticPosture, Fit[Point]]:
    """A search that looks for bodies which have come near and goes on with an eye on them."""
    clearance.watched = []
    search = StaticPosture(model, wanted)
    fit = search.search(q, TOLERANCE)
    for _ in range(LOOKS):
        if not fit.met or not clearance.look(fit.x.q, share):
            return search, fit
        watching = replace(wanted, clearance=lambda data: clearance.rows(data, share))
        search = StaticPosture(model, watching)
        fit = search.search(fit.x.q, TOLERANCE)
    return search, replace(fit, met=False)


def random_starts(model: pin.Model, q: Array) -> list[Array]:
    """Postures around a start; the same ones every time."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(RANDOM_STARTS):
        step = np.zeros(model.nv)
        step[6:] = RANDOM_RAD * random.standard_normal(model.nv - 6)
        moved = pin.integrate(model, q, step)
        moved[7:] = np.clip(moved[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
        found.append(moved)
    return found


def _exact(model: pin.Model, wanted: Wanted, q: Array) -> Array:
    """``q`` with the places met to rounding: Newton steps of least norm."""
    data = model.createData()
    for _ in range(4):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        rows = [place_rows(model, data, touch.place) for touch in wanted.touches]
        c = np.concatenate([row.c for row in rows])
        J = np.concatenate([row.J_c for row in rows])
        J[:, list(wanted.kept)] = 0.0
        q = pin.integrate(model, q, -np.linalg.lstsq(J, c, rcond=1e-9)[0])
    return q
