"""A standing posture: soles flat on their planes, trunk upright, CoM over a point of the ground.

The search is a constrained Gauss-Newton iteration on the configuration manifold.  At the
configuration q, with constraint residual c(q), Jacobian J and distance d = q (-) q_start from the
starting guess, the step solves

    minimise  1/2 |W^(1/2) (d + dq)|^2    subject to    J dq = -c,    lower <= q + dq <= upper,

so that among all standing postures it finds the one nearest to the starting guess.  Only the base
translation and the joints between the base and the soles move; the base orientation is set
exactly, and arms, head and waist keep the angles of the starting guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.bounded_step import Mask, nearest_bounded_step
from balance.dynamics.checks import Array, check_floating_base, check_vector
from balance.errors import FrameError, InputError, RobotError, known_names
from balance.rotations import check_rotation_matrix

Sole = tuple[int, pin.SE3]
"""Frame index, and placement of the sole's centre in that frame (z axis out of the foot's top)."""

RESIDUAL_TOLERANCE = 1e-11  # of every condition, in m or rad
STEP_TOLERANCE = 1e-9
MAX_ITERATIONS = 200
MAX_STEP = 0.3  # rad or m, per iteration: keeps the linearisation honest far from the solution
FARTHEST_M = 1e3  # no robot reaches that far
BASE_WEIGHT = 1e-2  # of the base translation in W; a joint has 1, so the base follows the legs


@dataclass(frozen=True, slots=True)
class _Target:
    """What is asked for, with everything that the iteration needs to evaluate it."""

    soles: tuple[Sole, ...]
    held: tuple[int, ...]
    """How many components of each sole's pose are conditions."""
    placements: tuple[pin.SE3, ...]
    com_xy: Array
    base_height: float | None


def standing_posture(
    model: pin.Model,
    soles: Sequence[Sole],
    q_start: ArrayLike,
    *,
    com_xy: ArrayLike | None = None,
    base_height: float | None = None,
    base_rotation: ArrayLike | None = None,
    sole_heights: ArrayLike = 0.0,
    sole_placements: Sequence[pin.SE3] | None = None,
    held: Sequence[str] = (),
    held_components: Sequence[Sequence[int]] | None = None,
) -> Array:
    """Configuration near ``q_start`` that stands with every sole flat.

    Args:
        model: free-flyer model.
        soles: for each sole the frame that carries it, and the placement of the sole's centre in
            that frame; the z axis points up when the sole is flat on the ground.
        q_start: full configuration (nq).  It fixes the stance (position and heading of the soles,
            after ``base_rotation`` is applied), the angles of all joints outside the legs, and
            which way the knees bend, so bend them a little.  Its base height is ignored.
        com_xy: ground point under the CoM (m); the mean of the sole centres if not given.
        base_height: height of the base frame (m); if not given, whatever keeps the legs nearest
            to ``q_start``.
        base_rotation: orientation of the base in the world, a rotation matrix; identity if not
            given.
        sole_heights: height of the level plane under each sole (m), one number or one per sole.
        sole_placements: world placement of each sole centre, instead of the stance of ``q_start``
            on level planes.
        held: names of leg joints that keep their angle of ``q_start``; one knee fixes the height
            of the base just as ``base_height`` does.
        held_components: what each sole holds of (position, rotation): all six components if not
            given, three for a point, whose body may have any orientation, five for points on the x
            axis, about which it may turn.

    Returns:
        The configuration (nq); every condition holds to 1e-11 m or rad, within the joint limits.

    Raises:
        RobotError: no such posture was found; the message names the conditions that fail, by how
            much, and the joints at their limits.
    """
    check_floating_base(model)
    if not soles:
        raise InputError("soles is empty; a standing posture needs at least one sole")
    if base_height is not None and not np.isfinite(base_height):
        raise InputError(f"base_height is {base_height}; it must be a finite height in m, or None")
    free = _free_velocities(model, soles, held)
    q = check_vector("q_start", q_start, model.nq).copy()
    R_WB = np.eye(3) if base_rotation is None else check_rotation_matrix(base_rotation)
    q[3:7] = pin.Quaternion(R_WB).coeffs()
    q = _clip_start(model, q, free)

    data = model.createData()
    placements = _sole_placements(model, data, soles, q)
    sizes = tuple(6 for _ in soles)
    if held_components is not None:
        sizes = tuple(len(components) for components in held_components)
    wanted = _wanted_placements(placements, sizes, sole_heights, sole_placements)
    # The start stands on the mean plane, so that the base height of q_start does not matter.
    q[2] += np.mean([X.translation[2] for X in wanted])
    q[2] -= np.mean([X.translation[2] for X in placements])
    centre = np.mean([X.translation[:2] for X in wanted], axis=0)
    target = _Target(
        soles=tuple(soles),
        held=sizes,
        placements=tuple(wanted),
        com_xy=centre if com_xy is None else check_vector("com_xy", com_xy, 2),
        base_height=base_height,
    )
    _check_distances(model, target)
    return _solve(model, data, target, q, free)


def _solve(model: pin.Model, data: pin.Data, target: _Target, q_start: Array, free: Mask) -> Array:
    q = q_start.copy()
    lower, upper = _velocity_limits(model, q)
    weights = np.ones(model.nv)
    weights[:3] = BASE_WEIGHT
    best, smallest = q, np.inf
    for _ in range(MAX_ITERATIONS):
        residual, J = _conditions(model, data, target, q)
        if (size := np.abs(residual).max()) < smallest:
            best, smallest = q, size
        distance = pin.difference(model, q_start, q)
        step = nearest_bounded_step(
            J, residual, -distance, weights, free, lower - distance, upper - distance
        )
        longest = np.abs(step).max()
        if size < RESIDUAL_TOLERANCE and longest < STEP_TOLERANCE:
            return q
        if longest == 0.0:  # what is asked for cannot be had, nor come nearer
            break
        q = pin.integrate(model, q, step * min(1.0, MAX_STEP / longest))
    raise RobotError(_failure(model, data, target, best, free))


def _check_distances(model: pin.Model, target: _Target) -> None:
    """Refuse what is beyond any robot; its square might be beyond any number."""
    soles = [X.translation for X in target.placements]
    ground = np.mean(soles, axis=0)
    asked = {f"a sole at {np.round(p, 4).tolist()}": p - ground for p in soles}
    asked[f"com_xy {target.com_xy.tolist()}"] = target.com_xy - ground[:2]
    if target.base_height is not None:
        asked[f"base_height {target.base_height:g}"] = np.array([target.base_height - ground[2]])
    for what, offset in asked.items():
        if (farthest := float(np.abs(offset).max())) > FARTHEST_M:
            raise RobotError(
                f"no standing posture of '{model.name}' exists with {what}: that is {farthest:.3g} "
                f"m from the middle of the soles, and no robot reaches {FARTHEST_M:g} m"
            )


def _conditions(model: pin.Model, data: pin.Data, target: _Target, q: Array) -> tuple[Array, Array]:
    """Residual of every condition and its Jacobian: soles (6, 5 or 3), CoM x, y, base height."""
    J_com = pin.jacobianCenterOfMass(model, data, q)
    pin.computeJointJacobians(model, data, q)
    placements = _sole_placements(model, data, target.soles, q)
    residuals, rows = [], []
    for (frame, X_LF), size, X_WF, X_WT in zip(
        target.soles, target.held, placements, target.placements, strict=True
    ):
        X_TF = X_WT.actInv(X_WF)
        J_L = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
        if size == 6:
            residuals.append(pin.log6(X_TF).vector)
            rows.append(pin.Jlog6(X_TF) @ X_LF.toActionMatrixInverse() @ J_L)
        else:
            # The centre, then, of points on a line, that its direction x has no y and z.
            R, J_F = X_TF.rotation, X_LF.toActionMatrixInverse() @ J_L
            residuals.append(np.concatenate([X_TF.translation, R[1:, 0]])[:size])
            turned = R @ -pin.skew(np.array([1.0, 0.0, 0.0])) @ J_F[3:]
            rows.append(np.concatenate([R @ J_F[:3], turned[1:]])[:size])
    residuals.append(data.com[0][:2] - target.com_xy)
    rows.append(J_com[:2])
    if target.base_height is not None:
        height = np.zeros((1, model.nv))
        height[0, :3] = data.oMi[1].rotation[2]
        residuals.append(np.array([q[2] - target.base_height]))
        rows.append(height)
    return np.concatenate(residuals), np.vstack(rows)


def _sole_placements(
    model: pin.Model, data: pin.Data, soles: Sequence[Sole], q: Array
) -> list[pin.SE3]:
    pin.framesForwardKinematics(model, data, q)
    return [data.oMf[frame].act(X_LF) for frame, X_LF in soles]


def _wanted_placements(
    at_start: Sequence[pin.SE3],
    sizes: Sequence[int],
    heights: ArrayLike,
    requested: Sequence[pin.SE3] | None,
) -> list[pin.SE3]:
    """The requested placements of the soles, or else those at the start, put on level planes."""
    if requested is not None:
        if len(requested) != len(at_start):
            raise InputError(
                f"sole_placements has {len(requested)} entries for {len(at_start)} soles"
            )
        return list(requested)
    each = np.asarray(heights, dtype=float)
    if each.ndim == 0:
        each = np.repeat(each, len(at_start))
    each = check_vector("sole_heights", each, len(at_start))
    return [
        _levelled(X_WF, size, height)
        for X_WF, size, height in zip(at_start, sizes, each, strict=True)
    ]


def _levelled(X_WF: pin.SE3, size: int, height: float) -> pin.SE3:
    """The nearest placement flat on the plane z = ``height``: same x, y and heading."""
    R = X_WF.rotation
    if size == 6 and R[2, 2] <= 0.1:
        raise InputError(
            f"a sole's z axis has the upward component {R[2, 2]:.3f} at q_start; it must point up "
            "(towards 1), so check the sole's local placement and base_rotation"
        )
    yaw = np.arctan2(R[1, 0], R[0, 0])
    x, y, _ = X_WF.translation
    return pin.SE3(pin.utils.rotate("z", yaw), np.array([x, y, height]))


def _free_velocities(model: pin.Model, soles: Sequence[Sole], held: Sequence[str]) -> Mask:
    """Mask (nv) of what moves: the base translation, and the joints from the base to the soles."""
    free = np.zeros(model.nv, dtype=bool)
    free[:3] = True
    for frame, _ in soles:
        if not 0 <= frame < model.nframes:
            raise FrameError(f"sole frame index {frame} is outside 0 .. {model.nframes - 1}")
        for joint in model.supports[model.frames[frame].parentJoint]:
            if joint > 1:
                free[model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]] = True
    for name in held:
        if not model.existJointName(name):
            raise FrameError(
                f"held joint '{name}' is not in the model{known_names(name, list(model.names)[2:])}"
            )
        joint = model.getJointId(name)
        free[model.idx_vs[joint] : model.idx_vs[joint] + model.nvs[joint]] = False
    return free


def _velocity_limits(model: pin.Model, q: Array) -> tuple[Array, Array]:
    """How far each coordinate may move from ``q`` (nv); only one-parameter joints are limited."""
    lower, upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    for joint in range(2, model.njoints):
        if model.nqs[joint] == 1:
            i, k = model.idx_qs[joint], model.idx_vs[joint]
            lower[k] = model.lowerPositionLimit[i] - q[i]
            upper[k] = model.upperPositionLimit[i] - q[i]
    return lower, upper


def _clip_start(model: pin.Model, q: Array, free: Mask) -> Array:
    """``q`` with its free joints moved into their range; a joint that must stay has to be there."""
    lower, upper = _velocity_limits(model, q)
    for joint in range(2, model.njoints):
        i, k = model.idx_qs[joint], model.idx_vs[joint]
        if not free[k] and not lower[k] <= 0.0 <= upper[k]:
            raise RobotError(
                f"joint '{model.names[joint]}' of '{model.name}' is at {q[i]:.4g} rad in q_start, "
                f"outside its range {model.lowerPositionLimit[i]:.4g} .. "
                f"{model.upperPositionLimit[i]:.4g}; it is kept there, so choose an angle inside"
            )
    return pin.integrate(model, q, np.where(free, np.clip(0.0, lower, upper), 0.0))


def _failure(model: pin.Model, data: pin.Data, target: _Target, q: Array, free: Mask) -> str:
    """One sentence: the conditions that fail at ``q``, by how much, and the joints at a limit."""
    residual, _ = _conditions(model, data, target, q)
    failing = [
        f"{what} by {size:.3g} {unit}"
        for what, unit, part in _condition_parts(model, target)
        if (size := float(np.linalg.norm(residual[part]))) > RESIDUAL_TOLERANCE
    ]
    lower, upper = _velocity_limits(model, q)
    limited = [
        model.names[joint]
        for joint in range(2, model.njoints)
        if free[k := model.idx_vs[joint]] and min(-lower[k], upper[k]) < 1e-9
    ]
    return (
        f"no standing posture of '{model.name}' found in at most {MAX_ITERATIONS} iterations; the "
        f"nearest misses {', '.join(failing) or 'only the nearest legs, still moving'}"
        f"{' with ' + ', '.join(limited) + ' at a limit' if limited else ''}: bend the knees of "
        "q_start, or ask for another base_height or com_xy"
    )


def _condition_parts(model: pin.Model, target: _Target) -> list[tuple[str, str, slice]]:
    """Name, unit and place in the residual of every condition."""
    parts, k = [], 0
    for (frame, _), size in zip(target.soles, target.held, strict=True):
        name = model.frames[frame].name
        parts.append((f"the position of the sole on '{name}'", "m", slice(k, k + 3)))
        if size > 3:
            turned = slice(k + 3, k + size)
            parts.append((f"the orientation of the sole on '{name}'", "rad", turned))
        k += size
    parts.append((f"the CoM over {np.round(target.com_xy, 4).tolist()}", "m", slice(k, k + 2)))
    if target.base_height is not None:
        parts.append((f"the base height {target.base_height:.4g} m", "m", slice(k + 2, k + 3)))
    return parts
