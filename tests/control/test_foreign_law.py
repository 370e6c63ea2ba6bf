"""A law that we do not know: whatever it does, the robot gets safe torques and the user a word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import BaseModel, Field

import balance
from balance.app.terminal import result_table
from balance.config import ExperimentConfig, GainChangeConfig
from balance.control import ControlOutput, ControlStatus, frame_controller, with_controller
from balance.control.parts.gain_schedule import GainSchedule
from balance.errors import ConfigError, InputError
from balance.robots import Robot

Array = NDArray[np.float64]
QUIET = {"duration_s": 0.3, "pushes": [], "reference": None}


class Law:
    """Returns what it is told to."""

    def __init__(self, answer: Callable[[Array, Array], Any]) -> None:
        self.answer = answer

    def step(self, q: Array, v: Array, t: float) -> Any:
        return self.answer(q, v)


def framed(answer: Callable[[Array, Array], Any], config: ExperimentConfig, robot: Robot) -> Any:
    return frame_controller(Law(answer), config, robot)


def output(torques: Array, **changed: Any) -> ControlOutput:
    given = {
        "torques": torques,
        "wrenches": np.zeros((2, 6)),
        "status": ControlStatus.OK,
        "active": np.empty(0, dtype=np.intp),
        "residual": np.zeros(6),
    }
    return ControlOutput(**{**given, **changed})


def _raise(q: Array, v: Array) -> Any:
    raise KeyError("nothing here")


def _leave(q: Array, v: Array) -> Any:
    raise SystemExit(3)


BAD: dict[str, tuple[Callable[[Array, Array], Any], str]] = {
    "raises": (_raise, "Law.step raised KeyError in test_foreign_law.py, line"),
    "exits": (_leave, "Law.step raised SystemExit"),
    "nothing": (lambda q, v: None, "torques of type NoneType"),
    "words": (lambda q, v: "hold on", "torques of type str"),
    "nan": (lambda q, v: np.full(v.size - 6, np.nan), "torques that are not finite"),
    "too many": (lambda q, v: np.zeros(v.size), "torques of shape (33,)"),
    "ragged": (lambda q, v: [[1.0], [1.0, 2.0]], "torques of type list"),
    "wrenches": (lambda q, v: output(v[6:], wrenches=np.zeros(3)), "wrenches of shape (3,)"),
    "residual": (lambda q, v: output(v[6:], residual=np.zeros(2)), "residual of shape (2,)"),
    "active": (lambda q, v: output(v[6:], active=[5]), "active constraints [5], of 0"),
    "status": (lambda q, v: output(v[6:], status="fine"), "fine"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_law_without_an_answer_gets_the_fallback_and_is_named(
    toro: Robot, toro_config: ExperimentConfig, name: str
) -> None:
    answer, told = BAD[name]
    law = framed(answer, toro_config, toro)
    q, v = toro.q_nominal, np.zeros(toro.model.nv)
    first, second = law.step(q, v, 0.0), law.step(q, v, 0.001)
    assert told in first.conflict and first.conflict.startswith("Law.step")
    assert second.conflict == ""  # told once
    for one in (first, second):
        assert one.status & ControlStatus.LAW_FAILED
        assert not one.status & ControlStatus.QP_FAILED
        assert np.isfinite(one.torques).all() and one.torques.any()
        assert (np.abs(one.torques) <= toro.effort_limits).all()


def test_torques_are_cut_at_the_limits_and_the_state_is_a_copy(
    toro: Robot, toro_config: ExperimentConfig
) -> None:
    def greedy(q: Array, v: Array) -> Array:
        q[:], v[:] = 0.0, 0.0
        return np.full(v.size - 6, 1e9)

    law = framed(greedy, toro_config, toro)
    q, v = toro.q_nominal.copy(), np.ones(toro.model.nv)
    found = law.step(q, v, 0.0)
    np.testing.assert_array_equal(found.torques, toro.effort_limits)
    assert found.status == ControlStatus.TORQUE_LIMITED
    np.testing.assert_array_equal(q, toro.q_nominal)
    assert (v == 1.0).all()


def test_a_full_output_is_taken_as_it_is(toro: Robot, toro_config: ExperimentConfig) -> None:
    wrench = np.array([[0.0, 0.0, 300.0, 0.0, 0.0, 0.0]] * 2)
    torques = np.linspace(-1.0, 1.0, toro.model.nv - 6)
    law = framed(lambda q, v: output(torques, wrenches=wrench), toro_config, toro)
    found = law.step(toro.q_nominal, np.zeros(toro.model.nv), 0.0)
    np.testing.assert_array_equal(found.torques, torques)
    np.testing.assert_array_equal(found.wrenches, wrench)
    assert found.status == ControlStatus.OK


class Spring:
    """A class with keys of its own."""

    class Config(BaseModel):
        """Stiffness."""

        kp: float = Field(50.0, gt=0)

    def __init__(self, config: Any, robot: Robot) -> None:
        if config.controller.kp > 900:
            raise ValueError("too stiff")
        self.kp, self.posture = config.controller.kp, robot.q_nominal[7:]

    def step(self, q: Array, v: Array, t: float) -> Array:
        return np.asarray(self.kp * (self.posture - q[7:]) - 2.0 * v[6:])


def test_python_takes_a_class_or_an_object_and_names_it_in_the_summary(toro: Robot) -> None:
    by_class = balance.run("toro_push", overrides=QUIET, controller=Spring)
    config = with_controller(balance.load_config("toro_push", QUIET), Spring)
    by_object = balance.run("toro_push", overrides=QUIET, controller=Spring(config, toro))
    assert by_class.summary()["law"] == by_object.summary()["law"] == "Spring"
    np.testing.assert_array_equal(by_class.torques, by_object.torques)
    assert np.isnan(by_class.wrenches).all()
    assert by_class.summary()["wrench_error_rms_N"] is None


def test_ours_given_in_python_run_as_they_are(toro: Robot) -> None:
    config = balance.load_config("toro_push", QUIET)
    plain = balance.run(config)
    given = balance.run(config, controller=balance.make_controller(config, toro))
    np.testing.assert_array_equal(plain.q, given.q)
    assert given.summary()["law"] == "momentum"


def test_a_controller_without_a_step_is_refused() -> None:
    with pytest.raises(InputError, match="has no method 'step"):
        balance.run("toro_push", overrides=QUIET, controller=object())


def test_a_change_of_keys_blends_and_one_that_fails_is_refused_or_ends_the_run(
    toro: Robot,
) -> None:
    config = with_controller(balance.load_config("toro_push", QUIET), Spring)
    schedule = GainSchedule(config, toro, partial(frame_controller, Spring))
    q = toro.q_nominal.copy()
    q[7:] += 0.001
    v = np.zeros(toro.model.nv)
    soft = schedule.step(q, v, 0.0).torques
    schedule.add(GainChangeConfig(time_s=0.0, blend_s=0.1, set={"kp": 100.0}))
    between, after = schedule.step(q, v, 0.05).torques, schedule.step(q, v, 0.2).torques
    np.testing.assert_allclose(between, 1.5 * soft, rtol=1e-12)
    np.testing.assert_allclose(after, 2.0 * soft, rtol=1e-12)
    with pytest.raises(ConfigError, match="'kp' = -1"):
        schedule.check(GainChangeConfig(time_s=0.0, set={"kp": -1.0}))
    schedule.add(GainChangeConfig(time_s=0.3, set={"kp": 1000.0}))
    with pytest.raises(RuntimeError, match=r"the change of gains at 0\.3 s cannot be made"):
        schedule.step(q, v, 0.3)


def test_a_failing_law_leaves_a_whole_result(tmp_path: Any) -> None:
    def late(q: Array, v: Array) -> Any:
        late.calls += 1  # type: ignore[attr-defined]
        return np.zeros(v.size - 6) if late.calls < 50 else None  # type: ignore[attr-defined]

    late.calls = 0  # type: ignore[attr-defined]
    recording = balance.run("toro_push", overrides=QUIET, controller=Law(late))
    folder = balance.save_recording(recording, tmp_path / "run")
    summary = balance.load_recording(folder).summary()
    assert summary["law"] == "Law"
    assert summary["limited_by_s"]["law failed: weight held"] == pytest.approx(0.251, abs=1e-9)
    assert summary["conflict"].startswith("Law.step returned torques of type NoneType")


def test_a_law_with_the_wrong_arguments_is_told_which_it_gets(toro: Robot) -> None:
    class Alone:
        def __init__(self, robot: Robot) -> None: ...

        def step(self, q: Array, v: Array, t: float) -> Array:
            return np.zeros(27)

    class Timeless:
        def __init__(self, config: Any, robot: Robot) -> None: ...

        def step(self, q: Array, v: Array) -> Array:
            return np.zeros(27)

    with pytest.raises(ConfigError, match=r"is made as Alone\(config, robot\), but too many"):
        balance.run("toro_push", overrides=QUIET, controller=Alone)
    with pytest.raises(ConfigError, match=r"Timeless is asked by step\(q, v, t\), but too many"):
        balance.run("toro_push", overrides=QUIET, controller=Timeless)


def test_a_run_whose_law_failed_says_so_wherever_it_shows_itself() -> None:
    failed = balance.run("toro_push", overrides=QUIET, controller=Law(lambda q, v: np.zeros(5)))
    good = balance.run("toro_push", overrides=QUIET)
    assert failed.summary()["outcome"] == "recovered"  # the fallback holds a robot that rests
    said = "the law failed in all of its steps, which were answered without it"
    assert said in repr(failed) and said in failed._repr_html_()
    caption = str(result_table(failed).caption)
    assert said in caption and "torques of shape (5,); it must return 27 joint torques" in caption
    assert result_table(good).caption is None and "failed" not in repr(good)
