"""Published figures beside ours: shown only for the experiment that they were published for."""

from __future__ import annotations

import numpy as np

from balance.config import ReferenceConfig, load_config
from balance.recordings.recording import Recording
from balance.robots.stance import robot_of
from balance.simulation.pushes import Push, make_pushes

PAPER = "toro_push"
"""The shipped experiment that is Garofalo2015, Section 5."""


def published(recording: Recording) -> ReferenceConfig | None:
    """The figures to be shown beside those of a run, if there are any for this very experiment.

    Those of the paper belong to its law, gains, robot and push, whatever a file that quotes them is
    called; figures of a user's own are taken at their word.
    """
    reference = recording.config.reference
    if reference is None:
        return None
    paper = load_config(PAPER)
    quoted = paper.reference is not None and (
        reference.name == paper.reference.name
        or any(paper.reference.values.get(k) == v for k, v in reference.values.items())
    )
    if not quoted:
        return reference
    ours, theirs = recording.config.controller, paper.controller
    told = [law.model_dump(include={"law", "gains"}) for law in (ours, theirs)]
    if told[0] != told[1] or ours.gain_changes or ours.setpoints:
        return None
    robot = robot_of(paper)
    if recording.robot.model != robot.model or not np.allclose(
        recording.robot.q_nominal, robot.q_nominal
    ):
        return None
    pushes = make_pushes(paper, robot)
    same = len(pushes) == len(recording.pushes) and all(map(_same_push, pushes, recording.pushes))
    return reference if same else None


def _same_push(one: Push, other: Push) -> bool:
    """Whether two pushes are the same, at whatever time."""
    return (one.body, type(one.profile), one.in_body_axes) == (
        other.body,
        type(other.profile),
        other.in_body_axes,
    ) and np.allclose(
        [*one.point, *one.direction, one.impulse, one.end - one.start],
        [*other.point, *other.direction, other.impulse, other.end - other.start],
    )
