"""A user's own quantities of a run: computed once, when the run is over, and then only read.

Whatever goes wrong with one costs no more than its value: it has none, and a note says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.config.quantity import OWN, Quantity, Shown
from balance.config.user_code import told

if TYPE_CHECKING:
    from balance.recordings.recording import Recording

OWN_KEY = "own_quantities"
LONGEST_TEXT = 200  # of what a file says about a quantity


@dataclass(frozen=True)
class OwnValue:
    """The value of a user's own quantity; if it has none, ``note`` may say why."""

    quantity: Quantity
    value: float | None
    note: str | None = None

    def facts(self) -> dict[str, Any]:
        """What ``summary.json`` says beside the value, so that nobody needs the code to show it."""
        q = self.quantity
        return {
            "label": q.label, "unit": q.unit, "digits": q.digits, "scale": q.scale,
            "better": q.better, "note": self.note,
        }  # fmt: skip


def measure(recording: Recording, quantities: Iterable[Quantity]) -> tuple[OwnValue, ...]:
    """The values of quantities, each of which sees the recording but cannot change it."""
    return tuple(_measure(recording.read_only(), one) for one in quantities)


def _measure(recording: Recording, quantity: Quantity) -> OwnValue:
    assert quantity.compute is not None
    try:
        value = quantity.compute(recording)
    except KeyboardInterrupt:  # the run is over and must not be lost
        return OwnValue(quantity, None, f"'{quantity.key}' was interrupted by the user")
    except Exception as error:  # noqa: BLE001  # whatever a stranger's code does
        code = getattr(quantity.compute, "__code__", None)
        file = None if code is None else Path(code.co_filename)
        return OwnValue(quantity, None, f"'{quantity.key}' failed: {told(error, file)}")
    if value is None:
        return OwnValue(quantity, None)
    if isinstance(value, bool) or not isinstance(value, Real):
        kind = type(value).__name__
        return OwnValue(quantity, None, f"'{quantity.key}' gave a {kind}, not a number")
    number = float(value)
    if not math.isfinite(number):
        return OwnValue(quantity, None, f"'{quantity.key}' gave {number}, not a finite number")
    return OwnValue(quantity, number)


def stored_values(summary: Mapping[str, Any]) -> tuple[OwnValue, ...]:
    """The values that a ``summary.json`` has; an error of whatever kind if it makes no sense."""
    return tuple(_stored(key, summary) for key in summary.get(OWN_KEY, {}))


def _stored(key: str, summary: Mapping[str, Any]) -> OwnValue:
    facts, value = summary[OWN_KEY][key], summary[key]
    quantity = Quantity(
        key=key,
        label=str(facts["label"])[:LONGEST_TEXT],
        unit=str(facts["unit"])[:LONGEST_TEXT],
        digits=min(max(int(facts["digits"]), 0), 12),
        scale=float(facts["scale"]),
        better=facts["better"] if facts["better"] in ("lower", "higher") else None,
        group=OWN,
        shown=Shown.TERMINAL | Shown.COMPARE,
    )
    note = facts["note"]
    shown = None if note is None else str(note)[:LONGEST_TEXT]
    return OwnValue(quantity, None if value is None else float(value), shown)
