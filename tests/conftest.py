"""Fixtures shared by all tests: the robots that ship with the package, each loaded once."""

from __future__ import annotations

import os
import shutil

# A humanoid's matrices are small: threads of the linear algebra cost more than they save, most of
# all where tests share a machine.  The libraries read these variables when they are loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Results and databases are flushed to the disk after every row, and no test pulls the plug: in
# memory that costs nothing.  pytest reads this when it first makes a folder.
_MEMORY, _ENOUGH_BYTES = "/dev/shm", 4_000_000_000
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)

from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
import pytest  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from balance.config import ExperimentConfig, load_config  # noqa: E402
from balance.recordings.recording import Recording  # noqa: E402
from balance.robots import Robot, load_robot  # noqa: E402

Array = NDArray[np.float64]
State = tuple[Array, Array]
ROBOTS = ("toro", "talos", "icub", "g1")


@pytest.fixture(scope="session", params=ROBOTS)
def any_robot(request: pytest.FixtureRequest) -> Robot:
    """Each robot that ships with the package."""
    return load_robot(request.param)


@pytest.fixture(scope="session")
def toro() -> Robot:
    """The TORO-like robot."""
    return load_robot("toro")


@pytest.fixture(scope="session")
def toro_config() -> ExperimentConfig:
    """The paper's experiment on the TORO-like robot."""
    return load_config("toro_push")


@pytest.fixture(scope="session")
def random_state() -> Callable[[Robot, np.random.Generator], State]:
    """Draws states near the nominal posture: joints off by 0.2 rad or so, moving at 0.5 rad/s."""

    def draw(robot: Robot, rng: np.random.Generator) -> State:
        model = robot.model
        offset = 0.2 * rng.uniform(-1.0, 1.0, model.nv)
        q = pin.integrate(model, robot.q_nominal, offset)
        q[7:] = np.clip(q[7:], model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
        return q, 0.5 * rng.uniform(-1.0, 1.0, model.nv)

    return draw


@pytest.fixture(scope="session")
def lifted_foot() -> Recording:
    """A coarse run in which a foot is lifted and put back: five phases."""
    from balance.experiment import Experiment

    keys = {"control_period_s": 0.004, "plant.step_s": 0.002, "duration_s": 6.5}
    return Experiment(load_config("toro_lift_foot", keys)).run()
