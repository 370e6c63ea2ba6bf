"""What a trial is worth: from the rows of its runs to one number for each objective.

Objectives become costs, to be minimised.  A trial that ends early costs more than any that stands
through all its pushes, and the more the earlier it ended, so that a sampler can still learn from it
which way is less bad.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from balance.config.quantity import Column, Quantity
from balance.config.tuning import AggregateConfig, BoundConfig, ObjectiveConfig
from balance.errors import ConfigError, known_names
from balance.recordings.summary import column
from balance.studies.store import Row

SEARCHED, LINEAR = "recovered_impulse", "robustness_margin"
SETTLING = "settling_time_s"  # the time to 10 % of the peak; see settling()
UNKNOWN_LARGE = 1e6  # more than a run costs that stays on its feet, where the table does not say
_OWN_COLUMNS = {
    SEARCHED: Column(Quantity(SEARCHED, "largest recovered push", "/ ankle limit"), SEARCHED),
    LINEAR: Column(Quantity(LINEAR, "robustness margin", digits=3), LINEAR),
}
"""What a study finds out about a trial; no quantities of a run."""


def metric_column(metric: str) -> Column:
    """How to show a metric."""
    return _OWN_COLUMNS.get(metric) or column(f"{metric}_10" if metric == SETTLING else metric)


@dataclass(frozen=True)
class Score:
    """A finished trial: what it reached, what that costs, and why it ended early if it did.

    ``metrics`` holds aggregated numbers by name; ``violation`` is the sum by which bounds are
    exceeded, each relative to its size; ``runs`` are the first objective's metrics, run by run.
    """

    costs: tuple[float, ...]
    metrics: Mapping[str, float] = field(default_factory=dict)
    violation: float = 0.0
    ended: str = ""
    runs: tuple[float, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether all pushes were faced and all bounds kept."""
        return not self.ended and self.violation <= 0.0


def settling(row: Row, duration_s: float) -> float:
    """Settling time to 10 % of the peak, s; one that has not settled costs up to twice the run."""
    found = row["settling_time_s_10"]
    if found is not None:
        return float(found)
    left = row["final_com_error_m"] / max(row["peak_com_error_m"], 1e-9)
    return duration_s * (1.0 + min(1.0, float(left)))


def metric_of(name: str, row: Row, duration_s: float, source: str) -> float:
    """A metric of one run."""
    if name == SETTLING:
        return settling(row, duration_s)
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        numbers = [k for k, v in row.items() if isinstance(v, float)]
        raise ConfigError(
            f"{source}: the metric '{name}' is no number in the table{known_names(name, numbers)}"
        )
    return float(value)


def progress(row: Row, duration_s: float) -> float | None:
    """How much of a run was survived, from 0 to 1; None if it was recovered."""
    outcome = row["outcome"]
    if outcome == "recovered":
        return None
    if outcome == "upright":
        return 1.0
    survived = row.get("time_of_fall_s")
    return 0.0 if survived is None else min(1.0, max(0.0, float(survived) / duration_s))


def large(objective: AggregateConfig, duration_s: float) -> float:
    """More than any trial costs that stands through all its pushes."""
    metric = objective.metric
    if metric == SETTLING:
        return 2.0 * duration_s
    if metric in (SEARCHED, LINEAR):
        return 0.0
    largest = metric_column(metric).quantity.large
    return UNKNOWN_LARGE if largest is None else largest


def scale(objective: AggregateConfig, duration_s: float) -> float:
    """A typical size of the metric, for grading penalties."""
    return large(objective, duration_s) or 1.0


def aggregate(
    over: str, maximised: bool, values: Sequence[float], weights: Sequence[float]
) -> float:
    """One number for several pushes: their weighted mean, or the worst of them."""
    if over == "worst":
        return min(values) if maximised else max(values)
    return math.fsum(w * x for w, x in zip(weights, values, strict=True)) / math.fsum(weights)


@dataclass(frozen=True)
class Hope:
    """When to give a trial up: a cost, and the least that any trial has had in each run."""

    cost: float = math.inf
    least: tuple[float, ...] = ()


def fallen(
    objectives: Sequence[ObjectiveConfig], share: float, duration_s: float, why: str
) -> Score:
    """The score of a trial that ended after ``share`` (0 to 1) of its pushes."""
    costs = tuple(
        large(one, duration_s) + scale(one, duration_s) * (1.0 - share) for one in objectives
    )
    return Score(costs, ended=why)


def scored(
    objectives: Sequence[ObjectiveConfig],
    bounds: Sequence[BoundConfig],
    metrics: Mapping[str, float],
    runs: Sequence[float],
    start: Mapping[str, float] | None,
    duration_s: float,
) -> Score:
    """The score of a trial with these aggregated ``metrics``; ``start`` are those of the start."""
    violation = math.fsum(_violation(bound, metrics, start) for bound in bounds)
    costs = []
    for one in objectives:
        value = metrics[label(one)]
        penalty = scale(one, duration_s) * violation / (1.0 + violation)  # graded, and bounded
        costs.append((-value if one.maximised else value) + penalty)
    return Score(tuple(costs), metrics, violation, runs=tuple(runs))


def label(one: AggregateConfig) -> str:
    """Name of an aggregated metric."""
    return f"{one.over} {one.metric}"


def title(one: AggregateConfig) -> str:
    """The same for a reader, with the unit."""
    return f"{one.over}: {metric_column(one.metric).title}"


def _violation(
    bound: BoundConfig, metrics: Mapping[str, float], start: Mapping[str, float] | None
) -> float:
    limit: Any = bound.at_most if bound.at_most is not None else bound.at_least
    if limit == "start":
        if start is None:  # the start itself, or it fell: nothing to be compared with
            return 0.0
        limit = start[label(bound)]
    value = metrics[label(bound)]
    beyond = value - limit if bound.at_most is not None else limit - value
    return max(0.0, beyond / max(abs(limit), 1e-9))
