"""``balance explain``: what it warns of, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import balance
from balance.analysis.linear.explain import Explanation, explain
from balance.app.cli import app


@pytest.fixture(scope="module")
def paper() -> Explanation:
    """The paper's experiment."""
    return explain(balance.load_config("toro_push"))


def explained(**overrides: Any) -> Explanation:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return explain(balance.load_config("toro_push", dotted))


def test_the_papers_lateral_axis_is_lightly_damped(paper: Explanation) -> None:
    """Damping ratio 0.1 from the gains alone: K_D / (2 sqrt(K_P / m))."""
    lateral = paper.axes[1]
    assert lateral.designed_ratio == pytest.approx(0.0984, abs=1e-3)
    assert lateral.designed_hz == pytest.approx(0.8085, abs=1e-3)
    assert lateral.mode.damping_ratio == pytest.approx(lateral.designed_ratio, rel=0.1)


def test_the_papers_push_is_predicted_to_the_figures_of_the_simulation(paper: Explanation) -> None:
    """Simulated: 0.0446 m and 5.53 s (README); this push is within the cones all the time."""
    assert paper.com_peak_m == pytest.approx(0.0446, rel=0.02)
    assert paper.com_settling_s == pytest.approx(5.53, rel=0.02)
    assert paper.saturation is None
    assert paper.warnings == ()


def test_a_push_beyond_the_cones_is_announced() -> None:
    push = {"type": "half_sine", "body": "hip", "direction": [1, 0, 0], "time_s": 0.1}
    found = explained(pushes=[{**push, "impulse_Ns": 40.0, "duration_s": 0.02}])
    assert found.saturation is not None
    assert 0.1 < found.saturation.first_s < 1.0
    assert any("CoP" in name for name in found.saturation.limits)
    assert any("cannot give the wrench" in text for text in found.warnings)


def test_gains_near_and_beyond_their_critical_values_are_announced() -> None:
    near = explained(controller__gains__K_D=[7, 1000, 3])
    assert near.stable
    assert any("K_D.y = 1000 is close to" in text for text in near.warnings)
    beyond = explained(controller__gains__K_D=[7, 5000, 3])
    assert not beyond.stable
    assert "the discrete loop at 1000 Hz is unstable" in beyond.warnings[0]


def test_a_slower_loop_has_lower_critical_gains(paper: Explanation) -> None:
    slow = explained(control_period_s=0.005)
    for ours, theirs in zip(slow.critical, paper.critical, strict=True):
        if ours.name == "K_D":
            assert ours.high is not None
            assert theirs.high is not None
            assert ours.high < 0.5 * theirs.high


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["explain", "toro_push", "--out", str(tmp_path / "e")])
    assert result.exit_code == 0, result.output
    for text in ("CoM y", "rotation z", "K_P.x", "Delay of all torques"):
        assert text in result.output
    assert (tmp_path / "e" / "root_map.png").stat().st_size > 10_000
    written = json.loads((tmp_path / "e" / "explanation.json").read_text())
    assert len(written["roots"]) == len(written["continuous_roots"]) == 42
    assert written["axes"][1]["mode"]["frequency_hz"] == pytest.approx(0.70, abs=0.01)
