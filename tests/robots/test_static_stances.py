"""The postures of every motion, judged by programs that know nothing of how they were found.

Equilibrium is a linear program on forces at the corners of surfaces, each in its own friction
pyramid; the search works with wrenches and their cones.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

from balance.config import load_config
from balance.config.paths import data_folder
from balance.config.phases import FLOOR
from balance.robots import load_robot
from balance.robots.objects import world_objects
from balance.robots.sequence import PlannedPhase, plan_phases
from balance.robots.shapes.proximity import Plate, Proximity
from balance.robots.stance_report import stance_reports, static_torques

SAMPLES = Path(__file__).parents[1] / "samples" / "motions"
MOTIONS = {
    path.stem: path
    for folder in (SAMPLES, data_folder("configs"))
    for path in sorted(folder.glob("*.yaml"))
    if "\nphases:" in path.read_text()
}
FRICTION = 0.6
IN_PLACE = 1e-9  # m and rad
BALANCED = 2e-5  # of the weight, force and moment about the base
DEEPEST_M = 8.3e-3  # of a surface's own body in what it lies on: a knuckle in a wall


@cache
def planned(motion: str) -> tuple[PlannedPhase, ...]:
    config = load_config(MOTIONS[motion])
    return plan_phases(config, load_robot(config.robot))


def least_share(phase: PlannedPhase) -> float:
    """Largest share of a torque limit, at its least, that corner forces hold the posture with."""
    robot = phase.robot
    model, data = robot.model, robot.model.createData()
    gravity = pin.computeGeneralizedGravity(model, data, robot.q_nominal)
    pin.computeJointJacobians(model, data, robot.q_nominal)
    pin.updateFramePlacements(model, data)
    mu = FRICTION / np.sqrt(2.0)
    columns = []
    for sole in robot.soles:
        if sole.name not in phase.kept:
            continue
        axes = sole.plane.rotation
        for corner in sole.corners:
            point = sole.pose(data).act(corner)
            joint = model.frames[sole.frame_id].parentJoint
            J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            J_p = J[:3] - pin.skew(point - data.oMi[joint].translation) @ J[3:]
            edges = [[x, y, 1.0] for x in (-mu, mu) for y in (-mu, mu)]
            columns += [J_p.T @ axes @ np.array(edge) for edge in edges]
    B = np.column_stack(columns)
    limits = robot.effort_limits[:, None]
    n = B.shape[1]
    minus = -np.ones((len(limits), 1))
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack([np.hstack([-B[6:] / limits, minus]), np.hstack([B[6:] / limits, minus])]),
        b_ub=np.concatenate([-gravity[6:], gravity[6:]]) / np.tile(robot.effort_limits, 2),
        A_eq=np.hstack([B[:6], np.zeros((6, 1))]),
        b_eq=gravity[:6],
        bounds=[(0.0, None)] * (n + 1),
    )
    assert found.status == 0, f"{phase.name}: {found.message}"
    return float(found.x[-1])


@pytest.mark.parametrize("motion", MOTIONS)
def test_corner_forces_in_friction_pyramids_hold_every_posture(motion: str) -> None:
    for phase in planned(motion):
        assert least_share(phase) < 1.0


@pytest.mark.parametrize("motion", MOTIONS)
def test_the_wrenches_found_hold_it_within_the_torque_limits(motion: str) -> None:
    for phase in planned(motion):
        robot = phase.robot
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
        force, moment = np.zeros(3), np.zeros(3)
        for sole in robot.soles:
            if sole.name in phase.wrenches:
                pose, wrench = sole.wrench_pose(data), phase.wrenches[sole.name]
                one = pose.rotation @ wrench[:3]
                force += one
                moment += np.cross(pose.translation, one) + pose.rotation @ wrench[3:]
        weight = np.array([0.0, 0.0, robot.mass * 9.81])
        assert np.abs(force - weight).max() < BALANCED * weight[2]
        assert np.abs(moment - np.cross(robot.com(), weight)).max() < BALANCED * weight[2]
        assert (np.abs(static_torques(phase)) <= robot.effort_limits).all()


@pytest.mark.parametrize("motion", MOTIONS)
def test_surfaces_are_in_place_and_joints_inside_their_ranges(motion: str) -> None:
    for phase in planned(motion):
        robot = phase.robot
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
        for sole in robot.soles:
            placed = phase.placements[sole.name].actInv(sole.pose(data))
            assert np.abs(placed.translation).max() < IN_PLACE
            assert np.abs((sole.plane.actInv(sole.pose(data)).act(sole.corners[0]))[2]) < IN_PLACE
            if sole.has_area:
                assert np.linalg.norm(pin.log3(placed.rotation)) < IN_PLACE
        q = robot.q_nominal[7:]
        assert (q > robot.model.lowerPositionLimit[7:]).all()
        assert (q < robot.model.upperPositionLimit[7:]).all()


@pytest.mark.parametrize("motion", MOTIONS)
def test_no_body_is_in_another_in_an_object_or_in_the_floor(motion: str) -> None:
    """By the distances that plants use."""
    objects = world_objects(load_config(MOTIONS[motion]).objects)
    plates = [Plate(one.pose, (*one.half_size, 0.5 * one.depth), ()) for one in objects.values()]
    for phase in planned(motion):
        robot = phase.robot
        surfaces = {surface.name: surface for surface in robot.surfaces}
        lying = [*phase.on.items(), *((move.surface, move.on) for move in phase.moves)]
        touching = {
            (robot.model.frames[surfaces[name].frame_id].parentJoint, on) for name, on in lying
        }
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, robot.q_nominal)
        near = Proximity(robot, pin.SE3.Identity(), plates)
        names = list(objects)
        for one in near.self_contacts(data):
            plate = one.j - len(robot.shapes)
            own = plate >= 0 and (robot.shapes[one.i].joint, names[plate]) in touching
            assert one.distance > (-DEEPEST_M if own else 0.0), phase.name
        _, heights, numbers = near.ground_points(data)
        for height, number in zip(heights, numbers, strict=True):
            own = (robot.shapes[number].joint, FLOOR) in touching
            assert height > (-DEEPEST_M if own else 0.0), phase.name


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_contact_stays_where_it_is_while_it_bears(motion: str) -> None:
    phases = planned(motion)
    for one, other in pairwise(phases):
        for name in set(one.placements) & set(other.placements):
            assert other.placements[name].isApprox(one.placements[name], 1e-12)
        for move in one.moves:
            if move.on is not None and move.surface in other.placements:
                assert other.placements[move.surface].isApprox(move.goal, 1e-12)


def test_a_report_has_the_figures_of_the_posture() -> None:
    phases = planned("toro_kneel")
    report = next(one for one in stance_reports(phases, {}) if one.name == "kneel")
    phase = next(one for one in phases if one.name == "kneel")
    assert np.allclose(report.com, phase.robot.com())
    share = np.abs(static_torques(phase)) / phase.robot.effort_limits
    assert report.torque_share == share.max()
    assert report.torque_joint == phase.robot.joint_names[int(share.argmax())]
    assert 0.0 < report.range_rad < 0.2 and "knee" in report.range_joint
    assert 0.0 < report.cop_m < 0.0475 and report.cop_surface == "left sole"
    assert 0.0 < report.gap_m < 0.03


def test_the_same_config_gives_the_same_postures_bit_for_bit() -> None:
    config = load_config(MOTIONS["toro_wall_step"])
    again = plan_phases(config, load_robot("toro"))
    for one, other in zip(planned("toro_wall_step"), again, strict=True):
        assert np.array_equal(one.robot.q_nominal, other.robot.q_nominal)
