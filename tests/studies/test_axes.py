"""Axes and the cells that they span."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import truncnorm

from balance.config import LAWS
from balance.config.schema import validate
from balance.config.studies import SweepConfig
from balance.errors import ConfigError
from balance.studies.axes import Design, make_design


def design(*axes: dict[str, Any]) -> Design:
    config = validate(SweepConfig, {"experiment": {}, "axes": list(axes)}, "study.yaml")
    return make_design(config.axes, "study.yaml")


def values(found: Design, name: str) -> list[Any]:
    return [found.cell(i).inputs[name] for i in range(len(found))]


def listed(key: str, *items: Any) -> dict[str, Any]:
    return {"type": "list", "key": key, "values": list(items)}


def sampled(method: str, count: int, over: dict[str, Any], seed: int = 7) -> dict[str, Any]:
    return {"type": "sample", "method": method, "count": count, "seed": seed, "over": over}


def test_axes_are_combined_like_nested_loops() -> None:
    found = design(listed("a", 1, 2), listed("b", "x", "y", "z"))
    cells = [tuple(found.cell(i).inputs.values()) for i in range(len(found))]
    assert cells == [(a, b) for a in (1, 2) for b in "xyz"]
    assert found.cell(4).overrides == {"a": 2, "b": "y"}


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (
            {"start": 0.1, "stop": 1.0, "step": 0.1},
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
        ),
        ({"start": 0, "stop": 9, "step": 3}, [0, 3, 6, 9]),
        ({"start": 2, "stop": -2, "step": -2}, [2, 0, -2]),
        ({"start": 0.0, "stop": 1.0, "step": 0.4}, [0.0, 0.4, 0.8]),
        ({"start": 1, "stop": 3, "count": 3}, [1.0, 2.0, 3.0]),
        ({"start": 5, "stop": 5, "count": 1}, [5.0]),
    ],
)
def test_ranges_include_both_ends(axis: dict[str, Any], expected: list[float]) -> None:
    assert values(design({"type": "range", "key": "a", **axis}), "a") == expected


def test_whole_numbers_stay_whole() -> None:
    found = values(
        design({"type": "range", "key": "seed", "start": 0, "stop": 4, "step": 2}), "seed"
    )
    assert all(isinstance(x, int) for x in found)


def test_logarithmic_ranges_have_equal_ratios() -> None:
    axis = {"type": "range", "key": "a", "start": 0.02, "stop": 1.0, "count": 5, "scale": "log"}
    found = np.array(values(design(axis), "a"))
    np.testing.assert_allclose(found[1:] / found[:-1], 50.0**0.25, rtol=1e-12)


def test_zip_advances_together_and_takes_grids() -> None:
    grid = {"type": "grid", "axes": [listed("b", 1, 2), listed("c", 3, 4)]}
    found = design({"type": "zip", "axes": [listed("a", *"wxyz"), grid]})
    cells = [tuple(found.cell(i).inputs.values()) for i in range(len(found))]
    assert cells == [("w", 1, 3), ("x", 1, 4), ("y", 2, 3), ("z", 2, 4)]


def test_cases_set_many_keys_under_one_name() -> None:
    cases = {"light": {"a.b": 1, "c": 2}, "heavy": {"a.b": 9}}
    found = design({"type": "cases", "name": "build", "cases": cases})
    assert values(found, "build") == ["light", "heavy"]
    assert found.cell(0).overrides == {"a.b": 1, "c": 2}


def test_laws_are_those_of_this_version() -> None:
    assert values(design({"type": "laws"}), "controller.law") == LAWS.ready()


@pytest.mark.parametrize("method", ["random", "latin_hypercube", "sobol"])
def test_samples_are_inside_and_repeatable(method: str) -> None:
    over = {
        "a": {"type": "uniform", "low": -1.0, "high": 3.0},
        "b": {"type": "uniform", "low": 0.01, "high": 1.0, "log": True},
        "c": {"type": "normal", "mean": 5.0, "std": 0.5},
        "d": {"type": "choice", "values": ["left", "right"]},
    }
    found = design(sampled(method, 64, over))
    again, other = design(sampled(method, 64, over)), design(sampled(method, 64, over, seed=8))
    assert [found.cell(i) for i in range(64)] == [again.cell(i) for i in range(64)]
    assert values(found, "a") != values(other, "a")
    a, b, c = (np.array(values(found, name)) for name in "abc")
    assert a.min() >= -1.0 and a.max() <= 3.0
    assert b.min() >= 0.01 and b.max() <= 1.0
    assert np.abs(c - 5.0).max() <= 3 * 0.5
    assert set(values(found, "d")) == {"left", "right"}


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol"])
def test_balanced_samples_have_one_point_in_each_stratum(method: str) -> None:
    over = {
        "a": {"type": "uniform", "low": 0.0, "high": 1.0},
        "b": {"type": "normal", "mean": 0.0, "std": 1.0},
    }
    found = design(sampled(method, 32, over))
    for share in (
        np.array(values(found, "a")),
        truncnorm.cdf(np.array(values(found, "b")), -3.0, 3.0),
    ):
        assert sorted(np.floor(32 * share).astype(int)) == list(range(32))


@pytest.mark.parametrize(
    ("axis", "sentence"),
    [
        (
            {"type": "range", "key": "a", "start": 1, "stop": 0, "step": 0.1},
            "study.yaml: 'axes.0': the range of 'a' from 1 to 0 by steps of 0.1 is empty",
        ),
        ({"type": "range", "key": "a", "start": 0, "stop": 1}, "needs either step or count"),
        ({"type": "range", "key": "a", "start": 0, "stop": 1, "step": 0}, "is empty"),
        ({"type": "range", "key": "a", "start": 0, "stop": 1, "count": 1}, "count of at least 2"),
        (
            {"type": "range", "key": "a", "start": 0, "stop": 1, "count": 3, "scale": "log"},
            "bounds above zero",
        ),
        (listed("a"), "'axes.0.values' = []"),
        ({"type": "lst", "key": "a"}, "valid: 'list', 'range'"),
        ({"type": "list", "key": "a", "value": [1]}, "did you mean 'values'"),
        (
            sampled("sobol", 100, {"a": {"type": "uniform", "low": 0, "high": 1}}),
            "100 is not, 128 is",
        ),
        (
            sampled("random", 4, {"a": {"type": "uniform", "low": 1, "high": 0}}),
            "low = 1.0 must be below high = 0.0",
        ),
        (
            {"type": "zip", "axes": [listed("a", 1), listed("b", 1, 2)]},
            "the axes of a zip have [1, 2] values; they must be equal",
        ),
        (
            {"type": "range", "key": "a", "start": 0, "stop": 1, "count": 20_000_000},
            "less than or equal to 10000000",
        ),
    ],
)
def test_bad_axes_are_one_clear_sentence(axis: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        design(axis)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("study.yaml")


def test_a_key_varied_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="'a' is varied by more than one axis"):
        design(listed("a", 1), listed("a", 2))


def test_too_many_cells_are_refused() -> None:
    long = {"type": "range", "start": 1, "stop": 9, "count": 10_000}
    with pytest.raises(ConfigError, match="100000000 cells are more than"):
        design({**long, "key": "a"}, {**long, "key": "b"})
