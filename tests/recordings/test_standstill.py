"""When a verdict is settled: what dies down is, what grows, creeps or sways too far is not."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.recordings.settling import UntilSettled, longest_run_s
from balance.recordings.standstill import Standstill, forecast, growth
from balance.recordings.verdict import MAX_ANGULAR_RATE, MAX_COM_ERROR_M
from balance.robots import load_robot

Signal = Callable[[np.ndarray], np.ndarray]
CONFIG = load_config("toro_push", {"pushes.0.time_s": 0.0})
ROBOT = load_robot("toro")


def end_s(com_error: Signal, **rows: Any) -> float | None:
    """When the run ends of a robot that stands while its setpoint makes ``com_error`` (share)."""
    until = UntilSettled()
    config = CONFIG.model_copy(update={"duration_s": longest_run_s(CONFIG, until)})
    n, nv = config.n_periods, ROBOT.model.nv
    time = config.control_period_s * np.arange(n)
    data = ROBOT.model.createData()
    com = pin.centerOfMass(ROBOT.model, data, ROBOT.q_nominal).copy()
    error = MAX_COM_ERROR_M * com_error(time)

    def at(t: float) -> Any:
        place = np.array([0.0, np.interp(t, time, error), 0.0])
        rotation = pin.Quaternion(ROBOT.q_nominal[3:7]).matrix()
        return SimpleNamespace(com=com - place, rotation=rotation)

    log: Any = SimpleNamespace(
        rows=0,
        q=np.tile(ROBOT.q_nominal, (n, 1)),
        v=np.zeros((n, nv)),
        contact_wrenches=np.full((n, 2, 6), 100.0),
    )
    for name, value in rows.items():
        setattr(log, name, value(getattr(log, name, None), time))
    watch = Standstill(config, ROBOT, SimpleNamespace(at=at), until)  # type: ignore[arg-type]
    for log.rows in range(1, n + 1):
        if watch.seen(log):
            return float(log.rows * config.control_period_s)
    return None


SETTLED: dict[str, Signal] = {
    "still": lambda t: 0.0 * t,
    "a damped sway": lambda t: 1.5 * np.exp(-t) * np.cos(2.5 * t),
    "two damped sways": lambda t: np.exp(-t) * np.cos(5 * t) + np.exp(-2 * t) * np.cos(20 * t),
    "creeping back": lambda t: 1.2 * np.exp(-t),
    "a sway that stays small": lambda t: 0.3 * np.cos(9 * t),
}
OPEN: dict[str, Signal] = {
    "a sway that grows slowly": lambda t: 0.3 * np.exp(0.15 * t) * np.cos(5 * t),
    "a sway that grows below one that dies": lambda t: (
        np.exp(-2 * t) * np.cos(7 * t) + 0.1 * np.exp(0.3 * t) * np.cos(3 * t)
    ),
    "growing away": lambda t: 0.02 * np.exp(0.4 * t),
    "creeping outwards": lambda t: 0.2 + 0.1 * t,
    "creeping through the setpoint": lambda t: 0.7 - 0.2 * t,
    "creeping while it sways": lambda t: 0.7 - 0.2 * t + 0.1 * np.cos(6 * t),
    "a limit cycle near the bound": lambda t: 0.95 * np.cos(4 * t),
    "a slow one": lambda t: 1.1 * np.sin(0.5 * t),
    "an offset out of bounds": lambda t: 1.1 + np.exp(-t),
}


@pytest.mark.parametrize("name", SETTLED)
def test_an_error_that_dies_down_is_settled_soon(name: str) -> None:
    end = end_s(SETTLED[name])
    assert end is not None
    assert 1.0 < end < 5.0
    assert np.abs(SETTLED[name](np.linspace(end - 0.25, 10.0, 500))).max() < 1.0


@pytest.mark.parametrize("name", OPEN)
def test_an_error_that_grows_creeps_or_cycles_is_not_settled(name: str) -> None:
    """Each of them is out of bounds within the ten seconds, or too near to them."""
    assert np.abs(OPEN[name](np.linspace(1.0, 10.0, 500))).max() > 0.9
    end = end_s(OPEN[name])
    assert end is None or end > 9.5


@pytest.fixture
def firm_soles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Soles that stay where they are while the base alone turns."""
    monkeypatch.setattr(Standstill, "_stands", lambda *_: True)


def turning(angle: Signal) -> dict[str, Any]:
    """Rows of a base that turns by an ``angle`` (rad) about its y axis."""

    def turned(q: np.ndarray, time: np.ndarray) -> np.ndarray:
        half, nominal = 0.5 * angle(time), pin.Quaternion(ROBOT.q_nominal[3:7])
        for row, x in zip(q, half.tolist(), strict=True):
            turn = pin.Quaternion(np.array([0.0, np.sin(x), 0.0, np.cos(x)]))
            row[3:7] = (nominal * turn).coeffs()
        return q

    def rates(v: np.ndarray, time: np.ndarray) -> np.ndarray:
        v[:, 4] = np.gradient(angle(time), time)
        return v

    return {"q": turned, "v": rates}


def rate_of(angle: Signal, first: float, last: float) -> float:
    """Its largest rate between two times, as a share of its bound."""
    time = np.arange(first, last, 1e-3)
    return float(np.abs(np.gradient(angle(time), time)).max()) / MAX_ANGULAR_RATE


@pytest.mark.usefixtures("firm_soles")
def test_a_slow_sway_is_settled_once_its_rate_is_not_to_leave_its_bound_again() -> None:
    def sway(t: np.ndarray) -> np.ndarray:
        return np.asarray(0.06 * np.exp(-0.6 * t) * np.cos(4.7 * t))

    end = end_s(lambda t: 0.0 * t, **turning(sway))
    assert end is not None
    assert rate_of(sway, end - 1.0, end) > 0.8
    assert rate_of(sway, end - 0.25, 10.0) < 0.8


OPEN_SWAYS: dict[str, Signal] = {
    "one that grows": lambda t: 0.008 * np.exp(0.2 * t) * np.cos(4 * t),
    "one that dies over one that grows": lambda t: (
        0.05 * np.exp(-1.5 * t) * np.cos(5 * t) + 0.01 * np.exp(0.15 * t) * np.sin(4 * t)
    ),
    "a beat": lambda t: 0.022 * (np.cos(4.0 * t) - np.cos(4.5 * t)),
    "a limit cycle": lambda t: 0.05 * np.exp(-t) * np.sin(2 * t) + 0.035 * np.cos(4 * t),
}


@pytest.mark.usefixtures("firm_soles")
@pytest.mark.parametrize("name", OPEN_SWAYS)
def test_a_sway_whose_rate_leaves_its_bound_is_not_settled(name: str) -> None:
    sway = OPEN_SWAYS[name]
    assert rate_of(sway, 2.0, 10.0) > 0.9
    end = end_s(lambda t: 0.0 * t, **turning(sway))
    assert end is None or end > 9.5


def test_nothing_is_settled_while_a_sole_is_off_the_ground() -> None:
    def lifted(loads: np.ndarray, time: np.ndarray) -> np.ndarray:
        loads[(time > 2.95) & (time < 3.0), 0] = 0.0
        loads[time < 2.0, 0] = 0.0
        return loads

    assert end_s(SETTLED["still"], contact_wrenches=lifted) == pytest.approx(4.0)


def test_nothing_is_settled_while_the_soles_creep() -> None:
    def creeping(q: np.ndarray, time: np.ndarray) -> np.ndarray:
        q[:, 0] += 1e-3 * time  # 10 mm in all
        return q

    assert (end_s(lambda t: 0.0 * t, q=creeping) or 10.0) > 8.5


def test_nothing_is_settled_while_an_arm_still_swings() -> None:
    def swinging(v: np.ndarray, time: np.ndarray) -> np.ndarray:
        v[:, -1] = np.where(time < 5.0, 0.45, 0.0)
        return v

    assert end_s(lambda t: 0.0 * t, v=swinging) == pytest.approx(6.0, abs=0.06)


def test_nothing_is_settled_before_a_joint_is_known_to_keep_off_its_stop() -> None:
    upper = ROBOT.model.upperPositionLimit[-1] - 1e-4

    def closing(q: np.ndarray, time: np.ndarray) -> np.ndarray:
        q[:, -1] = upper - 0.05 + 0.01 * time  # there after 5 s
        return q

    assert end_s(lambda t: 0.0 * t, q=closing) is None


def test_contacts_that_change_are_no_standstill() -> None:
    def bearing(_: None, time: np.ndarray) -> np.ndarray:
        meant = np.ones((len(time), 2))
        meant[time < 3.0, 0] = 0.0
        return meant

    assert end_s(lambda t: 0.0 * t, bearing=bearing) == pytest.approx(2.0, abs=1.01)


def test_a_forecast_continues_oscillations_growth_and_drift_exactly() -> None:
    """Two modes, or one and a drift, obey a recursion of the fourth order without error."""
    t = 0.05 * np.arange(240)
    signals = np.stack(
        [
            np.exp(-t) * np.cos(5 * t) + 0.3 * np.exp(-0.3 * t) * np.sin(2 * t),
            0.01 * np.exp(0.4 * t) * np.cos(3 * t),
            0.5 - 0.1 * t + 0.05 * np.cos(6 * t),
            np.full_like(t, 0.7),
        ],
        axis=1,
    )
    np.testing.assert_allclose(forecast(signals[:40], 200), signals[40:], atol=1e-3, rtol=0.01)


def test_peaks_that_shrink_are_taken_to_stay_and_others_to_grow_on() -> None:
    before, last = np.array([1.0, 0.5, 0.0]), np.array([0.5, 1.0, 0.0])
    np.testing.assert_allclose(growth(before, last, 3.0), [1.0, 8.0, 1.0])
