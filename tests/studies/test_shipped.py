"""The studies that ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from balance.config import LAWS
from balance.config.studies import EnvelopeConfig, SweepConfig, find_study, load_study
from balance.config.tuning import TuneConfig
from balance.paths import data_folder
from balance.schema import load_yaml_mapping
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
    assert sorted(searches) == sorted((law, 22.5 * i) for law in LAWS for i in range(16))
