"""A quantity: a figure of a run, with all that tables, figures and studies must know about it.

Ours are entries of :mod:`balance.recordings.quantities`.  A user's own is named under the key
``quantities`` of an experiment and may be

- a function of a recording, such as ``def sway(recording): ...``, best below ``@balance.quantity``,
- an object, or a class of one, with a method ``compute(recording)``.

Both give a number or None, and may have the attributes ``key``, ``label``, ``unit``, ``digits``,
``scale`` and ``better`` of :class:`Quantity`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from typing import Any, Literal

from balance.errors import ConfigError

Better = Literal["lower", "higher"]
NONE = "–"
OWN = "own"
UNTOLD_DIGITS = 4  # of a number of which nobody knows how large it is
_KEY = re.compile(r"[A-Za-z]\w{0,59}")


class Shown(Flag):
    """Where a quantity is shown, beside ``summary.json`` and the tables of studies."""

    NOWHERE = 0
    TERMINAL = auto()
    """Below a run."""
    COMPARE = auto()
    """In the table of a comparison."""
    BARS = auto()
    """In the figure of a comparison."""
    TUNING = auto()
    """In the report of a tuning study, before and after."""


@dataclass(frozen=True)
class Quantity:
    """A figure of a run.

    ``compute(recording)`` gives its value in SI units; times ``scale`` it is in ``unit``.  One
    whose ``digits`` are None is no number.  ``parts`` are those of a value with several, each with
    its words and where it is shown; ``first`` are the columns for the first name, and what belongs
    to it, of a value that has as many entries as there are names.
    """

    key: str
    label: str
    unit: str = ""
    digits: int | None = 2
    scale: float = 1.0
    better: Better | None = None
    none: str | None = None
    """What it means if there is no value; None for a quantity that always has one."""
    group: str = ""
    """Quantities of a group stand together."""
    shown: Shown = Shown.NOWHERE
    short: str = ""
    """Its label where there is little room."""
    full: float = 0.0
    """Up to where a bar of it may reach, in ``unit``; 0 if there is no such bound."""
    large: float | None = None
    """More than a run has that stays on its feet, SI; None if nobody knows."""
    whole: bool = False
    """Computed from the whole recording, also of a robot that fell, not just from before that."""
    needs: str = ""
    """A signal without which the quantity does not exist."""
    parts: Mapping[str, tuple[str, Shown]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    """Parts that are no numbers."""
    first: tuple[str, str] | None = None
    in_tables: bool = True
    text: str = ""
    compute: Callable[[Any], Any] | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns in tables: itself, or one for each part."""
        if not self.in_tables:
            return ()
        if self.first is not None:
            return tuple(Column(self, name) for name in self.first if name)
        if self.parts:
            return tuple(
                Column(self, f"{self.key}_{part}", words, shown)
                for part, (words, shown) in self.parts.items()
            )
        return (Column(self, self.key, "", self.shown),)

    def in_columns(self, value: Any) -> dict[str, Any]:
        """A value by the names of its columns."""
        if self.first is not None:
            found = next(iter(value.items()), (None, 0.0))
            return {name: x for name, x in zip(self.first, found, strict=True) if name}
        names = [column.name for column in self.columns]
        if not self.parts:
            return dict.fromkeys(names, value)
        items = [value[part] for part in self.parts] if isinstance(value, Mapping) else value
        return dict(zip(names, items, strict=True))


@dataclass(frozen=True)
class Column:
    """One value of a quantity, as tables and figures show it."""

    quantity: Quantity
    name: str
    words: str = ""
    shown: Shown = Shown.NOWHERE

    @property
    def is_number(self) -> bool:
        """Whether it has numbers."""
        whose = self.quantity
        texts = {f"{whose.key}_{part}" for part in whose.texts}
        if whose.first is not None:
            texts.add(whose.first[0])
        return whose.digits is not None and self.name not in texts

    @property
    def title(self) -> str:
        """What it is, with the unit."""
        return self._titled(self.quantity.label)

    @property
    def short_title(self) -> str:
        """The same where there is little room."""
        return self._titled(self.quantity.short or self.quantity.label)

    def _titled(self, label: str) -> str:
        unit = f" [{self.quantity.unit}]" if self.quantity.unit else ""
        return (f"{label}, {self.words}" if self.words else label) + unit

    def number(self, value: float) -> str:
        """A value in the quantity's unit, without the unit."""
        return f"{self.quantity.scale * value:.{self.quantity.digits}f}"

    def cell(self, value: float | str | None) -> str:
        """The same, a text as it is, or what it means that there is none."""
        if isinstance(value, str):
            return value
        return (self.quantity.none or NONE) if value is None else self.number(value)


def quantity(
    label: str, unit: str = "", digits: int | None = 2, **more: Any
) -> Callable[[Callable[[Any], Any]], Quantity]:
    """Make a function of a recording a quantity, whose key is the function's name."""

    def made(function: Callable[[Any], Any]) -> Quantity:
        text = (function.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        keys = {"key": function.__name__, **more}
        return Quantity(label=label, unit=unit, digits=digits, text=text, compute=function, **keys)

    return made


def as_quantity(target: Any, where: str, taken: Mapping[str, str]) -> Quantity:
    """A user's own quantity; ``taken`` are keys that it must not have, with whose they are."""
    if isinstance(target, type):
        try:
            target = target()
        except Exception as error:  # noqa: BLE001  # whatever a stranger's class does
            raise ConfigError(
                f"{where}: it cannot be made: {type(error).__name__}: {error}"
            ) from None
    if not isinstance(target, Quantity):
        target = _described(target, where)
    found: Quantity = replace(
        target,
        group=OWN,
        shown=Shown.TERMINAL | Shown.COMPARE,
        none=target.none or NONE,
        whole=True,
    )
    problem = _problem(found)
    if problem:
        raise ConfigError(f"{where}: {problem}")
    if found.key in taken:
        raise ConfigError(
            f"{where}: the key '{found.key}' is that of {taken[found.key]}; give it another "
            "name or an attribute 'key'"
        )
    return found


def _described(target: Any, where: str) -> Quantity:
    """A quantity from the attributes of a function or an object."""
    compute = getattr(target, "compute", target)
    if not callable(compute):
        raise ConfigError(
            f"{where}: it is neither a function of a recording nor has it a method 'compute', "
            "which a quantity needs (docs/extending.md)"
        )
    key = getattr(target, "key", None) or getattr(target, "__name__", type(target).__name__)
    text = str(getattr(target, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
    label = getattr(target, "label", None) or str(key).replace("_", " ")
    names = ("unit", "digits", "scale", "better")
    more: dict[str, Any] = {"digits": UNTOLD_DIGITS}
    more |= {name: getattr(target, name) for name in names if hasattr(target, name)}
    return Quantity(key=str(key), label=label, text=text, compute=compute, **more)


def _problem(found: Quantity) -> str | None:
    """What is wrong with a user's quantity, if anything is."""
    if not isinstance(found.key, str) or not _KEY.fullmatch(found.key):
        return f"its key {found.key!r} must be a name of up to 60 letters, digits and _"
    for name in ("label", "unit"):
        if not isinstance(getattr(found, name), str):
            return f"its {name} {getattr(found, name)!r} must be a text"
    digits, scale = found.digits, found.scale
    if type(digits) is not int or not 0 <= digits <= 12:
        return f"its digits {digits!r} must be a whole number from 0 to 12"
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not math.isfinite(scale):
        return f"its scale {scale!r} must be a number"
    if found.better not in (None, "lower", "higher"):
        return f"its better {found.better!r} must be 'lower', 'higher' or None"
    if found.parts or found.first or not callable(found.compute):
        return "it must be one number: 'parts' and 'first' are for quantities of our own"
    return None
