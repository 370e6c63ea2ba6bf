"""A standing posture satisfies what was asked for, stays within limits, and fails clearly."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import minimize

from balance.dynamics.standing import Sole, standing_posture
from balance.errors import FrameError, InputError, RobotError
from balance.robots import load_robot

TOLERANCE = 1e-10  # m or rad, on every condition

IN_THE_SOLE_FRAME = pin.SE3.Identity()
BELOW_THE_G1_ANKLE = pin.SE3(np.eye(3), np.array([0.035, 0.0, -0.035]))
# Sole frames, sole placement in them, and bent-knee angles of the joints whose name contains the
# key; every other joint is at zero.
ROBOTS = {
    "talos": (
        ("left_sole_link", "right_sole_link"),
        IN_THE_SOLE_FRAME,
        {"leg_left_3": -0.4, "leg_left_4": 0.8, "leg_left_5": -0.4}
        | {"leg_right_3": -0.4, "leg_right_4": 0.8, "leg_right_5": -0.4}
        | {"arm_left_2": 0.3, "arm_right_2": -0.3, "arm_left_4": -0.5, "arm_right_4": -0.5},
    ),
    "icub": (
        ("l_sole", "r_sole"),
        IN_THE_SOLE_FRAME,
        {"hip_pitch": 0.4, "knee": -0.7, "ankle_pitch": -0.3, "elbow": 0.5, "shoulder_roll": 0.3},
    ),
    "toro": (
        ("left_sole", "right_sole"),
        pin.SE3(np.eye(3), np.array([0.04, 0.0, 0.0])),
        {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3},
    ),
    "g1": (
        ("left_ankle_roll_link", "right_ankle_roll_link"),
        BELOW_THE_G1_ANKLE,
        {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3},
    ),
}


class Start:
    """A robot with its soles and a bent-knee guess."""

    def __init__(self, name: str) -> None:
        self.model = load_robot(name).model
        frames, placement, angles = ROBOTS[name]
        self.soles: list[Sole] = [(self.model.getFrameId(frame), placement) for frame in frames]
        self.q = pin.neutral(self.model)
        for joint in range(2, self.model.njoints):
            for part, angle in angles.items():
                if part in self.model.names[joint]:
                    self.q[self.model.idx_qs[joint]] = angle

    def joint(self, part: str) -> str:
        """Name of the first joint whose name contains ``part``."""
        return next(name for name in self.model.names if part in name)

    def placements(self, q: np.ndarray) -> list[pin.SE3]:
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, q)
        return [data.oMf[frame].act(X_LF) for frame, X_LF in self.soles]

    def com(self, q: np.ndarray) -> np.ndarray:
        return pin.centerOfMass(self.model, self.model.createData(), q)


@pytest.fixture(scope="module", params=ROBOTS)
def start(request: pytest.FixtureRequest) -> Start:
    return Start(request.param)


@pytest.fixture(scope="module")
def talos() -> Start:
    return Start("talos")


def assert_flat(X_WF: pin.SE3, height: float = 0.0) -> None:
    assert abs(X_WF.translation[2] - height) < TOLERANCE
    np.testing.assert_allclose(X_WF.rotation[:, 2], [0.0, 0.0, 1.0], atol=TOLERANCE)


def test_soles_are_flat_with_the_com_over_their_centre_and_the_base_upright(start: Start) -> None:
    q = standing_posture(start.model, start.soles, start.q)
    placements = start.placements(q)
    for X_WF in placements:
        assert_flat(X_WF)
    centre = np.mean([X.translation[:2] for X in placements], axis=0)
    np.testing.assert_allclose(start.com(q)[:2], centre, atol=TOLERANCE)
    np.testing.assert_allclose(q[3:7], [0.0, 0.0, 0.0, 1.0], atol=0.0)
    legs = start.model.lowerPositionLimit[7:], start.model.upperPositionLimit[7:]
    assert (legs[0] <= q[7:]).all() and (q[7:] <= legs[1]).all()


def test_stance_is_that_of_the_guess_whatever_its_base_height(start: Start) -> None:
    lifted = start.q.copy()
    lifted[:3] = [0.3, -0.2, 5.0]
    q = standing_posture(start.model, start.soles, lifted)
    for X_WF, X_start in zip(start.placements(q), start.placements(lifted), strict=True):
        np.testing.assert_allclose(X_WF.translation[:2], X_start.translation[:2], atol=TOLERANCE)
        headings = [np.arctan2(X.rotation[1, 0], X.rotation[0, 0]) for X in (X_WF, X_start)]
        assert abs(np.sin(headings[0] - headings[1])) < TOLERANCE
    ground = standing_posture(start.model, start.soles, start.q)
    np.testing.assert_allclose(q[7:], ground[7:], atol=1e-8)


def test_joints_outside_the_legs_do_not_move(start: Start) -> None:
    q = standing_posture(start.model, start.soles, start.q)
    moved = {
        start.model.names[j]
        for j in range(2, start.model.njoints)
        if q[start.model.idx_qs[j]] != start.q[start.model.idx_qs[j]]
    }
    legs = {
        start.model.names[j]
        for frame, _ in start.soles
        for j in start.model.supports[start.model.frames[frame].parentJoint]
    }
    assert moved and moved <= legs


def test_requested_com_base_height_and_sole_heights_are_met(start: Start) -> None:
    q_flat = standing_posture(start.model, start.soles, start.q)
    com_xy = start.com(q_flat)[:2] + np.array([0.01, -0.02])
    heights = [0.01, -0.01]
    q = standing_posture(
        start.model,
        start.soles,
        start.q,
        com_xy=com_xy,
        base_height=q_flat[2] - 0.03,
        sole_heights=heights,
    )
    np.testing.assert_allclose(start.com(q)[:2], com_xy, atol=TOLERANCE)
    assert abs(q[2] - (q_flat[2] - 0.03)) < TOLERANCE
    for X_WF, height in zip(start.placements(q), heights, strict=True):
        assert_flat(X_WF, height)


def test_base_rotation_is_exact(start: Start) -> None:
    R_WB = pin.utils.rotate("z", 2.0) @ pin.utils.rotate("y", 0.1)
    q = standing_posture(start.model, start.soles, start.q, base_rotation=R_WB)
    np.testing.assert_allclose(pin.Quaternion(q[3:7]).matrix(), R_WB, atol=1e-14)
    for X_WF in start.placements(q):
        assert_flat(X_WF)


def test_a_held_knee_keeps_its_angle(start: Start) -> None:
    knee = start.joint("leg_left_4" if start.model.name == "talos" else "knee")
    q = standing_posture(start.model, start.soles, start.q, held=[knee])
    index = start.model.idx_qs[start.model.getJointId(knee)]
    assert q[index] == start.q[index]
    assert_flat(start.placements(q)[0])


def test_both_knees_of_a_symmetric_robot_can_be_held() -> None:
    toro = Start("toro")
    q = standing_posture(toro.model, toro.soles, toro.q, held=["left_knee", "right_knee"])
    for X_WF in toro.placements(q):
        assert_flat(X_WF)


def test_sole_placements_on_inclined_planes_are_met(talos: Start) -> None:
    wanted = [
        pin.SE3(pin.utils.rotate("y", 0.1), np.array([0.0, 0.1, 0.0])),
        pin.SE3(pin.utils.rotate("x", -0.1), np.array([0.05, -0.1, 0.02])),
    ]
    q = standing_posture(talos.model, talos.soles, talos.q, sole_placements=wanted)
    for X_WF, X_WT in zip(talos.placements(q), wanted, strict=True):
        np.testing.assert_allclose(X_WF.homogeneous, X_WT.homogeneous, atol=TOLERANCE)


def test_one_sole_is_enough(talos: Start) -> None:
    q = standing_posture(talos.model, talos.soles[:1], talos.q)
    X_WF = talos.placements(q)[0]
    assert_flat(X_WF)
    np.testing.assert_allclose(talos.com(q)[:2], X_WF.translation[:2], atol=TOLERANCE)


def test_posture_is_the_standing_one_nearest_to_the_guess(talos: Start) -> None:
    """No standing posture of another base height is nearer to the guess in the same metric."""
    q = standing_posture(talos.model, talos.soles, talos.q)
    lift = -np.mean([X.translation[2] for X in talos.placements(talos.q)])
    reference = talos.q.copy()
    reference[2] += lift

    def cost(height: float) -> float:
        other = standing_posture(talos.model, talos.soles, talos.q, base_height=float(height))
        distance = pin.difference(talos.model, reference, other)
        return float(distance[6:] @ distance[6:] + 1e-2 * distance[:3] @ distance[:3])

    found = minimize(lambda x: cost(x[0]), [q[2] - 0.01], method="Nelder-Mead", tol=1e-10)
    assert abs(found.x[0] - q[2]) < 1e-5


def test_joint_limits_hold_where_the_unlimited_solution_breaks_them(talos: Start) -> None:
    free = standing_posture(talos.model, talos.soles, talos.q)
    ankle = talos.model.getJointId("leg_left_5_joint")
    index = talos.model.idx_qs[ankle]
    tight = talos.model.copy()
    lower = tight.lowerPositionLimit.copy()
    lower[index] = free[index] + 0.05
    tight.lowerPositionLimit = lower
    q = standing_posture(tight, talos.soles, talos.q)
    assert q[index] == pytest.approx(lower[index], abs=1e-12)
    for X_WF in talos.placements(q):
        assert_flat(X_WF)


def test_unreachable_base_height_names_the_condition_and_the_gap(talos: Start) -> None:
    with pytest.raises(RobotError, match=r"the base height 2 m by 0\.\d+ m"):
        standing_posture(talos.model, talos.soles, talos.q, base_height=2.0)


def test_upper_body_joint_outside_its_range_is_named(talos: Start) -> None:
    q = talos.q.copy()
    q[talos.model.idx_qs[talos.model.getJointId("arm_left_4_joint")]] = 1.0
    with pytest.raises(RobotError, match="'arm_left_4_joint' of 'talos' is at 1 rad"):
        standing_posture(talos.model, talos.soles, q)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"soles": []}, InputError, "at least one sole"),
        ({"soles": [(10**6, pin.SE3.Identity())]}, FrameError, "sole frame index 1000000"),
        ({"q_start": np.zeros(3)}, InputError, r"q_start has shape \(3,\)"),
        ({"com_xy": [0.0, np.nan]}, InputError, r"com_xy\[1\] is nan"),
        ({"base_rotation": 2.0 * np.eye(3)}, InputError, "not orthogonal"),
        ({"base_height": np.inf}, InputError, "base_height is inf"),
        ({"sole_heights": [0.0, 0.0, 0.0]}, InputError, "sole_heights"),
        ({"sole_placements": [pin.SE3.Identity()]}, InputError, "1 entries for 2 soles"),
        ({"held": ["leg_left_4_jiont"]}, FrameError, "did you mean 'leg_left_4_joint'"),
        ({"base_rotation": np.diag([1.0, -1.0, -1.0])}, InputError, "it must point up"),
    ],
)
def test_wrong_input_is_named(
    talos: Start, change: dict, error: type[Exception], message: str
) -> None:
    arguments = {"soles": talos.soles, "q_start": talos.q} | change
    with pytest.raises(error, match=message):
        standing_posture(talos.model, **arguments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "change",
    [
        {"com_xy": [1e200, 0.0]},
        {"com_xy": [0.0, -1e4]},
        {"base_height": 1e300},
        {"sole_heights": [0.0, 1e200]},
        {"sole_placements": [pin.SE3.Identity(), pin.SE3(np.eye(3), np.array([0.0, 1e9, 0.0]))]},
    ],
)
def test_what_no_robot_reaches_is_one_sentence(talos: Start, change: dict) -> None:
    """Its square is beyond any number, which used to end in a division by zero."""
    with pytest.raises(RobotError, match=r"no standing posture of 'talos' exists with .* m from"):
        standing_posture(talos.model, talos.soles, talos.q, **change)


@pytest.mark.filterwarnings("error")
def test_a_search_that_cannot_move_ends_in_one_sentence() -> None:
    """A single body cannot turn its tilted sole: the step is zero from the start."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(base, pin.Inertia.FromBox(1.0, 0.2, 0.2, 0.2), pin.SE3.Identity())
    frame = model.addBodyFrame("box", base, pin.SE3.Identity(), 0)
    tilted = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.0, 0.0), np.zeros(3))
    with pytest.raises(
        RobotError, match=r"misses the orientation of the sole on 'box' by 0\.1 rad"
    ):
        standing_posture(model, [(frame, tilted)], pin.neutral(model))
