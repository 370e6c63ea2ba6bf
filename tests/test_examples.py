"""The examples run, are short, and stand in docs/extending.md as they are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import balance

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
SHOWN = (
    "my_laws.py", "joint_pd.yaml", "my_pushes.py", "my_quantities.py", "my_engines.py",
    "my_protocols.py",
)  # fmt: skip
MOST_LINES = 45


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_shows_each_example_as_it_is(name: str) -> None:
    text = (EXAMPLES / name).read_text()
    page = (ROOT / "docs" / "extending.md").read_text()
    blocks = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    assert text in blocks
    assert len(text.splitlines()) < MOST_LINES


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("first_push.py", r"toro, law momentum: recovered\n.*ankles.*\nthe CoM moved by \d+ mm"),
        ("improve.py", r"before: [\d.]+\nafter: [\d.]+"),
        ("envelope.py", r"it recovers from [\d.]+ N s, and not from [\d.]+ N s"),
    ],
)
def test_a_script_runs(script: str, told: str) -> None:
    command = [sys.executable, str(EXAMPLES / script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert re.search(told, done.stdout)


def test_the_quantity_stands_in_the_summary() -> None:
    names = {"quantities": [f"{EXAMPLES / 'my_quantities.py'}:sway"], "duration_s": 0.8}
    recording = balance.run("toro_push", overrides=names)
    expected = recording.com_error[:, 1].max() - recording.com_error[:, 1].min()
    assert recording.summary()["sway"] == pytest.approx(expected, rel=1e-12)


def test_the_joint_springs_recover_from_their_push() -> None:
    recording = balance.run(EXAMPLES / "joint_pd.yaml")
    summary = recording.summary()
    assert summary["outcome"] == "recovered"
    assert summary["law"] == "my_laws.py:JointPD"
