"""What the linear model says of the configured pushes: errors over time, use of the contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.analysis.linear.loop import LinearLoop
from balance.config import BalancingLawConfig, section_of
from balance.control.parts.distribution import make_distribution
from balance.control.parts.support import Support
from balance.recordings.demand import BEARING_SHARE

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-3  # unmet share of the weight: the QP's regularisation alone leaves some 1e-5
COARSE_S, FINE_AFTER_S, RINGING_S = 0.005, 0.05, 4.0
SETTLE_S = 30.0  # a response is followed at least this long, so that slow ones settle as well


@dataclass(frozen=True)
class Response:
    """Predicted errors after the pushes, one row a control period, like a recording has them."""

    time: Array
    com_error: Array
    rotation_error: Array
    commanded: Array
    """(rows, k, 6) contact wrenches that the law asks for, in the surfaces' axes."""
    measured: Array
    """(rows, k, 6) contact wrenches that the ground exerts."""


def push_response(loop: LinearLoop, duration_s: float | None = None) -> Response:
    """The linear answer to the pushes of the experiment, from rest."""
    duration = (
        max(loop.experiment.config.duration_s, SETTLE_S) if duration_s is None else duration_s
    )
    rows = round(duration / loop.period)
    time = loop.period * np.arange(rows, dtype=np.float64)
    edges = loop.period * np.arange(rows + 1)
    delivered = np.array([[push.delivered(t) for push in loop.pushes] for t in edges])
    impulses = np.diff(delivered.reshape(rows + 1, len(loop.pushes)), axis=0)
    A, x = loop.A, np.zeros((rows, loop.A.shape[0]))
    for i in range(rows - 1):
        x[i + 1] = A.dot(x[i]) + loop.push.dot(impulses[i])
    measured = x @ loop.measured.T + impulses @ loop.measured_push.T
    k = len(loop.robot.soles)
    return Response(
        time=time,
        com_error=x @ loop.com.T,
        rotation_error=x @ loop.rotation.T,
        commanded=(loop.commanded_rest + x @ loop.commanded.T).reshape(rows, k, 6),
        measured=(loop.measured_rest + measured).reshape(rows, k, 6),
    )


@dataclass(frozen=True)
class Use:
    """How much of a contact with the ground the pushes take: 1 is all of it."""

    contact: str
    cop: float
    """Largest way of the CoP from the contact's centre towards its edge."""
    friction: float
    """Largest tangential force as a share of the ground's friction."""


@dataclass(frozen=True)
class Saturation:
    """The law's cones cannot hold the wrench that the linear law asks for.

    ``first_s`` is when that begins, ``share`` the largest unmet part of the wrench relative to the
    weight, and ``limits`` the constraints that are active then.
    """

    first_s: float
    share: float
    limits: tuple[str, ...]


def contact_forecast(loop: LinearLoop, response: Response) -> tuple[list[Use], Saturation | None]:
    """What the pushes take of every contact, and whether the law's cones stand in its way.

    The linear law shares its wrench evenly.  Where that is outside of a cone the law's QP finds
    another share, so it is asked here; the ground adds to it what it adds in the linear model.
    """
    experiment = loop.experiment
    law = section_of(experiment.config, BalancingLawConfig)
    robot = experiment.modelled_robot
    support = Support(robot)
    standing = support.at(robot.q_nominal, np.zeros(robot.model.nv))
    distribution = make_distribution(robot, law.contacts, law.qp)
    weight = float(np.linalg.norm(support.weight))
    rows = _instants(loop, response)
    ground = np.empty((len(rows), len(loop.robot.soles), 6))
    first: float | None = None
    limits: tuple[str, ...] = ()
    worst = NEGLIGIBLE
    for i, row in enumerate(rows):
        even = response.commanded[row]
        solution = distribution.solve(standing.G, standing.G @ support.rows.stacked(even))
        ground[i] = response.measured[row] - even + solution.wrenches
        unmet = float(np.abs(solution.residual).max()) / weight
        if unmet > NEGLIGIBLE and first is None:
            first = float(response.time[row])
        if unmet > worst:
            worst, limits = unmet, tuple(distribution.describe(solution.active))
    uses = [_use(loop, i, ground[:, i], weight) for i in range(len(loop.robot.soles))]
    return uses, None if first is None else Saturation(first, worst, limits)


def _instants(loop: LinearLoop, response: Response) -> list[int]:
    """Rows to look at: each one of the pushes, then every few milliseconds while they ring."""
    end = max((push.end for push in loop.pushes), default=0.0)
    every = max(1, round(COARSE_S / loop.period))
    return [
        row
        for row, t in enumerate(response.time)
        if t <= end + FINE_AFTER_S or (t <= end + RINGING_S and row % every == 0)
    ]


def _use(loop: LinearLoop, index: int, wrenches: Array, weight: float) -> Use:
    sole = loop.robot.soles[index]
    bearing = wrenches[:, 2] > BEARING_SHARE * weight
    force, moment = wrenches[bearing, :3], wrenches[bearing, 3:]
    normal = force[:, 2]
    reach = np.array([sole.half_length, sole.half_width]) * normal[:, None]
    cop = np.abs(moment[:, [1, 0]]) / reach
    friction = np.hypot(force[:, 0], force[:, 1]) / (loop.experiment.config.plant.friction * normal)
    return Use(sole.name, float(cop.max(initial=0.0)), float(friction.max(initial=0.0)))
