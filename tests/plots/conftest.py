"""Short runs and hand-made recordings for the figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from balance.config import load_config
from balance.experiment import run
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, aborted


@pytest.fixture(scope="session")
def pushed() -> Recording:
    """0.3 s of the paper's experiment with the hit at 0.1 s."""
    return run(load_config("toro_push", {"duration_s": 0.4, "pushes.0.time_s": 0.1}))


@pytest.fixture(scope="session")
def fall() -> Recording:
    """A hit that is too strong: soles lift, slide and strike the ground."""
    return run(load_config("toro_push", {"duration_s": 2.0, "pushes.0.energy_J": 120.0}))


@pytest.fixture(scope="session")
def talos() -> Recording:
    """Another robot, and a shorter run."""
    overrides: dict[str, Any] = {
        "robot": "talos",
        "duration_s": 0.35,
        "pushes.0.body": "base_link",
        "pushes.0.time_s": 0.05,
    }
    return run(load_config("toro_push", overrides))


def rows(recording: Recording, index: Any) -> dict[str, Any]:
    """Every array of a recording, indexed by row."""
    arrays = {f.name: getattr(recording, f.name) for f in fields(recording)}
    return {name: a[index] for name, a in arrays.items() if isinstance(a, np.ndarray)}


@pytest.fixture(scope="session")
def empty(pushed: Recording) -> Recording:
    """Interrupted before the first control period."""
    return replace(
        pushed,
        **rows(pushed, slice(0, 0)),
        end=aborted(Cause.INTERRUPTED, "interrupted by the user"),
    )


@pytest.fixture(scope="session")
def at_rest(pushed: Recording) -> Callable[[int], Recording]:
    """Recordings of a robot that stands still for n rows; the pushes are kept."""

    def make(n: int) -> Recording:
        arrays = rows(pushed, np.zeros(n, dtype=int))
        arrays["time"] = pushed.config.control_period_s * np.arange(n)
        return replace(pushed, **arrays)

    return make
