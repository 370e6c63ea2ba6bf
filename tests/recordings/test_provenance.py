"""What took part in a run is recorded, by what was imported."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from balance.recordings import provenance as module
from balance.recordings.provenance import imported_packages

SCRIPT = """
import json
from balance.config import load_config
from balance.experiment import run
from balance.recordings.provenance import provenance
run(load_config("toro_push", {"duration_s": 0.25, "pushes": [], "reference": None,
                              "plant.engine": "%s"}))
print(json.dumps(provenance()))
"""


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_solver_and_engine_are_recorded_once_they_are_in_use(engine: str) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT % engine], capture_output=True, text=True, check=True
    )
    found = json.loads(answer.stdout.splitlines()[-1])
    for name in ("daqp", "pin", "numpy", "scipy", "pyyaml"):
        assert found[name] == version(name)
    assert ("mujoco" in found) == (engine == "mujoco")
    assert "pytest" not in found and "optuna" not in found


def test_a_library_without_modules_counts_with_the_package_that_asks_for_it() -> None:
    """Pinocchio's Python package is a thin layer on its C++ library."""
    import pinocchio  # noqa: F401

    found = imported_packages()
    assert found["libpinocchio"] == version("libpinocchio")
    assert "pytest" not in found  # imported here, but nothing that balance runs on


def test_a_clone_that_was_never_installed_records_them_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "NAME", "no-such-package")
    module._packages.cache_clear()
    try:
        assert imported_packages()["numpy"] == version("numpy")
    finally:
        monkeypatch.undo()
        module._packages.cache_clear()
