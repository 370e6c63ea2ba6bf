"""The studies that ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from balance.config import LAWS
from balance.config.compare import load_comparison
from balance.config.paths import data_folder
from balance.config.schema import load_yaml_mapping
from balance.config.studies import EnvelopeConfig, SweepConfig, find_study, load_study
from balance.config.tuning import TuneConfig
from balance.studies.compare import Compare
from balance.studies.envelope import Envelope
from balance.studies.sweep import Sweep
from balance.studies.tuning.study import Tuning

FILES = sorted((data_folder("configs") / "studies").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_shipped_studies_are_valid_and_say_what_they_show(path: Path) -> None:
    assert path.read_text().startswith("# ")
    tree = load_yaml_mapping(path)
    if "parameters" in tree:
        Tuning(load_study(TuneConfig, path), path.stem, str(path))
    elif path.stem.startswith("compare"):
        Compare(load_comparison(path), path.stem, str(path))
    elif "directions" in tree:
        Envelope(load_study(EnvelopeConfig, path), path.stem, str(path))
    else:
        Sweep(load_study(SweepConfig, path), path.stem, str(path))


def test_every_law_has_sixteen_directions() -> None:
    path = find_study("envelope_laws")
    study = Envelope(load_study(EnvelopeConfig, path), path.stem, str(path))
    searches = [
        (one.variant.inputs["controller.law"], one.heading.azimuth_deg) for one in study.searches
    ]
    assert sorted(searches) == sorted((law, 22.5 * i) for law in LAWS.ready() for i in range(16))


def sweep_inputs(name: str) -> list[dict[str, object]]:
    path = find_study(name)
    design = Sweep(load_study(SweepConfig, path), name, str(path)).design
    return [dict(design.cell(i).inputs) for i in range(len(design))]


def test_pushes_last_from_20_ms_to_1_s_at_the_hip_the_chest_and_the_head() -> None:
    cells = sweep_inputs("push_duration")
    for body in ("hip", "chest", "head"):
        durations = [c["pushes.0.duration_s"] for c in cells if c["pushed at"] == body]
        assert (min(durations), max(durations)) == pytest.approx((0.02, 1.0))


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("friction", {"plant.friction"}),
        ("joint_friction", {"plant.joint_damping"}),
        ("gains", {"controller.gains.K_P.1", "controller.gains.D.0"}),
        ("mass_delay", {"mismatch.mass_scale", "sensors.delay_s"}),
    ],
)
def test_sweeps_vary_what_their_names_say(name: str, keys: set[str]) -> None:
    cells = sweep_inputs(name)
    for key in keys:
        assert len({cell[key] for cell in cells}) >= 5
    if name == "friction":
        frictions = [cell["plant.friction"] for cell in cells]
        assert (min(frictions), max(frictions)) == (0.1, 1.0)


def test_robots_are_compared_side_by_side() -> None:
    path = find_study("robots")
    study = Envelope(load_study(EnvelopeConfig, path), path.stem, str(path))
    assert {one.variant.inputs["robot"] for one in study.searches} >= {
        "toro",
        "talos",
        "icub",
        "g1",
    }
