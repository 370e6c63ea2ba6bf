"""A network as a law: what it is shown, what becomes of its answers, and what is refused."""

from __future__ import annotations

import importlib
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import moved
from numpy.typing import NDArray
from onnx_samples import save_linear

import balance
from balance.config import LAWS
from balance.config.sections import law_section
from balance.control import ControlStatus, make_controller
from balance.control.policy import PolicyController
from balance.errors import ConfigError, InputError, MissingExtraError
from balance.experiment import Experiment
from balance.robots import Robot

Array = NDArray[np.float64]

EXAMPLE = Path(__file__).parents[2] / "examples" / "imitate.py"
LEGS = ("left_knee", "right_knee", "left_ankle_pitch")
SAME = 1e-12  # of numbers of order one


@pytest.fixture(scope="module")
def imitation(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Keys of the network that examples/imitate.py fits to the momentum law."""
    folder = tmp_path_factory.mktemp("imitation")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        runpy.run_path(str(EXAMPLE))
    return {"law": "policy", "network": str(folder / "imitation.onnx")}


def made(robot: Robot, actor: Any = np.zeros_like, **keys: Any) -> PolicyController:
    section = {"law": "policy", "network": "none"} | keys
    return PolicyController(balance.load_config("toro_push", {"controller": section}), robot, actor)


def with_network(robot: Robot, file: Path, **keys: Any) -> Any:
    section = {"law": "policy", "network": str(file)} | keys
    return make_controller(balance.load_config("toro_push", {"controller": section}), robot)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_an_imitation_of_the_momentum_law_recovers_the_push_of_the_paper(
    imitation: dict[str, Any], engine: str
) -> None:
    keys = {"controller": imitation, "plant.engine": engine, "duration_s": 5.0}
    summary = balance.run("toro_push", overrides=keys).summary()
    assert summary["outcome"] == "recovered", summary["cause"]
    law = balance.run("toro_push", overrides={"plant.engine": engine, "duration_s": 5.0}).summary()
    # 50 Hz, one layer, and no position of the base: near its teacher, not the same.
    assert summary["peak_com_error_m"] == pytest.approx(law["peak_com_error_m"], rel=0.2)


def test_a_network_that_learnt_nothing_falls(imitation: dict[str, Any], tmp_path: Path) -> None:
    """What recovers is what was learnt, not the springs below it."""
    nothing = save_linear(tmp_path / "nothing.onnx", np.zeros((63, 27)), np.zeros(27))
    keys = {"controller": imitation | {"network": str(nothing)}, "duration_s": 5.0}
    assert balance.run("toro_push", overrides=keys).summary()["outcome"] == "fell"


def test_a_network_is_shown_what_is_listed_in_that_order(toro: Robot) -> None:
    observe = [
        {"signal": "angular_velocity", "scale": 0.25},
        "gravity",
        {"signal": "command", "values": [0.5, -1.0]},
        {"signal": "joints", "scale": [1.0, 2.0, 3.0]},
        {"signal": "joint_rates", "joints": ["waist_yaw"], "clip": 0.01},
        {"signal": "quaternion", "scalar": "first"},
        "linear_velocity",
        {"signal": "phase", "period_s": 0.8},
        "last_action",
    ]
    shown: list[Array] = []

    def act(observation: Array) -> Array:
        shown.append(observation)
        return np.array([0.1, 0.2, 0.3])

    law = made(toro, act, joints=list(LEGS), observe=observe, posture={"left_knee": 0.3})
    rng = np.random.default_rng(1)
    q, v = moved(toro, 0.3, rng)
    q[3:7] *= -1.0  # the same orientation
    law.step(q, v, 0.0)
    law.step(q, v, 0.2)
    index = [toro.joint_names.index(name) for name in LEGS]
    angles = q[7:][index] - toro.q_nominal[7:][index]
    angles[0] = q[7:][index[0]] - 0.3
    R_WB = pin.XYZQUATToSE3(q[:7]).rotation
    waist = v[6:][toro.joint_names.index("waist_yaw")]
    assert abs(waist) > 0.01
    whole = pin.Quaternion(R_WB)
    expected = [
        *(0.25 * v[3:6]),
        *(R_WB.T @ [0.0, 0.0, -1.0]),
        *(0.5, -1.0),
        *(angles * [1.0, 2.0, 3.0]),
        np.copysign(0.01, waist),
        *np.copysign(1.0, whole.w) * np.array([whole.w, whole.x, whole.y, whole.z]),
        *v[:3],
        *(1.0, 0.0),
        *(0.1, 0.2, 0.3),
    ]
    np.testing.assert_allclose(shown[1], expected, rtol=0, atol=SAME)
    np.testing.assert_array_equal(shown[0][-3:], 0.0)


def test_of_several_frames_the_oldest_stands_first(toro: Robot) -> None:
    law = made(toro, observe=["linear_velocity"], history=3)
    v = np.zeros(toro.model.nv)
    for tick, expected in ((0, [0, 0, 0]), (1, [0, 0, 1]), (2, [0, 1, 2]), (3, [1, 2, 3])):
        v[0] = float(tick)
        shown = law.observe(toro.q_nominal, v, 0.02 * tick)
        np.testing.assert_array_equal(shown[::3], expected)
        assert law.observe(toro.q_nominal, 7.0 + v, 0.02 * tick) is shown  # the same period


def test_targets_go_through_springs_and_dampers_at_every_step(toro: Robot) -> None:
    """The network decides every 20 ms; the torques of each step are those of its last decision."""
    calls: list[float] = []

    def act(observation: Array) -> Array:
        calls.append(0.0)
        return np.array([0.3, -2.0, 0.5 * len(calls)])

    spring, damper = {"left_knee": 50.0, "right_knee": 60.0}, [1.0, 2.0, 3.0]
    keys = {"scale": 0.1, "clip": 1.0, "stiffness": spring, "damping": damper}
    law = made(toro, act, joints=list(LEGS), act=keys, feedforward=False)
    usual = made(toro)._posture
    index = [toro.joint_names.index(name) for name in LEGS]
    rng, held = np.random.default_rng(2), usual.stiffness[index[2]]
    for step in range(40):
        q, v = moved(toro, 0.02, rng)
        output = law.step(q, v, 0.001 * step)
        assert len(calls) == 1 + step // 20
        action = np.array([0.3, -1.0, min(0.5 * len(calls), 1.0)])
        target = toro.q_nominal[7:][index] + 0.1 * action
        expected = [50.0, 60.0, held] * (target - q[7:][index]) - np.array(damper) * v[6:][index]
        np.testing.assert_allclose(output.torques[index], expected, rtol=0, atol=1e-9)
        others = np.delete(np.arange(toro.model.nv - 6), index)
        plain = usual.stiffness * (toro.q_nominal[7:] - q[7:]) - usual.damping * v[6:]
        np.testing.assert_allclose(output.torques[others], plain[others], rtol=0, atol=1e-9)


def test_an_action_can_be_had_for_torques(toro: Robot) -> None:
    law = made(toro, feedforward=True, act={"scale": 0.3})
    rng = np.random.default_rng(3)
    q, v = moved(toro, 0.02, rng)
    torques = 5.0 * rng.standard_normal(toro.model.nv - 6)
    other = made(
        toro, lambda _: law.action_for(q, v, torques), feedforward=True, act={"scale": 0.3}
    )
    np.testing.assert_allclose(other.step(q, v, 0.0).torques, torques, rtol=0, atol=1e-9)
    loose = made(toro, act={"stiffness": {"left_knee": 0.0}})
    with pytest.raises(InputError, match="stiffness"):
        loose.action_for(q, v, torques)


def test_the_network_gives_what_its_matrix_says(toro: Robot, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    W, b = 0.01 * rng.standard_normal((63, 27)), 0.01 * rng.standard_normal(27)
    law = with_network(toro, save_linear(tmp_path / "w.onnx", W, b))
    other = made(toro, lambda observation: observation @ W + b)
    q, v = moved(toro, 0.02, rng)
    # Single precision in the file.
    expected = other.step(q, v, 0.0).torques
    np.testing.assert_allclose(law.step(q, v, 0.0).torques, expected, rtol=0, atol=1e-3)


def test_numbers_that_are_not_finite_are_answered_by_the_fallback(
    toro: Robot, tmp_path: Path
) -> None:
    b = np.zeros(27)
    b[3] = np.nan
    law = with_network(toro, save_linear(tmp_path / "nan.onnx", np.zeros((63, 27)), b))
    output = law.step(toro.q_nominal, np.zeros(toro.model.nv), 0.0)
    assert output.status & ControlStatus.LAW_FAILED
    assert np.isfinite(output.torques).all()
    joint = toro.joint_names[3]
    assert re.fullmatch(
        rf"the network \S+nan.onnx gave nan for joint {joint} at 0 s, .*[^\n]", output.conflict
    )


def test_after_bad_numbers_the_network_is_asked_again(toro: Robot) -> None:
    answers = iter([np.full(27, np.inf), np.full(27, 0.01)])
    law = made(toro, lambda _: next(answers))
    zero = np.zeros(toro.model.nv)
    assert law.step(toro.q_nominal, zero, 0.0).status & ControlStatus.LAW_FAILED
    assert law.step(toro.q_nominal, zero, 0.01).status & ControlStatus.LAW_FAILED
    good = law.step(toro.q_nominal, zero, 0.02)
    np.testing.assert_allclose(good.torques, 0.01 * law._posture.stiffness, rtol=1e-9)
    np.testing.assert_array_equal(law.observation.last_action, 0.01)


KNEES = ["left_knee", "right_knee"]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"joints": KNEES}, r"'controller.network' = '\S+': it takes 63 numbers, .* gives 13: "),
        ({"joints": ["left_nee"]}, r"'controller.joints.0' = 'left_nee': .*mean 'left_knee'"),
        ({"joints": ["left_knee"] * 2}, r"'controller.joints.1' = 'left_knee' stands there twice"),
        ({"posture": {"nose": 0.1}}, r"'controller.posture.nose': robot 'toro' has no such"),
        ({"period_s": 0.0015}, r"'controller.period_s' = 0.0015 must be a whole multiple of"),
        ({"act": {"scale": [1.0, 2.0]}}, r"'controller.act.scale' has 2 numbers for 27 joints"),
        ({"act": {"damping": {"nose": 1}}}, r"'controller.act.damping.nose': the network has no"),
        ({"observe": [{"signal": "gravity", "scale": [1.0]}]}, r"'controller.observe.0.scale' has"),
        ({"observe": ["command"]}, r"'controller.observe.0' = .*: signal 'command' needs the"),
        ({"observe": ["phase"]}, r"'controller.observe.0' = .*: signal 'phase' needs the"),
        ({"observe": [{"signal": "gravity", "values": [1]}]}, r"'gravity' has no key values"),
        ({"observe": ["gravitation"]}, r"'controller.observe.0.signal' = 'gravitation'"),
        ({"network": "none"}, r"'controller.network' = 'none': nothing acts; name an ONNX file"),
        ({"network": "no.onnx"}, r"'controller.network' = '\S+/no.onnx': the file does not exist"),
        ({"network": str(EXAMPLE)}, r"'\S+imitate.py': it cannot be read as an ONNX network: "),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(
    toro: Robot, tmp_path: Path, keys: dict[str, Any], told: str
) -> None:
    file = save_linear(tmp_path / "fits.onnx", np.zeros((63, 27)), np.zeros(27))
    with pytest.raises(ConfigError) as caught:
        with_network(toro, file, **keys)
    assert re.search(told, str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "outputs", "told"),
    [
        (1, 26, r"it gives 26 numbers, and 'controller.joints' has 27 joints"),
        (2, 27, r"it has 2 inputs \(x0, x1\); a policy has one"),
    ],
)
def test_a_network_of_another_shape_is_refused(
    toro: Robot, tmp_path: Path, inputs: int, outputs: int, told: str
) -> None:
    W, b = np.zeros((63, outputs)), np.zeros(outputs)
    with pytest.raises(ConfigError, match=told):
        with_network(toro, save_linear(tmp_path / "odd.onnx", W, b, inputs))


def test_without_its_extra_the_law_says_how_to_get_it(
    toro: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    file = save_linear(tmp_path / "fits.onnx", np.zeros((63, 27)), np.zeros(27))
    with pytest.raises(MissingExtraError, match=r"'onnxruntime'.*\[policy\]"):
        with_network(toro, file)


def test_a_file_next_to_the_yaml_is_found_and_its_hash_is_kept(tmp_path: Path) -> None:
    save_linear(tmp_path / "net.onnx", np.zeros((63, 27)), np.zeros(27))
    (tmp_path / "run.yaml").write_text(
        "robot: toro\nduration_s: 0.3\ncontroller: {law: policy, network: net.onnx}\n"
    )
    config = balance.load_config(tmp_path / "run.yaml")
    file = str(tmp_path / "net.onnx")
    assert config.controller.network == file
    assert config.code is not None and len(config.code[file]) == 64
    save_linear(tmp_path / "net.onnx", np.zeros((63, 27)), np.ones(27))
    with pytest.raises(ConfigError, match=r"net.onnx is not the file that this experiment was"):
        Experiment(config)


def test_guests_are_the_laws_that_need_keys() -> None:
    """What stands in the registry as such is what the schemas say."""
    needy = {
        name
        for name in LAWS.ours
        if any(
            item.is_required() for key, item in law_section({"law": name}).model_fields.items()
            if key != "law"
        )
    }  # fmt: skip
    assert needy == set(LAWS.guests)
    assert list(LAWS.ours)[-1] == "policy" and "policy" not in LAWS.ready()


def test_the_law_is_found_without_its_library() -> None:
    """onnxruntime is loaded with a network, not with the law."""
    source = importlib.import_module("balance.control.policy").__file__
    assert source is not None and "onnxruntime" not in Path(source).read_text(encoding="utf-8")
