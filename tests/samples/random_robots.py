"""Random floating-base robots for property tests: chains and trees of any length, mass and axis."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from hypothesis import strategies as st


def random_robot(joints: int, seed: int, branching: bool = True) -> pin.Model:
    """A floating-base robot with ``joints`` joints, one reproducible robot per ``seed``.

    A chain, or a tree with branches anywhere.  Joints are revolute, unbounded
    revolute (two coordinates in q) or prismatic, about any axis; some have rotor inertia.  Frames
    ``link_0`` (base) to ``link_<joints>`` are fixed to the links, away from their joints.
    """
    rng = np.random.default_rng(seed)
    model = pin.Model()
    model.name = f"random_{'tree' if branching else 'chain'}_{joints}_{seed}"
    root = model.addJoint(0, pin.JointModelFreeFlyer(), random_pose(rng), "root_joint")
    model.appendBodyToJoint(root, random_inertia(rng), pin.SE3.Identity())
    model.addBodyFrame("link_0", root, pin.SE3.Identity(), 0)
    parent = root
    for index in range(1, joints + 1):
        if branching:
            # Pinocchio needs every subtree to be numbered without gaps, so a new branch may only
            # start on the way from the base to the last link.
            parent = int(rng.choice(model.supports[parent].tolist()[1:]))
        kind, reach = random_joint(rng)
        joint = model.addJoint(parent, kind, random_pose(rng), f"joint_{index}")
        model.appendBodyToJoint(joint, random_inertia(rng), pin.SE3.Identity())
        model.addBodyFrame(f"link_{index}", joint, random_pose(rng), 0)
        parent = joint
        coordinates = slice(model.idx_qs[joint], model.idx_qs[joint] + model.nqs[joint])
        model.lowerPositionLimit[coordinates] = -reach
        model.upperPositionLimit[coordinates] = reach
    model.armature = np.concatenate(
        [np.zeros(6), rng.choice([0.0, 0.05], model.nv - 6) * rng.uniform(size=model.nv - 6)]
    )
    return model


def random_joint(rng: np.random.Generator) -> tuple[pin.JointModel, float]:
    """A joint about a random axis, and how far it may go from zero (rad, or m)."""
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    kind = rng.choice(["revolute", "unbounded", "prismatic"], p=[0.7, 0.15, 0.15])
    if kind == "revolute":
        return pin.JointModelRevoluteUnaligned(axis), np.pi
    if kind == "unbounded":
        return pin.JointModelRUBZ(), 1.0  # its placement is random, so its axis is too
    return pin.JointModelPrismaticUnaligned(axis), 0.5


def random_pose(rng: np.random.Generator) -> pin.SE3:
    """A pose with any rotation, within 0.5 m."""
    quaternion = pin.Quaternion(rng.standard_normal(4)).normalized()
    return pin.SE3(quaternion, rng.uniform(-0.5, 0.5, 3))


def random_inertia(rng: np.random.Generator) -> pin.Inertia:
    """A solid box of 0.1 to 10 kg and 0.05 to 0.5 m, anywhere within 0.5 m of its joint."""
    box = pin.Inertia.FromBox(10.0 ** rng.uniform(-1.0, 1.0), *rng.uniform(0.05, 0.5, 3))
    return random_pose(rng).act(box)


def chain_from_both_ends(links: int, seed: int) -> tuple[pin.Model, pin.Model]:
    """One chain of revolute joints as two models: rooted at its first and at its last link."""
    rng = np.random.default_rng(seed)
    inertias = [random_inertia(rng) for _ in range(links)]
    placements = [random_pose(rng) for _ in range(links - 1)]
    axes = [axis / np.linalg.norm(axis) for axis in rng.standard_normal((links - 1, 3))]

    first = pin.Model()
    joint = first.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    first.appendBodyToJoint(joint, inertias[0], pin.SE3.Identity())
    for placement, axis, inertia in zip(placements, axes, inertias[1:], strict=True):
        kind = pin.JointModelRevoluteUnaligned(axis)
        joint = first.addJoint(joint, kind, placement, f"joint_{first.njoints}")
        first.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    first.addBodyFrame("last_link", joint, pin.SE3.Identity(), 0)

    # Seen from the child, a joint turns about the opposite axis and its parent sits behind it.
    last = pin.Model()
    joint = last.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    last.appendBodyToJoint(joint, inertias[-1], pin.SE3.Identity())
    behind = pin.SE3.Identity()
    for placement, axis, inertia in zip(
        reversed(placements), reversed(axes), reversed(inertias[:-1]), strict=True
    ):
        kind = pin.JointModelRevoluteUnaligned(-axis)
        joint = last.addJoint(joint, kind, behind, f"joint_{last.njoints}")
        behind = placement.inverse()
        last.appendBodyToJoint(joint, inertia, behind)
    # pin.buildReducedModel looks for a frame of every joint, and crashes where there is none.
    for joint in range(1, last.njoints):
        last.addJointFrame(joint)
    return first, last


def random_robots(
    max_joints: int = 10, min_joints: int = 0, branching: bool | None = None
) -> st.SearchStrategy[pin.Model]:
    """Strategy of chains (``branching`` False), trees (True) or both (None)."""
    return st.builds(
        random_robot,
        joints=st.integers(min_joints, max_joints),
        seed=st.integers(0, 2**32 - 1),
        branching=st.booleans() if branching is None else st.just(branching),
    )
