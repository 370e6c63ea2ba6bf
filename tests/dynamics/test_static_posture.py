"""Static postures: derivatives by finite differences, and wrenches by linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.dynamics.static_equilibrium import com_shortfall, least_effort
from balance.dynamics.static_posture import Bearing, Point, StaticPosture, Touch, Wanted
from balance.dynamics.surface_place import Place, Turn
from balance.robots import Robot, load_robot
from balance.robots.contact_points import surface_cone
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]
STEP = 1e-6
JACOBIAN_TOLERANCE = 2e-6  # of central differences, relative to the largest entry


@pytest.fixture(scope="module")
def toro() -> Robot:
    return load_robot("toro")


def surface_of(robot: Robot, name: str) -> ContactSurface:
    return next(surface for surface in robot.surfaces if surface.name == name)


def touch(
    robot: Robot, name: str, target: pin.SE3, turn: Turn = "all", friction: float = 0.4
) -> Touch:
    """A surface that bears, with its cone; where it may turn, in the target's axes."""
    surface = surface_of(robot, name)
    cone = surface_cone(surface, friction)
    units = np.array([300.0, 300.0, 760.0, 40.0, 70.0, 40.0])
    axes = None if surface.has_area else surface.axes(target.rotation, target.rotation)
    bearing = Bearing(cone.rows, cone.lower, units, surface.held, axes)
    return Touch(name, Place(surface.frame_id, surface.placement, target, turn=turn), bearing)


def moved(robot: Robot, seed: int) -> Array:
    random = np.random.default_rng(seed)
    return pin.integrate(robot.model, robot.q_nominal, 0.3 * random.standard_normal(robot.model.nv))


def test_all_derivatives_are_those_of_finite_differences(toro: Robot) -> None:
    tilted = pin.SE3(pin.rpy.rpyToMatrix(0.2, -0.3, 0.4), np.array([0.2, -0.1, 0.9]))
    palm = touch(toro, "right palm", tilted, "flat")
    open_place = replace(palm.place, position=(2,), window=(0.3, 0.2))
    touches = (
        touch(toro, "left sole", pin.SE3.Identity()),
        replace(palm, place=open_place),
        touch(toro, "left knuckle", tilted, "none"),
        touch(toro, "right knee", tilted, "line"),
        Touch("left toe", replace(touch(toro, "left toe", tilted).place, turn="flat line")),
    )
    wanted = Wanted(touches, toro.q_nominal, (6,), (7,), np.array([0.1, 0.0]))
    search = StaticPosture(toro.model, wanted)
    q = moved(toro, 1)
    w = np.random.default_rng(2).uniform(0.1, 0.5, search.n_wrenches)
    terms = search.terms(Point(q, w))
    nv = toro.model.nv

    def at(step: Array) -> Array:
        point = Point(pin.integrate(toro.model, q, step[:nv]), w + step[nv:])
        found = search.terms(point)
        return np.concatenate([found.r, found.c, found.h])

    steps = STEP * np.eye(nv + search.n_wrenches)
    numeric = np.array([(at(step) - at(-step)) / (2.0 * STEP) for step in steps]).T
    exact = np.concatenate([terms.J_r, terms.J_c, terms.J_h])
    assert np.abs(numeric - exact).max() < JACOBIAN_TOLERANCE * np.abs(exact).max()


def test_the_static_torque_is_that_of_inverse_dynamics_at_rest(toro: Robot) -> None:
    """Pinocchio's recursive algorithm knows nothing of our Jacobians."""
    target = pin.SE3.Identity()
    search = StaticPosture(toro.model, Wanted((touch(toro, "left sole", target),), toro.q_nominal))
    q, w = moved(toro, 3), np.linspace(0.1, 0.6, 6)
    tau, _ = search.static_torque(Point(q, w))
    sole = surface_of(toro, "left sole")
    frame = toro.model.frames[sole.frame_id]
    forces = pin.StdVec_Force()
    for _ in range(toro.model.njoints):
        forces.append(pin.Force.Zero())
    wrench = pin.Force(search.wrenches(Point(q, w))["left sole"])
    forces[frame.parentJoint] = (frame.placement * sole.placement).act(wrench)
    zero = np.zeros(toro.model.nv)
    expected = pin.rnea(toro.model, toro.model.createData(), q, zero, zero, forces)
    assert np.allclose(tau, expected, atol=1e-9)


def test_on_one_foot_the_cop_is_under_the_com(toro: Robot) -> None:
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
    pose = surface_of(toro, "left sole").pose(data)
    wanted = Wanted((touch(toro, "left sole", pose),), toro.q_nominal, torque_share=np.inf)
    fit = StaticPosture(toro.model, wanted).search(toro.q_nominal)
    assert fit.met
    wrench = StaticPosture(toro.model, wanted).wrenches(fit.x)["left sole"]
    assert wrench[2] == pytest.approx(toro.mass * 9.81, rel=1e-5)
    cop = pose.act(np.array([-wrench[4], wrench[3], 0.0]) / wrench[2])
    assert np.allclose(cop[:2], toro.com(fit.x.q)[:2], atol=1e-5)


def test_what_is_missing_of_the_com_is_its_distance_from_the_sole(toro: Robot) -> None:
    """Standing on both feet, one of them taken away: the other's inner edge is that far."""
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
    sole = surface_of(toro, "left sole")
    pose = sole.pose(data)
    search = StaticPosture(toro.model, Wanted((touch(toro, "left sole", pose),), toro.q_nominal))
    assert least_effort(search, toro.q_nominal) is None
    shift = com_shortfall(search, toro.q_nominal)
    assert shift is not None
    edge = pose.translation[1] - sole.half_width
    assert np.allclose(shift, [0.0, edge - toro.com()[1]], atol=1e-6)
    both = (touch(toro, "left sole", pose), touch(toro, "right sole", pose))
    held = least_effort(StaticPosture(toro.model, Wanted(both, toro.q_nominal)), toro.q_nominal)
    assert held is not None and held.shares.max() < 0.5


def test_a_surface_the_wrong_side_up_is_turned_over(toro: Robot) -> None:
    """A flat place has its largest residual there, so that the search does not rest."""
    from balance.dynamics.surface_place import place_rows

    sole = surface_of(toro, "left sole")
    data = toro.model.createData()
    q = toro.q_nominal
    pin.computeJointJacobians(toro.model, data, q)
    pin.updateFramePlacements(toro.model, data)
    upside_down = sole.pose(data) * pin.SE3(pin.rpy.rpyToMatrix(3.1, 0.0, 0.0), np.zeros(3))
    rows = place_rows(
        toro.model, data, Place(sole.frame_id, sole.placement, upside_down, turn="flat")
    )
    assert np.linalg.norm(rows.c[3:]) == pytest.approx(3.1, abs=1e-6)
