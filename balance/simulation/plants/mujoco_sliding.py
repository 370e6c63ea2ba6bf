"""Coulomb's law for contacts that slide in MuJoCo.

MuJoCo relaxes Coulomb's law to a convex problem: where a contact slides with the velocity v_T, its
normal velocity becomes mu |v_T|, as if the ground were a ramp.  What slides would be lifted, let
go, and hop.  De Saxcé and Feng, "The bipotential method", 1998: the convex problem has Coulomb's
solution if that very velocity is added to the one at which the contact closes.

Here it is added by way of the height r over the plane.  With the force of a step, see
:mod:`balance.simulation.plants.mujoco_contacts`,

    f = -(k r + (b + k dt) v + (1 + b dt + k dt^2) a) / R,   v+ = v + dt a,

v+ is greater by u if r is greater by u (1 + b dt + k dt^2) / (k dt).  The speed |v_T| is that at
the end of the step.  A step is first done as if nothing slid; if something does, once more with the
speeds at its start, which are right but for a step in which a contact is hit; and then with those
that came out of it.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EngineCall = Callable[[mujoco.MjModel, mujoco.MjData], None]

STILL = 1e-4  # m/s; if no contact slides faster, what friction lifts is less than a micrometre
ENOUGH = 0.01  # m/s; what a contact is lifted or sinks by in a step, over that step
MOST_REPEATS = 8
LEAST_RELAXATION, MOST_RELAXATION = 0.3, 3.0


class Sliding:
    """Steps of a model all of whose contacts have a normal and two tangential rows."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data, self._dt = model, data, float(model.opt.timestep)
        self._state, self._kept = (data.qpos, data.qvel), (data.qpos.copy(), data.qvel.copy())

    def step(
        self,
        whole: EngineCall,
        begin: EngineCall,
        finish: EngineCall,
        model: mujoco.MjModel | None = None,
    ) -> None:
        """``mj_step``, or ``mj_step1`` and ``mj_step2``: what slides then is where it slides.

        In two halves a step takes two thirds longer.  ``model`` is another one for the same data.
        """
        data, model = self._data, self._model if model is None else model
        (qpos, qvel), (kept_qpos, kept_qvel) = self._state, self._kept
        kept_qpos[:], kept_qvel[:] = qpos, qvel
        whole(model, data)
        # Contacts are the last of the constraints, after welds and the joints' end stops.
        rows = slice(data.ne + data.nl, data.nefc)
        velocity = self._after(rows)
        if velocity.dot(velocity) > STILL**2 and _lengths(velocity).max() > STILL:
            self._repeat(begin, finish, rows, model)

    def _repeat(
        self, begin: EngineCall, finish: EngineCall, rows: slice, model: mujoco.MjModel
    ) -> None:
        """Do the step again until it ends with the speeds that it was done with.

        Relaxed by the factor of Irons and Tuck, 1969, from how the error has changed.
        """
        data, relaxation = self._data, 1.0
        speeds, before = _lengths(data.efc_vel[rows]), None
        friction = data.contact.friction[data.contact.efc_address >= 0, 0]
        for _ in range(MOST_REPEATS):
            data.qpos[:], data.qvel[:] = self._kept
            data.time -= self._dt
            begin(model, data)
            self._lower(rows, speeds)
            finish(model, data)
            error = _lengths(self._after(rows)) - speeds
            if not (friction * np.abs(error)).max() > ENOUGH:  # nor if it is not a number
                return
            change = error if before is None else error - before
            if before is not None and change.any():
                factor = -relaxation * before.dot(change) / change.dot(change)
                relaxation = min(max(factor, LEAST_RELAXATION), MOST_RELAXATION)
            speeds, before = np.maximum(speeds + relaxation * error, 0.0), error

    def _lower(self, rows: slice, speeds: Array) -> None:
        """Let contacts close as if they slid at no ``speeds`` (n,)."""
        contact, dt = self._data.contact, self._dt
        touching = contact.efc_address >= 0  # MuJoCo lists some that do not touch yet
        k, b = -contact.solref[touching].T / contact.solimp[touching, 0]
        lift = contact.friction[touching, 0] * speeds * (1.0 + dt * b + dt * dt * k) / (k * dt)
        self._data.efc_margin[rows][::3] -= lift  # MuJoCo takes the height over the margin for r

    def _after(self, rows: slice) -> Array:
        """Velocities (3 n,) of the contacts at the end of the step."""
        velocity = np.empty(rows.stop)
        mujoco.mj_mulJacVec(self._model, self._data, velocity, self._state[1])
        return velocity[rows]


def _lengths(velocity: Array) -> Array:
    """Tangential speeds (n,) of contacts from their normal and tangential velocities (3 n,)."""
    return np.hypot(velocity[1::3], velocity[2::3])
