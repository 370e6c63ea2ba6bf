"""Small studies for tests: a third of a second of the TORO-like robot, gently pushed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

PUSH = {
    "type": "half_sine",
    "direction": [0, 1, 0],
    "time_s": 0.02,
    "impulse_Ns": 2.0,
    "duration_s": 0.02,
}


@pytest.fixture
def short() -> dict[str, Any]:
    """Keys that make the paper's experiment short."""
    return {"duration_s": 0.3, "pushes": [PUSH]}


@pytest.fixture
def sweep_file(tmp_path: Path, short: dict[str, Any]) -> Path:
    """A sweep of twelve short cells."""
    study = {
        "experiment": "toro_side",
        "set": short,
        "axes": [
            {"type": "range", "key": "plant.friction", "start": 0.2, "stop": 0.8, "step": 0.2},
            {"type": "list", "key": "pushes.0.impulse_Ns", "values": [1, 2, 4]},
        ],
    }
    path = tmp_path / "friction.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path
