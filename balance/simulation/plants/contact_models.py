"""Contact of the robot's surfaces with their planes, and of its bodies, at velocity level.

With c the velocities of the surfaces' corners after the step and lambda the impulses there,
c = W lambda + g, where W = J (M + dt B)^-1 J^T is the Delassus matrix and g the velocity without
contact; z is out of the plane that a surface touches.  Three models close the problem:

* ``hard``: unilateral contact with Coulomb friction,

      lambda in K,   c~ = c + mu |c_T| e_n in K*,   lambda . c~ = 0,

  with K the circular friction cone and c_n including the gap divided by dt (Signorini's condition
  and maximum dissipation at once).
* ``soft``: springs and dampers at the corners, RobotDynamicsETH (3.57), taken implicitly, so that
  any stiffness is stable: a compliance is added to the diagonal of W.  Cones as above.
* ``welded``: the surfaces stay where they are, whatever force that takes; about a point or a line
  the body may turn.

Points of bodies that come near something else are further contacts in the same problem, hard in all
three models.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.bodies import Bodies
from balance.simulation.plants.body_points import BodyPoints
from balance.simulation.plants.hard_contact import HardContact
from balance.simulation.plants.interface import Touch
from balance.simulation.plants.soft_contact import SoftContact
from balance.simulation.plants.step_maps import seen_by_contacts, velocity_after
from balance.simulation.plants.surface import Surfaces
from balance.simulation.plants.welded_contact import WeldedContact
from balance.simulation.world import obstacles

Array = NDArray[np.float64]


class ContactModel(Protocol):
    """What the plant asks of a contact model."""

    @property
    def residual(self) -> float:
        """How exactly the last step solved the problem, N s times m/s."""
        ...

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        ...

    def memory(self) -> tuple[Any, ...]:
        """Everything that is kept from step to step."""
        ...

    def recall(self, memory: tuple[Any, ...]) -> None:
        """Keep again what ``memory`` gave."""
        ...

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface."""
        ...

    def at_rest(
        self, factor: Array, rows: Array, v: Array, surfaces: Surfaces, dt: float
    ) -> tuple[Array, Array, Array] | None:
        """Velocity after a step, impulses (6 k,) and their sum on the base, if nothing is near the
        ground but surfaces at rest; None if that has to be found out.

        ``rows`` are the surfaces' Jacobians, and the generalised impulse of everything else.
        """
        ...

    def impulses(
        self, W: Array, free: Array, surfaces: Surfaces, dt: float, near: BodyPoints | None = None
    ) -> Array:
        """Impulses (6 k + 3 n,): on all surfaces at their centres, then at n points of bodies.

        They are in the axes of ``surfaces`` and of ``near``.  ``W`` and ``free`` are the Delassus
        matrix and the velocity without contact of the surfaces' centres and of the points.
        """
        ...


class Contacts:
    """All contact surfaces of a robot, and its bodies, under one contact model."""

    def __init__(
        self, robot: Robot, config: PlantConfig, data: pin.Data, ground: GroundMotion | None = None
    ) -> None:
        k = len(robot.soles)
        # The surfaces' Jacobians, and the generalised impulse of everything else in the last row.
        self._rows = np.zeros((6 * k + 1, robot.model.nv))
        self._J, self.drive = self._rows[:-1], self._rows[-1]
        self.surfaces = Surfaces(robot, data, self._J)
        self.model = make_contact_model(robot, config)
        self._bodies: Bodies | None = None
        if config.collisions != "none":
            self._bodies = Bodies(robot, config, data, obstacles(robot, ground))
        self.wrenches = np.zeros((k, 6))
        """Wrench of each surface in its own axes, mean over the last step (k, 6)."""
        self.touches: tuple[Touch, ...] = ()
        """What touched in the last step besides the surfaces."""
        self.on_base = np.zeros(6)
        """Impulse of the last step's contacts on the robot, base axes, about the base's origin."""
        self._ground, self._ground_velocity = ground, np.zeros(6 * k)

    def carry(self, time: float, dt: float) -> None:
        """Move the ground, if it does, for the step from ``time`` to ``time + dt``.

        The step asks how fast the surfaces move relative to their planes.
        """
        if self._ground is None:
            return
        pose, twist = self._ground.pose(time), pin.Motion(self._ground.twist(time, dt))
        self._ground_velocity = self.surfaces.carry(self._ground.surfaces, pose, twist)
        if self._bodies is not None:
            self._bodies.carry(pose, twist)

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        self.model.forget()
        self.wrenches[:] = 0.0
        self.touches = ()

    def resolve(self, factor: Array, q: Array, v: Array, dt: float) -> Array:
        """Velocity after a step (nv,) from (q, v) in which ``drive`` and the contacts act.

        ``factor`` is the upper Cholesky factor U of M + dt B.
        """
        self.surfaces.update()
        rows, soles = self._rows, len(self._J)
        near = None if self._bodies is None else self._bodies.near(q, v, dt)
        if near is None and self._ground is None:
            found = self.model.at_rest(factor, rows, v, self.surfaces, dt)
            if found is not None:
                velocity, impulses, self.on_base = found
                np.divide(impulses.reshape(-1, 6), dt, out=self.wrenches)
                self.touches = ()
                return velocity
        if near is not None:
            rows = np.concatenate([self._J, near.rows, self.drive[None]])
        half, products, free = seen_by_contacts(factor, rows, v)
        J = rows[:-1]
        if self._ground is not None:
            free[:soles] -= self._ground_velocity
        if near is not None:
            free[soles:] -= near.carried
        impulses = self.model.impulses(products, free, self.surfaces, dt, near)
        np.divide(impulses[:soles].reshape(-1, 6), dt, out=self.wrenches)
        self.touches = () if near is None else near.touches(impulses[soles:], dt)
        self.on_base = impulses.dot(J[:, :6])
        return velocity_after(factor, half, impulses, v)


def make_contact_model(robot: Robot, config: PlantConfig) -> ContactModel:
    """The contact model that ``plant.contact`` names."""
    models: dict[str, type[HardContact] | type[SoftContact] | type[WeldedContact]] = {
        "hard": HardContact,
        "soft": SoftContact,
        "welded": WeldedContact,
    }
    return models[config.contact](robot, config)
