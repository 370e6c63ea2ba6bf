"""The page about the laws says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from balance.config import LAWS, load_config
from balance.config.laws import DEFAULT_GAINS
from balance.control.parts.gains import physical_gains
from balance.robots import load_robot

PAGE = (Path(__file__).parents[2] / "docs" / "laws.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+), (Table 1|default) \| (.*) \|$", PAGE, flags=re.MULTILINE)
ROUNDED = 5.1e-4  # three digits


@pytest.mark.parametrize("law", LAWS.names())
def test_every_law_has_its_paragraph(law: str) -> None:
    assert f"\n**`{law}`**" in PAGE


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
