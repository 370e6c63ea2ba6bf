"""Random states of a robot for ``balance theory``: reproducible, and anywhere the joints can go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin

from balance.analysis.theory.states import State, Workspace
from balance.dynamics.checks import Array, check_floating_base
from balance.errors import FrameError, InputError

_JOINT_ACCELERATION = 10.0
"""Size of the torques: what would accelerate each joint, were it alone, by so many rad/s^2."""
_LARGEST_RANGE = 4.0 * np.pi
"""Joint limits beyond this count as none, rad or m."""
_LINKS = 3


def random_states(model: pin.Model, count: int, seed: int) -> Iterator[State]:
    """``count`` reproducible states: base anywhere in a 2 m cube, joints spread over their limits.

    A joint without finite limits moves in [-pi, pi].  Velocities are standard normal (m/s and
    rad/s), wrenches too but scaled with the weight; links are drawn evenly.
    """
    check_floating_base(model)
    if count < 1:
        raise InputError(f"the number of states is {count}; it must be at least 1")
    rng = np.random.default_rng(seed)
    workspace = Workspace.of(model)
    return (random_state(workspace, rng) for _ in range(count))


def random_state(workspace: Workspace, rng: np.random.Generator) -> State:
    """One state drawn with ``rng``, see :func:`random_states`."""
    model = workspace.model
    lower, upper = _ranges(model)
    coordinates = rng.uniform(lower, upper)
    coordinates[3:7] = rng.standard_normal(4)
    q = pin.normalize(model, coordinates)
    v = rng.standard_normal(model.nv)
    effort = _JOINT_ACCELERATION * rng.standard_normal(model.nv - 6)
    frames = [frame.name for frame in model.frames if frame.parentJoint > 0]
    if not frames:
        raise FrameError(
            f"model '{model.name}' has no frame on any link; add them with model.addJointFrame"
        )
    links = tuple(str(name) for name in rng.choice(frames, _LINKS))
    weight = 9.81 * pin.computeTotalMass(model)
    return State(workspace, q, v, effort, links, weight * rng.standard_normal((_LINKS, 6)))


def _ranges(model: pin.Model) -> tuple[Array, Array]:
    """Lower and upper bounds (nq,) to draw configurations from; [-1, 1] m for the base."""
    lower = np.array(model.lowerPositionLimit, dtype=float)
    upper = np.array(model.upperPositionLimit, dtype=float)
    bounded = (lower > -_LARGEST_RANGE) & (upper < _LARGEST_RANGE)
    lower = np.where(bounded, lower, -np.pi)
    upper = np.where(bounded, upper, np.pi)
    lower[:7], upper[:7] = -1.0, 1.0
    return lower, upper
