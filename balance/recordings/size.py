"""How much memory and disk a run or a study will take, before it starts."""

from __future__ import annotations

import shutil
import tempfile

import numpy as np

from balance.config import ExperimentConfig
from balance.errors import ConfigError
from balance.recordings.signals import stored_signals
from balance.robots import Robot

MAX_RUN_BYTES = 16 * 10**9
MAX_STUDY_BYTES = 100 * 10**9
ROW_BYTES = 4_000  # of a finished run in the log and the table of a study
COPIES = 2  # of a recording: in temporary files, and in the result folder


def recording_bytes(config: ExperimentConfig, robot: Robot) -> int:
    """Size of the recording of a whole run: its signals, before they are compressed."""
    signals = stored_signals(config)
    row = sum(np.dtype(signal.dtype).itemsize * signal.row_size(robot) for signal in signals)
    return config.n_periods * row


def check_run_size(config: ExperimentConfig, robot: Robot) -> None:
    """Refuse a run whose recording does not fit where it is kept while it is simulated."""
    needed = COPIES * recording_bytes(config, robot)
    most = min(MAX_RUN_BYTES, _free_bytes())
    if needed > most:
        raise ConfigError(
            f"duration_s = {config.duration_s:g} at control_period_s = "
            f"{config.control_period_s:g} needs {_gigabytes(needed)} for its recording; at "
            f"most {_gigabytes(most)} are free here, so make the run shorter or the period longer"
        )


def check_study_size(runs: int, kept: int, config: ExperimentConfig, robot: Robot) -> None:
    """Refuse a study of ``runs`` runs, of which ``kept`` recordings, that no disk would hold."""
    needed = runs * ROW_BYTES + kept * recording_bytes(config, robot)
    if needed > MAX_STUDY_BYTES:
        raise ConfigError(
            f"{runs} runs with {kept} kept recordings need {_gigabytes(needed)} of disk; at most "
            f"{_gigabytes(MAX_STUDY_BYTES)} are allowed, so vary less or keep fewer recordings"
        )


def _free_bytes() -> int:
    return shutil.disk_usage(tempfile.gettempdir()).free


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3g} GB"
