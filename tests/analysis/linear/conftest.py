"""Loops that several tests look at; linearising one takes a while."""

from __future__ import annotations

import pytest

from balance.analysis.linear.loop import LinearLoop, linearise
from balance.config import load_config


@pytest.fixture(scope="session")
def paper_loop() -> LinearLoop:
    """The paper's experiment."""
    return linearise(load_config("toro_push"))
