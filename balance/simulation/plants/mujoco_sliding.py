"""Coulomb's law for contacts that slide in MuJoCo.

MuJoCo relaxes Coulomb's law to a convex problem: where a contact slides with the velocity v_T, its
normal velocity becomes mu |v_T|, as if the ground were a ramp.  What slides would be lifted, let
go, and hop.  De Saxcé and Feng, "The bipotential method", 1998: the convex problem has Coulomb's
solution if that very velocity is added to the one at which the contact closes.

Here it is added by way of the height r over the plane.  With the force of a step, see
:mod:`balance.simulation.plants.mujoco_contacts`,

    f = -(k r + (b + k dt) v + (1 + b dt + k dt^2) a) / R,   v+ = v + dt a,

v+ is greater by u if r is greater by u (1 + b dt + k dt^2) / (k dt).  The speed |v_T| is that at
the end of the step.  The one at its start is taken for it, which is right but for a step in which a
contact is hit; such a step is done again with the speed that came out of it.
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
SLIDES = bytes([int(mujoco.mjtConstraintState.mjCNSTRSTATE_CONE)])


class Sliding:
    """Steps of a model all of whose contacts have a normal and two tangential rows."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data, self._dt = model, data, float(model.opt.timestep)
        self._qpos, self._qvel = data.qpos.copy(), data.qvel.copy()

    def step(self, begin: EngineCall, finish: EngineCall) -> None:
        """``mj_step1`` and ``mj_step2``, after which what slides is on what it slides on."""
        model, data = self._model, self._data
        np.copyto(self._qpos, data.qpos)
        np.copyto(self._qvel, data.qvel)
        begin(model, data)
        # Contacts are the last of the constraints, after welds and the joints' end stops.
        rows = slice(data.ne + data.nl, data.nefc)
        velocity = data.efc_vel[rows].reshape(-1, 3)[:, 1:].ravel()
        slid = velocity.dot(velocity) > STILL**2
        if slid:
            speeds = np.hypot(velocity[::2], velocity[1::2])
            self._lower(rows, speeds)
        finish(model, data)
        if slid:
            self._repeat(begin, finish, rows, speeds)
        elif SLIDES in data.efc_state.tobytes():
            self._repeat(begin, finish, rows, np.zeros(velocity.size // 2))

    def _repeat(self, begin: EngineCall, finish: EngineCall, rows: slice, speeds: Array) -> None:
        """Do the step again until it ends with the ``speeds`` that it was done with.

        Relaxed by the factor of Irons and Tuck, 1969, from how the error has changed.
        """
        model, data, relaxation = self._model, self._data, 1.0
        error = self._speeds_after(rows) - speeds
        for _ in range(MOST_REPEATS):
            if not (self._friction * np.abs(error)).max() > ENOUGH:  # nor if it is not a number
                return
            speeds = np.maximum(speeds + relaxation * error, 0.0)
            data.qpos[:], data.qvel[:] = self._qpos, self._qvel
            data.time -= self._dt
            begin(model, data)
            self._lower(rows, speeds)
            finish(model, data)
            before, error = error, self._speeds_after(rows) - speeds
            change = error - before
            if change.any():
                factor = -relaxation * before.dot(change) / change.dot(change)
                relaxation = min(max(factor, LEAST_RELAXATION), MOST_RELAXATION)

    def _lower(self, rows: slice, speeds: Array) -> None:
        """Let contacts close as if they slid at no ``speeds`` (n,)."""
        contact, dt = self._data.contact, self._dt
        touching = contact.efc_address >= 0  # MuJoCo lists some that do not touch yet
        k, b = -contact.solref[touching].T / contact.solimp[touching, 0]
        lift = contact.friction[touching, 0] * speeds * (1.0 + dt * b + dt * dt * k) / (k * dt)
        self._data.efc_margin[rows][::3] -= lift  # MuJoCo takes the height over the margin for r

    def _speeds_after(self, rows: slice) -> Array:
        """Speeds (n,) at which the contacts slide at the end of the step."""
        data = self._data
        contact = data.contact
        self._friction = contact.friction[contact.efc_address >= 0, 0]
        velocity = np.empty(data.nefc)
        mujoco.mj_mulJacVec(self._model, data, velocity, data.qvel)
        velocity = velocity[rows].reshape(-1, 3)
        return np.hypot(velocity[:, 1], velocity[:, 2])
