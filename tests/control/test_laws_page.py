"""The page about the laws says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from balance.config import LAWS, load_config
from balance.config.laws import DEFAULT_GAINS
from balance.config.tasks import (
    FORCE_TASKS,
    MOTION_TASKS,
    CircleConfig,
    FrameMoveConfig,
    FrameTaskConfig,
    WantedForceConfig,
)
from balance.control import ControlStatus, make_controller
from balance.control.parts.gains import physical_gains
from balance.control.parts.virtual_forces import VirtualForceConfig
from balance.robots import load_robot
from balance.robots.stance import robot_of

PAGE = (Path(__file__).parents[2] / "docs" / "laws.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+), (Table 1|default) \| (.*) \|$", PAGE, flags=re.MULTILINE)
BLOCKS = re.findall(r"```yaml\n# (\w+) on (\w+)\n(.*?)```", PAGE, flags=re.DOTALL)
ROUNDED = 5.1e-4  # three digits


@pytest.mark.parametrize("law", LAWS.names())
def test_every_law_has_its_paragraph(law: str) -> None:
    assert f"\n**`{law}`**" in PAGE


@pytest.mark.parametrize(("law", "experiment", "text"), BLOCKS, ids=lambda value: value[:20])
def test_a_controller_that_is_shown_makes_a_law_that_answers(
    law: str, experiment: str, text: str
) -> None:
    config = load_config(experiment, yaml.safe_load(text))
    assert config.controller.law == law
    robot = robot_of(config)
    output = make_controller(config, robot).step(robot.q_nominal, np.zeros(robot.model.nv), 0.0)
    assert not output.status & ControlStatus.QP_FAILED


def test_every_key_of_tasks_is_shown() -> None:
    """Those of frames, paths, forces and virtual forces, so that a new one is not forgotten."""
    shown = "".join(text for _, _, text in BLOCKS)
    sections = (FrameTaskConfig, FrameMoveConfig, CircleConfig, WantedForceConfig)
    for section in (*sections, VirtualForceConfig):
        for key in section.model_fields:
            assert f"{key}:" in shown, key
    assert {law for law, _, _ in BLOCKS} == {"whole_body_qp", "hierarchical", "virtual_model"}


@pytest.mark.parametrize("task", [*MOTION_TASKS, *FORCE_TASKS])
def test_the_table_of_tasks_says_what_the_schema_says(task: str) -> None:
    text = (MOTION_TASKS | FORCE_TASKS)[task]
    assert f"| `{task}` | {text}" in PAGE


@pytest.mark.parametrize(("robot", "gains", "cells"), ROWS)
def test_gains_mean_what_the_table_says(robot: str, gains: str, cells: str) -> None:
    wanted = DEFAULT_GAINS if gains == "default" else load_config("toro_push").controller.gains
    found = physical_gains(wanted, load_robot(robot))
    numbers = [float(text) for text in re.split(r",| \| ", cells)]
    frequencies, ratios = numbers[0:3] + numbers[6:9], numbers[3:6] + numbers[9:12]
    assert found.frequency_hz == pytest.approx(frequencies, abs=ROUNDED)
    assert found.damping_ratio == pytest.approx(ratios, abs=ROUNDED)


def test_the_table_has_every_shipped_robot() -> None:
    assert {name for name, gains, _ in ROWS if gains == "default"} == {
        "toro", "talos", "icub", "g1"
    }  # fmt: skip
