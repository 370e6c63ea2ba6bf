"""Everything that can be added is found by its name: laws, pushes, engines, quantities, protocols.

A name is one of ours, one that an installed package declares as an entry point, or says where the
code is: ``my_laws.py:JointPD`` for a file, ``my_package.laws:JointPD`` for a module.  Names are
listed without importing what is behind them; only :meth:`Registry.find` runs code.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from balance.config.user_code import UserCode, is_reference, load_reference
from balance.errors import ConfigError, MissingExtraError, known_names

_EXTRAS = {"mujoco": "mujoco"}
"""Packages that something of ours needs and that are optional, with the extra that brings them."""

Ours = Mapping[str, str]
"""Names of our own, each with the ``module:attribute`` behind it."""


@dataclass(frozen=True)
class Found:
    """What is behind a name; ``code`` says which file of a user's it came from, None for ours."""

    name: str
    target: Any
    code: UserCode | None = None


class Registry:
    """One kind of thing that can be added: ours, and those of entry points, files and modules."""

    def __init__(
        self,
        kind: str,
        group: str,
        ours: Callable[[], Ours],
        needs: str = "",
        guests: tuple[str, ...] = (),
    ) -> None:
        """``kind`` is its word in errors, ``needs`` a method that whatever is found must have.

        ``guests`` are those of ours that cannot do without keys of the user's, such as a file.
        """
        self.kind, self.group, self._needs, self._find_ours = kind, group, needs, ours
        self.guests = guests
        self._found: dict[str, Found] = {}

    @cached_property
    def ours(self) -> Ours:
        """Our own names, in the order in which tables and figures show them: guests last."""
        found = self._find_ours()
        return {name: found[name] for name in sorted(found, key=lambda one: one in self.guests)}

    @cached_property
    def _installed(self) -> dict[str, list[EntryPoint]]:
        found: dict[str, list[EntryPoint]] = {}
        # Sorted, because packages are found in the order of the file system.
        points = entry_points(group=self.group)
        for point in sorted(points, key=lambda point: (point.name, _distribution(point))):
            found.setdefault(point.name, []).append(point)
        return found

    def names(self) -> list[str]:
        """Our own names, then those that installed packages declare."""
        return [*self.ours, *(name for name in self._installed if name not in self.ours)]

    def ready(self, installed: bool = True) -> list[str]:
        """The names that can stand alone, all but the guests; ours only without ``installed``."""
        names = self.names() if installed else self.ours
        return [name for name in names if name not in self.guests]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def describe(self, name: str) -> str:
        """What a name stands for, in a line: the beginning of its docstring."""
        if name in self.ours:
            return _first_line(*self.ours[name].split(":"))
        points = self._installed[name]
        return ", ".join(f"{point.value} of {_distribution(point)}" for point in points)

    def find(self, name: str, key: str) -> Found:
        """What ``name`` stands for; ``key`` is where the user's file says it."""
        if name not in self._found or is_reference(name):  # a file may have changed
            self._found[name] = self._load(name, key)
        return self._found[name]

    def _load(self, name: str, key: str) -> Found:
        if is_reference(name):
            target, code = load_reference(name, self.kind, key)
        elif name in self.ours:
            return Found(name, _import_ours(*self.ours[name].split(":")))
        else:
            target, code = self._load_installed(name, key)
        if self._needs and not callable(getattr(target, self._needs, None)):
            raise ConfigError(
                f"'{key}' = '{name}': '{getattr(target, '__name__', target)}' has no method "
                f"'{self._needs}', which every {self.kind} needs (docs/extending.md)"
            )
        return Found(name, target, code)

    def _unknown(self, name: str) -> str:
        """What to say of a name that nobody knows; of laws, which are many, what each one is."""
        hint = known_names(name, self.names()).partition("; valid")[0]
        if self.kind == "law":
            lines = "".join(f"\n  {known}: {self.describe(known)}" for known in self.names())
            return f"'{name}'{hint} is unknown; valid: FILE.py:NAME for your own, or one of{lines}"
        names = ", ".join(map(repr, self.names()))
        return f"'{name}'{hint} is unknown; valid: {names}, or FILE.py:NAME for your own"

    def _load_installed(self, name: str, key: str) -> tuple[Any, UserCode]:
        points = self._installed.get(name, [])
        if not points:
            raise ConfigError(f"'{key}' = {self._unknown(name)}")
        if len(points) > 1:
            owners = " and ".join(f"'{_distribution(point)}'" for point in points)
            raise ConfigError(
                f"'{key}' = '{name}': the packages {owners} both declare a {self.kind} of this "
                f"name; say which by its module, such as '{points[0].value}'"
            )
        return load_reference(points[0].value, self.kind, key)


def _import_ours(module: str, attribute: str) -> Any:
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        raise MissingExtraError(error.name, _EXTRAS[error.name]) from None


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _first_line(module: str, attribute: str) -> str:
    """First line of a docstring, read without running the module."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    tree = ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    documented: ast.Module | ast.ClassDef | ast.FunctionDef = tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == attribute:
            documented = node
    return (ast.get_docstring(documented) or "").partition("\n")[0].rstrip(".:")


def _laws() -> Ours:
    """The laws: the modules of ``balance.control``, with the one class in each that has a step."""
    package = importlib.util.find_spec("balance.control")
    assert package is not None
    found = {}
    for folder in package.submodule_search_locations or ():
        for path in sorted(Path(folder).iterdir()):
            file = path / "law.py" if path.is_dir() else path
            if file.is_file() and not path.name.startswith("_"):
                module = f"balance.control.{path.stem}" + (".law" if path.is_dir() else "")
                found[path.stem] = f"{module}:{_law_class(file)}"
    return found


def _law_class(file: Path) -> str:
    """The last class of a file: what it is there for."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)][-1]


def _quantities() -> Ours:
    """The quantities: the functions of a few modules that are made one."""
    package = importlib.util.find_spec("balance.recordings.quantities")
    assert package is not None
    found = {}
    for folder in package.submodule_search_locations or ():
        for path in sorted(Path(folder).glob("[!_]*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.decorator_list:
                    found[node.name] = f"{package.name}.{path.stem}:{node.name}"
    return found


_PUSHES = {
    "force": "balance.simulation.pushes:ForcePush",
    "half_sine": "balance.simulation.pushes:HalfSinePush",
    "impulse": "balance.simulation.pushes:ImpulsePush",
    "pendulum": "balance.simulation.pushes:PendulumPush",
}
_ENGINES = {
    "pinocchio": "balance.simulation.plants.pinocchio_plant:PinocchioPlant",
    "mujoco": "balance.simulation.plants.mujoco_plant:MujocoPlant",
}

_PROTOCOLS = {
    name: f"balance.studies.protocols.{name}:{target}"
    for name, target in (
        ("dysturbance_impulsive", "Impulsive"),
        ("dysturbance_sine_force", "SineForce"),
        ("dysturbance_sine_displacement", "SineDisplacement"),
        ("dysturbance_ramp_force", "RampForce"),
        ("dysturbance_ramp_displacement", "RampDisplacement"),
        ("benchbalance", "BenchBalance"),
        ("robocup_standing", "RobocupStanding"),
        ("balance_v1", "BalanceV1"),
    )
}

LAWS = Registry("law", "balance.laws", _laws, needs="step", guests=("policy",))
PUSHES = Registry("push", "balance.pushes", lambda: _PUSHES, needs="delivered")
ENGINES = Registry("engine", "balance.engines", lambda: _ENGINES, needs="step")
QUANTITIES = Registry("quantity", "balance.quantities", _quantities)
PROTOCOLS = Registry("protocol", "balance.protocols", lambda: _PROTOCOLS, needs="conditions")
