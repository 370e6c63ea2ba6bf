"""What is installed because of the package: names, versions, licences, and who needs whom."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

from lib.tables import ROOT
from packaging.requirements import Requirement

LICENCE_FILE = re.compile(r"(licen[cs]e|copying)", re.IGNORECASE)


def plain(name: str) -> str:
    """A distribution's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parts() -> dict[str, list[str]]:
    """The requirements of the package itself, ``core``, and of each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {"core": project["dependencies"], **project["optional-dependencies"]}
    found.pop("all")
    return found


def licence(name: str) -> str:
    """The licence that a distribution states, or the file that holds it."""
    facts = distribution(name).metadata
    if facts.get("License-Expression"):
        return facts["License-Expression"]
    classified = [
        line.rpartition("::")[2].strip()
        for line in facts.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    text = (facts.get("License") or "").strip().splitlines()
    if classified or text:
        return ", ".join(classified) or text[0][:60]
    files = {file.name for file in distribution(name).files or [] if LICENCE_FILE.match(file.name)}
    return f"own terms in {', '.join(sorted(files))}" if files else "not stated"


def needed(requirement: Requirement) -> list[Requirement]:
    """What an installed distribution asks for, here and with the extras that are asked of it."""
    lines = [Requirement(line) for line in distribution(requirement.name).requires or []]
    extras = ("", *requirement.extras)
    return [
        one
        for one in lines
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def closure(roots: list[Requirement]) -> dict[str, set[str]]:
    """Everything that is installed because of ``roots``, each with the names that it needs."""
    found: dict[str, set[str]] = {}
    asked: set[tuple[str, frozenset[str]]] = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        key = plain(one.name), frozenset(one.extras)
        if key in asked or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        asked.add(key)
        try:
            more = needed(one)
        except PackageNotFoundError:
            continue
        found.setdefault(key[0], set()).update(plain(other.name) for other in more)
        for other in more:
            other.marker = None  # it holds, perhaps by an extra
        waiting += more
    return {name: {other for other in names if other in found} for name, names in found.items()}
