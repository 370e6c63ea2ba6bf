"""Shared checks of the arguments of the dynamics functions, and the data they are evaluated in."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from balance.dynamics.compiled import compiled
from balance.errors import FrameError, InputError, known_names

Array = NDArray[np.float64]


def has_floating_base(model: pin.Model) -> bool:
    """Whether the first joint of ``model`` is a free flyer."""
    return model.njoints > 1 and model.joints[1].shortname() == "JointModelFreeFlyer"


def check_free_flyer(model: pin.Model) -> None:
    """Raise unless the first joint of ``model`` is a free flyer; other trees may stand beside it.

    For functions that are right for robot and objects as one system.
    """
    if not has_floating_base(model):
        kind = model.joints[1].shortname() if model.njoints > 1 else "no joint at all"
        raise InputError(
            f"model '{model.name}' has a fixed base (its first joint is {kind}); build it with "
            "pinocchio.JointModelFreeFlyer() as root joint"
        )


def check_floating_base(model: pin.Model) -> None:
    """Raise unless ``model`` is one tree that hangs from a free flyer.

    A second tree rooted in the world, such as an object beside the robot, would count as part of
    the robot: its mass, and forces on its joints as torques.
    """
    check_free_flyer(model)
    if len(model.children[0]) != 1:
        raise InputError(
            f"joint '{model.names[int(model.children[0][1])]}' of model '{model.name}' is attached "
            "to the world; every joint must descend from the free flyer, so build a model of the "
            "robot alone"
        )


def check_fixed_base(model: pin.Model) -> None:
    """Raise if anything in ``model`` floats: each of its velocities must have a motor."""
    if "JointModelFreeFlyer" in (joint.shortname() for joint in model.joints):
        raise InputError(
            f"model '{model.name}' has a floating base or a free object, on which no torque acts; "
            "use floating_base_torques() or a fixed-base model of the robot alone"
        )


def velocities_without_motor(model: pin.Model) -> int:
    """How many velocities come before the joints': six of one floating robot, none on a fixed base.

    Either kind is refused with a free object beside it, on which no motor acts.
    """
    if has_floating_base(model):
        check_floating_base(model)
        return 6
    check_fixed_base(model)
    return 0


def check_vector(name: str, value: ArrayLike, size: int) -> Array:
    """``value`` as a finite float vector of length ``size``, or a clear error."""
    vector = np.asarray(value, dtype=float)
    if vector.shape != (size,):
        raise InputError(f"{name} has shape {vector.shape}; expected ({size},)")
    if not np.isfinite(vector).all():
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputError(f"{name}[{where}] is {vector[where]}; every entry must be finite")
    return vector


def check_state(model: pin.Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Checked ``(q, v)`` of a floating-base model that is one tree."""
    check_floating_base(model)
    return _check_positions_and_velocities(model, q, v)


def check_free_flyer_state(model: pin.Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Checked ``(q, v)`` of a model whose first joint is a free flyer, whatever stands beside."""
    check_free_flyer(model)
    return _check_positions_and_velocities(model, q, v)


def _check_positions_and_velocities(
    model: pin.Model, q: ArrayLike, v: ArrayLike
) -> tuple[Array, Array]:
    q = check_vector("q", q, model.nq)
    v = check_vector("v", v, model.nv)
    norm = float(np.linalg.norm(q[3:7]))
    if abs(norm - 1.0) > 1e-6:
        raise InputError(f"q[3:7] is the base quaternion and has norm {norm:.6g}; it must be 1")
    return q, v


def frame_id(model: pin.Model, name: str) -> int:
    """Index of the frame called ``name``, or an error that lists near names."""
    if not model.existFrame(name):
        frames = [frame.name for frame in model.frames if frame.name != "universe"]
        raise FrameError(f"model '{model.name}' has no frame '{name}'{known_names(name, frames)}")
    return int(model.getFrameId(name))


def jacobian_rows(J: Array) -> Array:
    """A Jacobian of Pinocchio as (6, nv), which it returns as (6,) for a single joint."""
    return np.reshape(J, (6, -1))


@compiled
def is_within(values: Array, bound: float) -> bool:
    """Whether all entries are numbers of a size below ``bound``; cheap, for control steps."""
    # An entry that is not a number counts as the largest and as the smallest.
    return bool(values[values.argmax()] < bound and values[values.argmin()] > -bound)


def symmetrise(upper: Array) -> Array:
    """Full symmetric matrix from its upper triangle, which is all that ``pin.crba`` fills."""
    full = np.triu(upper)
    return full + np.triu(upper, 1).T
