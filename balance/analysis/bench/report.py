"""The table of a bench: figures with their targets, machine and versions, as JSON and Markdown."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from balance.errors import FileError, ResultError
from balance.recordings.provenance import provenance
from balance.recordings.system_calls import load_average


@dataclass(frozen=True)
class Figure:
    """One measured number; ``target`` is the most it may be, or the least if ``at_least``."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    @property
    def wanted(self) -> str:
        """The target in words."""
        if self.target is None:
            return ""
        return f"{'>=' if self.at_least else '<='} {self.target:g}"


@dataclass(frozen=True)
class Report:
    """All figures of a bench, and where they were measured."""

    figures: tuple[Figure, ...]
    machine: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> list[Path]:
        """Write ``bench.json`` and ``bench.md``."""
        content = {"machine": self.machine, "figures": [asdict(figure) for figure in self.figures]}
        files = [folder / "bench.json", folder / "bench.md"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files[0].write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            files[1].write_text(self.markdown(), encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot write {folder}: {error.strerror or error}") from None
        return files

    def markdown(self) -> str:
        """The table for people."""
        lines = ["| figure | measured | unit | target | met |", "|---|---|---|---|---|"]
        words = {True: "yes", False: "no", None: ""}
        lines += [
            f"| {figure.name} | {figure.value:.4g} | {figure.unit} | {figure.wanted} "
            f"| {words[figure.met]} |"
            for figure in self.figures
        ]
        where = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        return "\n".join([*lines, "", f"Measured on: {where}.", ""])


def machine() -> dict[str, Any]:
    """Processor, load and versions."""
    load = load_average()
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": "unknown" if load is None else round(load, 2),
        **provenance(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def load_report(path: Path) -> Report:
    """The report in a ``bench.json``, or in a folder that holds one."""
    file = path
    try:
        file = path / "bench.json" if path.is_dir() else path
        content = json.loads(file.read_text(encoding="utf-8"))
        return Report(tuple(Figure(**row) for row in content["figures"]), content["machine"])
    except OSError as error:
        raise FileError(f"cannot read {file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise ResultError(f"{file} is not a table of 'balance bench'") from None


def compare(new: Report, old: Report) -> list[tuple[Figure, float, float]]:
    """Figures that both have: the new one, the old value, and new over old."""
    before = {figure.name: figure.value for figure in old.figures}
    return [
        (figure, before[figure.name], figure.value / before[figure.name])
        for figure in new.figures
        if before.get(figure.name)
    ]


def figures_of(*parts: Iterable[Figure]) -> tuple[Figure, ...]:
    """The figures of all parts in order."""
    return tuple(figure for part in parts for figure in part)
