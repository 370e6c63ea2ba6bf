"""Sliders for the gains, in physical terms or raw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import viser

from balance.app.live.ranges import Range

if TYPE_CHECKING:
    from balance.app.live.lab import Lab

GAIN_SLIDERS: dict[str, tuple[tuple[str, float, float, float], ...]] = {
    "frequency and damping": (
        ("CoM, frequency [Hz]", 0.05, 4.0, 0.01),
        ("CoM, damping ratio", 0.001, 2.0, 0.001),
        ("Base, frequency [Hz]", 0.05, 4.0, 0.01),
        ("Base, damping ratio", 0.001, 4.0, 0.001),
    ),
    "raw": (
        ("K_P [N/m]", 10.0, 20000.0, 10.0),
        ("K_D [1/s]", 0.01, 30.0, 0.01),
        ("K_R [N m]", 1.0, 4000.0, 1.0),
        ("D [1/s]", 0.01, 60.0, 0.01),
    ),
}


class GainSliders:
    """Twelve sliders; each takes effect at once, without a jump in torque."""

    def __init__(self, lab: Lab, gui: viser.GuiApi) -> None:
        self._lab, self._gui = lab, gui
        self._folders: list[Any] = []
        kind = self._gui.add_dropdown(
            "Gains as", tuple(GAIN_SLIDERS), initial_value=next(iter(GAIN_SLIDERS))
        )
        holder = self._gui.add_folder("Gains", expand_by_default=True)

        def fill() -> None:
            for handle in self._folders:
                handle.remove()
            self._folders.clear()
            with holder:
                self._fill(kind.value if kind.value in GAIN_SLIDERS else "raw")

        kind.on_update(lambda _: lab.do(fill))
        fill()

    def _fill(self, kind: str) -> None:
        lab = self._lab
        assert lab.actions.gains is not None
        physical = kind != "raw"
        values = lab.actions.gains.physical if physical else lab.actions.gains.raw
        for row, (label, low, high, step) in enumerate(GAIN_SLIDERS[kind]):
            folder = self._gui.add_folder(label)
            self._folders.append(folder)
            with folder:
                for axis in range(3):
                    bounds = (low, high, step)
                    self._slider(physical, row, axis, float(values[row, axis]), bounds)

    def _slider(
        self, physical: bool, row: int, axis: int, value: float, bounds: tuple[float, float, float]
    ) -> None:
        actions, (low, high, step) = self._lab.actions, bounds
        # A config may have gains beyond the slider's usual range: then it reaches as far.
        low, high = min(low, round(value, 3)), max(high, round(value, 3))
        handle = self._gui.add_slider(
            "xyz"[axis], min=low, max=high, step=step, initial_value=round(value, 3)
        )

        def changed() -> None:
            assert actions.gains is not None
            wanted = Range(low, high, step, value, "the gain").clamp(handle.value)
            change = actions.gains.with_physical if physical else actions.gains.with_raw
            actions.set_gains(change(row, axis, wanted))

        handle.on_update(lambda _: self._lab.do(changed))
