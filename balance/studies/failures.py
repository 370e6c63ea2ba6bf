"""What can go wrong with a study as a whole; single runs that fail are rows of its table."""

from __future__ import annotations

from balance.errors import BalanceError


class ClusterError(BalanceError):
    """A Dask scheduler does not answer, or its workers cannot run our experiments."""


class StudyStoppedError(BalanceError):
    """A study ended early through nobody's mistake; the same command goes on where it stopped."""

    exit_code = 1
