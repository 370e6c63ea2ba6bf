"""States that no law was made for: fallen, upside down, far away, at the stops, very fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control import Controller, ControlOutput
from balance.control.parts.moving_contacts import moving_contacts
from balance.control.parts.safety_frame import BalancingLaw
from balance.robots import Robot

Array = NDArray[np.float64]

CONE_TOLERANCE = 1e-8  # N or N m
KINDS = (
    "near", "fallen", "upside down", "far away", "stops", "fast", "very fast", "one sole up",
    "flying", "any",
)  # fmt: skip


def random_state(robot: Robot, rng: np.random.Generator, kind: str) -> tuple[Array, Array]:
    """A finite configuration and velocity of this kind."""
    model = robot.model
    q, v = robot.q_nominal.copy(), 0.1 * rng.standard_normal(model.nv)
    q[7:] += 0.05 * rng.standard_normal(model.nq - 7)
    low, high = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    if kind == "fallen":
        q[2] = rng.uniform(0.0, 0.4)
        q[3:7] = _turned(rng, rng.uniform(1.0, 2.0))
    elif kind == "upside down":
        q[3:7] = _turned(rng, np.pi)
    elif kind == "far away":
        q[:3] += rng.standard_normal(3) * 10.0 ** rng.uniform(0.0, 4.0)
    elif kind == "stops":
        q[7:] = np.where(rng.random(model.nq - 7) < 0.5, low, high)
    elif kind in ("fast", "very fast"):
        v *= 10.0 ** rng.uniform(*((1.0, 3.0) if kind == "fast" else (3.0, 6.0)))
    elif kind == "one sole up":
        sole = robot.soles[int(rng.integers(len(robot.soles)))]
        leg = [i - 2 for i in model.supports[model.frames[sole.frame_id].parentJoint] if i > 1]
        q[7:][leg] = rng.uniform(low, high)[leg]
    elif kind == "flying":
        q[:3] += [0.0, 0.0, rng.uniform(0.05, 2.0)]
        q[7:] = rng.uniform(low, high)
    elif kind == "any":
        q[:3] = rng.standard_normal(3) * 10.0 ** rng.uniform(-2.0, 4.0)
        q[3:7] = _turned(rng, rng.uniform(0.0, np.pi))
        q[7:] = rng.uniform(-np.pi, np.pi, model.nq - 7)
        v *= 10.0 ** rng.uniform(-2.0, 4.0)
    return q, v


def _turned(rng: np.random.Generator, angle: float) -> Array:
    axis = rng.standard_normal(3)
    turn = angle * axis / np.linalg.norm(axis)
    return np.array(pin.Quaternion(pin.exp3(turn)).coeffs())


def complaint(law: Controller, robot: Robot, output: ControlOutput) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if not np.isfinite(output.torques).all() or not np.isfinite(output.wrenches).all():
        return f"not finite, status {output.status!r}"
    if not (np.abs(output.torques) <= robot.effort_limits).all():
        return f"a torque beyond its limit, status {output.status!r}"
    depth = depth_outside(law, output)
    if depth > CONE_TOLERANCE:
        return f"a wrench {depth:.3g} outside of its cone, status {output.status!r}"
    return ""


def depth_outside(law: Controller, output: ControlOutput) -> float:
    """How far the wrenches are outside of their cones, N or N m; zero inside.

    A foot that a law lifts, or lays down, need not bear its least force, and none in the air.
    """
    assert isinstance(law, BalancingLaw)
    cones, lower = law.fallback.cones, law.fallback.cones.lower
    moves = moving_contacts(law)
    if moves is not None:
        lower = np.minimum(lower, 0.0)
        if output.wrenches[moves.bearing == 0.0].any():
            return float(np.abs(output.wrenches[moves.bearing == 0.0]).max())
    held = law.fallback.contacts.stacked(output.wrenches)  # lines and points hold fewer than six
    return max(0.0, -float((cones.rows @ held - lower).min()))


def on_one_spot(robot: Robot) -> Robot:
    """The robot with both contacts at the same place of the same foot: a singular grasp map."""
    first = robot.soles[0]
    twin = replace(robot.soles[1], frame=first.frame, frame_id=first.frame_id)
    return replace(robot, soles=(first, replace(twin, placement=first.placement)))
