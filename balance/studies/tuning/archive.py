"""The trials as Optuna keeps them: asked for and told in an order that workers cannot change.

Trial n is asked for when a fixed number of earlier trials, and no more, has been told.  Its random
numbers come from the study's seed and n.  So the study is the same however many workers there are,
whichever run ends first, and however often it was killed.
"""

from __future__ import annotations

import importlib.util
import math
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from balance.config.tuning import TuneConfig
from balance.errors import ConfigError, MissingExtraError
from balance.studies.store import StudyStoppedError
from balance.studies.tuning.objectives import Hope, Score

try:
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.study import StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError:
    raise MissingExtraError("optuna", "tune") from None

FILE = "optuna.db"
OWNER, HOPE, SCORE = "balance:owner", "balance:hope", "balance:score"
OPENINGS, PAUSE_S = 10, 0.5  # of an empty storage in which another command makes tables
UNLIMITED = 1e300  # JSON has no infinity
DEFAULT_POPULATION = 20  # of NSGA-II


class Archive:
    """The trials of one command, ``owner``, in a storage that others may share."""

    def __init__(self, config: TuneConfig, name: str, folder: Path, owner: str) -> None:
        """Open or make the study ``name`` in the configured storage, or in a file in ``folder``."""
        self.config, self.owner = config, owner
        directions = [
            StudyDirection.MAXIMIZE if one.maximised else StudyDirection.MINIMIZE
            for one in config.objectives
        ]
        with _guarded():
            storage = (
                open_storage(config.storage)
                if config.storage
                else open_storage(f"sqlite:///{folder / FILE}", HERE)
            )
            self.study = optuna.create_study(
                storage=storage, study_name=name, directions=directions, load_if_exists=True
            )
        self._space = {
            p.key: FloatDistribution(p.low, p.high, log=p.log) for p in config.parameters
        }

    def mine(self) -> list[FrozenTrial]:
        """The trials of this command, in the order in which they were asked for.

        In a file of its own all trials are, also one whose asking was cut short.
        """
        private = self.config.storage is None
        with _guarded():
            trials = self.study.get_trials(deepcopy=False)
        return [
            trial
            for trial in trials
            if trial.user_attrs.get(OWNER, self.owner if private else None) == self.owner
        ]

    def asked(self) -> list[FrozenTrial]:
        """Those of them that have their values."""
        return [trial for trial in self.mine() if HOPE in trial.user_attrs]

    def told(self) -> list[FrozenTrial]:
        """All trials that are finished, also those of other commands."""
        with _guarded():
            return self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))

    def ask(self, start: Mapping[str, float] | None) -> FrozenTrial:
        """A new trial, or one whose asking was cut short; ``start`` fixes its values."""
        storage, study_id = self.study._storage, self.study._study_id
        with _guarded():
            begun = [trial for trial in self.mine() if HOPE not in trial.user_attrs]
            if begun:
                trial_id, number = begun[0]._trial_id, begun[0].number
            else:
                trial_id = storage.create_new_trial(study_id)
                number = storage.get_trial_number_from_id(trial_id)
            storage.set_trial_user_attr(trial_id, OWNER, self.owner)
            if start is not None:
                storage.set_trial_system_attr(trial_id, "fixed_params", dict(start))
            self.study.sampler = self._sampler(number)
            later = self._told_later(number)
            trial = optuna.trial.Trial(cast(optuna.Study, _Earlier(self.study, later)), trial_id)
            for name, distribution in self._space.items():
                trial._suggest(name, distribution)
            storage.set_trial_user_attr(trial_id, HOPE, asdict(self._hope(later)))
        return storage.get_trial(trial_id)

    def tell(self, trial: FrozenTrial, score: Score) -> None:
        """A trial is finished."""
        signs = [-1.0 if one.maximised else 1.0 for one in self.config.objectives]
        values = [sign * cost for sign, cost in zip(signs, score.costs, strict=True)]
        note = {
            "costs": list(score.costs),
            "metrics": dict(score.metrics),
            "violation": score.violation,
            "ended": score.ended,
            "runs": list(score.runs),
        }
        with _guarded():
            self.study._storage.set_trial_user_attr(trial._trial_id, SCORE, note)
            self.study.tell(trial.number, values)

    def needed(self, index: int) -> int:
        """How many of its own trials must be told before the ``index``-th is asked for."""
        size = self.population
        if self.config.sampler.type == "tpe":
            return max(0, index - self.config.at_once + 1)
        if self.config.sampler.type == "nsga2":
            return size * (index // size)
        return 0 if index == 0 else 1 + size * ((index - 1) // size)  # CMA-ES learns from the first

    @property
    def population(self) -> int:
        """Size of a generation."""
        given, n = self.config.sampler.population, len(self.config.parameters)
        if self.config.sampler.type == "nsga2":
            return given or DEFAULT_POPULATION
        return given or 4 + math.floor(3.0 * math.log(n))

    def _told_later(self, number: int) -> set[int]:
        """Own trials that a trial must not know, told already in a study that is extended."""
        mine = self.mine()
        index = [trial.number for trial in mine].index(number)
        later = mine[self.needed(index) :]
        return {trial.number for trial in later if trial.state.is_finished()}

    def _hope(self, later: Collection[int]) -> Hope:
        """When to give a trial up, from what is told so far but for ``later`` trials."""
        told = [trial for trial in self.told() if trial.number not in later]
        share, scores = self.config.give_up, [score_of(trial) for trial in told]
        runs = [score.runs for score in scores if score.runs]
        if share is None or len(scores) < self.config.sampler.startup or not runs:
            return Hope(UNLIMITED)
        cost = float(np.quantile([score.costs[0] for score in scores], share))
        return Hope(cost, tuple(min(column) for column in zip(*runs, strict=True)))

    def _sampler(self, number: int) -> optuna.samplers.BaseSampler:
        """The sampler for one trial, with random numbers of its own."""
        seed = int(np.random.SeedSequence([self.config.seed, number]).generate_state(1)[0])
        chosen = self.config.sampler
        if chosen.type == "nsga2":
            return optuna.samplers.NSGAIISampler(population_size=self.population, seed=seed)
        if chosen.type == "cmaes":
            _need_cmaes()
            first = next((t.params for t in self.mine() if t.number == 0 and t.params), None)
            return optuna.samplers.CmaEsSampler(x0=first, popsize=self.population, seed=seed)
        return optuna.samplers.TPESampler(
            n_startup_trials=chosen.startup, multivariate=True, seed=seed
        )


class _Earlier:
    """A study as it was for a sampler when ``later`` trials still ran."""

    def __init__(self, study: optuna.Study, later: Collection[int]) -> None:
        self._study, self._later = study, later

    def __getattr__(self, name: str) -> Any:
        return getattr(self._study, name)

    def get_trials(self, deepcopy: bool = True, states: Any = None) -> list[FrozenTrial]:
        return self._get_trials(deepcopy, states)

    def _get_trials(
        self, deepcopy: bool = True, states: Any = None, use_cache: bool = False
    ) -> list[FrozenTrial]:
        trials = self._study._get_trials(deepcopy, None, use_cache)
        then = [_running(one) if one.number in self._later else one for one in trials]
        return [one for one in then if states is None or one.state in states]


def _running(trial: FrozenTrial) -> FrozenTrial:
    before = copy(trial)
    before.state, before.values = TrialState.RUNNING, None
    return before


def hope_of(trial: FrozenTrial) -> Hope:
    """When to give a trial up, as it was when the trial was asked for."""
    note: dict[str, Any] = trial.user_attrs[HOPE]
    return Hope(note["cost"], tuple(note["least"]))


def score_of(trial: FrozenTrial) -> Score:
    """What was noted when a trial was told."""
    note: dict[str, Any] = trial.user_attrs[SCORE]
    return Score(
        tuple(note["costs"]), note["metrics"], note["violation"], note["ended"], tuple(note["runs"])
    )


def front(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The feasible trials that no other one beats in every objective, the best of the first first.

    Without a feasible trial, those that violate their bounds least take its place.
    """
    scores = {trial.number: score_of(trial) for trial in trials}
    standing = [trial for trial in trials if not scores[trial.number].ended]
    least = min((scores[t.number].violation for t in standing), default=0.0)
    kept = [t for t in standing if scores[t.number].violation <= least]
    costs = {t.number: np.array(scores[t.number].costs) for t in kept or trials}

    def beaten(number: int) -> bool:
        mine = costs[number]
        return any(
            (other <= mine).all() and ((other < mine).any() or rival < number)
            for rival, other in costs.items()
            if rival != number
        )

    best = [trial for trial in kept or trials if not beaten(trial.number)]
    return sorted(best, key=lambda trial: (*costs[trial.number], trial.number))


def balanced(best: Sequence[FrozenTrial]) -> FrozenTrial:
    """The trial of a front that is nearest to the best of every objective, each by its range."""
    costs = np.array([score_of(trial).costs for trial in best])
    span = np.ptp(costs, axis=0)
    shares = (costs - costs.min(axis=0)) / np.where(span > 0.0, span, 1.0)
    return best[int(np.argmin(np.linalg.norm(shares, axis=1)))]


def importances(archive: Archive, objective: int) -> dict[str, float]:
    """Share of each parameter in how good a trial is (PED-ANOVA); empty if there are too few."""
    with _guarded():
        try:
            return optuna.importance.get_param_importances(
                archive.study,
                evaluator=optuna.importance.PedAnovaImportanceEvaluator(),
                target=lambda trial: score_of(trial).costs[objective],
            )
        except (ValueError, RuntimeError):
            return {}


ELSEWHERE = (
    "check the address and that its server runs, or leave 'storage' out to use a file in the "
    "study's folder"
)
HERE = "delete it, and the same command builds it again from the finished runs"


def open_storage(url: str, advice: str = ELSEWHERE) -> optuna.storages.BaseStorage:
    """The storage at a URL, or one sentence about why it does not open, ending with ``advice``."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        shown = make_url(url).render_as_string(hide_password=True)
    except SQLAlchemyError:
        raise ConfigError(
            f"'storage' = '{url}' is no storage URL; one looks like sqlite:///file.db or "
            "postgresql://user:password@host/database"
        ) from None
    try:
        return _opened(url)
    except ImportError as error:  # Optuna puts its own words around that of the missing driver
        driver = getattr(error.__cause__ or error.__context__ or error, "name", None) or error
        raise ConfigError(
            f"the storage '{shown}' needs the database driver '{driver}', which is not installed; "
            "install it, or name one that you have, as in postgresql+psycopg2://"
        ) from None
    except (SQLAlchemyError, OSError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"the storage '{shown}' does not open: {_reason(error)}; {advice}"
        ) from None


def _opened(url: str) -> optuna.storages.BaseStorage:
    """The storage; of two commands that find it empty at once, one finds tables of the other."""
    from sqlalchemy.exc import SQLAlchemyError

    for _ in range(OPENINGS):
        try:
            return optuna.storages.RDBStorage(url)
        except SQLAlchemyError as error:
            if not any(word in str(error).lower() for word in ("already exists", "duplicate")):
                raise
            time.sleep(PAUSE_S)
    return optuna.storages.RDBStorage(url)


def discard(url: str, name: str) -> None:
    """Delete a study from a storage, if it is there."""
    with _guarded():
        storage = open_storage(url)
        if name in {found.study_name for found in storage.get_all_studies()}:
            optuna.delete_study(study_name=name, storage=storage)


def _need_cmaes() -> None:
    if importlib.util.find_spec("cmaes") is None:
        raise MissingExtraError("cmaes", "tune")


@contextmanager
def _guarded() -> Iterator[None]:
    """Optuna without its log and its notes on experimental features; a storage may go away."""
    from sqlalchemy.exc import SQLAlchemyError

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            for kind in (optuna.exceptions.ExperimentalWarning, UserWarning, FutureWarning):
                warnings.simplefilter("ignore", kind)
            yield
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        raise StudyStoppedError(
            f"the storage of the trials does not answer ({_reason(error)}); the finished runs are "
            "kept, and the same command goes on from there"
        ) from None
    finally:
        optuna.logging.set_verbosity(level)


def _reason(error: Exception) -> str:
    """What a storage's error says, in one line."""
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
    text = str(getattr(cause, "orig", None) or cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__
