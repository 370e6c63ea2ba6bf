"""The table of quantities drives summary, terminal, comparisons, studies, tuning and docs."""

from __future__ import annotations

from pathlib import Path

import pytest
from stepped_runs import stepped

from balance.app.terminal import result_rows
from balance.config import QUANTITIES, load_config
from balance.config.quantity import Quantity, Shown
from balance.config.tuning import ObjectiveConfig, natural_goal
from balance.experiment import run
from balance.plots.compare import compare_figure
from balance.recordings import summary
from balance.recordings.quantities import QUANTITIES as TABLE
from balance.recordings.recording import Recording
from balance.recordings.summary import flatten, number_columns, quantities_table
from balance.studies.compare_table import LawResult, compare_csv, table

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def recording() -> Recording:
    return run(load_config("toro_push", {"duration_s": 0.4, "pushes.0.time_s": 0.05}))


def test_the_registry_knows_every_entry_without_importing_it() -> None:
    assert sorted(QUANTITIES.ours) == sorted(entry.key for entry in TABLE)
    for entry in TABLE:
        assert QUANTITIES.find(entry.key, "quantities").target is entry
        assert QUANTITIES.describe(entry.key) == entry.text != ""


def test_the_summary_is_the_table_in_its_order(recording: Recording) -> None:
    known = [entry.key for entry in TABLE if not entry.needs]
    assert list(recording.summary()) == known


def test_only_what_may_lack_a_value_does(recording: Recording) -> None:
    found = recording.summary()
    for entry in TABLE:
        if entry.key in found and entry.none is None:
            assert found[entry.key] is not None, entry.key


def test_the_numbers_that_a_study_expects_are_those_that_a_run_gives(recording: Recording) -> None:
    row = flatten(recording.summary())
    expected = number_columns(recording.config)
    assert set(expected) <= set(row)
    for name, value in row.items():
        is_number = isinstance(value, int | float)
        assert is_number <= (name in expected), name
        assert (name in expected) <= (is_number or value is None), name


def test_a_new_quantity_is_one_entry(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest height of the base, in centimetres, shown everywhere."""
    entry = Quantity(
        "height_m", "base, largest height", "cm", 1, scale=100.0, better="higher", group="CoM",
        shown=~Shown.NOWHERE, compute=lambda recording: float(recording.q[:, 2].max()),
    )  # fmt: skip
    monkeypatch.setattr(summary, "QUANTITIES", (*TABLE, entry))
    height = float(recording.q[:, 2].max())
    found = recording.summary()
    assert found["height_m"] == height
    assert "height_m" in number_columns(recording.config)
    title, text = "base, largest height [cm]", f"{100 * height:.1f}"
    assert (title, text) in [row[1:] for row in result_rows(found)]
    result = LawResult("momentum", "momentum", flatten(found), recording, ())
    assert [title, text] in table([result])[1]
    assert "height_m" in compare_csv([result]).splitlines()[0]
    assert title in [axes.get_title("left") for axes in compare_figure([result], "").axes]
    assert title in [column.title for column in summary.columns_shown(Shown.TUNING)]
    assert f"| `height_m` |  | {title} | higher |  |" in quantities_table()


def test_a_run_that_steps_says_so_in_the_terminal_and_another_does_not(
    recording: Recording,
) -> None:
    told = {label: value for _, label, value in result_rows(stepped().summary())}
    assert told["steps"] == "1"
    assert told["strategy"] == "1 step"
    assert not {"steps", "strategy"} & {row[1] for row in result_rows(recording.summary())}


def test_what_is_better_less_is_minimised_and_what_is_better_more_is_maximised() -> None:
    for entry in TABLE:
        assert (
            natural_goal(entry.key)
            == {"lower": "minimise", "higher": "maximise", None: None}[entry.better]
        )
    assert natural_goal("settling_time_s_10") == "minimise"
    assert not ObjectiveConfig(metric="max_cop_use").maximised
    assert ObjectiveConfig(metric="recovered_impulse").maximised


def test_no_other_module_has_a_label_of_its_own() -> None:
    labels = {
        entry.label for entry in TABLE if "," in entry.label and any(c.shown for c in entry.columns)
    }
    assert len(labels) > 8
    for path in (ROOT / "balance").rglob("*.py"):
        if path.parent.name != "quantities":
            text = path.read_text(encoding="utf-8")
            assert not [label for label in labels if f'"{label}' in text], path


def test_the_docs_have_the_table_of_quantities() -> None:
    page = (ROOT / "docs" / "recordings.md").read_text(encoding="utf-8")
    assert quantities_table() in page
