"""YAML schema of tuning: which numbers to change, which pushes to face, what to improve."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from balance.config.axes import Key
from balance.config.registry import QUANTITIES
from balance.config.schema import Strict
from balance.config.studies import DirectionsConfig, StudyConfig
from balance.config.values import Positive

Seed = Annotated[int, Field(ge=0, lt=2**31)]
Over = Literal["mean", "worst"]
Goal = Literal["minimise", "maximise"]

STUDY_GOALS: dict[str, Goal] = {"recovered_impulse": "maximise", "robustness_margin": "maximise"}
"""What a tuning study itself finds out about a trial."""
_GOALS: dict[str | None, Goal] = {"lower": "minimise", "higher": "maximise"}


def natural_goal(metric: str) -> Goal | None:
    """Which way a number of the table is better; None if nobody says."""
    if metric in STUDY_GOALS:
        return STUDY_GOALS[metric]
    for name in (metric, metric.rpartition("_")[0]):  # a quantity, or a part of one
        if name in QUANTITIES.ours:
            return _GOALS.get(QUANTITIES.find(name, "metric").target.better)
    return None


def _known_goals() -> list[str]:
    return [name for name in (*QUANTITIES.ours, *STUDY_GOALS) if natural_goal(name)]


class ParameterConfig(Strict):
    """A number that the search may change."""

    key: Key
    """Dotted key of the experiment."""
    tied: tuple[Key, ...] = ()
    """Further keys that get the same number."""
    low: float
    """Its lower bound [as the key]."""
    high: float
    """Its upper bound [as the key]."""
    log: bool = False
    """Search on a logarithmic scale."""
    factor: bool = False
    """Multiply the present values, so that tied keys keep their ratio."""

    @model_validator(mode="after")
    def _in_order(self) -> ParameterConfig:
        if not self.low < self.high:
            raise ValueError(
                f"the bounds of '{self.key}' are upside down: low = {self.low:g} must be below "
                f"high = {self.high:g}"
            )
        if self.log and self.low <= 0:
            raise ValueError(
                f"'{self.key}' has a logarithmic scale, so low = {self.low:g} must be above zero"
            )
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that get the number."""
        return (self.key, *self.tied)


class CaseConfig(Strict):
    """A push to face, once for every seed."""

    name: Annotated[str, Field(min_length=1)]
    """What to call it."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Dotted keys on top of the experiment."""
    weight: Positive = 1.0
    """How much it counts in means [-]."""
    seeds: tuple[Seed, ...] = ()
    """Seeds of its runs; the experiment's own if empty. Example: [1, 2, 3]."""


class AggregateConfig(Strict):
    """A number of every run, and how those of several pushes make one."""

    metric: Annotated[str, Field(min_length=1)]
    """A quantity, `recovered_impulse` or `robustness_margin`."""
    over: Over = "mean"
    """Whether the mean or the worst of the pushes counts."""


class ObjectiveConfig(AggregateConfig):
    """What to improve."""

    goal: Goal | None = None
    """Which way is better; needed only if the quantity does not say. Example: minimise."""

    @model_validator(mode="after")
    def _one_direction(self) -> ObjectiveConfig:
        natural = natural_goal(self.metric)
        if natural is None and self.goal is None:
            raise ValueError(
                f"'{self.metric}' needs a goal, minimise or maximise; without one only "
                f"{', '.join(_known_goals())} are understood"
            )
        if natural is not None and self.goal not in (None, natural):
            raise ValueError(
                f"the goal '{self.goal}' contradicts '{self.metric}', which one can only {natural}"
            )
        return self

    @property
    def maximised(self) -> bool:
        """Whether more is better."""
        return (self.goal or natural_goal(self.metric)) == "maximise"


class BoundConfig(AggregateConfig):
    """What must not get worse."""

    at_most: float | Literal["start"] | None = None
    """A number, or `start`: what the present gains give [as the metric]."""
    at_least: float | Literal["start"] | None = None
    """The same from below; give one of the two [as the metric]. Example: start."""

    @model_validator(mode="after")
    def _one_of_two(self) -> BoundConfig:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError(f"the bound on '{self.metric}' needs either at_most or at_least")
        return self


class SamplerConfig(Strict):
    """How new values are proposed."""

    type: Literal["tpe", "cmaes", "nsga2"] = "tpe"
    """The sampler of Optuna."""
    population: Annotated[int, Field(ge=3, le=1000)] | None = None
    """Size of a generation of CMA-ES or NSGA-II. Example: 20."""
    startup: Annotated[int, Field(ge=1)] = 10
    """Random trials before TPE begins to learn."""


class HeldOutEnvelopeConfig(Strict):
    """The largest recovered push in directions that tuning never saw."""

    directions: DirectionsConfig
    """The directions."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Dotted keys on top of the experiment. Example: {plant.friction: 0.6}."""
    tolerance: Annotated[float, Field(gt=0, le=0.5)] = 0.04
    """Width of the final bracket, over the ankle limit [-]."""


class ValidationConfig(Strict):
    """Pushes that tuning never sees, faced by the present and by the tuned gains."""

    pushes: tuple[CaseConfig, ...] = ()
    """Pushes that both face."""
    envelope: HeldOutEnvelopeConfig | None = None
    """Directions in which the limit of both is searched."""


class TuneConfig(StudyConfig):
    """Numbers to change, pushes to face, what to improve, and how to search.

    ``at_once`` trials are open at a time, whatever the number of workers, so that a study depends
    on its ``seed`` alone.
    """

    command = "tune"

    parameters: Annotated[tuple[ParameterConfig, ...], Field(min_length=1)]
    """Numbers that the search may change."""
    pushes: Annotated[tuple[CaseConfig, ...], Field(min_length=1)]
    """Pushes that every trial faces."""
    objectives: Annotated[tuple[ObjectiveConfig, ...], Field(min_length=1, max_length=4)]
    """What to improve; several give a front of best trade-offs."""
    bounds: tuple[BoundConfig, ...] = ()
    """What must not get worse."""
    sampler: SamplerConfig = SamplerConfig()
    """How new values are proposed."""
    trials: Annotated[int, Field(ge=1, le=100_000)] = 200
    """How many sets of values are tried."""
    seed: Seed = 0
    """Decides which."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 4
    """How many trials are open at a time."""
    start: bool = True
    """Try the present values first."""
    give_up: Annotated[float, Field(gt=0, lt=1)] | None = 0.5
    """Leave a trial unfinished if, even with the best so far in all pushes to come, it would rank
    below this share of all trials; `null`: never [-]."""
    resolution: Annotated[float, Field(gt=0, le=0.5)] = 0.05
    """Of a search for `recovered_impulse`, over the ankle limit [-]."""
    storage: str | None = None
    """URL of a database that Optuna knows; a file in the study's folder if not given. Example:
    'sqlite:////data/tune.db'."""
    validation: ValidationConfig = ValidationConfig()
    """Pushes that the search never sees, faced by the present and by the tuned gains."""

    @model_validator(mode="after")
    def _consistent(self) -> TuneConfig:
        _once("the parameters name the key", [k for p in self.parameters for k in p.keys])
        _once("the pushes have the name", [case.name for case in self.pushes])
        _once("the held-out pushes have the name", [c.name for c in self.validation.pushes])
        _once(
            "the objectives contradict each other: they name", [o.metric for o in self.objectives]
        )
        if self.sampler.type == "cmaes" and len(self.objectives) > 1:
            raise ValueError(
                f"the sampler cmaes improves one objective, but {len(self.objectives)} are given; "
                "choose tpe or nsga2, or keep one objective and put 'bounds' on the others"
            )
        weighted = any(case.weight != 1.0 for case in self.pushes)
        if weighted and all(o.over == "worst" for o in (*self.objectives, *self.bounds)):
            raise ValueError(
                "the pushes have weights, but the worst push alone counts everywhere; leave the "
                "weights out, or take the mean of an objective"
            )
        _possible(self.bounds)
        if not self.start and any("start" in (b.at_most, b.at_least) for b in self.bounds):
            raise ValueError("a bound refers to the start, which 'start: false' leaves out")
        return self


def _possible(bounds: tuple[BoundConfig, ...]) -> None:
    """Refuse two bounds that no number can keep."""
    for top in bounds:
        for floor in bounds:
            same = (top.metric, top.over) == (floor.metric, floor.over)
            most, least = top.at_most, floor.at_least
            if same and isinstance(most, float) and isinstance(least, float) and most < least:
                raise ValueError(
                    f"the bounds on '{top.metric}' contradict each other: at most {most:g} and at "
                    f"least {least:g}"
                )


def _once(what: str, names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{what} '{twice[0]}' more than once")
