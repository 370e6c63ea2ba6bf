"""Arms that are held off legs: who is asked to move, and when."""

from __future__ import annotations

import numpy as np
import pytest

from balance.config import load_config
from balance.control import make_controller
from balance.control.stepping.law import SteppingController
from balance.control.stepping.stepper import Stepper
from balance.robots import Robot

TURNS = "left_shoulder_3"
"""A joint that brings the forearm to the thigh as it turns back."""


@pytest.fixture
def stepper(toro: Robot) -> Stepper:
    config = load_config("toro_push", {"controller": {"law": "stepping"}, "reference": None})
    law = make_controller(config, toro)
    assert isinstance(law, SteppingController)
    assert law.stepper is not None
    return law.stepper


def asked(stepper: Stepper, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return stepper.both.apart.rows(stepper.both.body.at(q, v))


def test_what_stands_still_and_apart_is_not_asked_to_move(toro: Robot, stepper: Stepper) -> None:
    rows, values = asked(stepper, toro.q_nominal, np.zeros(toro.model.nv))
    assert rows.shape == (0, toro.model.nv)
    assert values.size == 0


def test_the_faster_limbs_come_nearer_the_earlier_they_are_asked_to_part(
    toro: Robot, stepper: Stepper
) -> None:
    joint, firsts = list(toro.model.names)[2:].index(TURNS), []
    for speed in (0.0, 1.0, 3.0):  # rad/s
        v = np.zeros(toro.model.nv)
        v[6 + joint] = -speed
        for angle in np.linspace(0.0, 1.5, 151):
            q = toro.q_nominal.copy()
            q[7 + joint] -= angle
            rows, values = asked(stepper, q, v)
            if len(values):
                break
        assert len(values)
        assert (values > 0.0).all()
        if speed:  # it is against the way in which they come nearer
            assert (rows @ v < 0.0).all()
        firsts.append(float(angle))
    assert firsts[0] > firsts[1] > firsts[2]
