"""A quadruped on point feet: three conditions for each foot, whatever the tilt of its frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml
from numpy.typing import NDArray
from scipy.linalg import null_space, subspace_angles

from balance.config import ExperimentConfig, load_config
from balance.config.paths import data_folder
from balance.control import make_controller
from balance.control.parts.output import ControlStatus
from balance.control.parts.support import Support
from balance.dynamics.constraints import Contact, contact_jacobian
from balance.dynamics.contact import constrained_dynamics
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.recording import Recording
from balance.recordings.verdict import RunEnd
from balance.robots import Robot, load_robot
from balance.robots.contact_rows import ContactRows
from balance.simulation.plants import make_plant

Array = NDArray[np.float64]

WRENCH_LAWS = ("momentum", "ott2011", "virtual_model", "joint_pd")
TASK_LAWS = ("whole_body_qp", "hierarchical", "capture")
LAWS = (*WRENCH_LAWS, *TASK_LAWS)
ENGINES = ("pinocchio", "mujoco")
FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
POINTS = [Contact(frame) for frame in FEET]
SAME = 1e-9  # relative, of quantities that are equal but for rounding


@pytest.fixture(scope="module")
def solo() -> Robot:
    return load_robot("solo12")


def push_config(**settings: Any) -> ExperimentConfig:
    """The shipped push with other settings; ``__`` stands for a dot."""
    return load_config("solo12_push", {k.replace("__", "."): v for k, v in settings.items()})


def states(robot: Robot, count: int) -> list[tuple[Array, Array]]:
    """Postures and velocities near standing in which the feet rest on the ground."""
    rng, found = np.random.default_rng(5), []
    for _ in range(count):
        q = pin.integrate(robot.model, robot.q_nominal, 0.01 * rng.normal(size=robot.model.nv))
        free = null_space(contact_jacobian(robot.model, q, POINTS))
        found.append((q, free @ (0.1 * rng.normal(size=free.shape[1]))))
    return found


def test_feet_stand_on_their_points_with_tilted_frames(solo: Robot) -> None:
    data = solo.model.createData()
    pin.framesForwardKinematics(solo.model, data, solo.q_nominal)
    for sole in solo.soles:
        pose = sole.pose(data)
        assert abs(pose.translation[2]) < 1e-9
        assert np.arccos(pose.rotation[2, 2]) > 0.5  # rad
        np.testing.assert_array_equal(sole.wrench_pose(data).rotation, np.eye(3))
    np.testing.assert_allclose(solo.com()[:2], 0.0, atol=1e-9)


def test_contact_jacobian_has_the_rows_of_the_points(solo: Robot) -> None:
    """RobotDynamicsETH (2.254)-(2.256): four point feet hold twelve velocities, six of the base."""
    support = Support(solo)
    for q, v in states(solo, 5):
        here = support.at(q, v)
        expected = contact_jacobian(solo.model, q, POINTS)
        np.testing.assert_allclose(here.J_c, expected, atol=SAME)
        assert np.linalg.matrix_rank(here.J_c) == 12


def test_points_on_a_line_hold_all_but_the_turn_about_it(toro: Robot) -> None:
    """The null space is that of two points on each sole, of which one row follows from others."""
    blades, q = on_blades(toro), toro.q_nominal
    here = Support(blades).at(q, np.zeros(toro.model.nv))
    assert here.J_c.shape == (10, toro.model.nv)
    ends = [
        Contact(sole.frame, tuple(sole.placement.act(corner)))
        for sole in blades.soles
        for corner in sole.corners
    ]
    expected = contact_jacobian(toro.model, q, ends)
    assert np.linalg.matrix_rank(expected) == np.linalg.matrix_rank(here.J_c) == 10
    assert subspace_angles(null_space(expected), null_space(here.J_c)).max() < 1e-7


@pytest.mark.parametrize("law", LAWS)
def test_no_foot_is_asked_for_a_moment(law: str, solo: Robot) -> None:
    controller = make_controller(push_config(controller__law=law), solo)
    for q, v in states(solo, 3):
        output = controller.step(q, v, 0.0)
        assert output.wrenches.shape == (4, 6)
        np.testing.assert_array_equal(output.wrenches[:, 3:], 0.0)


@pytest.mark.parametrize("law", TASK_LAWS)
def test_feet_bear_what_the_law_says_and_stay_where_they_are(law: str, solo: Robot) -> None:
    """Forward dynamics with points held, which knows nothing of the law, finds its forces."""
    controller = make_controller(
        push_config(controller__law=law, controller__contact_damping=0.0), solo
    )
    for q, v in states(solo, 3):
        output = controller.step(q, v, 0.0)
        torques = output.torques
        if law == "capture":  # it adds the joint friction that it reckons with
            torques = torques - controller.law.joint_friction * v[6:]
        found = constrained_dynamics(solo.model, q, v, torques, POINTS)
        forces = -found.force_on_environment.reshape(-1, 3)
        weight = 9.81 * solo.mass
        np.testing.assert_allclose(forces, output.wrenches[:, :3], atol=1e-6 * weight)


def test_two_feet_bear_what_the_law_says_though_the_robot_falls_about_their_line(
    solo: Robot,
) -> None:
    """No force turns it about that line: one of the base's equations is about its motion alone."""
    two = replace(solo, soles=(solo.soles[0], solo.soles[3]))
    contacts = [POINTS[0], POINTS[3]]
    for law in ("whole_body_qp", "hierarchical"):
        settings = {"controller__law": law, "controller__contact_damping": 0.0}
        controller = make_controller(push_config(**settings), two)
        q = solo.q_nominal
        output = controller.step(q, np.zeros(solo.model.nv), 0.0)
        assert not output.status & ControlStatus.QP_FAILED
        found = constrained_dynamics(
            solo.model, q, np.zeros(solo.model.nv), output.torques, contacts
        )
        forces = -found.force_on_environment.reshape(-1, 3)
        np.testing.assert_allclose(forces, output.wrenches[:, :3], atol=1e-6 * 9.81 * solo.mass)
        assert output.wrenches[:, 2].sum() > 0.9 * 9.81 * solo.mass


@pytest.mark.parametrize("law", TASK_LAWS)
def test_gains_make_a_difference(law: str, solo: Robot) -> None:
    q, v = states(solo, 1)[0]
    outputs = []
    for K_P in ([300, 300, 600], [150, 150, 300]):
        settings = {"controller__law": law, "controller__gains__K_P": K_P}
        outputs.append(make_controller(push_config(**settings), solo).step(q, v, 0.0))
    stiff, soft = outputs
    assert not (stiff.status | soft.status) & ControlStatus.QP_FAILED
    assert np.abs(stiff.torques - soft.torques).max() > 0.01  # N m


@pytest.mark.parametrize("law", TASK_LAWS)
def test_a_task_without_freedom_is_refused_in_one_sentence(law: str, solo: Robot) -> None:
    """Four flat feet hold all 18 velocities of a robot with 12 joints."""
    data = solo.model.createData()
    pin.framesForwardKinematics(solo.model, data, solo.q_nominal)
    level = [
        pin.SE3(data.oMf[sole.frame_id].rotation.T, np.zeros(3)) for sole in solo.soles
    ]  # fmt: skip
    flat = tuple(
        replace(sole, points=(), placement=X, half_length=0.01, half_width=0.01)
        for sole, X in zip(solo.soles, level, strict=True)
    )
    settings = {"controller__law": law, "controller__contacts__cop_margin_m": 0.0}
    with pytest.raises(ConfigError, match=r"hold 18 of its 18 velocities") as caught:
        make_controller(push_config(**settings), replace(solo, soles=flat))
    assert "no freedom for" in str(caught.value) and "\n" not in str(caught.value)


def test_capture_needs_a_polygon(solo: Robot) -> None:
    """Two points have none."""
    two = replace(solo, soles=(solo.soles[0], solo.soles[3]))
    with pytest.raises(ConfigError, match=r"lie on one line.*; take another law"):
        make_controller(push_config(controller__law="capture"), two)


@pytest.mark.parametrize("law", LAWS)
def test_the_axes_of_a_points_frame_do_not_matter(law: str, solo: Robot, tmp_path: Path) -> None:
    text = yaml.safe_load((data_folder("robots") / "solo12.yaml").read_text())
    for angle, sole in enumerate(text["soles"].values()):
        sole["rpy"] = [0.3 + angle, -1.0 + angle, 2.0]
    path = tmp_path / "turned.yaml"
    path.write_text(yaml.safe_dump(text))
    turned = load_robot(path)
    np.testing.assert_allclose(turned.q_nominal, solo.q_nominal, atol=1e-9)
    q, v = states(solo, 1)[0]
    config = push_config(controller__law=law)
    one, other = (make_controller(config, robot).step(q, v, 0.0) for robot in (solo, turned))
    np.testing.assert_allclose(other.torques, one.torques, atol=1e-7)
    np.testing.assert_allclose(other.wrenches, one.wrenches, atol=1e-6)
    if law == "momentum":
        for engine in ENGINES:
            plant_config = config.plant.model_copy(update={"engine": engine})
            plants = [make_plant(plant_config, robot) for robot in (solo, turned)]
            for plant in plants:
                for _ in range(5):
                    plant.step(one.torques)
            first, second = (plant.contact_wrenches for plant in plants)
            np.testing.assert_allclose(second, first, atol=1e-5)


@pytest.fixture(scope="module", params=[(law, e) for law in LAWS for e in ENGINES], ids="-".join)
def short_push(request: pytest.FixtureRequest) -> Recording:
    law, engine = request.param
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    config = push_config(controller__law=law, plant__engine=engine)
    push = config.pushes[0].model_copy(update={"time_s": 0.05})
    return run(config.model_copy(update={"pushes": (push,), "duration_s": 0.35}))


def test_every_law_brakes_the_push_on_feet_that_stay(short_push: Recording) -> None:
    momentum = np.linalg.norm(short_push.momentum[:, :3], axis=1)
    assert momentum.max() == pytest.approx(1.0, rel=0.2)  # N s, of the push
    assert momentum[-1] < 0.4 * momentum.max()
    assert np.linalg.norm(short_push.com_error, axis=1).max() < 0.03  # m
    # Springs of joints know no cones: under joint_pd a foot that bears next to nothing slides.
    slip = 0.01 if short_push.config.controller.law == "joint_pd" else 3e-4  # m
    assert short_push.sole_slip.max() < slip and np.abs(short_push.sole_lift).max() < slip
    assert not (short_push.status & int(ControlStatus.QP_FAILED)).any()
    force = short_push.contact_wrenches[:, :, :3]
    friction = short_push.config.plant.friction
    assert (np.hypot(force[..., 0], force[..., 1]) <= 1.001 * friction * force[..., 2]).all()
    assert np.abs(short_push.contact_wrenches[:, :, 3:]).max() == 0.0
    assert np.abs(short_push.torques).max() < 2.5  # N m, what the real drives can give


@pytest.mark.parametrize("engine", ENGINES)
def test_wrenches_on_a_slope_are_in_the_axes_of_the_slope(engine: str) -> None:
    """Turned from there to the world they carry the weight, and each stays in its cone."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    ground = {"tilt_deg": [0.0, 8.0]}
    settings = {"plant__engine": engine, "ground": ground, "pushes": [], "duration_s": 0.3}
    recording = run(push_config(**settings))
    wrenches, robot = recording.contact_wrenches[-1], recording.robot
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, recording.q[-1])
    total = sum(
        sole.wrench_pose(data).rotation @ wrench[:3]
        for sole, wrench in zip(robot.soles, wrenches, strict=True)
    )
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * robot.mass], atol=0.5)
    tilt = np.radians(8.0)
    along = wrenches[:, :3].sum(axis=0)
    assert abs(along[0]) == pytest.approx(np.sin(tilt) * 9.81 * robot.mass, rel=0.1)
    assert recording.sole_slip.max() < 1e-4


def test_books_balance_on_points_while_the_ground_tilts(solo: Robot) -> None:
    """The plant stops by itself where measured wrenches are not those that acted."""
    motion = {"type": "ramp", "start_s": 0.0, "duration_s": 0.2, "tilt_deg": [3.0, 2.0]}
    settings = {"plant__bookkeeping": True, "ground": {"motion": [motion]}, "duration_s": 0.3}
    recording = run(push_config(**settings, pushes=[]))
    assert recording.end == RunEnd()


def on_blades(robot: Robot) -> Robot:
    """``robot`` on two points under each sole, one behind the other."""
    return replace(
        robot,
        soles=tuple(
            replace(sole, points=((sole.half_length, 0.0), (-sole.half_length, 0.0)))
            for sole in robot.soles
        ),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_robot_stands_on_two_blades(engine: str, toro: Robot) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    blades = on_blades(toro)
    config = load_config("toro_push", {"plant.engine": engine, "controller.law": "whole_body_qp"})
    controller, plant = make_controller(config, blades), make_plant(config.plant, blades)
    for step in range(100):
        output = controller.step(plant.q, plant.v, 1e-3 * step)
        plant.step(output.torques)
        assert output.status == ControlStatus.OK
    measured = plant.contact_wrenches
    np.testing.assert_allclose(measured, output.wrenches, atol=0.01 * 9.81 * toro.mass)
    assert np.abs(measured[:, 3]).max() < 1e-6  # N m, about the blades
    assert np.abs(plant.q - toro.q_nominal).max() < 1e-3
    assert ContactRows(blades.soles).stacked(measured).shape == (10,)
