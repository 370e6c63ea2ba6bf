"""Traversaro2016 section II-C: three ways to write the velocity of a frame."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_pose

from balance.dynamics.representations import (
    convert_velocity,
    convert_wrench,
    velocity_map,
    velocity_map_rate,
)
from balance.errors import InputError

NAMES = ("body", "inertial", "mixed")
TOLERANCE = 1e-12
DIFFERENCE_TOLERANCE = 1e-8


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", NAMES)
def test_each_representation_is_pinocchios(rng, name):
    pose, body = random_pose(rng), pin.Motion(rng.standard_normal(6))
    mixed = pin.SE3(pose.rotation, np.zeros(3)).act(body)
    expected = {"body": body, "inertial": pose.act(body), "mixed": mixed}[name].vector
    np.testing.assert_allclose(convert_velocity(body, "body", name, pose), expected, atol=TOLERANCE)
    for source in NAMES:
        velocity = convert_velocity(body, "body", source, pose)
        there = convert_velocity(velocity, source, name, pose)
        np.testing.assert_allclose(there, expected, atol=TOLERANCE)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_power_does_not_depend_on_the_representation(rng, source, target):
    pose, velocity, wrench = random_pose(rng), rng.standard_normal(6), rng.standard_normal(6)
    there = convert_wrench(wrench, source, target, pose)
    power = there @ convert_velocity(velocity, source, target, pose)
    assert power == pytest.approx(wrench @ velocity, abs=TOLERANCE)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_the_rate_of_the_map_is_its_derivative_along_the_motion(rng, source, target):
    pose, body = random_pose(rng), rng.standard_normal(6)
    step = 1e-6
    after, before = (
        velocity_map(source, target, pose.act(pin.exp6(dt * body))) for dt in (step, -step)
    )
    mixed = convert_velocity(body, "body", "mixed", pose)
    rate = velocity_map_rate(source, target, pose, mixed)
    np.testing.assert_allclose(rate, (after - before) / (2.0 * step), atol=DIFFERENCE_TOLERANCE)


def test_unknown_names_and_wrong_sizes_are_refused():
    pose = pin.SE3.Identity()
    with pytest.raises(InputError, match=r"'boddy'.*did you mean 'body'"):
        convert_velocity(np.zeros(6), "boddy", "mixed", pose)
    with pytest.raises(InputError, match="'hybrid'"):
        velocity_map("mixed", "hybrid", pose)
    with pytest.raises(InputError, match=r"velocity has shape \(3,\)"):
        convert_velocity(np.zeros(3), "body", "mixed", pose)
    with pytest.raises(InputError, match=r"wrench has shape \(7,\)"):
        convert_wrench(np.zeros(7), "body", "mixed", pose)
