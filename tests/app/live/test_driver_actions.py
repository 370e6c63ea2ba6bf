"""What the driver does to the robot, without a page."""

from __future__ import annotations

import balance
from balance.app.live.driver_actions import Gusts
from balance.app.live.panel_settings import PanelSettings
from balance.robots import Robot


def test_gusts_come_at_random_but_the_same_each_time(toro: Robot) -> None:
    settings = PanelSettings(balance.load_config("toro_push"))

    def course() -> list[tuple[float, object]]:
        gusts = Gusts(seed=3)
        assert gusts.due(0.0, settings, toro) is None
        gusts.on = True
        found = [(0.1 * i, gusts.due(0.1 * i, settings, toro)) for i in range(100)]
        return [(time, item) for time, item in found if item is not None]

    first = course()
    assert 3 <= len(first) <= 30  # about one in a second
    assert first == course()
