"""YAML schema of how the simulated robot differs from the model that the law uses."""

from __future__ import annotations

from pydantic import Field

from balance.config.schema import Strict
from balance.config.values import Positive, Vector3


class LinkConfig(Strict):
    """The links that one joint carries.

    ``mass_scale`` multiplies mass and rotational inertia, ``inertia_scale`` the latter alone;
    ``com_offset_m`` moves their CoM, in the axes of the joint.
    """

    mass_scale: Positive = 1.0
    inertia_scale: Positive = 1.0
    com_offset_m: Vector3 = (0.0, 0.0, 0.0)


class PayloadConfig(Strict):
    """A point mass (kg) at ``point_m`` of a body, unknown to the law."""

    body: str
    mass_kg: Positive
    point_m: Vector3 = (0.0, 0.0, 0.0)


class MismatchConfig(Strict):
    """The simulated robot, relative to the model that the law uses.

    ``mass_scale`` multiplies all masses and inertias, ``inertia_scale`` the rotational inertias
    alone; ``com_offset_m`` moves the CoM of the whole robot as it stands, axes of the base, by
    moving that of every link alike; ``links`` changes single bodies by name; ``sole_scale``
    multiplies length and width of the contact surfaces.  Friction needs no key here:
    ``plant.friction`` is the true one, ``controller.contacts.friction`` that which the law assumes.
    """

    mass_scale: Positive = 1.0
    inertia_scale: Positive = 1.0
    com_offset_m: Vector3 = (0.0, 0.0, 0.0)
    links: dict[str, LinkConfig] = Field(default_factory=dict)
    payload: PayloadConfig | None = None
    sole_scale: Positive = 1.0
