"""Which columns a study's table will have, before any of its runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from balance.config import ExperimentConfig
from balance.errors import ConfigError, known_names, listed
from balance.studies.workers import flatten

LOOK_S = 0.5  # of standing still, to see which numbers a run of this experiment gives
PLAIN = (
    "peak_com_error_m",
    "peak_rotation_rad",
    "torque_effort_N2m2s",
    "wall_time_s",
    "cpu_time_s",
    "seed",
)
"""Numbers that every row has: no look is needed."""

# A number that a quiet run lacks, such as the time of a fall, is known by its unit.
_TIME = re.compile(r"_s(_\d+)?$")


def check_metrics(
    names: Iterable[str],
    config: ExperimentConfig,
    source: str,
    robots: Sequence[Path] = (),
    also: Iterable[str] = (),
) -> None:
    """Raise an error that lists the ``names`` which are no numbers of such a run's row.

    ``also`` are numbers that the study itself adds.  Only unusual names cost a short run.
    """
    known = {*PLAIN, *also}
    asked = [name for name in dict.fromkeys(names) if name not in known]
    if not asked:
        return
    known |= set(number_columns(config, robots))
    wrong = [
        f"the metric '{name}' is no number in the table{known_names(name, known)}"
        for name in asked
        if name not in known
    ]
    if wrong:
        raise ConfigError(listed(source, wrong))


def number_columns(config: ExperimentConfig, robots: Sequence[Path] = ()) -> list[str]:
    """Names of the numbers that a run of an experiment gives."""
    from balance.experiment import run

    quiet = {"pushes": (), "duration_s": max(LOOK_S, 2.0 * config.control_period_s)}
    columns = flatten(run(config.model_copy(update=quiet), robot_folders=robots).summary())
    return [
        name
        for name, value in columns.items()
        if (isinstance(value, int | float) and not isinstance(value, bool))
        or (value is None and _TIME.search(name))
    ]
