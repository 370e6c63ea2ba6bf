"""YAML schema of how the simulated robot differs from the model that the law uses."""

from __future__ import annotations

from pydantic import Field

from balance.config.schema import Strict
from balance.config.values import Positive, Vector3


class LinkConfig(Strict):
    """The links that one joint carries."""

    mass_scale: Positive = 1.0
    """Factor on mass and rotational inertia [-]."""
    inertia_scale: Positive = 1.0
    """Factor on the rotational inertia alone [-]."""
    com_offset_m: Vector3 = (0.0, 0.0, 0.0)
    """Shift of their CoM, in the axes of the joint."""


class PayloadConfig(Strict):
    """A point mass on a body, unknown to the law."""

    body: str
    """The body that carries it. Example: torso."""
    mass_kg: Positive
    """Its mass. Example: 2.0."""
    point_m: Vector3 = (0.0, 0.0, 0.0)
    """Where on the body, in the body's axes."""


class MismatchConfig(Strict):
    """The simulated robot, relative to the model that the law uses.

    Friction needs no key here: ``plant.friction`` is the true one, ``controller.contacts.friction``
    that which the law assumes.
    """

    mass_scale: Positive = 1.0
    """Factor on all masses and rotational inertias [-]."""
    inertia_scale: Positive = 1.0
    """Factor on the rotational inertias alone [-]."""
    com_offset_m: Vector3 = (0.0, 0.0, 0.0)
    """Shift of the standing robot's CoM, in the base's axes, by moving every link's alike."""
    links: dict[str, LinkConfig] = Field(default_factory=dict)
    """Changes of single bodies, by their names. Example: {torso: {mass_scale:
    1.1}}."""
    payload: PayloadConfig | None = None
    """A mass that the law does not know of."""
    sole_scale: Positive = 1.0
    """Factor on length and width of the contact surfaces [-]."""
