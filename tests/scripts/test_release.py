"""What a release is made of says the same in every place."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import balance

ROOT = Path(__file__).resolve().parents[2]
CONDA_NAMES = {"pin": "pinocchio", "matplotlib": "matplotlib-base"}
PART_OF_ANOTHER = {"example-robot-data-loaders": "example-robot-data"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return dict(tomllib.load(file)["project"])


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / ".conda" / "recipe.yaml").read_text(encoding="utf-8")))


def test_the_conda_recipe_needs_what_the_package_needs(
    project: dict[str, Any], recipe: dict[str, Any]
) -> None:
    wanted = {f"python {project['requires-python']}"}
    for line in project["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)(>=[\d.]+)", line).groups()  # type: ignore[union-attr]
        if name not in PART_OF_ANOTHER:
            wanted.add(f"{CONDA_NAMES.get(name, name)} {bound}")
    assert set(recipe["requirements"]["run"]) == wanted


def test_the_conda_recipe_is_of_this_version_and_command(
    project: dict[str, Any], recipe: dict[str, Any]
) -> None:
    assert recipe["context"]["version"] == balance.__version__.split(".dev")[0]
    [(command, function)] = project["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {function}"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["summary"] == project["description"]


def test_every_python_that_is_claimed_is_allowed(project: dict[str, Any]) -> None:
    lowest = tuple(map(int, project["requires-python"].removeprefix(">=").split(".")))
    claimed = [
        tuple(map(int, line.split(" :: ")[-1].split(".")))
        for line in project["classifiers"]
        if re.search(r":: 3\.\d+$", line)
    ]
    assert min(claimed) == lowest
    assert len(claimed) == claimed[-1][1] - lowest[1] + 1  # none left out
