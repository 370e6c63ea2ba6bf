"""What contacts and torque limits allow a robot in its nominal posture, as linear programmes.

At rest, with accelerations a, contact wrenches w and joint torques tau,

    M a + g = S^T tau + J^T w,    J a = 0,    w in the cones,    |tau| <= limits,

all linear.  With the weight on the ground (no vertical acceleration of the CoM), force and moment
are two points, both in metres from the CoM's ground point: the centre of pressure p and the shift
u that a moment about the CoM adds to it,

    f = (m g / z) (-p - u),      u = T dl/dt / (m g),      T (l_x, l_y) = (l_y, -l_x).

A region of (p, u) is the projection of a polytope: its support in any direction is one programme.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, null_space

from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.capability.body import at_rest
from balance.robots.contact_points import points_cone
from balance.robots.contacts import ContactSurface, wrench_cone

Array = NDArray[np.float64]

AMPLE_FRICTION = 10.0  # binds nowhere; rows of the cones with more are badly scaled
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""T: a level moment about the CoM, as the direction in which it shifts the force's line."""


class TorqueProgramme:
    """Linear programmes over accelerations and wrenches of a robot in its nominal posture.

    ``p`` and ``u`` (2, n) map the unknowns to the two points above, ``motion`` (nv, n) maps them to
    accelerations; ``height`` is that of the CoM.
    """

    def __init__(
        self,
        robot: Robot,
        contacts: Sequence[ContactSurface] | None = None,
        friction: float | None = None,
        acceleration: Array | None = None,
    ) -> None:
        """``contacts`` bear the robot, its ``soles`` unless given.

        ``friction`` is half the side of the pyramid at unit height; without it, no contact slips.
        ``acceleration`` (nj,) bounds those of the joints, rad/s^2.
        """
        contacts = robot.soles if contacts is None else tuple(contacts)
        body = at_rest(robot, robot.q_nominal, contacts)
        free = null_space(body.J)  # accelerations that leave the contacts at rest
        n_y, r = free.shape[1], len(body.J)
        accelerations = np.hstack([free, np.zeros((len(free), r))])
        forces = np.hstack([np.zeros((len(free), n_y)), body.J.T])
        balance = body.M @ accelerations - forces
        rates = body.A @ accelerations
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self.height = float(body.com[2])
        self.u = TURN @ rates[3:5] / weight
        self.p = -self.height * rates[:2] / weight - self.u
        self.motion = accelerations
        self._equal = np.vstack([balance[:6], rates[2:3]])
        self._equal_to = np.append(-body.gravity[:6], 0.0)
        mu = AMPLE_FRICTION if friction is None else friction
        cones = block_diag(*(_cone_rows(contact, mu) for contact in contacts))
        # Each cone's rows have unit normal force as their scale; torques have their limit.
        cone_rows = np.hstack([np.zeros((len(cones), n_y)), -cones * weight])
        limits = robot.effort_limits
        rows, bounds = [cone_rows], [np.zeros(len(cones))]
        bounded = np.isfinite(limits) & (limits > 0.0)
        torque, own = balance[6:][bounded], body.gravity[6:][bounded]
        scale = limits[bounded]
        rows += [torque / scale[:, None], -torque / scale[:, None]]
        bounds += [1.0 - own / scale, 1.0 + own / scale]
        if acceleration is not None:
            rows += [self.motion[6:], -self.motion[6:]]
            bounds += [acceleration, acceleration]
        # Wrenches are in units of the weight, so that all unknowns are of similar size.
        self._units = np.append(np.ones(n_y), np.full(r, weight))
        self._rows = np.vstack(rows)
        self._rows[len(cones) :] *= self._units
        self._bounds = np.concatenate(bounds)

    def most(
        self, objective: Array, equal: Array | None = None, equal_to: Array | None = None
    ) -> tuple[float, Array]:
        """The largest ``objective`` (n,) on the unknowns, and the unknowns there.

        ``equal`` (k, n) are further conditions, with the values ``equal_to`` (k,).  Minus infinity
        where they cannot be met.
        """
        from scipy.optimize import linprog  # slow to import

        rows, values = self._equal, self._equal_to
        if equal is not None and equal_to is not None:
            rows, values = np.vstack([rows, equal]), np.append(values, equal_to)
        sizes = np.maximum(np.abs(rows * self._units).max(axis=1), 1e-12)
        found = linprog(
            -objective * self._units,
            A_ub=self._rows,
            b_ub=self._bounds,
            A_eq=rows * self._units / sizes[:, None],
            b_eq=values / sizes,
            bounds=(None, None),
            method="highs",
        )
        if found.status == 3:
            raise RobotError("a bound of the robot is missing: the programme has no largest value")
        if found.status != 0:
            return -np.inf, np.full(len(objective), np.nan)
        return -float(found.fun), np.asarray(found.x * self._units)


def _cone_rows(contact: ContactSurface, friction: float) -> Array:
    """Rows on what a contact transmits, not negative inside of its cone."""
    if contact.points:
        cone = points_cone(np.array(contact.points), friction)
    else:
        cone = wrench_cone(contact.half_length, contact.half_width, friction)
    return cone.rows[:, list(contact.held)]
