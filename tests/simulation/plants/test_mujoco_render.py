"""Films can be made, and what would prevent one is said before the run."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from balance.config import ENGINES, PlantConfig, load_config
from balance.errors import FileError, MissingExtraError
from balance.robots import Robot
from balance.simulation.pendulum import swings
from balance.simulation.plants import make_plant
from balance.simulation.plants.render import check_encoder, render_recording
from balance.simulation.pushes import Push, make_pushes

pytest.importorskip("mujoco")
ffmpeg = pytest.importorskip("imageio_ffmpeg")

from balance.simulation.plants.film import Film  # noqa: E402
from balance.simulation.plants.visuals import _renumbered  # noqa: E402

Array = NDArray[np.float64]

ROUNDING = 2  # of 255
FRAMES_IN_200_MS = {".mp4": 7, ".gif": 5}
SMALL = (160, 176)  # pixels


@dataclasses.dataclass(frozen=True)
class ShortRecording:
    """The part of a recording that is drawn."""

    robot: Robot
    pushes: tuple[Push, ...]
    time: Array
    q: Array
    touches: Array


@pytest.fixture
def can_draw() -> None:
    """Skip where there is no OpenGL; the error for that has its own test."""
    try:
        Film.check_drawing()
    except FileError as error:
        pytest.skip(str(error))


def push(robot: Robot) -> Push:
    side = np.array([0.0, 1.0, 0.0])
    return Push(robot.push_body, np.zeros(3), side, False, 0.05, 0.06, 1.0, "constant")


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_film_shows_the_whole_recording(
    toro: Robot, tmp_path: Path, can_draw: None, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr("balance.simulation.plants.render.WIDTH", SMALL[0])
    monkeypatch.setattr("balance.simulation.plants.render.HEIGHT", SMALL[1])
    time = np.arange(0.0, 0.2, 1e-3)
    still = np.tile(toro.q_nominal, (200, 1))
    recording = ShortRecording(toro, (push(toro),), time, still, np.zeros((200, 6, 9)))
    path = tmp_path / f"film{suffix}"
    render_recording(recording, path)
    frames, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert frames == FRAMES_IN_200_MS[suffix]
    assert seconds == pytest.approx(0.2, abs=0.06)
    header = next(ffmpeg.read_frames(str(path)))
    assert tuple(header["size"]) == SMALL


def test_image_shows_the_robot_where_it_is_and_the_push(toro: Robot, can_draw: None) -> None:
    q = toro.q_nominal.copy()
    with Film(toro, (push(toro),), *SMALL) as film:
        before = film.image(0.0, q).astype(int)
        again = film.image(0.0, q).astype(int)
        pushed = film.image(0.055, q).astype(int)
        q[2] += 100.0
        empty = film.image(0.0, q).astype(int)
    assert np.abs(before - again).max() <= ROUNDING
    red = np.subtract(pushed, before)[..., 0] - np.subtract(pushed, before)[..., 1]
    assert (red > 50).any(), "the push is a red arrow"
    changed = np.abs(before - empty).max(axis=2) > 20
    rows, columns = np.nonzero(changed)
    assert 0.05 < changed.mean() < 0.5
    assert np.ptp(rows) > np.ptp(columns), "the robot stands upright"


def test_image_follows_a_robot_and_shows_what_it_touches(toro: Robot, can_draw: None) -> None:
    away, touch = toro.q_nominal.copy(), np.zeros((1, 2, 3))
    away[:2] += 1.0
    with Film(toro, (), *SMALL) as film:
        here, there = (film.image(0.0, q).astype(int) for q in (toro.q_nominal, away))
        touch[0] = [1.3, 1.0, 0.5], [0.0, 0.0, 500.0]
        touching = film.image(0.0, away, touch).astype(int)
    dark = [np.flatnonzero((image < 90).all(axis=2).any(axis=0)) for image in (here, there)]
    assert abs(dark[0].mean() - dark[1].mean()) < 0.2 * SMALL[0], "it stays near the middle"
    red, green, _ = np.moveaxis(touching - there, 2, 0)
    assert (red - green > 30).any(), "the force is an arrow of purple"


def test_image_shows_the_pendulum_coming_nearer_and_gone_in_the_end(
    toro: Robot, can_draw: None
) -> None:
    """As an orange ball, which comes from the left of the image: the robot's right."""
    q, pushes = toro.q_nominal, make_pushes(load_config("toro_push"), toro)
    balls = swings(toro, pushes, np.zeros(1), q[None])
    with Film(toro, (), *SMALL, balls) as film:
        images = [film.image(time, q).astype(int) for time in (0.1, 0.35, 5.0)]
    columns = []
    for image in images:
        orange = (image[..., 0] > image[..., 2] + 80) & (image[..., 1] > image[..., 2] + 30)
        columns.append(np.nonzero(orange)[1])
    assert len(columns[0]) > 5 and len(columns[1]) > 5 and len(columns[2]) == 0
    assert columns[0].mean() + 5 < columns[1].mean() < 0.5 * SMALL[0]


def test_robot_without_readable_meshes_is_drawn_as_boxes(
    toro: Robot, can_draw: None, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.urdf"
    bare.write_text("<robot name='bare'><link name='no such link'/></robot>")
    robot = dataclasses.replace(toro, urdf=bare)
    with Film(robot, (), *SMALL) as film:
        image = film.image(0.0, toro.q_nominal).astype(int)
        away = toro.q_nominal.copy()
        away[0] += 100.0
        assert np.abs(image - film.image(0.0, away)).max() > 50


def test_collada_parts_get_points_of_their_own() -> None:
    """Two nodes: the first of two parts, the second of one; coal restarts the second part at 0."""
    first, second, third = [[0, 1, 2], [0, 2, 3]], [[0, 1, 2]], [[7, 8, 9], [7, 9, 10]]
    expected = [*first, [4, 5, 6], *third]
    assert _renumbered(np.array([*first, *second, *third])).tolist() == expected


@pytest.mark.parametrize("name", ["film.avi", "film", "missing/film.mp4"])
def test_place_or_kind_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=name.split("/")[0]):
        check_encoder(tmp_path / name)


def test_machine_without_opengl_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no display\nat all")

    monkeypatch.setenv("MUJOCO_GL", "glfw")
    monkeypatch.setattr("mujoco.GLContext", fail)
    with pytest.raises(FileError, match=r"OpenGL .*no display at all.*libegl1"):
        check_encoder(tmp_path / "film.mp4")


@pytest.mark.parametrize("missing", ["mujoco", "imageio_ffmpeg"])
def test_missing_package_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    for name in ("film", "scene", "mujoco_model"):
        monkeypatch.delitem(sys.modules, f"balance.simulation.plants.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[mujoco\]'"):
        check_encoder(tmp_path / "film.gif")


def test_missing_engine_is_named_with_its_extra(
    toro: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    monkeypatch.setattr(ENGINES, "_found", {})  # what was found before is remembered
    for name in ("mujoco_plant", "mujoco_contacts", "mujoco_model"):
        monkeypatch.delitem(sys.modules, f"balance.simulation.plants.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[mujoco\]'"):
        make_plant(PlantConfig(engine="mujoco"), toro)


def test_old_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mujoco.__version__", "3.3.7")
    monkeypatch.delitem(sys.modules, "balance.simulation.plants.mujoco_model", raising=False)
    with pytest.raises(MissingExtraError, match=r"mujoco>=3\.13"):
        import balance.simulation.plants.mujoco_model  # noqa: F401
