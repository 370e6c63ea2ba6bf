"""The figure of contact forces by phase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from balance.errors import InputError
from balance.plots.phases import phases_figure
from balance.recordings.recording import Recording


def test_every_contact_has_a_panel_with_both_forces_and_every_phase_its_name(
    lifted_foot: Recording,
) -> None:
    figure = phases_figure(lifted_foot)
    panels = figure.axes
    assert len(panels) == 2
    assert panels[1].lines[0].get_ydata() == pytest.approx(lifted_foot.contact_wrenches[:, 1, 2])
    assert panels[1].lines[1].get_ydata() == pytest.approx(lifted_foot.wrenches[:, 1, 2])
    names = [text.get_text() for text in panels[0].texts if text.get_gid() == "phase"]
    assert names == [phase.name for phase in lifted_foot.config.phases]


def test_a_run_without_phases_is_refused(lifted_foot: Recording) -> None:
    with pytest.raises(InputError, match="no phases"):
        phases_figure(replace(lifted_foot, phase=None, bearing=None))
