"""Functions that take a robot and a box as one model find what they find for the two apart."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from second_tree import APART, Apart, add_box, with_box

from balance.robots import Robot

SAME = 1e-9  # relative to the largest entry


@pytest.mark.parametrize("name", APART)
def test_robot_and_box_together_are_the_two_apart(toro: Robot, name: str) -> None:
    how, call = APART[name]
    rng = np.random.default_rng(12)
    both, _, _ = with_box(toro.model, pin.JointModelFreeFlyer())
    box = pin.Model()
    add_box(box, pin.JointModelFreeFlyer())
    q_robot = pin.integrate(toro.model, toro.q_nominal, 0.2 * rng.normal(size=toro.model.nv))
    q_box = pin.integrate(box, pin.neutral(box), rng.normal(size=6))
    v_robot, v_box = rng.normal(size=toro.model.nv), rng.normal(size=6)

    together = np.asarray(call(both, np.append(q_robot, q_box), np.append(v_robot, v_box)))
    robot = np.asarray(call(toro.model, q_robot, v_robot))
    if how is Apart.PADDED:
        expected = np.concatenate([robot, np.zeros((*robot.shape[:-1], 6))], axis=-1)
    elif how is Apart.HELD:
        expected = np.concatenate([robot, q_box])
    elif how is Apart.JOINED:
        expected = np.concatenate([robot, call(box, q_box, v_box)])
    elif how is Apart.SUMMED:
        expected = robot + call(box, q_box, v_box)
    else:
        expected = robot
    assert np.abs(robot.astype(float)).max() > 0.0
    scale = np.abs(expected.astype(float)).max()
    np.testing.assert_allclose(together, expected, rtol=0, atol=SAME * scale)
