"""Which constraint stood in the way: in words, for how long, and by how much."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.control import ControlStatus, make_controller
from balance.plots.contacts import contacts_figure
from balance.plots.torques import torques_figure
from balance.recordings.limiting import (
    largest_shortfall,
    limited_by,
    limited_moments,
    limiting_rows,
)
from balance.recordings.recording import Recording
from balance.recordings.summary import flatten

SIDE = "left sole: CoP at its left edge"


@pytest.fixture(scope="module")
def pushed() -> Recording:
    """A push to the left that both soles together cannot answer."""
    base = {"duration_s": 0.6, "pushes.0.time_s": 0.05, "pushes.0.energy_J": 60}
    return balance.run(balance.load_config("toro_push", base))


def test_a_push_to_the_left_is_limited_by_the_left_edge_of_the_left_sole(pushed: Recording) -> None:
    times = limited_by(pushed)
    assert next(iter(times)) in (SIDE, "right sole: normal force at its minimum")
    assert times[SIDE] > 0.2
    assert list(times.values()) == sorted(times.values(), reverse=True)
    assert all(time <= 0.6 for time in times.values())


def test_the_names_are_those_of_the_law_itself(pushed: Recording) -> None:
    """Asked again at recorded states, the law names the constraint among its active ones."""
    law = make_controller(pushed.config, pushed.robot)
    rows = limiting_rows(pushed)[SIDE]
    for i in np.flatnonzero(rows)[::60]:
        output = law.step(pushed.q[i], pushed.v[i], float(pushed.time[i]))
        assert SIDE in {law.constraint_names[j] for j in output.active}
        assert np.allclose(pushed.shortfall[i], output.residual, rtol=1e-6, atol=1e-6)


def test_an_unloaded_sole_is_named_once(pushed: Recording) -> None:
    rows = limiting_rows(pushed)
    unloaded = rows["right sole: normal force at its minimum"]
    others = [
        where for name, where in rows.items() if "right sole" in name and "normal" not in name
    ]
    assert not any((unloaded & where).any() for where in others)


def test_moments_hold_every_limited_period(pushed: Recording) -> None:
    moments = limited_moments(pushed)
    limited = (pushed.status & int(ControlStatus.WRENCH_LIMITED)) != 0
    inside = np.zeros_like(limited)
    for moment in moments:
        inside |= (pushed.time >= moment.start - 1e-9) & (pushed.time < moment.end)
        assert moment.names
    assert inside[limited].all()


def test_the_largest_shortfall_is_told(pushed: Recording) -> None:
    found = largest_shortfall(pushed)
    assert found["force_N"] == np.linalg.norm(pushed.shortfall[:, :3], axis=1).max() > 10.0


def test_the_largest_shortfall_says_when_and_what_stood_in_the_way(pushed: Recording) -> None:
    found = largest_shortfall(pushed)
    row = int(np.argmax(np.linalg.norm(pushed.shortfall[:, :3], axis=1)))
    assert found["time_s"] == pushed.time[row]
    assert found["moment_Nm"] == np.linalg.norm(pushed.shortfall[:, 3:], axis=1).max()
    assert SIDE in found["limited_by"].split("; ")
    quiet = Recording(**{**pushed.__dict__, "shortfall": np.zeros_like(pushed.shortfall)})
    assert largest_shortfall(quiet)["time_s"] is None


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (ControlStatus.QP_FAILED | ControlStatus.RELAXED, "QP without solution: weight held"),
        (ControlStatus.QP_FAILED | ControlStatus.DAMPED, "QP without solution: joints braked"),
        (ControlStatus.BAD_STATE, "state not measured"),
    ],
)
def test_moments_without_an_answer_are_named_shaded_and_labelled(
    pushed: Recording, status: ControlStatus, name: str
) -> None:
    flags = np.zeros_like(pushed.status)
    flags[200:400] = status
    changed = Recording(**{**pushed.__dict__, "status": flags})
    assert limited_by(changed) == {name: pytest.approx(0.2)}
    panels = contacts_figure(changed).axes[:2]
    for axes in panels:  # normal force at either sole
        assert name in [text.get_text() for text in axes.texts]
        (shade,) = (item for item in axes.collections if item.get_gid() == "limited")
        assert shade.get_datalim(axes.transData).x0 == pytest.approx(0.2)


def test_a_torque_limit_is_labelled_in_the_panel_of_its_limb(pushed: Recording) -> None:
    knee = pushed.robot.joint_names.index("left_knee")
    torques, status = np.zeros_like(pushed.torques), np.zeros_like(pushed.status)
    torques[100:300, knee] = pushed.robot.effort_limits[knee]
    status[100:300] = ControlStatus.TORQUE_LIMITED
    changed = Recording(**{**pushed.__dict__, "torques": torques, "status": status})
    labels = {
        axes.get_title(loc="left"): [t.get_text() for t in axes.texts if t.get_gid()]
        for axes in torques_figure(changed).axes
    }
    assert labels.pop("Left leg") == ["left knee: torque limit"]
    assert not any(labels.values())


def test_a_torque_limit_is_named_by_its_joint(pushed: Recording) -> None:
    knee = pushed.robot.joint_names.index("left_knee")
    torques, status = np.zeros_like(pushed.torques), np.zeros_like(pushed.status)
    torques[100:150, knee] = -pushed.robot.effort_limits[knee]
    status[100:150] = ControlStatus.TORQUE_LIMITED
    changed = Recording(**{**pushed.__dict__, "torques": torques, "status": status})
    assert limited_by(changed) == {"left knee: torque limit": pytest.approx(0.05)}


def test_the_figure_labels_the_moments(pushed: Recording) -> None:
    figure = contacts_figure(pushed)
    labels = {
        text.get_text()
        for axes in figure.axes
        for text in axes.texts
        if text.get_gid() == "limit label"
    }
    assert any("CoP at its left edge" in label for label in labels)


def test_a_table_gets_one_column_for_the_constraint_that_held_longest(pushed: Recording) -> None:
    columns = flatten(pushed.summary())
    assert columns["limited_by"] == next(iter(limited_by(pushed)))
    assert not any(name.startswith("limited_by_s") for name in columns)
