"""Joints within their ranges and speeds: the bounds, and what they do for a law."""

from __future__ import annotations

import numpy as np
import pytest
from law_samples import law_config, moved, on_contacts

from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.joint_bounds import STRONGEST, TOP_SPEED, JointBounds
from balance.control.parts.whole_body import WholeBody
from balance.control.whole_body_qp import WholeBodyController
from balance.robots import Robot, load_robot
from balance.robots.capability.usable import STOP_RAD, STRAIGHT, usable_ranges

OMEGA = 3.2


def test_a_joint_that_is_braked_by_its_bound_does_not_reach_its_end(toro: Robot) -> None:
    """A knee that runs straight from rest at its middle, integrated in small steps."""
    bounds, (lower, _) = JointBounds(toro, OMEGA), usable_ranges(toro)
    joints, rates = toro.q_nominal[7:].copy(), np.zeros(27)
    knee, dt = toro.joint_names.index("left_knee"), 1e-4
    reached = joints[knee]
    for _ in range(20000):
        least, _ = bounds.accelerations(joints, rates)
        rates[knee] += dt * max(-30.0, least[knee])
        joints[knee] += dt * rates[knee]
        reached = min(reached, joints[knee])
    assert lower[knee] - 1e-3 < reached < lower[knee] + 0.05


def test_drives_stop_at_the_top_speed_and_need_not_brake_beyond(toro: Robot) -> None:
    bounds = JointBounds(toro, OMEGA)
    nominal, top = toro.q_nominal[7:], TOP_SPEED * toro.rated_speeds
    middle = 0.5 * sum(usable_ranges(toro))
    assert np.isfinite(middle).all()
    at_top = bounds.accelerations(nominal, top)[1]
    beyond = bounds.accelerations(nominal, 1.5 * top)[1]
    waist = toro.joint_names.index("waist_yaw")
    assert at_top[waist] <= 1e-9
    assert -STRONGEST <= beyond[waist] <= 0.0


def test_rows_are_the_bounds_on_the_accelerations(toro: Robot) -> None:
    rng = np.random.default_rng(64)
    q, v = moved(toro, 0.02, rng)
    knee = toro.joint_names.index("left_knee")
    q[7 + knee] = 0.15
    here = WholeBody(toro).at(q, on_contacts(toro, q, v))
    free, bounds = FreeMotion(here.equations(), np.ones(12)), JointBounds(toro, OMEGA)
    rows = bounds.rows(free, q[7:], here.v[6:])
    x = rng.normal(size=free.n_x)
    acceleration = (free.a_0 + free.Z @ x[: free.n_y])[6:]
    lower, upper = bounds.accelerations(q[7:], here.v[6:])
    margins = np.concatenate([acceleration - lower, upper - acceleration])[rows.numbers]
    np.testing.assert_allclose(rows.C @ x - rows.d, margins, rtol=0, atol=1e-9)
    assert bounds.names[knee] == "left knee: range or speed used up downwards"


@pytest.mark.parametrize(
    ("name", "joint", "sign", "straight"),
    [
        ("toro", "left_knee", 1, 0.0),
        ("g1", "left_knee_joint", 1, 0.0),
        ("icub", "l_knee", -1, 0.0),
        ("human", "right_knee_Z", 1, 0.0),
    ],
)
def test_knees_are_kept_from_straight_wherever_their_stop_is(
    name: str, joint: str, sign: int, straight: float
) -> None:
    """The G1's knee goes 0.09 rad past straight, the iCub's 0.40."""
    robot = load_robot(name)
    index = robot.joint_names.index(joint)
    ends = usable_ranges(robot)
    bend = sign * (ends[0] if sign > 0 else ends[1])[index] - straight
    assert 0.5 * STRAIGHT < bend < 1.5 * STRAIGHT


def test_a_joint_that_rests_on_its_stop_may_go_on_resting() -> None:
    human = load_robot("human")
    elbow = human.joint_names.index("left_elbow_Z")
    lower, upper = usable_ranges(human)
    stop = human.model.lowerPositionLimit[7 + elbow]
    assert human.q_nominal[7 + elbow] == pytest.approx(stop, abs=1e-9)
    assert lower[elbow] < stop - STOP_RAD
    assert upper[elbow] == pytest.approx(human.model.upperPositionLimit[7 + elbow] - STOP_RAD)


def test_whole_body_law_names_the_joints_that_it_stops(toro: Robot) -> None:
    controller = WholeBodyController(law_config("whole_body_qp"), toro)
    assert controller.joint_bounds is not None
    q = toro.standing_posture(base_height=toro.q_nominal[2] + 0.055)
    v = np.zeros(toro.model.nv)
    v[2] = 0.5  # m/s, upwards: the knees straighten
    v = on_contacts(toro, q, v)
    output = controller.step(q, v, 0.0)
    named = {controller.constraint_names[index] for index in output.active}
    assert named & set(controller.joint_bounds.names)
