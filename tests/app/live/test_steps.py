"""What the page shows of steps."""

from __future__ import annotations

import numpy as np
import pytest
from stepped_runs import DECIDED, LANDED, LEFT, MOVED_M, PLANNED, stepped

import balance
from balance.app.live.footstep_layers import Footsteps, PlannedFootstep
from balance.app.live.observer import Observer
from balance.control.parts.setpoints import setpoint_path


@pytest.fixture(scope="module")
def observer() -> Observer:
    robot = stepped().robot
    return Observer(robot, setpoint_path(stepped().config.controller.setpoints, robot))


def test_before_a_step_there_is_neither_a_plan_nor_a_place_left(observer: Observer) -> None:
    steps = observer.at(stepped(), DECIDED - 1).steps
    assert steps is not None
    assert (steps.strategy, steps.taken, steps.landing, steps.left) == ("hips", 0, None, ())


def test_a_step_under_way_shows_its_landing_and_the_place_that_the_foot_left(
    observer: Observer,
) -> None:
    now = observer.at(stepped(), DECIDED)
    assert now.steps is not None and now.steps.landing is not None
    assert now.steps.strategy == "1 step"
    sole, pose = now.steps.landing
    assert sole == LEFT
    np.testing.assert_allclose(pose.translation, PLANNED[:3], atol=1e-12)
    ((left, place),) = now.steps.left
    assert left == LEFT
    np.testing.assert_allclose(place.translation, now.soles[LEFT].translation, atol=1e-12)


def test_errors_are_measured_over_the_feet_once_they_have_stepped(observer: Observer) -> None:
    before, after = observer.at(stepped(), 0), observer.at(stepped(), LANDED)
    assert after.com[0] - before.com[0] == pytest.approx(MOVED_M)
    np.testing.assert_allclose(after.com_error, before.com_error, atol=1e-9)
    np.testing.assert_allclose(after.rotation_error, before.rotation_error, atol=1e-9)
    assert after.steps is not None and after.steps.landing is None and len(after.steps.left) == 1


def test_a_law_that_does_not_step_has_no_steps() -> None:
    recording = balance.run("toro_push", overrides={"duration_s": 0.3, "pushes": []})
    path = setpoint_path(recording.config.controller.setpoints, recording.robot)
    assert Observer(recording.robot, path).at(recording, 5).steps is None


class FakeOutlines:
    """Takes what a layer would draw."""

    def __init__(self) -> None:
        self.drawn: tuple[tuple[int, object], ...] = ()

    def draw_outlines(self, outlines: tuple[tuple[int, object], ...]) -> None:
        self.drawn = outlines


def test_layers_draw_the_landing_and_the_places_left(observer: Observer) -> None:
    now, planned, left = observer.at(stepped(), DECIDED), FakeOutlines(), FakeOutlines()
    PlannedFootstep.draw(planned, now)  # type: ignore[arg-type]
    Footsteps.draw(left, now)  # type: ignore[arg-type]
    assert now.steps is not None
    assert planned.drawn == (now.steps.landing,) and left.drawn == now.steps.left
