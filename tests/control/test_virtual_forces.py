"""Lists of virtual forces against the notes' pseudo-inverse and virtual work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law, moved, on_contacts, strong
from numpy.typing import NDArray

from balance.config import load_config
from balance.control import make_controller
from balance.control.parts.distribution import contact_cones
from balance.control.virtual_model import VirtualModelController
from balance.dynamics.constraints import Contact
from balance.dynamics.generalised_forces import Load, external_generalised_force, point_jacobian
from balance.dynamics.virtual_forces import virtual_model_torques
from balance.errors import ConfigError, FrameError
from balance.experiment import run
from balance.robots import Robot, load_robot

Array = NDArray[np.float64]

SAME = 1e-9  # relative to the largest torque
SPRINGS = [75.0, 75.0, 150.0]
DAMPERS = [9.0, 9.0, 12.0]
CORNERS = [(0.19, 0.1, 0.0), (0.19, -0.1, 0.0), (-0.19, 0.1, 0.0), (-0.19, -0.1, 0.0)]


def test_four_springs_at_the_shoulders_are_the_notes_torques() -> None:
    """(3.115)-(3.120) of solo12 by an implementation that knows points and nothing else."""
    solo = load_robot("solo12")
    controller = make_controller(
        load_config("solo12_virtual_model", {"controller.contact_damping": 0.0}), solo
    )
    model, rng = solo.model, np.random.default_rng(91)
    feet = [Contact(sole.frame) for sole in solo.soles]
    for _ in range(10):
        q, v = moved(solo, 0.01, rng)
        loads = []
        for corner in CORNERS:
            at = Load("base_link", point=corner)
            here, there = (
                pin.XYZQUATToSE3(posture[:7]).act(np.array(corner))
                for posture in (q, solo.q_nominal)
            )
            speed = (point_jacobian(model, q, at) @ v)[:3]
            force = np.array(SPRINGS) * (there - here) - np.array(DAMPERS) * speed
            loads.append(Load("base_link", force, point=corner))
        expected = virtual_model_torques(model, q, feet, loads)
        output = controller.step(q, v, 0.0)
        assert not len(output.active)
        size = np.abs(expected.torques).max()
        np.testing.assert_allclose(output.torques, expected.torques, rtol=0, atol=SAME * size)
        size = np.abs(expected.contact_forces).max()
        np.testing.assert_allclose(
            output.wrenches[:, :3], -expected.contact_forces, rtol=0, atol=SAME * size
        )


def test_a_force_at_a_limb_acts_through_the_joints_on_the_way(toro: Robot) -> None:
    """Virtual work of all rows: a pull on the hand and a spring on the trunk beside the base's."""
    robot, rng = strong(toro), np.random.default_rng(92)
    target = [0.05, 0.03, 1.2]
    forces = [
        {"frame": "left_hand", "point_m": [0.0, 0.0, -0.05], "force_N": [5.0, -3.0, 8.0]},
        {"frame": "trunk", "target_m": target, "stiffness": 100.0, "damping": [1.0, 2.0, 3.0]},
        {"frame": "right_hand", "damping": 4.0},
    ]
    keys: dict[str, Any] = {"controller__contact_damping": 0}
    plain, both = law("virtual_model", robot, **keys), law(
        "virtual_model", robot, controller__virtual_forces=forces, **keys
    )  # fmt: skip
    for _ in range(5):
        q, v = moved(robot, 0.002, rng)
        without, with_them = plain.step(q, v, 0.0), both.step(q, v, 0.0)
        assert not len(without.active) and not len(with_them.active)
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, q)
        trunk = data.oMf[robot.model.getFrameId("trunk")].translation
        speeds = [
            (point_jacobian(robot.model, q, Load(name)) @ v)[:3] for name in ("trunk", "right_hand")
        ]
        loads = [
            Load("left_hand", forces[0]["force_N"], point=(0.0, 0.0, -0.05)),
            Load("trunk", 100.0 * (target - trunk) - np.array([1.0, 2.0, 3.0]) * speeds[0]),
            Load("right_hand", -4.0 * speeds[1]),
        ]
        change = contact_jacobian(robot, q).T @ (with_them.wrenches - without.wrenches).ravel()
        change[6:] += with_them.torques - without.torques
        expected = external_generalised_force(robot.model, q, loads)
        np.testing.assert_allclose(change, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_the_pseudo_inverse_is_least_and_gives_way_to_the_cones(toro: Robot) -> None:
    config = load_config(
        "toro_push",
        {"controller.law": "virtual_model", "controller.contact_forces": "pseudo_inverse"},
    )
    even, plain = law("virtual_model", toro), make_controller(config, toro)
    cones = contact_cones(toro, config.controller.contacts)
    rng, least = np.random.default_rng(93), 0
    for size in np.repeat([0.002, 0.05, 0.4], 8):
        q, v = moved(toro, size, rng)
        v = on_contacts(toro, q, v)
        one, other = even.step(q, v, 0.0), plain.step(q, v, 0.0)
        for cone, wrench in zip(cones, other.wrenches, strict=True):
            assert cone.margin(wrench).min() > -1e-5
        if not len(one.active) and not len(other.active):
            least += 1
            assert np.linalg.norm(other.wrenches) < np.linalg.norm(one.wrenches)
    assert least > 5


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_solo12_recovers_on_its_virtual_springs(engine: str) -> None:
    config = load_config("solo12_virtual_model", {"plant.engine": engine, "duration_s": 1.5})
    summary = run(config).summary()
    assert summary["outcome"] == "recovered", summary["cause"]
    assert summary["peak_com_error_m"] == pytest.approx(0.0185, abs=0.001)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"virtual_forces": [{"frame": "hip"}]}, "at 'hip' needs force_N, or stiffness"),
        (
            {"virtual_forces": [{"frame": "hip", "force_N": [0, 0, 1], "damping": 3.0}]},
            "at 'hip' needs .* not both",
        ),
        (
            {"virtual_forces": [{"frame": "hip", "damping": 1.0, "target_m": [0, 0, 1]}]},
            "target_m, but no stiffness",
        ),
        ({"virtual_forces": [{"frame": "hip", "stiffness": -5.0}]}, "stiffness"),
        ({"hold_base": False}, "nothing would hold the robot"),
        (
            {
                "hold_base": False,
                "virtual_forces": [{"frame": "hip", "stiffness": 9.0}],
                "setpoints": [{"time_s": 0, "duration_s": 1}],
            },
            "setpoints move the springs of the base",
        ),
        ({"contact_forces": "least"}, "contact_forces.*pseudo_inverse"),
    ],
)
def test_wrong_keys_are_one_sentence(keys: dict[str, Any], sentence: str) -> None:
    changes = {"controller.law": "virtual_model"} | {f"controller.{k}": v for k, v in keys.items()}
    with pytest.raises(ConfigError, match=sentence):
        load_config("toro_push", changes)


def test_frame_that_the_robot_lacks_is_named(toro: Robot) -> None:
    forces = [{"frame": "left_hnd", "stiffness": 10.0}]
    config = load_config(
        "toro_push",
        {"controller.law": "virtual_model", "controller.virtual_forces": forces},
    )
    with pytest.raises(FrameError, match=r"virtual_forces\.0.*no frame 'left_hnd'.*left_hand"):
        VirtualModelController(config, toro)
