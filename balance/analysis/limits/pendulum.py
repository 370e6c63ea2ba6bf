"""The linear inverted pendulum with a flywheel as a linear programme, exact between its samples.

With CoM x, centre of pressure p, lean h = T lambda / (m z) and moment u = T dl/dt / (m g), all
level vectors in metres, and time in units of 1 / omega,

    x'' = x - p - u,      h'' = u.

p and u are constant between samples, so that with w = x' and k = h' a step of length s is

    x+ = cosh(s) x + sinh(s) w + (1 - cosh(s)) (p + u),     h+ = h + s k + s^2 / 2 u,
    w+ = sinh(s) x + cosh(s) w - sinh(s) (p + u),           k+ = k + s u.

A push of impulse J along e, at the height d above the CoM, changes w by J e / (m omega) and k by
d / z times that.  It is over when the capture point x + w is inside of the CoP region and the lean
is at rest within its range: then u = 0 and p = x + w bring the robot to rest, and the lean may
return as slowly as it likes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.analysis.limits.bounds import HalfPlanes, MomentWindow, PendulumBounds
from balance.analysis.limits.programme import LinearProgramme, Numbers
from balance.robots.capability.body import level_directions

Array = NDArray[np.float64]

COP, SLIP, LEAN, MOMENTUM, MOMENT = (
    "CoP",
    "friction",
    "lean range",
    "lean speed",
    "moment",
)
CIRCLE = level_directions(np.arange(16) * np.pi / 8)  # sides of the polygon around a circle


class PendulumProgramme:
    """The motion of a pendulum from a push on, sample by sample; lengths in m, time in 1 / omega.

    ``size`` is the unknown that the impulse J / (m omega) has, m; ``lift`` the height d / z of the
    push above the CoM.
    """

    def __init__(self, bounds: PendulumBounds, direction: Array, lift: float, push: float) -> None:
        """``push`` is the duration of the push, in 1 / omega."""
        self.bounds, self.direction, self.push, self.lift = bounds, direction, push, lift
        self.lp = LinearProgramme()
        self.size = int(self.lp.unknowns(1)[0])
        self.time = 0.0
        self.x, self.w, self.h, self.k = (self.lp.unknowns(2) for _ in range(4))
        self.inputs: list[tuple[float, Numbers, Numbers]] = []
        """Length, p and u of each sample so far."""
        at_once = 1.0 if push == 0.0 else 0.0
        own = np.append(np.eye(2), [[0.0], [0.0]], axis=1)
        for state, jump in ((self.x, 0.0), (self.w, 1.0), (self.h, 0.0), (self.k, lift)):
            rows = own.copy()
            rows[:, 2] = -at_once * jump * direction
            self.lp.equal(np.append(state, self.size), rows)

    def sample(self, s: float, *, flywheel: bool = True) -> tuple[Numbers, Numbers]:
        """Go on by the time ``s``; the unknowns p and u of this sample."""
        lp, C, S = self.lp, np.cosh(s), np.sinh(s)
        p, u = lp.unknowns(2), lp.unknowns(2)
        x, w, h, k = (lp.unknowns(2) for _ in range(4))
        # A push that lasts is a constant force, of which this sample has a share.
        share = 0.0
        if self.push > 0.0:
            share = max(0.0, min(self.push - self.time, s)) / self.push
        force = share / s  # of J / (m omega), acceleration in m omega^2
        E, J = np.eye(2), self.direction[:, None]
        before = np.concatenate([self.x, self.w, self.h, self.k, p, u, [self.size]])
        Z = np.zeros((2, 2))
        turned = self.lift * force
        rows = np.block(
            [
                [C * E, S * E, Z, Z, (1 - C) * E, (1 - C) * E, (C - 1) * force * J],
                [S * E, C * E, Z, Z, -S * E, -S * E, S * force * J],
                [Z, Z, E, s * E, Z, s**2 / 2 * E, s**2 / 2 * turned * J],
                [Z, Z, Z, E, Z, s * E, s * turned * J],
            ]
        )
        after = np.concatenate([x, w, h, k])
        lp.equal(np.append(after, before), np.hstack([np.eye(8), -rows]))
        self.x, self.w, self.h, self.k = x, w, h, k
        self.time += s
        self.inputs.append((s, p, u))
        self._bound_state(p, u, flywheel and self.bounds.lean is not None)
        return p, u

    def _bound_state(self, p: Numbers, u: Numbers, flywheel: bool) -> None:
        lp, bounds = self.lp, self.bounds
        if not flywheel:
            lp.equal(u, np.eye(2))
        elif bounds.lean is not None:
            lp.below(LEAN, self.h, bounds.lean.normals, bounds.lean.most)
        if flywheel and bounds.momentum is not None:
            # What the push itself brings is not the drives' doing.
            normals = bounds.momentum.normals
            given = -self.lift * np.maximum(np.sign(self.lift) * normals @ self.direction, 0.0)
            given *= np.sign(self.lift)
            columns = np.append(self.k, self.size)
            lp.below(MOMENTUM, columns, np.column_stack([normals, given]), bounds.momentum.most)
        if bounds.slip is not None:
            columns = np.concatenate([self.x, p, u])
            lp.below(SLIP, columns, np.hstack([CIRCLE, -CIRCLE, -CIRCLE]), bounds.slip)

    def keep(self, region: HalfPlanes, point: Numbers, origin: Numbers | None = None) -> None:
        """Keep an unknown point inside of a region, or of one that goes with ``origin``."""
        if origin is None:
            self.lp.below(COP, point, region.normals, region.most)
        else:
            columns = np.append(point, origin)
            rows = np.hstack([region.normals, -region.normals])
            self.lp.below(COP, columns, rows, region.most)

    def bound_moments(self, standing: int) -> None:
        """Bound the mean moments over windows of all samples so far.

        A window ends with the first sample that makes it as long as its bound's: over longer times
        less is possible, so that the bound holds there too.  Bounds on CoP and moment together are
        those of the stance, and hold for the first ``standing`` samples.
        """
        ends = np.cumsum([s for s, _, _ in self.inputs])
        starts = np.append(0.0, ends[:-1])
        for window in self.bounds.moments:
            for i in range(1 if window.from_rest else len(self.inputs)):
                last = max(i, int(np.searchsorted(ends, starts[i] + window.length - 1e-9)))
                if last < len(self.inputs):
                    self._bound_mean(self.inputs[i : last + 1], window, last < standing)

    def _bound_mean(
        self, samples: list[tuple[float, Numbers, Numbers]], window: MomentWindow, standing: bool
    ) -> None:
        rows = np.hstack([window.on_p, window.on_u])
        chosen = np.full(len(rows), True) if standing else ~window.on_p.any(axis=1)
        total = sum(s for s, _, _ in samples)
        columns = np.concatenate([np.append(p, u) for _, p, u in samples])
        mean = np.hstack([s / total * rows[chosen] for s, _, _ in samples])
        self.lp.below(MOMENT, columns, mean, window.most[chosen])

    def come_to_rest(self) -> Numbers:
        """The lean is at rest; returns the capture point's unknowns."""
        self.lp.equal(self.k, np.eye(2))
        point = self.lp.unknowns(2)
        E = np.eye(2)
        self.lp.equal(np.concatenate([point, self.x, self.w]), np.hstack([E, -E, -E]))
        return point
