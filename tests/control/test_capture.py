"""The capture law: its model, its parts, and pushes beyond the ankle limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law_config, moved, on_contacts
from numpy.typing import NDArray

from balance.config import load_config
from balance.control.capture import TURN, CaptureController
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.limits import LOOKAHEAD_S, MARGIN_RAD, STRONGEST, JointLimits
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.metrics import ankle_limit, support_reach
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

EXACT = 1e-9  # relative, for closed forms
DRIFT = 1e-5  # relative error of central differences


@pytest.fixture(scope="module")
def controller(toro: Robot) -> CaptureController:
    return CaptureController(law_config("capture"), toro)


def test_divergent_coordinate_is_driven_by_cop_and_excursion_alone(
    controller: CaptureController,
) -> None:
    """A pendulum with a flywheel under arbitrary CoP and moments, integrated in small steps."""
    rng, omega, weight = np.random.default_rng(60), controller.omega, controller.weight
    a, b = rng.normal(size=(2, 2, 3))
    dt, steps = 1e-4, 4000
    x, v, momentum, excursion = (0.01 * rng.normal(size=2) for _ in range(4))
    zetas, rates = [], []
    for i in range(steps):
        t = i * dt
        cop = 0.05 * (a[:, 0] * np.sin(a[:, 1] + 9 * t) + a[:, 2])
        moment = 30.0 * (b[:, 0] * np.sin(b[:, 1] + 20 * t) + b[:, 2])
        zeta = x + v / omega + TURN @ (omega * momentum + omega**2 * excursion) / weight
        zetas.append(zeta)
        rates.append(omega * (zeta - cop - TURN @ excursion * omega**2 / weight))
        acceleration = omega**2 * (x - cop - TURN @ moment / weight)
        x = x + dt * v + 0.5 * dt**2 * acceleration
        v = v + dt * acceleration
        excursion = excursion + dt * momentum + 0.5 * dt**2 * moment
        momentum = momentum + dt * moment
    measured = np.gradient(np.array(zetas), dt, axis=0)[1:-1]
    expected = np.array(rates)[1:-1]
    np.testing.assert_allclose(measured, expected, atol=100 * DRIFT * np.abs(expected).max())


def test_polygon_reaches_as_far_as_the_soles_less_the_margin(toro: Robot) -> None:
    margin, com = 0.01, toro.com()[:2]
    polygon = support_polygon(toro, margin=margin)
    for direction in np.eye(2):
        for side in (direction, -direction):
            far = polygon.nearest(com + 10.0 * side) - com
            assert far @ side == pytest.approx(support_reach(toro, side) - margin, rel=EXACT)


def test_nearest_point_of_the_polygon(toro: Robot) -> None:
    """No point of a dense grid over the polygon is nearer."""
    rng, polygon = np.random.default_rng(61), support_polygon(toro, margin=0.005)
    vertices = polygon.vertices
    shares = rng.dirichlet(np.ones(len(vertices)), size=4000)
    inside = shares @ vertices
    for point in vertices.mean(axis=0) + rng.uniform(-0.4, 0.4, (40, 2)):
        nearest = polygon.nearest(point)
        best = np.linalg.norm(inside - point, axis=1).min()
        assert np.linalg.norm(nearest - point) <= best + 1e-12
    for point in inside[:40]:
        np.testing.assert_array_equal(polygon.nearest(point), point)


def test_a_push_is_borne_with_feet_on_a_step_and_a_slope() -> None:
    """The polygon is that of both feet, not of the one whose plane is level."""
    controller = load_config("toro_capture").controller.model_dump()
    config = load_config("toro_slope", {"controller": controller, "duration_s": 3.0})
    assert run(config).summary()["outcome"] == "recovered"


@pytest.mark.parametrize("stance", ["toro_push", "toro_single_support", "toro_wall"])
def test_flywheel_gives_the_angular_momentum_with_contacts_and_com_at_rest(stance: str) -> None:
    config = law_config("capture", stance)
    robot = robot_of(config)
    wheel = CaptureController(config, robot).flywheel
    rng, model, q = np.random.default_rng(62), robot.model, robot.q_nominal
    data = model.createData()
    R_WB = pin.Quaternion(q[3:7]).matrix()
    rates = rng.normal(size=3 + len(wheel.free))
    # The motion with these rates, from Pinocchio's Jacobians alone.
    turning, joints = np.zeros((3, model.nv)), np.zeros((len(wheel.free), model.nv))
    turning[:, 3:6] = np.eye(3)
    joints[np.arange(len(wheel.free)), 6 + wheel.free] = 1.0
    J_com = pin.jacobianCenterOfMass(model, data, q)
    rows = np.concatenate([contact_jacobian(robot, q), J_com, turning, joints])
    wanted = np.concatenate([np.zeros(len(rows) - len(rates)), R_WB.T @ rates[:3], rates[3:]])
    wanted[-len(rates) : -len(wheel.free)] = rates[:3]
    v = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    assert np.abs(rows @ v - wanted).max() < EXACT, "these rates cannot all be chosen"
    momentum = pin.computeCentroidalMomentum(model, data, q, v)
    np.testing.assert_allclose(wheel.B @ rates, momentum.angular, atol=1e-8)


def test_allocation_meets_the_excursion_within_ranges(controller: CaptureController) -> None:
    wheel, rng = controller.flywheel, np.random.default_rng(63)
    for _ in range(50):
        wanted = np.append(rng.uniform(-2.5, 2.5, 2), 0.0)
        np.testing.assert_allclose(wheel.B @ wheel.allocate(wanted), wanted, atol=1e-6)
    lower = controller.robot.model.lowerPositionLimit[7:][wheel.free]
    upper = controller.robot.model.upperPositionLimit[7:][wheel.free]
    nominal = controller.robot.q_nominal[7:][wheel.free]
    for scale in (5.0, 50.0):
        for _ in range(20):
            delta = wheel.allocate(np.append(rng.uniform(-scale, scale, 2), 0.0))
            assert (nominal + delta[3:] >= lower).all()
            assert (nominal + delta[3:] <= upper).all()
            assert np.abs(delta[0]) <= controller.law.max_lean_rad[0] + EXACT


def test_small_errors_need_no_lean(toro: Robot, controller: CaptureController) -> None:
    """With the capture point inside the polygon the base is only brought back."""
    q = toro.standing_posture(
        com_xy=toro.com()[:2] + np.array([0.01, 0.02]), base_height=toro.q_nominal[2]
    )
    here = controller.body.at(q, np.zeros(toro.model.nv))
    plan = controller.plan(here, controller.path.at(0.0))
    assert np.abs(plan.lean).max() < 1e-6 * controller.weight
    expected = -controller.stiffness[:2, :2] @ (toro.com(q) - toro.com())[:2]
    np.testing.assert_allclose(plan.hold[:2], expected, rtol=1e-6)


@pytest.mark.parametrize("azimuth", [0.0, 45.0, 90.0, 200.0])
def test_beyond_the_edge_the_body_leans_to_the_side_of_the_fall(
    toro: Robot, controller: CaptureController, azimuth: float
) -> None:
    """The moment carries the CMP outwards, and the base turns as if falling faster."""
    direction = np.array([np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth)), 0.0])
    speed = 1.3 * ankle_limit(toro, direction) / toro.mass
    v = np.zeros(toro.model.nv)
    v[:3] = pin.Quaternion(toro.q_nominal[3:7]).matrix().T @ (speed * direction)
    here = controller.body.at(toro.q_nominal, v)
    plan = controller.plan(here, controller.path.at(0.0))
    cmp_shift = TURN @ plan.lean[3:5] / controller.weight
    assert cmp_shift @ direction[:2] > 0.02
    np.testing.assert_allclose(
        plan.lean[:2], -toro.mass * controller.omega**2 * cmp_shift, rtol=EXACT
    )


def test_joint_bounds_stop_a_joint_before_its_end(toro: Robot) -> None:
    """At the bound the joint would be at its margin after the look-ahead, and no sooner beyond."""
    config = law_config("capture")
    controller = CaptureController(config, toro)
    rng = np.random.default_rng(64)
    q, v = moved(toro, 0.02, rng)
    knee = toro.joint_names.index("left_knee")
    q[7 + knee], v[6 + knee] = 0.1, -1.5
    here = controller.body.at(q, on_contacts(toro, q, v))
    free = FreeMotion(here.equations(), np.ones(12))
    rates = here.v[6:]
    C, d = JointLimits(toro).rows(free, q[7:], rates)
    x = rng.normal(size=free.n_x)
    acceleration = (free.a_0 + free.Z @ x[: free.n_y])[6:]
    end = toro.model.lowerPositionLimit[7 + knee] + MARGIN_RAD
    needed = (end - q[7 + knee] - LOOKAHEAD_S * rates[knee]) * 2.0 / LOOKAHEAD_S**2
    gaps = np.minimum(needed, STRONGEST) - acceleration[knee]
    assert np.abs(gaps + (C @ x - d)).min() < 1e-6 * max(1.0, abs(gaps))


def push(direction: tuple[float, float], fraction: float, robot: Robot) -> dict[str, Any]:
    vector = np.array([*direction, 0.0])
    return {
        "type": "half_sine",
        "body": "hip",
        "direction": vector.tolist(),
        "time_s": 0.0,
        "impulse_Ns": fraction * ankle_limit(robot, vector),
        "duration_s": 0.02,
    }


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, -1.0)])
def test_a_push_beyond_the_ankle_limit_is_recovered(
    toro: Robot, direction: tuple[float, float]
) -> None:
    config = load_config(
        "toro_capture",
        {"duration_s": 3.0, "control_period_s": 0.002, "pushes": [push(direction, 1.1, toro)]},
    )
    recording = run(config)
    summary = recording.summary()
    assert summary["outcome"] == "recovered", summary["cause"]
    assert summary["ankle_limit_fraction"] == pytest.approx(1.1)
    posture = np.abs(recording.q[-1, 7:] - toro.q_nominal[7:]).max()
    assert posture < 0.2  # rad: arms and legs are back


@pytest.mark.parametrize(
    ("key", "value"),
    [("arm_share", 1.5), ("max_lean_rad", [0.5, 0.5]), ("braking", [-1.0, 0.1]), ("lean", 0.3)],
)
def test_a_wrong_key_is_refused_in_one_sentence(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=key) as error:
        law_config("capture", **{f"controller__{key}": value})
    assert "Traceback" not in str(error.value)
