"""What every physics engine offers, and what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BodyImpulse:
    """An impulse (N s) at a point of a body within one simulation step.

    ``point`` is in the body's frame, metres; ``vector`` in world axes, or in the body's.
    """

    body: str
    point: Array
    vector: Array
    in_body_axes: bool = False


@dataclass(frozen=True, slots=True)
class Touch:
    """A body that touched something in the last step, with another surface than a sole.

    ``other`` is another body, or the name of an obstacle of :mod:`balance.simulation.world`;
    ``point`` is in the world, m; ``force`` acts on ``body``, world axes, N, mean over the step;
    ``depth_m`` is how deep one was in the other.
    """

    body: str
    other: str
    point: Array
    force: Array
    depth_m: float


class Plant(Protocol):
    """A simulated robot; it never knows the law that drives it."""

    @property
    def dt(self) -> float:
        """Length of a time step, s."""
        ...

    @property
    def q(self) -> Array:
        """True configuration (nq,)."""
        ...

    @property
    def v(self) -> Array:
        """True velocity (nv,)."""
        ...

    @property
    def time(self) -> float:
        """Simulated time since the start, s."""
        ...

    @property
    def contact_wrenches(self) -> Array:
        """Wrench of each sole in its own frame, mean over the last step (k, 6)."""
        ...

    @property
    def touches(self) -> Sequence[Touch]:
        """What touched in the last step besides the soles; mostly nothing."""
        ...

    @property
    def joint_damping(self) -> Array:
        """Viscous friction of each joint (nj,), N m s/rad; its entries may be changed."""
        ...

    @property
    def torque_range(self) -> Array:
        """Least and largest torque of each joint (2, nj), N m; its entries may be changed."""
        ...

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one of the robot's soles."""
        ...

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state."""
        ...

    def remember(self) -> bool:
        """Keep the state for ``go_back``; False if the engine cannot."""
        ...

    def go_back(self) -> None:
        """Be again, with time and all, where ``remember`` was called."""
        ...

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step ``dt``."""
        ...
