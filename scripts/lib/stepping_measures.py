"""What a run under a law that steps is judged by beside its outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.capability.legs import legs
from balance.robots.contacts import ContactSurface

AFTER_HIT_S = 0.04  # from which joint speeds count
EVERY_S = 0.005  # at which soles are looked at


def step_measures(recording: Recording) -> dict[str, Any]:
    """Steps, strategy, joint speeds, torque jumps, sole gap, slip and times of control steps."""
    summary = recording.summary()
    upper, lower = leg_joints(recording.robot)
    speeds = np.abs(recording.v[:, 6:]) / recording.robot.rated_speeds
    speeds = speeds[after_hits(recording)]
    return {
        "steps": summary["steps"],
        "strategy": summary["strategy"],
        "torque_jump": summary["max_torque_jump"],
        "slip_m": summary["max_sole_slip_m"],
        "hip_knee_speed": float(speeds[:, upper].max(initial=0.0)),
        "ankle_speed": float(speeds[:, lower].max(initial=0.0)),
        "sole_gap_m": least_gap(recording),
        "step_us": summary["control_step_us"]["median"],
    }


def after_hits(recording: Recording) -> np.ndarray:
    """Rows that do not lie within a push, nor shortly after it began."""
    rows = np.ones(len(recording.time), dtype=bool)
    for push in recording.pushes:
        over = max(push.end, push.start + AFTER_HIT_S)
        rows &= (recording.time < push.start) | (recording.time >= over)
    return rows


def leg_joints(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the joints of hips and knees, and of ankles."""
    feet = [sole for sole in robot.soles if sole.is_foot]
    ends = {leg.knee for leg in legs(robot, feet)}
    upper, lower = [], []
    for foot in feet:
        chain = [int(joint) for joint in contact_joints(robot, [foot])]
        knee = next((i for i, joint in enumerate(chain) if joint + 2 in ends), len(chain) - 1)
        upper += chain[: knee + 1]
        lower += chain[knee + 1 :]
    return np.array(sorted(set(upper)), dtype=int), np.array(sorted(set(lower)), dtype=int)


def least_gap(recording: Recording) -> float:
    """The least distance of two feet's soles seen from above, m; 0 where they overlap."""
    robot = recording.robot
    feet = [sole for sole in robot.soles if sole.is_foot]
    every = max(1, round(EVERY_S / recording.config.control_period_s))
    data, least = robot.model.createData(), np.inf
    for q in recording.q[::every]:
        pin.framesForwardKinematics(robot.model, data, q)
        rings = [_ring(sole, data) for sole in feet]
        for i, one in enumerate(rings):
            for other in rings[:i]:
                least = min(least, gap(one, other))
    return float(least)


def _ring(sole: ContactSurface, data: pin.Data) -> np.ndarray:
    pose = sole.wrench_pose(data)
    return np.asarray((sole.corners @ pose.rotation.T + pose.translation)[:, :2])


def gap(one: np.ndarray, other: np.ndarray) -> float:
    """The distance of two convex polygons (n, 2), their corners in order; 0 if they overlap."""
    if not any(_separates(a, b) for a, b in ((one, other), (other, one))):
        return 0.0
    return min(_to_edges(one, other), _to_edges(other, one))


def _separates(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether an edge of ``one`` has all of ``other`` on its outer side."""
    edges = np.roll(one, -1, axis=0) - one
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    inner = np.einsum("ij,ij->i", normals, one.mean(axis=0) - one)
    outward = -np.sign(inner)[:, None] * normals
    heights = np.einsum("ij,ikj->ik", outward, other[None] - one[:, None])
    return bool((heights > 0.0).all(axis=1).any())


def _to_edges(points: np.ndarray, ring: np.ndarray) -> float:
    """The least distance of points from the edges of a polygon."""
    edges = np.roll(ring, -1, axis=0) - ring
    along = points[:, None] - ring[None]
    share = np.clip((along * edges).sum(axis=2) / (edges**2).sum(axis=1), 0.0, 1.0)
    nearest = ring[None] + share[..., None] * edges
    return float(np.linalg.norm(points[:, None] - nearest, axis=2).min())
