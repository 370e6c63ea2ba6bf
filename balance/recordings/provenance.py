"""Where a result comes from: versions of what took part, commit, machine and time."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import balance

NAME = "pin-balance"
MODULE = re.compile(r"\.py$|(^|/)(?!lib)[^/]*\.so$")  # libNAME.so is a library


def provenance() -> dict[str, str]:
    """Versions, commit, machine and time of a run."""
    found = {"balance": balance.__version__, "python": platform.python_version()}
    found |= imported_packages()
    commit = _commit()
    if commit:
        found["commit"] = commit
    found["machine"] = f"{platform.system()} {platform.machine()}"
    found["written"] = datetime.now().astimezone().isoformat(timespec="seconds")
    return found


@dataclass(frozen=True)
class Package:
    """An installed distribution: its version, what it asks for, and the modules it brings."""

    version: str
    needs: tuple[str, ...]
    modules: frozenset[str]


def imported_packages() -> dict[str, str]:
    """Version of each package below balance that takes part in this process.

    That is one of which a module is imported; and, of those without modules (a C++ library, the
    files of robots), one that such a package asks for.
    """
    loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    packages = _packages()
    found = {name for name, one in packages.items() if not loaded.isdisjoint(one.modules)}
    waiting = list(found)
    while waiting:
        for name in packages[waiting.pop()].needs:
            if name in packages and name not in found and not packages[name].modules:
                found.add(name)
                waiting.append(name)
    return {name: packages[name].version for name in sorted(found)}


@cache
def _packages() -> dict[str, Package]:
    """Every installed package that balance needs or may use, and what those need."""
    found: dict[str, Package] = {}
    waiting = [NAME] if any(distributions(name=NAME)) else _all_names()
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            found[name] = _read(name)
        except PackageNotFoundError:  # an extra that is not installed
            continue
        waiting += found[name].needs
    found.pop(NAME, None)  # which is told apart, by its own version
    return found


def _all_names() -> list[str]:
    """For a clone that was never installed, whatever is installed may be what it uses."""
    return [one.name for one in distributions()]


def _read(name: str) -> Package:
    """A package's own words; as plain lines, for there are many packages and a parser is slow."""
    package = distribution(name)
    head = (package.read_text("METADATA") or "").split("\n\n", 1)[0].splitlines()
    said = [line.partition(": ") for line in head]
    version = next((value for key, _, value in said if key == "Version"), "unknown")
    needs = (_needed(name, value) for key, _, value in said if key == "Requires-Dist")
    root = str(package.locate_file(""))
    files = (line.partition(",")[0] for line in (package.read_text("RECORD") or "").splitlines())
    modules = frozenset(os.path.join(root, path) for path in files if MODULE.search(path))
    return Package(version, tuple(filter(None, needs)), modules)


def _needed(name: str, requirement: str) -> str:
    """The package of a requirement; empty if it is for others' extras, or for our developers."""
    wanted, _, condition = requirement.partition(";")
    extra = re.search(r"extra == ['\"](.+?)['\"]", condition)
    if extra and (name != NAME or extra[1] in ("dev", "all")):
        return ""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", wanted.strip())[0]).lower()


def _commit() -> str:
    """Commit of the clone that this code runs from; empty for an installed package."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
