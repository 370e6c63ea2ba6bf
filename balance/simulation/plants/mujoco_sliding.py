"""Coulomb's law for contacts that slide in MuJoCo.

MuJoCo relaxes Coulomb's law to a convex problem: where a contact slides with the velocity v_T, its
normal velocity becomes mu |v_T|, as if the ground were a ramp.  What slides would be lifted, let
go, and hop.  De Saxcé and Feng, "The bipotential method", 1998: the convex problem has Coulomb's
solution if that very velocity is added to the one at which the contact closes.

Here it is added by way of the height r over the plane.  With the force of a step, see
:mod:`balance.simulation.plants.mujoco_contacts`,

    f = -(k r + (b + k dt) v + (1 + b dt + k dt^2) a) / R,   v+ = v + dt a,

v+ is greater by u if r is greater by u (1 + b dt + k dt^2) / (k dt).  The speed |v_T| is that at
the start of the step, so that a contact which begins or ceases to slide in a step feels it one step
late.
"""

from __future__ import annotations

import mujoco
import numpy as np

STILL = 1e-4  # m/s; if no contact slides faster, what friction lifts is less than a micrometre


class Sliding:
    """Corrects the contacts of a model, all of which have a normal and two tangential rows."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._data, self._dt = data, float(model.opt.timestep)

    def correct(self) -> None:
        """Between ``mj_step1`` and ``mj_step2``: let what slides stay on what it slides on."""
        data = self._data
        # Contacts are the last of the constraints, after welds and the joints' end stops.
        rows = slice(data.ne + data.nl, data.nefc)
        velocity = data.efc_vel[rows].reshape(-1, 3)[:, 1:].ravel()
        if velocity.dot(velocity) < STILL**2:
            return
        contact, dt = data.contact, self._dt
        touching = contact.efc_address >= 0  # MuJoCo lists some that do not touch yet
        k, b = -contact.solref[touching].T / contact.solimp[touching, 0]
        friction, speed = contact.friction[touching, 0], np.hypot(velocity[::2], velocity[1::2])
        # MuJoCo takes the height over the margin for r.
        data.efc_margin[rows][::3] -= friction * speed * (1.0 + dt * b + dt * dt * k) / (k * dt)
