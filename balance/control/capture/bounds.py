"""What the plan may count on: regions of CoP, moment, lean and rate, from the robot's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from balance.control.capture.planner import Region, Regions
from balance.control.parts.whole_body import BodyView
from balance.robots import Robot

if TYPE_CHECKING:
    from balance.control.capture.law import CaptureController

Array = NDArray[np.float64]
SIDES = 8
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
_CACHE: dict = {}


def law_bounds(law: "CaptureController", robot: Robot, standing: BodyView) -> Regions:
    wheel, omega, z = law.flywheel, law.omega, law.height
    unit = robot.mass * z**2
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    key = (id(wheel), law.law.contacts.friction, law.law.contacts.cop_margin_m)
    if key not in _CACHE:
        lean, rate, sink = [], [], []
        moment = Torques(law, standing).moments(normals)
        centre = law.path.at(0.0).com[:2]
        weak = Torques(law, standing, HELD)
        edges = [0.9 * weak.cop(n, law.polygon.reach(centre, n) / z) for n in normals]
        for k, n in enumerate(normals):
            axis = TURN.T @ n
            share = wheel.shares(axis)[0].dot(axis)
            lean.append(held_lean(law, n, share, wheel.most(axis), [edges[k], edges[k - 2], edges[(k + 2) % SIDES]]) / unit)
            q = wheel.reach.last(share, lean[-1] * unit)
            drop = 0.0 if q is None else max(0.0, float(robot.com()[2] - robot.com(q)[2]))
            sink.append(drop / max(lean[-1] * unit, 1e-3 * unit) ** 2)
            speeds = np.abs(wheel.motion[6:].dot(share))
            rate.append(np.min(1.1 * robot.rated_speeds / np.maximum(speeds, 1e-9)) / unit / omega)
        _CACHE[key] = (np.array(lean), np.array(rate), np.array(moment), np.array(sink))
    lean, rate, moment, sink = _CACHE[key]
    law.sink = np.append(sink, sink[0])
    c = law.law
    return Regions(
        cop_region(law, robot),
        polygon(normals, c.moment * moment),
        polygon(normals, c.lean_scale * lean),
        polygon(normals, c.rate_scale * rate),
    )


def cop_region(law, robot: Robot) -> Region:
    """Where the CoP can be with every contact pressed by at least its least normal force."""
    import pinocchio as pin
    from scipy.spatial import ConvexHull

    from balance.robots.support_polygon import _corners, feet

    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    soles = [_corners(f, f.pose(data), law.law.contacts.cop_margin_m) for f in feet(robot)]
    least = law.law.contacts.least_normal_force(robot.mass) / law.weight
    hull = []
    for i in range(len(soles)):
        points = (1.0 - least * (len(soles) - 1)) * soles[i]
        for j in range(len(soles)):
            if j != i:
                points = (points[:, None] + least * soles[j][None]).reshape(-1, 2)
        hull.append(points)
    e = ConvexHull(np.concatenate(hull)).equations
    keep = np.unique(np.round(e, 9), axis=0)
    return Region(keep[:, :2].copy(), -keep[:, 2] / law.height)


def polygon(normals: Array, radii: Array) -> Region:
    """The convex hull of the points at ``radii`` along ``normals``."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(normals * np.maximum(radii, 1e-6)[:, None])
    return Region(hull.equations[:, :2].copy(), -hull.equations[:, 2].copy())


HELD = 0.8


def held_lean(law, n: Array, share: Array, most: float, edges: list[Array]) -> float:
    """The part of a lean that torques hold with the CoP at ``edges``."""
    wheel, zero = law.flywheel, np.zeros(law.robot.model.nv)

    def holds(t: float) -> bool:
        q = wheel.reach.last(share, t)
        if q is None:
            return False
        held = Torques(law, law.body.at(q, zero), share=HELD)
        return all(
            held.most(np.zeros(4), {0: p[0], 1: p[1], 2: 0.0, 3: 0.0}) > -np.inf for p in edges
        )

    if most <= 0.0 or holds(most):
        return most
    low, high = 0.0, most
    for _ in range(4):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


class Torques:
    """Linear programmes over CoP p, moment u (2,) each in units of z, and contact wrenches.

    The body leans in its shares and moves its CoM as the pendulum does, at rest in the nominal
    posture: M a + g = S^T tau + J^T w with torques within limits, wrenches in cones.
    """

    def __init__(self, law, standing: BodyView, share: float = 1.0) -> None:
        wheel, mass, z = law.flywheel, law.body.mass, law.height
        limit = share
        self.law = law
        share = np.zeros((len(wheel.B.T), 2))
        from balance.control.capture.flywheel import momentum_map
        from balance.control.parts.support import supporting_joints

        B, motion, shift = momentum_map(standing, supporting_joints(law.robot), wheel.free)
        C = standing.A[3:].dot(shift)
        shift, spin = shift[:, :2] / mass, C[:2, :2] / mass
        both = np.array([wheel._up, wheel._down]).mean(axis=0)
        weighted = B * both**2
        share = np.linalg.solve(weighted.dot(B.T), weighted).T[:, :2]
        k = mass * law.omega**2 * z
        lean = motion.dot(share)
        of_force = shift - lean.dot(spin)
        of_p = -k * of_force
        of_u = of_p + lean.dot(TURN.T) * law.weight * z
        a = np.concatenate([of_p, of_u], axis=1)
        M, bias, J = standing.M, standing.bias, standing.J_c
        self._eq = np.column_stack([M[:6].dot(a), -J[:, :6].T])
        self._eq_to = -bias[:6]
        tau = np.column_stack([M[6:].dot(a), -J[:, 6:].T])
        lim = limit * law.limits.torques
        cones = np.column_stack([np.zeros((len(law.limits.lower), 4)), -law.limits.cones])
        rows = np.concatenate([tau, -tau, cones])
        upper = np.concatenate([lim - bias[6:], lim + bias[6:], -law.limits.lower])
        kept = np.isfinite(upper)
        self._rows, self._upper = rows[kept], upper[kept]

    def most(self, objective: Array, fixed: dict[int, float]) -> float:
        from scipy.optimize import linprog

        n = self._rows.shape[1]
        bounds = [(fixed.get(i), fixed.get(i)) for i in range(n)]
        found = linprog(
            -np.append(objective, np.zeros(n - 4)), A_ub=self._rows, b_ub=self._upper,
            A_eq=self._eq, b_eq=self._eq_to, bounds=bounds, method="highs",
        )
        return -float(found.fun) if found.status == 0 else -np.inf

    def cop(self, n: Array, far: float) -> Array:
        """The farthest CoP along ``n`` (2,) up to ``far``, without a moment."""
        near, tries = 0.0, far
        for _ in range(7):
            ok = self.most(np.zeros(4), {0: tries * n[0], 1: tries * n[1], 2: 0.0, 3: 0.0}) > -np.inf
            near, far = (tries, far) if ok else (near, tries)
            tries = 0.5 * (near + far) if not ok or near < far else far
            if far - near < 1e-3:
                break
        return near * n

    def moments(self, normals: Array) -> Array:
        """Largest moment along each normal whatever edge the CoP is at on that side."""
        law = self.law
        centre = law.path.at(0.0).com[:2]
        edges = [
            0.95 * self.cop(n, law.polygon.reach(centre, n) / law.height) for n in normals
        ]
        self.edges = edges
        found = []
        for n in normals:
            across = np.array([-n[1], n[0]])
            values = [
                self.along(n, across, p) for p, side in zip(edges, normals, strict=True) if side @ n > -1e-6
            ]
            found.append(min(values))
        return np.array(found)

    def along(self, n: Array, across: Array, p: Array) -> float:
        from scipy.optimize import linprog

        k = self._rows.shape[1]
        extra = np.zeros((1, k))
        extra[0, 2:4] = across
        bounds = [(p[0], p[0]), (p[1], p[1]), *[(None, None)] * (k - 2)]
        found = linprog(
            -np.concatenate([np.zeros(2), n, np.zeros(k - 4)]), A_ub=self._rows, b_ub=self._upper,
            A_eq=np.concatenate([self._eq, extra]), b_eq=np.append(self._eq_to, 0.0), bounds=bounds, method="highs",
        )
        return -float(found.fun) if found.status == 0 else -np.inf
