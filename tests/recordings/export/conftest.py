"""A short run in a result folder, for all formats."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from balance.config import load_config
from balance.experiment import run
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of 0.6 s with one push, at 2 ms."""
    config = load_config(
        "toro_push", {"duration_s": 0.6, "pushes.0.time_s": 0.1, "control_period_s": 0.002}
    )
    return save_recording(run(config), tmp_path_factory.mktemp("export") / "result")


@pytest.fixture(scope="session")
def recording(result: Path) -> Recording:
    """What is read back from the folder."""
    return load_recording(result)


@pytest.fixture(scope="session")
def log(result: Path) -> dict[str, list[float]]:
    """The columns of ``log.parquet``."""
    return dict(pq.read_table(result / "log.parquet").to_pydict())
