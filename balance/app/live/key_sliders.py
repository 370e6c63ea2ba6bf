"""Sliders for the numbers that a user's own law declares in its ``Config``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from balance.app.live.controls import note
from balance.app.live.ranges import Range
from balance.config import LawConfig

if TYPE_CHECKING:
    import viser

    from balance.app.live.lab import Lab

REACH = 10.0  # times the present value, where the law sets no bound
STEPS = 1000.0  # of a slider


def number_keys(law: LawConfig) -> dict[str, Range]:
    """A slider for each number among a law's own keys, within the bounds that it declares."""
    found = {}
    for key, field in type(law).model_fields.items():
        value = getattr(law, key)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if key in LawConfig.model_fields or not plain:
            continue
        bounds = {name: getattr(item, name) for item in field.metadata for name in _BOUNDS
                  if getattr(item, name, None) is not None}  # fmt: skip
        reach = max(REACH * abs(value), 1.0)
        low = float(bounds.get("ge", bounds.get("gt", min(0.0, -reach if value < 0 else 0.0))))
        high = float(bounds.get("le", bounds.get("lt", max(reach, low + reach))))
        step = 1.0 if isinstance(value, int) else (high - low) / STEPS
        # A bound that is itself forbidden is one step away.
        low += step * ("gt" in bounds and "ge" not in bounds)
        high -= step * ("lt" in bounds and "le" not in bounds)
        found[key] = Range(low, high, step, float(value), key, field.description or "")
    return found


_BOUNDS = ("ge", "gt", "le", "lt")


class KeySliders:
    """One slider for each number; each takes effect at once, without a jump in torque."""

    def __init__(self, lab: Lab, gui: viser.GuiApi) -> None:
        self._lab, self._gui = lab, gui
        assert lab.running is not None
        law = lab.running.config.controller
        keys = number_keys(law)
        if not keys:
            gui.add_html(note("This law declares no numbers in its Config."))
        for key, item in keys.items():
            self._slider(key, item, isinstance(getattr(law, key), int))

    def _slider(self, key: str, item: Range, whole: bool) -> None:
        handle: Any = self._gui.add_slider(
            key, min=item.low, max=item.high, step=item.step,
            initial_value=min(max(item.first, item.low), item.high), hint=item.hint or None,
        )  # fmt: skip

        def changed() -> None:
            value = item.clamp(handle.value)
            self._lab.actions.set_key(key, round(value) if whole else value)

        handle.on_update(lambda _: self._lab.do(changed))
