"""Figures of the papers: the three-link mechanism, the falling cat, the choice of a base."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from matplotlib.figure import Figure
from PIL import Image

from balance.dynamics import falling_cat
from balance.dynamics.connection import shape_configuration
from balance.dynamics.three_link import three_link
from balance.plots.base_choice import base_choice_figure
from balance.plots.falling_cat import CatMotion, animate, snapshot_figure
from balance.plots.three_link import TURN, three_link_figure

S = np.array([-0.7, 0.5])


def words(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("d", [0.0, 1.0])
def test_frames_of_the_links_are_drawn_at_their_coms(d: float) -> None:
    figure = three_link_figure(S, d)
    assert {"A", "B", "1", "2", "$s_1$", "$s_2$", "d", "1 m"} <= set(words(figure))
    (axes,) = figure.axes
    drawn = np.array([line.get_xydata()[0] for line in axes.lines if len(line.get_xydata()) == 1])
    model = three_link(d)
    data = model.createData()
    q = shape_configuration(model, S)
    q[3:7] = pin.Quaternion(pin.utils.rotate("z", TURN)).coeffs()
    pin.forwardKinematics(model, data, q)
    for joint in (1, 2, 3):
        com = data.oMi[joint].act(model.inertias[joint].lever)[:2]
        assert np.linalg.norm(drawn - com, axis=1).min() < 1e-12


def motion(samples: int = 5) -> CatMotion:
    """A cat that arches and straightens."""
    cat = falling_cat()
    data = cat.createData()
    s = np.stack([np.zeros(samples), np.sin(np.linspace(0.0, np.pi, samples))], axis=1)
    poses = []
    for shape in s:
        pin.framesForwardKinematics(cat, data, shape_configuration(cat, shape))
        poses.append([data.oMf[cat.getFrameId(n)].homogeneous.copy() for n in ("front", "rear")])
    halves = np.array(poses)
    return CatMotion(
        time=np.linspace(0.0, 0.5, samples),
        front=halves[:, 0],
        rear=halves[:, 1],
        s=s,
        roll=np.zeros(samples),
        momenta=np.zeros((samples, 2, 3)),
        length=0.25,
        radius=0.09,
        roll_by_curvature=np.deg2rad(12.3),
    )


def test_snapshots_name_the_roll_that_the_curvature_gives() -> None:
    figure = snapshot_figure(motion(), count=3)
    figure.canvas.draw()
    assert any("12.3°" in text for text in words(figure))
    assert len(figure.axes) == 3 + 3


def test_animation_has_a_frame_for_every_second_sample_and_holds_the_last(tmp_path: Path) -> None:
    animate(motion(5), tmp_path / "cat.gif", hold=2)
    with Image.open(tmp_path / "cat.gif") as gif:
        # Equal frames are merged by the writer, which then shows the last one longer.
        assert 3 <= gif.n_frames <= 5


def test_every_base_has_its_line() -> None:
    time = np.linspace(0.0, 0.1, 4)
    com = {base: np.zeros((4, 3)) for base in ("B", "foot", "centroidal")}
    gaps = {base: [1e-8, 1e-9] for base in ("foot", "centroidal")}
    figure = base_choice_figure(time, com, [1e-3, 5e-4], gaps, [1e-7, 1e-8])
    labels = {line.get_label() for line in figure.axes[1].lines}
    assert {"error of base B", "foot against B", "centroidal against B"} <= labels
