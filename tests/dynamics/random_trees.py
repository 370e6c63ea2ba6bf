"""Random free-flying robots of one-degree-of-freedom joints, for property tests."""

from __future__ import annotations

import numpy as np
import pinocchio as pin


def random_placement(rng: np.random.Generator) -> pin.SE3:
    """Any rotation, and a translation of some decimetres."""
    quaternion = rng.normal(size=4)
    rotation = pin.Quaternion(*(quaternion / np.linalg.norm(quaternion))).toRotationMatrix()
    return pin.SE3(rotation, rng.normal(scale=0.3, size=3))


def random_inertia(rng: np.random.Generator) -> pin.Inertia:
    """The inertia of a cloud of points, so that it is always physical."""
    mass = rng.uniform(0.1, 5.0)
    points = rng.normal(scale=0.2, size=(5, 3))
    scatter = mass * points.T @ points / len(points)
    inertia = np.trace(scatter) * np.eye(3) - scatter
    return pin.Inertia(mass, rng.normal(scale=0.2, size=3), inertia)


def random_joint(rng: np.random.Generator) -> pin.JointModel:
    """Revolute about any axis, prismatic along any axis, or revolute without limits."""
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    kind = rng.integers(4)
    if kind == 0:
        return pin.JointModelPrismaticUnaligned(axis)
    if kind == 1:
        return pin.JointModelRUBX()
    return pin.JointModelRevoluteUnaligned(axis)


def random_tree(seed: int, joints: int) -> pin.Model:
    """A tree of ``joints`` joints in depth-first order, which Pinocchio's ``crba`` relies on."""
    rng = np.random.default_rng(seed)
    model = pin.Model()
    model.name = f"tree{seed}"
    model.addJoint(0, pin.JointModelFreeFlyer(), random_placement(rng), "root")
    model.appendBodyToJoint(1, random_inertia(rng), random_placement(rng))
    joint = 1
    for k in range(joints):
        # Attached to the joint before or to one of those that carry it.
        parent = int(rng.choice(model.supports[joint].tolist()[1:]))
        joint = model.addJoint(parent, random_joint(rng), random_placement(rng), f"joint{k}")
        model.appendBodyToJoint(joint, random_inertia(rng), random_placement(rng))
    return model


def random_state(model: pin.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A configuration and a velocity of order one."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv)
