"""The identities of Traversaro2016, sections II to IV, as residuals at a random state.

Every statement about a base is tried on a link, a compound of two links, the CoM with the axes of
the base and of a link, and the average velocity.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
    relative_sum,
    worst_part,
)
from balance.analysis.theory.motion import DIFFERENCE_STATES, rate_along_motion
from balance.dynamics.base_frame import BaseChange, change_base
from balance.dynamics.checks import Array, frame_id
from balance.dynamics.representations import convert_velocity
from balance.dynamics.rigid_body import mixed_inertia, mixed_wrench

_list = CheckList("Traversaro2016")


def bases(s: State) -> list[BaseChange]:
    """The base changes that every identity is tried on."""
    return [s.base(name) for name in base_names(s)]


def base_names(s: State) -> tuple[str, ...]:
    """A link, a compound frame, two frames at the CoM, and the average velocity."""
    one, two, three = s.links
    return one, f"{two}[{three}]", "G[B]", f"G[{one}]", "centroidal"


def shift(source: Array, target: Array) -> Array:
    """(6, 6) X that moves the reference point of a mixed velocity from ``source`` to ``target``."""
    X = np.eye(6)
    X[:3, 3:] = pin.skew(source - target)
    return X


def mixed_jacobian(s: State, index: int) -> Array:
    """J_{L,B} (6, nv) of a link for the mixed velocity of the model's base (10)."""
    R = np.asarray(s.base("B").rotation)
    J = s.jacobians[index].copy()
    J[:, :3], J[:, 3:6] = J[:, :3] @ R.T, J[:, 3:6] @ R.T
    return J


@_list.add("II-C", "body, inertial and mixed velocity of a link are Pinocchio's three")
def representations(model: pin.Model, s: State) -> float:
    data = s.data
    pin.forwardKinematics(model, data, s.q, s.v)
    index = frame_id(model, s.links[0])
    names = {
        "body": pin.ReferenceFrame.LOCAL,
        "inertial": pin.ReferenceFrame.WORLD,
        "mixed": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }
    known = {
        name: pin.getFrameVelocity(model, data, index, frame).vector
        for name, frame in names.items()
    }
    pose = s.placements[0]
    return max(
        relative_difference(convert_velocity(known[a], a, b, pose), known[b])
        for a in names
        for b in names
    )


@_list.add("(5)", "Newton-Euler of one link in mixed coordinates is Pinocchio's in body axes")
def rigid_body(model: pin.Model, s: State) -> float:
    data = s.data
    pin.forwardKinematics(model, data, s.q, s.v, s.acceleration)
    joint = model.frames[frame_id(model, s.links[0])].parentJoint
    X, inertia, v, a = data.oMi[joint], model.inertias[joint], data.v[joint], data.a[joint]
    body = inertia * a + v.cross(inertia * v)
    R, I_mixed = X.rotation, mixed_inertia(inertia, X)
    velocity = np.concatenate([R @ v.linear, R @ v.angular])
    acceleration = np.concatenate([R @ (a.linear + np.cross(v.angular, v.linear)), R @ a.angular])
    wrench = mixed_wrench(inertia, X, velocity, acceleration, model.gravity.linear)
    expected = np.concatenate([R @ body.linear, R @ body.angular])
    expected -= I_mixed[:, :3] @ model.gravity.linear
    # A point mass has no moment: its rounding is that of the cross product of v and m v.
    moment_size = largest(velocity[:3]) * largest(I_mixed[:3] @ velocity)
    return max(
        relative_difference(wrench[:3], expected[:3]),
        relative_difference(wrench[3:], expected[3:], moment_size),
    )


@_list.add("(12)", "kinetic energy: the links' sum is nu^T M_B nu / 2")
def energy_sums_links(model: pin.Model, s: State) -> float:
    data = s.data
    pin.forwardKinematics(model, data, s.q, s.v)
    total = 0.5 * float(s.v @ (model.armature * s.v))
    for X, inertia, v in zip(data.oMi, model.inertias, data.v, strict=True):
        mixed = np.concatenate([X.rotation @ v.linear, X.rotation @ v.angular])
        total += 0.5 * float(mixed @ mixed_inertia(inertia, X) @ mixed)
    return relative_difference(s.base("B").kinetic_energy(), total)


@_list.add("(13)", "gravity torques are -M_B (g, 0, 0)")
def gravity_from_mass_matrix(model: pin.Model, s: State) -> float:
    own = s.base("B")
    return relative_difference(own.G, -own.M[:, :3] @ model.gravity.linear)


@_list.add("(14)-(16)", "first rows of M_B: locked inertia and momentum about the base")
def locked_inertia_and_momentum(model: pin.Model, s: State) -> float:
    own = s.base("B")
    data = s.data
    pin.forwardKinematics(model, data, s.q, s.v)
    locked, momentum = np.zeros((6, 6)), np.zeros(6)
    for X, inertia, v in zip(data.oMi, model.inertias, data.v, strict=True):
        X_BL = shift(own.origin, X.translation)
        locked += X_BL.T @ mixed_inertia(inertia, X) @ X_BL
        mixed = np.concatenate([X.rotation @ v.linear, X.rotation @ v.angular])
        momentum += X_BL.T @ mixed_inertia(inertia, X) @ mixed
    return max(
        relative_difference(own.M[:6, :6], locked), worst_part((own.M @ own.nu)[:6], -momentum)
    )


@_list.add("(18)-(19)", "T nu is the velocity of the new base, with joints locked a rigid motion")
def velocity_transformation(model: pin.Model, s: State) -> float:
    own, (link, compound, *_) = s.base("B"), bases(s)
    velocities = [J @ s.v for J in s.jacobians]
    compound_velocity = np.concatenate([velocities[1][:3], velocities[2][3:]])
    rigid = max(
        relative_difference(base.T[:6, :6], shift(own.origin, base.origin)) for base in bases(s)
    )
    return max(
        rigid,
        worst_part(link.T @ own.nu, -np.concatenate([velocities[0], s.v[6:]])),
        worst_part(compound.T @ own.nu, -np.concatenate([compound_velocity, s.v[6:]])),
    )


@_list.add("(17), (20)", "the power phi^T nu of a generalised force does not depend on the base")
def power_is_invariant(model: pin.Model, s: State) -> float:
    own = s.base("B")
    phi = s.contact_forces + s.generalised_torques  # any generalised force would do
    power = float(phi @ own.nu)
    scale = largest(phi * own.nu)
    return max(
        relative_difference((base.T_dual @ phi) @ base.nu, power, scale) for base in bases(s)
    )


@_list.add("(21), (41)", "the dual T^-T is [X* 0; -J^T X* E]")
def dual_transformation(model: pin.Model, s: State) -> float:
    own = s.base("B")

    def closed_form(base: BaseChange) -> Array:
        dual = np.eye(model.nv)
        dual[:6, :6] = shift(base.origin, own.origin).T
        dual[6:, :6] = -base.T[:6, 6:].T @ dual[:6, :6]
        return dual

    return max(relative_difference(base.T_dual, closed_form(base)) for base in bases(s))


@_list.add("(20)", "T T^-1 = E: the change of base is undone")
def inverse_transformation(model: pin.Model, s: State) -> float:
    return max(relative_difference(base.T @ base.T_inv, np.eye(model.nv)) for base in bases(s))


@_list.add("(22)", "J_{L,B'} = J_{L,B} T^-1 gives the link's velocity for every base")
def jacobian_transformation(model: pin.Model, s: State) -> float:
    J, origin = mixed_jacobian(s, 0), s.placements[0].translation
    velocity = s.jacobians[0] @ s.v
    return max(
        max(
            worst_part(base.jacobian(J) @ base.nu, -velocity),
            relative_difference(base.jacobian(J)[:, :6], shift(base.origin, origin)),
        )
        for base in bases(s)
    )


@_list.add("(19), (24)", "going from B' to B'' is going back to B and on to B''")
def composition(model: pin.Model, s: State) -> float:
    worst = 0.0
    for first, second in zip(bases(s), bases(s)[1:], strict=False):
        T = second.T @ first.T_inv
        T_inv = first.T @ second.T_inv
        dT = (second.dT - T @ first.dT) @ first.T_inv
        M = T_inv.T @ first.M @ T_inv
        C = T_inv.T @ (first.C - first.M @ T_inv @ dT) @ T_inv
        worst = max(
            worst,
            relative_difference(T[:6, :6], shift(first.origin, second.origin)),
            relative_difference(M, second.M),
            relative_difference(C, second.C),
        )
    return worst


@_list.add("(23)-(24)", "M' dnu'/dt + C' nu' + G' = (0, tau) + sum of J'^T f for every base")
def equations_of_motion(model: pin.Model, s: State) -> float:
    own = s.base("B")
    # Contact forces in mixed coordinates of the model's base.
    forces = sum(mixed_jacobian(s, i).T @ w for i, w in enumerate(s.wrenches))
    return max(
        worst_part(
            base.M @ (base.T @ s.mixed_acceleration + base.dT @ own.nu),
            base.C @ base.nu,
            base.G,
            -s.generalised_torques,
            -base.T_dual @ forces,
        )
        for base in bases(s)
    )


@_list.add("(25)", "the kinetic energy does not depend on the base")
def energy_is_invariant(model: pin.Model, s: State) -> float:
    return max(relative_difference(base.kinetic_energy(), s.kinetic_energy) for base in bases(s))


@_list.add("property 1", "M' is symmetric and positive definite for every base")
def mass_matrices_are_positive(model: pin.Model, s: State) -> float:
    if min(np.linalg.eigvalsh(base.M)[0] for base in bases(s)) <= 0.0:
        return float("inf")
    return max(relative_difference(base.M, base.M.T) for base in bases(s))


@_list.add(
    "property 2",
    "dM'/dt - 2 C' is skew-symmetric for every base, dM'/dt along the motion",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def velocity_terms_are_passive(model: pin.Model, s: State) -> float:
    def residual(name: str) -> float:
        rate = rate_along_motion(s, lambda q, v: change_base(model, q, v, name, data=s.data).M)
        C = s.base(name).C
        return relative_difference(rate, C + C.T, largest(C))

    return max(residual(name) for name in base_names(s))


@_list.add("remark IV.1", "joint torques look the same from every base: T^-T (0, tau) = (0, tau)")
def torques_are_invariant(model: pin.Model, s: State) -> float:
    torques = s.generalised_torques
    return max(relative_difference(base.T_dual @ torques, torques) for base in bases(s))


@_list.add("remark IV.2", "a wrench on the old base gives torques only in joints towards the new")
def external_torques_are_sparse(model: pin.Model, s: State) -> float:
    base = s.base(s.links[0])
    joint = model.frames[frame_id(model, s.links[0])].parentJoint
    between = set(model.supports[joint].tolist()) - {0, 1}
    wrench = np.concatenate([s.wrenches[0], np.zeros(model.nv - 6)])
    expected = base.T_dual @ wrench
    for j in range(2, model.njoints):
        if j not in between:
            expected[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]] = 0.0
    return relative_sum(base.T_dual @ wrench, -expected)


CHECKS = _list.checks
