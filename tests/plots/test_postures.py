"""The figure of a sequence of postures."""

from __future__ import annotations

from pathlib import Path

import pytest

from balance.config import load_config
from balance.plots import draw_postures
from balance.plots.postures import VIEWS, postures_figure
from balance.robots import load_robot
from balance.robots.objects import WorldObject, world_objects
from balance.robots.sequence import PlannedPhase, plan_phases

MOTION = Path(__file__).parents[1] / "samples" / "motions" / "toro_palm_on_table.yaml"
Sequence = tuple[tuple[PlannedPhase, ...], dict[str, WorldObject]]


@pytest.fixture(scope="module")
def motion() -> Sequence:
    config = load_config(MOTION)
    return plan_phases(config, load_robot("toro"))[:2], world_objects(config.objects)


def test_every_phase_has_a_column_under_its_name_and_every_view_a_row(motion: Sequence) -> None:
    phases, objects = motion
    figure = postures_figure(phases, objects)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == len(VIEWS) * len(phases)
    titles = [axes.get_title() for axes in shown if axes.get_title()]
    assert titles == [f"{k}. {phase.name}" for k, phase in enumerate(phases, 1)]


def test_the_com_is_drawn_where_it_is(motion: Sequence) -> None:
    phases, objects = motion
    axes = postures_figure(phases, objects).axes[0]
    com = phases[0].robot.com()
    dots = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert [(x, z) for x, z in dots] == [(com[0], com[2])]


def test_equal_postures_give_equal_files(motion: Sequence, tmp_path: Path) -> None:
    first = draw_postures(*motion, tmp_path / "a")
    second = draw_postures(*motion, tmp_path / "b", pdf=True)
    assert [path.name for path in second] == ["postures.png", "postures.pdf"]
    assert first[0].read_bytes() == second[0].read_bytes()
