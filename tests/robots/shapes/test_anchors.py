"""How seldom pairs of shapes are measured: what cannot have come near is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from shape_looks import measured_pairs, placed, random_posture, robot_of

from balance.robots.shapes.proximity import MARGIN_M, Proximity


@pytest.mark.parametrize(("name", "most"), [("toro", 400), ("icub", 2500)])
def test_a_swaying_robot_is_seldom_measured(name: str, most: int) -> None:
    """All joints sway by 0.05 rad for a second, and the result is that of looks without memory."""
    robot = robot_of(name)
    proximity, fresh = Proximity(robot), Proximity(robot)
    measured = measured_pairs(proximity)
    way = np.random.default_rng(4).uniform(-0.05, 0.05, robot.model.nq - 7)
    for step in range(1000):
        q = robot.q_nominal.copy()
        q[7:] += way * np.sin(2.0 * np.pi * step / 1000.0)
        data = placed(robot, q)
        found = proximity.contacts(q, data)
        if step % 50 == 0:
            wanted = fresh.self_contacts(data)
            assert [near[:2] for near in found] == [near[:2] for near in wanted]
    assert len(measured) < most  # of some 340000


def test_a_close_pair_is_measured_once_where_it_stays() -> None:
    """An arm 1 mm beyond the margin of the trunk goes 5 mm away and stays there."""
    robot = robot_of("toro")
    q = robot.q_nominal.copy()
    joint = 7 + robot.joint_names.index("left_shoulder_2")
    low, high = robot.model.lowerPositionLimit[joint], robot.model.upperPositionLimit[joint]
    away = np.sign(q[joint] - low)
    near = Proximity(robot, wider=1.5)
    for angle in np.arange(q[joint], low, -1e-3):
        q[joint] = angle
        if near.contacts(q, placed(robot, q)):
            break
    proximity = Proximity(robot)
    assert proximity.contacts(q, placed(robot, q)) == []
    assert near.self_contacts(placed(robot, q))[0].distance > MARGIN_M
    measured = measured_pairs(proximity)
    q[joint] = min(high, q[joint] + 0.02 * away)
    for _ in range(50):
        assert proximity.contacts(q, placed(robot, q)) == []
    assert 0 < len(measured) < 10
    q[joint] -= 0.1 * away
    assert proximity.contacts(q, placed(robot, q))


def test_a_state_that_is_not_a_number_is_forgotten() -> None:
    robot = robot_of("toro")
    rng = np.random.default_rng(7)
    proximity = Proximity(robot)
    nominal = placed(robot, robot.q_nominal)
    assert proximity.contacts(robot.q_nominal, nominal) == []
    assert proximity.contacts(np.full(robot.model.nq, np.nan), nominal) == []
    seen = 0
    for _ in range(5):
        q = random_posture(robot, rng, 0.4)
        wanted = Proximity(robot).self_contacts(placed(robot, q))
        found = proximity.contacts(q, placed(robot, q))
        assert [near[:2] for near in found] == [near[:2] for near in wanted]
        seen += len(found)
    assert seen > 0
