"""The CoP region under torque limits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from balance.recordings.metrics import ankle_limit, support_reach
from balance.robots import Robot, load_robot
from balance.robots.capability import cop_region
from balance.robots.capability.programme import AMPLE_FRICTION, TorqueProgramme
from balance.robots.contacts import centre_of_pressure
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def romeo() -> Robot:
    return load_robot("romeo")


def strengthened(robot: Robot, factor: float) -> Robot:
    model = robot.model.copy()
    limits = np.array(model.upperEffortLimit)
    limits[6:] *= factor
    model.upperEffortLimit = limits
    return dataclasses.replace(robot, model=model)


@pytest.mark.parametrize("name", ["toro", "talos", "solo12"])
def test_where_no_torque_binds_it_is_the_support_polygon_to_the_last_bit(name: str) -> None:
    robot = load_robot(name)
    np.testing.assert_array_equal(cop_region(robot).vertices, support_polygon(robot).vertices)
    direction, com = np.array([0.6, 0.8]), robot.com()
    expected = robot.mass * np.sqrt(9.81 / com[2]) * support_reach(robot, direction)
    assert ankle_limit(robot, direction) == expected


def test_weak_ankles_cut_the_front_of_the_polygon(romeo: Robot) -> None:
    com, polygon, region = romeo.com()[:2], support_polygon(romeo), cop_region(romeo)
    shares = {}
    for degrees in (0, 45, 60, 90, 180, 315):
        direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        shares[degrees] = region.reach(com, direction) / polygon.reach(com, direction)
    assert shares[45] == pytest.approx(shares[315], abs=1e-4)  # it is symmetric
    assert shares[45] < 0.85 and shares[60] < 0.8
    assert shares[180] == pytest.approx(1.0, abs=1e-5)
    assert all(polygon.contains(com + (1 - 1e-5) * (v - com)) for v in region.vertices)


def test_four_times_the_torque_gives_back_the_support_polygon(romeo: Robot) -> None:
    strong = strengthened(romeo, 4.0)
    np.testing.assert_array_equal(cop_region(strong).vertices, support_polygon(strong).vertices)


def farthest_cop(robot: Robot, direction: Array) -> float:
    """Reach of the CoP by another formulation: all accelerations, and forces at all corners."""
    model, data, q = robot.model, robot.model.createData(), robot.q_nominal
    rest = np.zeros(model.nv)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    gravity = pin.rnea(model, data, q, rest, rest)
    pin.computeJointJacobians(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    com = pin.centerOfMass(model, data, q).copy()
    corners, jacobians, held = [], [], []
    for sole in robot.soles:
        pose = sole.pose(data)
        frame = robot.model.frames[sole.frame_id]
        J = pin.getJointJacobian(model, data, frame.parentJoint, pin.LOCAL_WORLD_ALIGNED)
        origin = data.oMi[frame.parentJoint].translation
        held.append(J)
        for corner in sole.corners @ pose.rotation.T + pose.translation:
            corners.append(corner)
            jacobians.append(J[:3] - pin.skew(corner - origin) @ J[3:])
    J_f, places = np.vstack(jacobians), np.array(corners)
    nv, nf = model.nv, len(J_f)
    weight = robot.mass * 9.81
    sums = np.tile(np.eye(3), len(places))
    moments = np.hstack([pin.skew(place - com) for place in places])
    across = np.array([-direction[1], direction[0]])
    cop = np.zeros((2, nf))
    cop[:, 2::3] = (places[:, :2] - com[:2]).T / weight
    zeros = np.zeros
    A_eq = np.vstack([
        np.hstack([M[:6], -J_f.T[:6]]),
        np.hstack([np.vstack(held), zeros((6 * len(held), nf))]),
        np.hstack([zeros((1, nv)), sums[2:]]),
        np.hstack([zeros((2, nv)), moments[:2]]),
        np.append(zeros(nv), across @ cop),
    ])  # fmt: skip
    b_eq = np.concatenate([-gravity[:6], zeros(6 * len(held)), [weight], zeros(3)])
    torques = np.hstack([M[6:], -J_f.T[6:]])
    sides = []
    for k in range(len(places)):
        for axis in (0, 1):
            for sign in (1.0, -1.0):
                row = zeros(nv + nf)
                row[nv + 3 * k + axis], row[nv + 3 * k + 2] = sign, -AMPLE_FRICTION
                sides.append(row)
    limits = robot.effort_limits
    found = linprog(
        -np.append(zeros(nv), direction @ cop),
        A_ub=np.vstack([torques, -torques, np.array(sides)]),
        b_ub=np.concatenate([limits - gravity[6:], limits + gravity[6:], zeros(len(sides))]),
        A_eq=A_eq,
        b_eq=b_eq,
        bounds=(None, None),
        method="highs-ipm",
    )
    assert found.status == 0, found.message
    return -float(found.fun)


@pytest.mark.parametrize("degrees", [0.0, 50.0, 80.0, 200.0])
def test_forces_at_corners_reach_as_far(romeo: Robot, degrees: float) -> None:
    direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    reach = cop_region(romeo).reach(romeo.com()[:2], direction)
    assert reach == pytest.approx(farthest_cop(romeo, direction), rel=1e-4)


def test_at_a_vertex_the_torques_of_pinocchio_are_within_limits_and_one_is_used_up(
    romeo: Robot,
) -> None:
    programme = TorqueProgramme(romeo)
    value, unknowns = programme.most(programme.p[0], programme.u, np.zeros(2))
    model, data = romeo.model, romeo.model.createData()
    a = programme.motion @ unknowns
    n = len(unknowns) - 12
    wrenches = unknowns[n:].reshape(2, 6)
    pin.framesForwardKinematics(model, data, romeo.q_nominal)
    cops = [
        (w[2], (s.pose(data).act(np.append(centre_of_pressure(w), 0.0)))[:2])
        for s, w in zip(romeo.soles, wrenches, strict=True)
        if w[2] > 1.0
    ]
    total = sum(f * p for f, p in cops) / sum(f for f, _ in cops)
    assert total[0] - romeo.com()[0] == pytest.approx(value, abs=1e-6)
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    for sole, wrench in zip(romeo.soles, wrenches, strict=True):
        frame = model.frames[sole.frame_id]
        fext[frame.parentJoint] += (frame.placement * sole.placement).act(pin.Force(wrench))
    tau = pin.rnea(model, data, romeo.q_nominal, np.zeros(model.nv), a, fext)
    np.testing.assert_allclose(tau[:6], 0.0, atol=1e-5)
    used = np.abs(tau[6:]) / romeo.effort_limits
    assert used.max() == pytest.approx(1.0, abs=1e-5)
