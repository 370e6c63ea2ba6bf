"""Which columns a study's table will have, before any of its runs."""

from __future__ import annotations

from collections.abc import Iterable

from balance.config import ExperimentConfig
from balance.errors import ConfigError, known_names, listed
from balance.recordings.summary import number_columns

EVERY_ROW = ("wall_time_s", "cpu_time_s", "seed")
"""Numbers that a row has beside the quantities of its run."""


def check_metrics(
    names: Iterable[str], config: ExperimentConfig, source: str, also: Iterable[str] = ()
) -> None:
    """Raise an error that lists the ``names`` which are no numbers of such a run's row.

    ``also`` are numbers that the study itself adds.
    """
    known = {*EVERY_ROW, *also, *number_columns(config)}
    wrong = [
        f"the metric '{name}' is no number in the table{known_names(name, known)}"
        for name in dict.fromkeys(names)
        if name not in known
    ]
    if wrong:
        raise ConfigError(listed(source, wrong))
