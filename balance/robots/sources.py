"""Where the model of a robot comes from: a file, or a package that has many."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from balance.errors import FileError, MissingExtraError, RobotError, known_names
from balance.robots.mjcf import urdf_file
from balance.robots.robot_file import DescriptionModel, PackageModel, RobotFile
from balance.robots.urdf_files import package_folders

Source = tuple[Path, tuple[Path, ...]]
"""A URDF, and the folders that its meshes may be in."""


def find_model(spec: RobotFile, path: Path) -> Source:
    """The URDF of a robot's file at ``path``; that of an MJCF file is made."""
    if isinstance(spec.urdf, PackageModel):
        return _example_robot_data(spec.urdf.example_robot_data)
    if isinstance(spec.urdf, DescriptionModel):
        return _robot_descriptions(spec.urdf.robot_descriptions)
    if spec.mjcf is not None:
        mjcf = _beside(path, spec.mjcf, "mjcf", "MJCF file")
        return urdf_file(mjcf), (mjcf.parent,)
    assert spec.urdf is not None
    urdf = _beside(path, spec.urdf, "urdf", "URDF")
    return urdf, package_folders(urdf)


def _beside(path: Path, name: str, key: str, kind: str) -> Path:
    found = Path(os.path.abspath(path.parent / name))
    if not os.path.isfile(found):  # also for names that no file can have
        raise FileError(f"the {kind} {found} does not exist; '{key}' is relative to the YAML file")
    return found


def _example_robot_data(name: str) -> Source:
    from example_robot_data import robots_loader  # deferred: only package robots need it

    if name not in robots_loader.ROBOTS:
        raise RobotError(
            f"example-robot-data has no robot '{name}'{known_names(name, robots_loader.ROBOTS)}"
        )
    loader = robots_loader.ROBOTS[name]
    inner = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    urdf = Path(robots_loader.getModelPath(inner)) / inner
    # Meshes are named package://example-robot-data/robots/..., so the package's parent is needed.
    share = next(p.parent for p in urdf.parents if p.name == "example-robot-data")
    return urdf, (share,)


def _robot_descriptions(name: str) -> Source:
    """A model of the package robot_descriptions, if it is in that package's cache."""
    try:
        from robot_descriptions._descriptions import DESCRIPTIONS
    except ImportError:
        raise MissingExtraError("robot_descriptions", "descriptions") from None
    if name not in DESCRIPTIONS:
        raise RobotError(
            f"robot_descriptions has no robot '{name}'{known_names(name, DESCRIPTIONS)}"
        )
    found = _cached_description(name, DESCRIPTIONS[name].repository)
    folders = [Path(found.REPOSITORY_PATH), Path(found.PACKAGE_PATH).parent]
    if hasattr(found, "URDF_PATH"):
        return Path(found.URDF_PATH), (*folders, *package_folders(Path(found.URDF_PATH)))
    return urdf_file(Path(found.MJCF_PATH)), tuple(folders)


def _cached_description(name: str, repository: str) -> ModuleType:
    """The module of a description; importing it would download what is not there."""
    module = f"robot_descriptions.{name}"
    if module not in sys.modules and not _is_there(repository):
        raise _absent(name, "no such folder")
    try:
        with _no_downloads():
            return importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - git's own errors, which are of many kinds
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise _absent(name, reason[:80]) from None


def _is_there(repository: str) -> bool:
    """Whether the cache has a repository: an import that fails would leave an empty one there."""
    from robot_descriptions._repositories import REPOSITORIES

    cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    folder = Path(os.path.expanduser(cache)) / REPOSITORIES[repository].cache_path
    return os.path.isdir(folder)


def _absent(name: str, reason: str) -> RobotError:
    return RobotError(
        f"the robot '{name}' of robot_descriptions is not in its cache ({reason}); get it once, "
        f"where there is a network: python -m robot_descriptions pull {name}"
    )


@contextmanager
def _no_downloads() -> Iterator[None]:
    """Within it git speaks to nobody: which version is loaded must not depend on a network."""
    before = os.environ.get("GIT_ALLOW_PROTOCOL")
    os.environ["GIT_ALLOW_PROTOCOL"] = "none"
    try:
        yield
    finally:
        if before is None:
            del os.environ["GIT_ALLOW_PROTOCOL"]
        else:
            os.environ["GIT_ALLOW_PROTOCOL"] = before
