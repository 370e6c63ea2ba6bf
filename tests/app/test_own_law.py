"""A law that somebody wrote outside of the package goes through every command."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from live_samples import Scratch

import balance
from balance.app.cli import app
from balance.app.live.key_sliders import number_keys
from balance.app.live.panel_settings import PanelSettings
from balance.app.live.session import Session, repeatable
from balance.errors import BalanceError, ConfigError, InputError

LAW = """
from pathlib import Path
from pydantic import BaseModel, Field

with open(Path(__file__).with_name("loads"), "a") as file:
    file.write("x")

class JointPD:
    class Config(BaseModel):
        kp: float = Field(40.0, gt=0, le=400)
        kd: float = Field(0.5, ge=0)
    def __init__(self, config, robot):
        self.law = config.controller
        self.posture, self.limits = robot.q_nominal[7:], robot.effort_limits
    def step(self, q, v, t):
        return self.limits * (self.law.kp * (self.posture - q[7:]) - self.law.kd * v[6:])
"""
SHORT: dict[str, Any] = {
    "robot": "toro",
    "duration_s": 0.4,
    "plant": {"joint_damping": 1.0},
    "controller": {"law": "my_laws.py:JointPD", "kp": 30},
    "pushes": [
        {"type": "impulse", "direction": [1, 0, 0], "time_s": 0.05, "impulse_Ns": 2.0,
         "duration_s": 0.05},
    ],
}  # fmt: skip
NAME = "my_laws.py:JointPD"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("somewhere")
    (folder / "my_laws.py").write_text(LAW)
    (folder / "mine.yaml").write_text(yaml.safe_dump(SHORT))
    return folder


def command(*words: object) -> None:
    """What the shell would run; errors come out as they are."""
    assert not app([str(word) for word in words], standalone_mode=False)


def study(folder: Path, name: str, **keys: Any) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({"experiment": "mine.yaml", **keys}))
    return path


@pytest.fixture(scope="module")
def result(folder: Path) -> Path:
    """The law's own run, as the command leaves it."""
    out = folder / "run"
    command("run", folder / "mine.yaml", "--out", out, "--no-figures", "--set", "controller.kp=50")
    return out


def test_run_says_what_it_loads_and_the_result_names_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "said"
    command("run", folder / "mine.yaml", "--out", out, "--no-figures")
    sha256 = hashlib.sha256((folder / "my_laws.py").read_bytes()).hexdigest()
    line = f"Loaded JointPD from {folder}/my_laws.py (sha256 {sha256[:12]})"
    assert line in capsys.readouterr().out
    assert json.loads((out / "summary.json").read_text())["law"] == NAME
    config = yaml.safe_load((out / "config.yaml").read_text())
    assert config["code"] == {f"{folder}/{NAME}": sha256}
    assert config["controller"]["kp"] == 30.0


def test_a_set_key_reaches_the_law(result: Path) -> None:
    assert yaml.safe_load((result / "config.yaml").read_text())["controller"]["kp"] == 50


def test_plot_and_replay_never_load_it(folder: Path, result: Path) -> None:
    before = (folder / "loads").read_text()
    command("plot", result)
    pytest.importorskip("viser")
    command("replay", result, "--html", folder / "page.html", "--overwrite")
    recording = balance.load_recording(result)
    assert recording.config.unread
    assert np.isnan(recording.wrenches).all()
    assert (folder / "loads").read_text() == before
    assert {"torques.png", "contacts.png", "com_momentum.png"} <= {p.name for p in result.iterdir()}
    assert NAME in (folder / "page.html").read_text()


def test_a_result_runs_again_only_with_trust_and_then_to_the_same_states(
    folder: Path, result: Path
) -> None:
    again = folder / "again"
    with pytest.raises(ConfigError, match=r"give --trust"):
        command("run", result / "config.yaml", "--out", again)
    with pytest.raises(ConfigError, match=r"give --trust"):
        command("check", result / "config.yaml")
    command("run", result / "config.yaml", "--out", again, "--no-figures", "--trust")
    first, second = balance.load_recording(result), balance.load_recording(again)
    np.testing.assert_array_equal(first.q, second.q)
    named = folder / "of_a_result.yaml"
    axis = {"type": "list", "key": "seed", "values": [0]}
    named.write_text(yaml.safe_dump({"experiment": "run/config.yaml", "axes": [axis]}))
    with pytest.raises(ConfigError, match=r"give --trust"):
        command("check", named)
    command("check", named, "--trust")


def test_check_and_schema_know_its_keys(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("check", folder / "mine.yaml")
    assert f"law {NAME}" in capsys.readouterr().out
    with pytest.raises(ConfigError, match=r"'controller\.kp' = 500"):
        command("check", folder / "mine.yaml", "--set", "controller.kp=500")
    command("schema", "--law", f"{folder}/{NAME}")
    tree = json.loads(capsys.readouterr().out)
    (law,) = (one for one in tree["$defs"].values() if "kp" in one.get("properties", {}))
    assert law["properties"]["kp"]["exclusiveMinimum"] == 0


def test_explain_says_that_it_needs_gains(folder: Path) -> None:
    with pytest.raises(ConfigError, match="'gains'"):
        command("explain", folder / "mine.yaml", "--out", folder / "explained")


def test_compare_takes_it_with_labels_of_its_own(folder: Path) -> None:
    laws = [NAME, {"law": NAME, "name": "stiff", "set": {"kp": 90}}, "momentum"]
    path, out = study(folder, "compared", laws=laws, limits=None), folder / "compared"
    command("compare", path, "--out", out, "--workers", 1)
    _, *lines = (out / "compare.csv").read_text().splitlines()
    named = [line.split(",")[:3] for line in lines]
    assert named == [
        ["JointPD", NAME, "recovered"],
        ["stiff", NAME, "recovered"],
        ["momentum", "momentum", "recovered"],
    ]
    kept = {p.name for p in (out / "recordings").iterdir()}
    assert kept == {"JointPD", "stiff", "momentum"}


def test_sweep_varies_it_and_another_file_is_another_study(folder: Path) -> None:
    axis = {"type": "list", "key": "controller.law", "values": [NAME, "momentum"]}
    bare = {"controller": {"law": "momentum"}}
    path, out = study(folder, "swept", axes=[axis], set=bare), folder / "swept"
    command("sweep", path, "--out", out, "--workers", 1)
    import pyarrow.parquet as pq

    table = pq.read_table(out / "runs.parquet").to_pydict()
    assert table["input.controller.law"] == table["law"] == [NAME, "momentum"]
    assert table["outcome"].count("error") == 0
    file = folder / "my_laws.py"
    try:
        file.write_text(LAW + "\n# changed\n")
        with pytest.raises(BalanceError, match=r"holds another study \(code differs\)"):
            command("sweep", path, "--out", out, "--workers", 1)
    finally:
        file.write_text(LAW)


def test_envelope_searches_its_limit(folder: Path) -> None:
    keys = {"directions": {"count": 1}, "criteria": ["upright"], "tolerance": 0.5, "start": 0.5,
            "largest": 0.5}  # fmt: skip
    out = folder / "limits"
    command("envelope", study(folder, "limits", **keys), "--out", out, "--workers", 1)
    assert len((out / "limits.csv").read_text().splitlines()) == 2


def test_tune_improves_its_own_keys(folder: Path) -> None:
    keys = {
        "trials": 2,
        "parameters": [{"key": "controller.kp", "low": 60, "high": 200, "log": True}],
        "pushes": [{"name": "front"}],
        "objectives": [{"metric": "peak_com_error_m"}],
        "start": False,
    }
    out = folder / "tuned"
    command("tune", study(folder, "tuned", **keys), "--out", out, "--workers", 1)
    best = yaml.safe_load((out / "best.yaml").read_text())
    assert 60 <= best["controller"]["kp"] <= 200
    assert list(best["code"]) == [f"{folder}/{NAME}"]


def test_a_live_session_turns_its_knobs_and_repeats_exactly(folder: Path) -> None:
    session = Session(balance.load_config(folder / "mine.yaml"))
    live = Scratch(session).advance(50)
    session.change_keys({"kp": 60.0})
    with pytest.raises(ConfigError, match="'kp' = 900"):
        session.change_keys({"kp": 900.0})
    live.advance(250)
    (change,) = session.config.controller.gain_changes
    assert change.set == {"kp": 60.0}
    tree = repeatable(session.config, live.log.rows).model_dump(mode="json", exclude_none=True)
    again = balance.run(balance.load_config(tree, trust=True))
    rows = live.log.rows
    np.testing.assert_array_equal(again.torques[:rows], live.log.torques[:rows])


def test_the_live_page_offers_it_by_its_short_name_and_nothing_that_is_typed(
    folder: Path, result: Path
) -> None:
    config = balance.load_config(folder / "mine.yaml")
    settings = PanelSettings(config)
    assert settings.choices["law"][-1] == settings.chosen("law") == NAME
    settings.choose("law", "momentum")
    assert settings.config().controller.law == "momentum"
    settings.choose("law", NAME)
    assert settings.config().controller == config.controller
    for typed in (f"{folder}/{NAME}", "os:system", "other.py:Law"):
        with pytest.raises(InputError, match="cannot be chosen"):
            settings.choose("law", typed)
    bounds = {key: (item.low, item.high) for key, item in number_keys(config.controller).items()}
    assert bounds == {"kp": (pytest.approx(0.4), 400.0), "kd": (0.0, pytest.approx(5.0))}
    before = (folder / "loads").read_text()
    replayed = PanelSettings(balance.load_recording(result).config)
    with pytest.raises(ConfigError, match="trust"):
        replayed.config()
    assert (folder / "loads").read_text() == before


def test_the_lab_runs_it_with_a_slider_for_each_of_its_numbers(folder: Path) -> None:
    pytest.importorskip("viser")
    from balance.app.live.key_sliders import KeySliders
    from balance.app.live.lab import Lab
    from balance.app.live.server import open_server

    server = open_server("127.0.0.1", 0)
    lab = Lab(server, balance.load_config(folder / "mine.yaml"), folder)

    def ticks_until(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 60.0
        while not condition():
            assert time.monotonic() < end, lab.alarm or "it did not happen"
            lab.tick()
            time.sleep(0.01)

    try:
        ticks_until(lambda: lab.running is not None and lab.running.shared.rows > 5)
        running = lab.running
        assert running is not None and lab.actions.gains is None
        KeySliders(lab, server.gui)
        lab.actions.set_key("kp", 70.0)
        ticks_until(lambda: bool(running.config.controller.gain_changes))
        assert running.config.controller.gain_changes[0].set == {"kp": 70.0}
        assert lab.settings.config().controller.kp == 70.0  # type: ignore[attr-defined]
    finally:
        lab.close()
        server.stop()
