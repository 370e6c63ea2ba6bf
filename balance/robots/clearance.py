"""How far the bodies that carry no contact are from the ground: what must not touch it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

TOUCH_HEIGHT_M = 0.02  # a joint that carries no contact and comes this low has hit the ground


def bodies_off_the_ground(model: pin.Model, contacts: Sequence[ContactSurface]) -> list[int]:
    """Joints whose links must not touch the ground: all but those that carry a contact."""
    carriers = {model.frames[contact.frame_id].parentJoint for contact in contacts}
    return [joint for joint in range(1, model.njoints) if joint not in carriers]


def lowest_body(model: pin.Model, contacts: Sequence[ContactSurface], q: Array) -> str:
    """Name of the body at the lowest joint that carries no contact."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    joints = bodies_off_the_ground(model, contacts)
    joint = min(joints, key=lambda index: float(data.oMi[index].translation[2]))
    bodies = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
    names = [frame.name for frame in bodies if frame.parentJoint == joint]
    return str(names[0] if names else model.names[joint])


def touching_from_the_start(
    model: pin.Model, contacts: Sequence[ContactSurface], q: Array
) -> str | None:
    """What is wrong with contacts in whose posture ``q`` another body is on the ground.

    Bodies without mass count, such as a frame under a foot, but for those fixed to the base: many a
    URDF has one there that marks the ground.
    """
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    watched = set(bodies_off_the_ground(model, contacts))
    heights = [
        (float(data.oMf[index].translation[2]), f"the body '{frame.name}'")
        for index, frame in enumerate(model.frames)
        if frame.type == pin.FrameType.BODY and frame.parentJoint in watched - {1}
    ]
    if 1 in watched:
        heights.append((float(data.oMi[1].translation[2]), "the base"))
    height, body = min(heights, default=(np.inf, ""))
    if height >= TOUCH_HEIGHT_M:
        return None
    return f"{body} is at a height of {1e3 * height:.0f} mm at 0 s and carries no contact"
