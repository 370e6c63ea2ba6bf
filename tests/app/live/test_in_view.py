"""Cameras go back from what they do not see whole, and come back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from balance.app.live.in_view import InView, way_back

POSITION, TARGET, FOV, ASPECT = np.array([3.0, -2.0, 1.2]), np.array([0.0, 0.0, 0.8]), 0.66, 0.65


class FakeCamera:
    """Carries the point looked at along, as viser's does."""

    def __init__(self) -> None:
        self._position, self.look_at = POSITION.copy(), TARGET.copy()
        self.fov, self.aspect = FOV, ASPECT

    @property
    def position(self) -> np.ndarray:
        return self._position

    @position.setter
    def position(self, position: np.ndarray) -> None:
        self.look_at = self.look_at + position - self._position
        self._position = position


class FakeServer:
    """One page."""

    def __init__(self) -> None:
        self.client: Any = type("Client", (), {"camera": FakeCamera()})()

    def get_clients(self) -> dict[int, Any]:
        return {7: self.client}


def seen(points: np.ndarray, camera: FakeCamera) -> np.ndarray:
    """Angles from the axis of view as shares of half the picture, by its own way."""
    ahead = (camera.look_at - camera.position) / np.linalg.norm(camera.look_at - camera.position)
    right = np.array([ahead[1], -ahead[0], 0.0]) / np.hypot(ahead[0], ahead[1])
    above = np.cross(right, ahead)
    away = points - camera.position
    half = np.tan(FOV / 2)
    return np.abs([away @ right / ASPECT, away @ above]) / (away @ ahead) / half


def test_what_a_camera_sees_whole_does_not_move_it() -> None:
    server = FakeServer()
    InView(server).take_in(TARGET + np.array([[0.0, 0.0, 0.1]]), 1.7)  # type: ignore[arg-type]
    np.testing.assert_array_equal(server.client.camera.position, POSITION)


@pytest.mark.parametrize("pad", [0.0, 0.2])
def test_the_way_back_brings_the_outermost_point_to_the_edge(pad: float) -> None:
    lying = np.array([[0.9, 0.6, 0.2], [-0.8, -0.5, 0.1], [0.0, 0.1, 0.3]])
    back = way_back(lying, pad, POSITION, TARGET, FOV, ASPECT)
    camera = FakeCamera()
    camera.position = POSITION + back * (POSITION - TARGET) / np.linalg.norm(POSITION - TARGET)
    largest = seen(lying, camera).max()
    assert back > 0.1
    assert largest == pytest.approx(1.0) if pad == 0.0 else 0.5 < largest < 0.95


def test_a_camera_looks_where_it_did_and_comes_back_unless_it_was_moved() -> None:
    server, lying = FakeServer(), np.array([[0.9, 0.6, 0.2], [-0.8, -0.5, 0.1]])
    camera, view = server.client.camera, InView(server)  # type: ignore[arg-type]
    view.take_in(lying, 1.7)
    assert np.linalg.norm(camera.position - POSITION) > 0.1
    np.testing.assert_allclose(camera.look_at, TARGET)
    view.come_back()
    np.testing.assert_allclose(camera.position, POSITION)
    view.take_in(lying, 1.7)
    camera.position = by_hand = np.array([9.0, 0.0, 1.0])
    view.come_back()
    np.testing.assert_array_equal(camera.position, by_hand)
