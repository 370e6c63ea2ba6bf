"""One way of leaning, and how far, how fast and how hard it goes to each side.

A level excursion lambda of the body (:mod:`balance.robots.capability.flywheel`) is shared out over
the base's rotation and the free joints so that those which matter reach the ends of their ranges
together and the yaw momentum vanishes, for soles whose edge is used up bear none,

    delta = W B^T (B W B^T)^-1 (lambda_x, lambda_y, 0),    W_i = range_i^2 / (c_i + NOTABLE c),

with c_i = range_i |B_i^T e| what a coordinate has to give to the side e, c the sum of these:
without the matrix in the middle it would go to c_i / (c_i + NOTABLE c) of its range.

Ranges come from legs that reach, usable joint ranges and bodies that do not touch
(:mod:`balance.robots.capability.reach`).  The lean ends there too, or where torques no longer hold
it; its rate ends with the joints' rated speeds, its moment with their torques.  Light limbs limit
none of these: weak arms give what they can, and the trunk does not wait for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous, solve_square
from balance.robots import Robot
from balance.robots.capability.body import RestingBody, at_rest, contact_joints, level_directions
from balance.robots.capability.cop import cop_region
from balance.robots.capability.flywheel import carries_a_foot
from balance.robots.capability.kept import kept
from balance.robots.capability.lean_torques import LeanTorques, bisected
from balance.robots.capability.programme import TURN
from balance.robots.capability.reach import Reach, light_limbs
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

AZIMUTHS = np.arange(8) * np.pi / 4
FARTHEST_RAD = 0.8  # of the base; a robot that is tilted by 60 degrees counts as fallen
JOINT_SHARE = 0.5  # of the way to its end that a free joint goes
HELD = 0.8  # of the torque limits; the rest is to brake with
AT_EDGE = 0.95  # of the CoP's reach: at the very edge one force is left, and no choice
SPEED = 1.1  # of the rated speeds
NOTABLE = 0.05  # of a lean: coordinates with less to give hardly move
SOFTENING = 1e-9  # no free coordinate may be left to make the yaw momentum vanish


@dataclass(frozen=True)
class Leaning:
    """SI units, world axes; ``free`` are the joints in delta (3 + n,).

    ``heading`` is the yaw of the base, rad.  ``B`` (3, 3 + n) is the angular momentum per rate of
    delta with contacts and CoM at rest, ``follows`` (3, 3) that per velocity of the CoM with delta
    at rest.  ``up`` and ``down`` (3 + n,) are the ranges.  To the sides ``AZIMUTHS`` from the
    heading, of T lambda: ``lean`` (8,) kg m^2, ``rate`` (8,) kg m^2/s and ``sink`` (8,) how far the
    CoM sinks per squared lean.  ``moment`` (k, 8) in units of m g z is the largest to the sides in
    its columns, with the CoP at ``cops`` (k, 2), in units of z from the CoM's ground point: there,
    at edges and at corners, where one leg bears all and has next to nothing left.  ``fading`` (8,)
    is what of it is lost to each side per kg m^2 of a lean to the opposite one, whose weight the
    same torques bear.
    """

    heading: float
    free: NDArray[np.intp]
    B: Array
    follows: Array
    up: Array
    down: Array
    lean: Array
    rate: Array
    cops: Array
    moment: Array
    fading: Array
    sink: Array

    @property
    def sides(self) -> Array:
        """Unit vectors (8, 2) to the sides, world axes."""
        return level_directions(AZIMUTHS + float(self.heading))

    def shares(self, side: Array) -> Array:
        """Share (3 + n, 2) of each coordinate per level excursion, for those near ``side`` (2,)."""
        return shares(self.B, self.up, self.down, side)


@compiled
def shares(B: Array, up: Array, down: Array, axis: Array) -> Array:
    """The shares (3 + n, 2) of level excursions about ``axis`` (2,), of any length but zero."""
    effect = axis.dot(B[:2])
    ranges = np.where(effect >= 0.0, up, down)
    given = ranges * np.abs(effect)
    weighted = B * (ranges**2 / (given + NOTABLE * given.sum()))
    gram = weighted.dot(B.T)
    softer = SOFTENING * gram[0, 0]
    for i in range(3):
        gram[i, i] += softer
    return contiguous(solve_square(gram, weighted)[0].T[:, :2])


def leaning(robot: Robot, friction: float) -> Leaning:
    """The way of leaning of ``robot`` in its stance, found once and kept."""
    tree = kept(robot, f"leaning friction={friction!r}", lambda: _find(robot, friction))
    arrays: dict[str, Any] = {key: np.array(value) for key, value in tree.items()}
    arrays["free"], arrays["heading"] = arrays["free"].astype(np.intp), tree["heading"]
    return Leaning(**arrays)


def _find(robot: Robot, friction: float) -> dict[str, Any]:
    bearing = contact_joints(robot, robot.soles)
    free = np.setdiff1d(np.arange(robot.model.nv - 6), bearing)
    standing = at_rest(robot, robot.q_nominal, robot.soles)
    motion, shift = motions(robot, standing, free)
    reach = Reach(robot, free)
    B = standing.A[3:] @ motion
    up, down = (_ranges(robot, reach, sign) for sign in (1.0, -1.0))
    counted = _counted(robot, free)
    R_WB = standing.data.oMi[1].rotation
    heading = float(np.arctan2(R_WB[1, 0], R_WB[0, 0]))
    sides = level_directions(AZIMUTHS + heading)
    turning = [motion @ shares(B, up, down, TURN.T @ side) for side in sides]
    torques, weak = (
        [
            LeanTorques(robot, standing, way, shift[:, :2], friction, counted, share)
            for way in turning
        ]
        for share in (1.0, HELD)
    )
    far = [_room(robot, side) for side in sides]
    cops = [np.zeros(2), *(AT_EDGE * torques[k].edge(s, far[k]) for k, s in enumerate(sides))]
    cops += [AT_EDGE * place for place in _between(robot, friction, heading)]
    held = [AT_EDGE * weak[k].edge(side, far[k]) for k, side in enumerate(sides)]
    found: dict[str, list[float]] = {"lean": [], "rate": [], "sink": [], "fading": []}
    for k, side in enumerate(sides):
        axis = TURN.T @ side
        delta = shares(B, up, down, axis) @ axis
        ranges = np.where(delta >= 0.0, up, down)
        moved = np.abs((axis @ B[:2]) * delta) > NOTABLE
        most = reach.along(delta, float(np.min(ranges[moved] / np.abs(delta[moved]))))
        around = [held[k], held[k - 2], held[(k + 2) % len(sides)]]
        most = bisected(most, partial(_held, robot, reach, delta, axis, friction, around))
        q = reach.at(most * delta)
        sunk = 0.0 if q is None else max(0.0, float(robot.com()[2] - robot.com(q)[2]))
        speeds = np.abs(motion[6:] @ delta) * counted
        found["lean"].append(most)
        found["rate"].append(float(np.min(SPEED * robot.rated_speeds / np.maximum(speeds, 1e-9))))
        found["sink"].append(sunk / max(most**2, 1e-9))
        back, at_edge = (k + 4) % len(sides), cops[1 + k]
        upright, leant = torques[back].moment(-side, at_edge), 0.0
        if q is not None:
            body = at_rest(robot, q, robot.soles)
            turn, along = motions(robot, body, free)
            turn = turn @ shares(body.A[3:] @ turn, up, down, -axis)
            way = LeanTorques(robot, body, turn, along[:, :2], friction, counted)
            leant = way.moment(-side, at_edge)
        found["fading"].append(max(0.0, upright - max(leant, 0.0)) / max(most, 1e-9))
    found["fading"] = found["fading"][4:] + found["fading"][:4]
    follows = robot.mass * standing.A[3:] @ shift
    moment = [[max(0.0, torques[k].moment(side, p)) for k, side in enumerate(sides)] for p in cops]
    return {
        "heading": heading, "free": free.tolist(), "B": B.tolist(), "follows": follows.tolist(),
        "up": up.tolist(), "down": down.tolist(), "cops": np.array(cops).tolist(), "moment": moment,
        **found,
    }  # fmt: skip


def motions(robot: Robot, body: RestingBody, free: NDArray[np.intp]) -> tuple[Array, Array]:
    """Velocities (nv, 3 + n) per rate of delta, the CoM at rest, and (nv, 3) per CoM momentum."""
    nv = robot.model.nv
    turning = np.zeros((3, nv))
    turning[:, 3:6] = np.eye(3)
    conditions = np.vstack([body.J, body.A[:3], turning])
    following = np.append(np.arange(6), 6 + contact_joints(robot, robot.soles))
    inverse = np.linalg.pinv(conditions[:, following])
    motion = np.zeros((nv, 3 + len(free)))
    motion[6 + free, np.arange(3, 3 + len(free))] = 1.0
    wanted = np.zeros((len(conditions), 3 + len(free)))
    wanted[-3:, :3] = np.eye(3)
    motion[following] = inverse @ (wanted - conditions @ motion)
    moved = np.zeros((len(conditions), 3))
    moved[len(body.J) : len(body.J) + 3] = np.eye(3)
    shift = np.zeros((nv, 3))
    shift[following] = inverse @ moved
    return motion, shift


def _ranges(robot: Robot, reach: Reach, sign: float) -> Array:
    """How far each coordinate (3 + n,) goes alone; free joints ``JOINT_SHARE`` of that."""
    idle = carries_a_foot(robot)[reach.free]
    found = np.zeros(3 + len(idle))
    for axis in range(len(found)):
        direction = np.zeros(len(found))
        direction[axis] = sign
        if axis < 3:
            found[axis] = reach.along(direction, FARTHEST_RAD)
        elif not idle[axis - 3]:
            joint = reach.free[axis - 3]
            end = reach.upper[joint] if sign > 0.0 else reach.lower[joint]
            to_end = abs(float(end - robot.q_nominal[7 + joint]))
            found[axis] = JOINT_SHARE * reach.along(direction, to_end)
    return found


def _counted(robot: Robot, free: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which joints (nj,) limit a lean: all but those of light limbs, which give what they can."""
    light = light_limbs(robot, free)
    return np.array([j + 2 not in light for j in range(robot.model.nv - 6)])


def _room(robot: Robot, side: Array) -> float:
    """How far the support polygon lets the CoP go to a side, in units of the CoM's height."""
    com = robot.com()
    return support_polygon(robot).reach(com[:2], side) / float(com[2])


def _between(robot: Robot, friction: float, heading: float) -> Array:
    """Edge of the CoP region (n, 2) between the sides and at the feet's corners, in units of z."""
    com = robot.com()
    corners = support_polygon(robot).vertices - com[:2]
    azimuths = np.append(AZIMUTHS + np.pi / 8 + heading, np.arctan2(corners[:, 1], corners[:, 0]))
    region = cop_region(robot, friction)
    ways = level_directions(azimuths)
    return np.array([region.reach(com[:2], way) * way for way in ways]) / float(com[2])


def _held(
    robot: Robot,
    reach: Reach,
    delta: Array,
    axis: Array,
    friction: float,
    cops: list[Array],
    size: float,
) -> bool:
    """Whether torques hold a lean ``size * delta`` about ``axis`` with the CoP at ``cops``."""
    q = reach.at(size * delta)
    if q is None:
        return False
    body = at_rest(robot, q, robot.soles)
    motion, shift = motions(robot, body, reach.free)
    B, ones = body.A[3:] @ motion[:, :3], np.ones(3)
    turning = motion[:, :3] @ shares(B, ones, ones, axis)
    counted = _counted(robot, reach.free)
    torques = LeanTorques(robot, body, turning, shift[:, :2], friction, counted, HELD)
    return all(torques.holds(p) for p in cops)
