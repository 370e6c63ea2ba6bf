"""Cells of a sweep beside published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from balance.config import load_config
from balance.config.studies import SweepConfig, load_study
from balance.errors import ConfigError
from balance.studies.store import StudyFolder
from balance.studies.sweep import Sweep
from balance.studies.workers import Result

FIGURES = {"peak_com_error_m": 0.045, "settling_time_s": 5.0}
CASES = {
    "type": "cases",
    "name": "variation",
    "cases": {"plain": {}, "icy": {"plant.friction": 0.1}},
}


def sweep_of(path: Path, **keys: Any) -> Sweep:
    keys = {"axes": [CASES], "reference": {"name": "Somebody2015", "values": FIGURES}} | keys
    return Sweep(load_study(SweepConfig, path, keys), path.stem, str(path))


def finished(sweep: Sweep, folder: Path, *figures: dict[str, Any]) -> str:
    """The summary of a study whose cells gave these figures."""
    with StudyFolder(folder, sweep.kind, sweep.definition) as store:
        sweep.resume(store)
        for columns in figures:
            task = sweep.next_task()
            assert task is not None
            row = sweep.row(task, Result({"outcome": "recovered", **columns}))
            store.append(row)
            sweep.take(row)
        sweep.finish(store)
    return (folder / "summary.md").read_text()


def test_each_cell_has_a_line_with_its_figures_and_how_far_they_are_off(
    sweep_file: Path, tmp_path: Path
) -> None:
    sweep = sweep_of(sweep_file)
    text = finished(
        sweep,
        tmp_path / "out",
        {"peak_com_error_m": 0.054, "settling_time_s_10": 5.0},
        {"peak_com_error_m": 0.045, "settling_time_s_10": None},
    )
    # 20 % and 0 %, of which the root mean square is 14.1 %.
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert ["Somebody2015", "45.0", "5.00", ""] in lines
    assert ["plain", "54.0", "5.00", "14.1"] in lines
    assert ["icy", "45.0", "not settled", ""] in lines
    assert sweep.published is not None
    np.testing.assert_allclose(sweep.published.off, [[0.2, 0.0], [0.0, np.nan]], atol=1e-12)
    assert (tmp_path / "out" / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_cells_of_several_axes_are_named_by_all_of_them(sweep_file: Path) -> None:
    frictions = {"type": "list", "key": "plant.friction", "values": [0.3, 0.5]}
    sweep = sweep_of(sweep_file, axes=[frictions])
    assert sweep.published is not None
    assert sweep.published.labels == ("plant.friction = 0.3", "plant.friction = 0.5")


def test_other_published_figures_are_the_same_study(sweep_file: Path) -> None:
    assert sweep_of(sweep_file).definition == sweep_of(sweep_file, reference=None).definition


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            {"reference": {"name": "X", "values": {"peak_com_eror_m": 1.0}}},
            "'reference.values.peak_com_eror_m' is no number of a summary (did you mean",
        ),
        ({"reference": {"name": "X", "values": {"cause": 1.0}}}, "is no number of a summary"),
        (
            {"reference": {"name": "X", "values": {"peak_com_error_m": 0.0}}},
            "'reference.values.peak_com_error_m' = 0: cells are shown by how many percent",
        ),
        (
            {"axes": [{"type": "range", "key": "seed", "start": 0, "stop": 80, "step": 1}]},
            "there are more than 80 cells",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(
    sweep_file: Path, keys: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        sweep_of(sweep_file, **keys)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"{sweep_file}: ")


def test_the_shipped_sensitivity_study_quotes_the_paper_as_its_experiment_does() -> None:
    study, paper = load_study(SweepConfig, "paper_sensitivity"), load_config("toro_push")
    assert study.reference == paper.reference
    assert study.axes[0].cases["as shipped"] == {}  # type: ignore[union-attr]
