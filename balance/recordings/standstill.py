"""Watches a robot come to rest, to end a run as soon as nothing can change its verdict any more."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.control.parts.setpoints import Path as SetpointSource
from balance.recordings.log import Log
from balance.recordings.settling import UntilSettled, last_event_s
from balance.recordings.verdict import (
    AT_STOP_RAD,
    HOLD_S,
    LOADED_N,
    MAX_ANGULAR_RATE,
    MAX_COM_ERROR_M,
    MAX_ROTATION_RAD,
)
from balance.robots import Robot

Array = NDArray[np.float64]

LOOK_S = 0.05  # between two looks
WINDOW_S = 1.0  # in which errors keep within bounds; compared with the one before it
SOONEST = 1.5  # windows after the last event
SHARE = 0.8  # of the bounds of a verdict that must do
MAX_SPEED = 0.5  # m/s of the base, rad/s of the base and of the joints, SHARE of which must do
MAX_CREEP_M = 0.001  # of a sole until the longest end
BOUNDS = np.array([MAX_COM_ERROR_M, MAX_ROTATION_RAD, MAX_ANGULAR_RATE, MAX_SPEED])
RATE = 2  # among these
FASTEST_GROWTH = 1e3  # from a window to the next that is told from faster ones
ORDER = 4  # of the recursion: two damped oscillations
BLOCK = 16  # steps of it that are taken at once
RIDGE = 1e-12  # how much a coordinate that hardly moves is taken to move on as it does


class Standstill:
    """Watches the errors that a verdict is about, every ``LOOK_S``.

    The verdict is settled when, since the last event, all of this is true:

    - for a second CoM error, rotation error and every speed were within ``SHARE`` of their bounds,
      and the rate for as long as a verdict looks at; had their peaks grown from the second before,
      growing on like that until the longest end would keep them there (:func:`growth`);
    - so would the errors and the rate if each went on as it did for two seconds, oscillating,
      creeping or both (:func:`forecast`), and no joint would come to a stop;
    - every sole that is meant to bear did so for that second, none creeps, and no step or phase
      is under way.

    A slow sway's rate is the last thing to come within its bounds.  Of a sway that is faster than
    two hertz what a verdict looks at has a peak; one that is slower a forecast sees in time.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        robot: Robot,
        path: SetpointSource,
        until: UntilSettled,
    ) -> None:
        self._robot, self._path = robot, path
        self._model, self._data = robot.model, robot.model.createData()
        self._period = config.control_period_s
        self._every = max(1, round(LOOK_S / self._period))
        look_s = self._every * self._period
        self._window = max(ORDER, round(WINDOW_S / look_s))
        event = last_event_s(config)
        self._hold = int(np.ceil(HOLD_S / look_s)) + 1  # with the first of a verdict's rows
        self._from = max(until.at_least_s, event + SOONEST * self._window * look_s)
        self._last_phase = len(config.phases) - 1
        looks = config.n_periods // self._every
        self._first = looks if event / look_s >= looks else int(np.ceil(event / look_s))
        self._peaks = np.zeros((looks, len(BOUNDS)))
        self._ways = np.zeros((looks, 9 + self._model.nq - 7))
        self._soles = np.zeros((looks, len(robot.soles), 3))
        # A joint that rests on a stop from the beginning may stay there.
        nominal, model = robot.q_nominal[7:], robot.model
        lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
        self._lower = np.where(nominal <= lower + AT_STOP_RAD, -np.inf, lower + AT_STOP_RAD)
        self._upper = np.where(nominal >= upper - AT_STOP_RAD, np.inf, upper - AT_STOP_RAD)

    def seen(self, log: Log) -> bool:
        """Whether the verdict on what is in ``log`` is settled; asked after every period."""
        if log.rows % self._every:
            return False
        looks = log.rows // self._every
        self._look(looks - 1, log)
        return (
            log.rows * self._period >= self._from - 1e-9
            and self._within(looks)
            and self._stands(looks, log)
            and self._stays(looks)
        )

    def _look(self, look: int, log: Log) -> None:
        row, model, data = log.rows - 1, self._model, self._data
        q, v = log.q[row], log.v[row - self._every + 1 : row + 1]
        desired = self._path.at(row * self._period)
        ways = self._ways[look]
        ways[:3] = pin.centerOfMass(model, data, q) - desired.com
        ways[3:6] = pin.log3(desired.rotation.T @ pin.Quaternion(q[3:7]).matrix())
        ways[6:9] = v[-1, 3:6]
        ways[9:] = q[7:]
        for place, sole in zip(self._soles[look], self._robot.soles, strict=True):
            pin.updateFramePlacement(model, data, sole.frame_id)
            place[:] = sole.pose(data).translation
        rate = np.sqrt((v[:, 3:6] ** 2).sum(axis=1).max())
        errors = np.linalg.norm(ways[:3]), np.linalg.norm(ways[3:6])
        self._peaks[look] = (*errors, rate, np.abs(v).max()) / BOUNDS

    def _left(self, looks: int) -> int:
        """Looks until the longest end."""
        return len(self._peaks) - looks

    def _within(self, looks: int) -> bool:
        """Whether errors and speeds are within bounds, and would be if they grew as they do."""
        window = self._window
        last = self._peaks[looks - window : looks].max(axis=0)
        now = last.copy()
        now[RATE] = self._peaks[looks - self._hold : looks, RATE].max()
        if now.max() >= SHARE:
            return False
        before = self._peaks[max(looks - 2 * window, 0) : looks - window].max(axis=0, initial=0.0)
        return bool((now * growth(before, last, self._left(looks) / window)).max() < SHARE)

    def _stands(self, looks: int, log: Log) -> bool:
        """Whether all contacts that are meant to bear did so, all the time and in their places."""
        rows, length = log.rows, self._window * self._every
        since = max(rows - length, 0)
        loads = log.contact_wrenches[since:rows, :, 2]
        bears = np.ones(loads.shape[1], dtype=bool)
        if self._last_phase >= 0 and log.phase[since] != self._last_phase:
            return False
        if hasattr(log, "bearing"):
            meant = log.bearing[max(rows - 2 * length, 0) : rows]
            if (meant != meant[-1]).any():
                return False
            bears = meant[-1] == 1.0
        places = self._soles[[looks - self._window, looks - 1]][:, bears]
        creep = np.linalg.norm(places[1] - places[0], axis=1).max(initial=0.0)
        left = self._left(looks) / self._window
        return bool((loads[:, bears] >= LOADED_N).all() and creep * left < MAX_CREEP_M)

    def _stays(self, looks: int) -> bool:
        """Whether errors, rate and joints keep off their bounds if all goes on as it does."""
        past = self._ways[max(self._first, looks - 2 * self._window) : looks]
        if len(past) <= 2 * ORDER:
            return False
        ahead = forecast(past, self._left(looks))
        ways = np.concatenate([past[-self._window :], ahead])
        com = np.linalg.norm(ways[:, :3], axis=1).max()
        rotation = np.linalg.norm(ways[:, 3:6], axis=1).max()
        rate = np.linalg.norm(ahead[:, 6:9], axis=1).max(initial=0.0)
        joints = ways[:, 9:]
        return bool(
            com < SHARE * MAX_COM_ERROR_M
            and rotation < SHARE * MAX_ROTATION_RAD
            and rate < SHARE * MAX_ANGULAR_RATE
            and (joints > self._lower).all()
            and (joints < self._upper).all()
        )


def growth(before: Array, last: Array, windows: float) -> Array:
    """By what peaks grow in so many ``windows`` if they do as from the one before to the last.

    A peak that shrinks is taken to stay.
    """
    floor = last / FASTEST_GROWTH + np.finfo(float).tiny
    return np.asarray(np.maximum(1.0, last / np.maximum(before, floor)) ** windows)


def forecast(past: Array, steps: int) -> Array:
    """The next ``steps`` rows of signals in the columns of ``past`` (n, m), each by itself.

    A signal is taken for a sum of damped or growing oscillations about some place or drift: the
    change of its change is linear in the last ``ORDER`` values, by least squares.  Of a signal too
    small or too short to tell, it is nothing: that one moves on as it does.
    """
    n, m = past.shape
    middle = past.mean(axis=0)
    size = np.maximum(np.abs(past - middle).max(axis=0), 1e-9)
    z = (past - middle) / size
    latest = np.stack([z[ORDER - 1 - i : n - 1 - i] for i in range(ORDER)], axis=-1)
    known = np.concatenate(
        [latest[..., :1], -np.diff(latest, axis=-1), np.ones((n - ORDER, m, 1))], axis=-1
    )
    bend = z[ORDER:] - 2.0 * latest[..., 0] + latest[..., 1]
    normal = np.einsum("kmi,kmj->mij", known, known)
    weight = RIDGE * np.trace(normal, axis1=1, axis2=2)
    normal += weight[:, None, None] * np.eye(ORDER + 1)
    share = np.linalg.solve(normal, np.einsum("kmi,km->mi", known, bend)[..., None])[..., 0]

    # The same in terms of the latest values themselves.
    weights = np.zeros((m, ORDER))
    weights[:, 0] = 2.0 + share[:, 0]
    weights[:, 1] = -1.0
    weights[:, : ORDER - 1] += share[:, 1:ORDER]
    weights[:, 1:] -= share[:, 1:ORDER]
    ahead, drift = _many_steps(weights, share[:, ORDER])
    latest, out = z[-ORDER:], np.empty((-(-steps // BLOCK) * BLOCK, m))
    for block in out.reshape(-1, BLOCK, m):
        np.einsum("kmi,im->km", ahead, latest, out=block)
        block += drift
        np.clip(block, -1e6, 1e6, out=block)
        latest = block[-ORDER:]
    return np.asarray(middle + size * out[:steps])


def _many_steps(weights: Array, drift: Array) -> tuple[Array, Array]:
    """What the next ``BLOCK`` values are of the last ``ORDER``, oldest first, and of the drift.

    ``weights`` (m, ORDER) make the next value of the last ones, latest first.
    """
    m = len(weights)
    ahead, added = np.zeros((ORDER + BLOCK, m, ORDER)), np.zeros((ORDER + BLOCK, m))
    ahead[:ORDER] = np.eye(ORDER)[:, None]
    for k in range(ORDER, ORDER + BLOCK):
        ahead[k] = np.einsum("mj,jmi->mi", weights, ahead[k - ORDER : k][::-1])
        added[k] = np.einsum("mj,jm->m", weights, added[k - ORDER : k][::-1]) + drift
    return ahead[ORDER:], added[ORDER:]
