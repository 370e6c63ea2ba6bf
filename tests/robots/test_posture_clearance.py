"""Distances of bodies with their derivatives."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.config.phases import ObjectConfig
from balance.robots import Robot, load_robot
from balance.robots.objects import WorldObject, world_objects
from balance.robots.posture_clearance import BodyClearance

STEP = 1e-3
SLOPE = 0.03  # of a distance, m/rad or m/m: hulls are measured to 1e-5 m, and have edges


@pytest.fixture(scope="module")
def toro() -> Robot:
    return load_robot("toro")


def box(x: float) -> dict[str, WorldObject]:
    pose = pin.SE3(np.eye(3), np.array([x, 0.0, 0.5]))
    return {"box": WorldObject("box", pose, (0.1, 0.2), 0.3)}


def test_the_rows_are_the_slopes_of_the_distances(toro: Robot) -> None:
    clearance = BodyClearance(toro, box(0.3), {"left sole": "floor", "right sole": "floor"})
    random = np.random.default_rng(0)
    q = pin.integrate(toro.model, toro.q_nominal, 0.05 * random.standard_normal(toro.model.nv))
    clearance.look(q)
    data = toro.model.createData()

    def at(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pin.computeJointJacobians(toro.model, data, q)
        return clearance.rows(data)

    _, J = at(q)
    steps = STEP * np.eye(toro.model.nv)
    numeric = [
        (at(pin.integrate(toro.model, q, s))[0] - at(pin.integrate(toro.model, q, -s))[0])
        / (2.0 * STEP)
        for s in steps
    ]
    assert len(J) > 5
    assert np.median(np.abs(np.array(numeric).T - J)) < 1e-3
    assert np.abs(np.array(numeric).T - J).max() < SLOPE


def test_nothing_is_short_as_the_robot_stands_and_something_is_in_a_box(toro: Robot) -> None:
    lying = {"left sole": "floor", "right sole": "floor"}
    assert BodyClearance(toro, {}, lying).look(toro.q_nominal) == []
    short = BodyClearance(toro, box(0.05), lying).look(toro.q_nominal)
    assert {pair.other for _, pair in short} == {"box"}


def test_the_face_of_an_object_has_its_normal_and_its_sides() -> None:
    wall = ObjectConfig(centre_m=(1.0, 0.0, 1.0), size_m=(2.0, 3.0), normal=(-1.0, 0.0, 0.0))
    one = world_objects({"wall": wall})["wall"]
    assert np.allclose(one.pose.rotation[:, 2], [-1.0, 0.0, 0.0])
    assert np.allclose(one.pose.rotation[:, 0], [0.0, 1.0, 0.0])  # 2 m along y, 3 m along z
    corners = one.shape().points @ one.shape().placement.rotation.T
    corners = corners + one.shape().placement.translation
    assert np.allclose(corners.min(axis=0), [1.0, -1.0, -0.5])
    assert np.allclose(corners.max(axis=0), [1.04, 1.0, 2.5])
