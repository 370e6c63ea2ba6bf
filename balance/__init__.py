"""Push a humanoid and see whether it stays on its feet.

Example:

    >>> import balance
    >>> recording = balance.run("toro_push", overrides={"duration_s": 3.0})
    >>> recording
    <Recording of toro, law momentum: recovered; 3000 rows of 1 ms>
    >>> round(1e3 * recording.summary()["peak_com_error_m"])  # mm
    45
    >>> frame = recording.to_pandas()  # the log as a table; recording.plot() draws it
    >>> frame.attrs["units"]["com_error_y"]
    'm'

``balance.load_config`` reads an experiment, ``balance.load_robot`` a robot, and
``balance.load_recording`` what an earlier run has left.  The names below are imported on first use,
so that ``import balance`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

_HOME = {
    "load_robot": "balance.robots",
    "Robot": "balance.robots",
    "load_config": "balance.config",
    "ExperimentConfig": "balance.config",
    "run": "balance.experiment",
    "Experiment": "balance.experiment",
    "Recording": "balance.recordings.recording",
    "quantity": "balance.config.quantity",
    "load_recording": "balance.recordings.results",
    "save_recording": "balance.recordings.results",
    "make_controller": "balance.control",
    "ControlOutput": "balance.control",
    "ControlStatus": "balance.control",
    "Controller": "balance.control",
    "Plant": "balance.simulation.plants",
    "ankle_limit": "balance.recordings.metrics",
    "decoupled_dynamics": "balance.dynamics.decoupled",
    "DecoupledDynamics": "balance.dynamics.decoupled",
    "change_base": "balance.dynamics.base_frame",
    "BaseChange": "balance.dynamics.base_frame",
    "curvature": "balance.dynamics.curvature",
    "centroidal_frame": "balance.dynamics.centroidal_frame",
    "gauss_dynamics": "balance.dynamics.gauss",
    "GaussDynamics": "balance.dynamics.gauss",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from balance.config import ExperimentConfig, load_config
    from balance.config.quantity import quantity
    from balance.control import Controller, ControlOutput, ControlStatus, make_controller
    from balance.dynamics.base_frame import BaseChange, change_base
    from balance.dynamics.centroidal_frame import centroidal_frame
    from balance.dynamics.curvature import curvature
    from balance.dynamics.decoupled import DecoupledDynamics, decoupled_dynamics
    from balance.dynamics.gauss import GaussDynamics, gauss_dynamics
    from balance.experiment import Experiment, run
    from balance.recordings.metrics import ankle_limit
    from balance.recordings.recording import Recording
    from balance.recordings.results import load_recording, save_recording
    from balance.robots import Robot, load_robot
    from balance.simulation.plants import Plant


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'balance' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
