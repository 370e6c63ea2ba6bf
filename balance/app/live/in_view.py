"""Takes cameras back from a robot that fell, until the whole of it is in the picture.

Lying it is wider than standing; a small window between two panels would cut off head and feet.
"""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

Array = NDArray[np.float64]

PAD = 0.12  # of the robot's height, by which bodies reach beyond their joints
UNTOUCHED_M = 1e-3


def way_back(
    points: Array, pad: float, position: Array, look_at: Array, fov: float, aspect: float
) -> float:
    """How far back a camera sees spheres of radius ``pad`` around ``points``; 0 if it does."""
    ahead = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= max(float(np.linalg.norm(right)), 1e-9)
    seen = (points - position) @ np.array([right, np.cross(right, ahead), ahead]).T
    half = np.tan(0.5 * fov) * np.array([aspect, 1.0])
    return max(0.0, float(((np.abs(seen[:, :2]) + pad) / half - seen[:, 2:]).max()))


class InView:
    """Remembers where cameras were, so that they are back when the robot stands again."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._moved: dict[int, tuple[Array, Array]] = {}

    def take_in(self, points: Array, height: float) -> None:
        """Move all cameras back that do not see these points (n, 3) of a robot."""
        for number, client in self._server.get_clients().items():
            camera = client.camera
            before, look_at = np.array(camera.position), np.array(camera.look_at)
            back = way_back(points, PAD * height, before, look_at, camera.fov, camera.aspect)
            if back > 0.0:
                after = before + back * (before - look_at) / np.linalg.norm(before - look_at)
                self._moved[number] = before, after
                _move(client, after)

    def come_back(self) -> None:
        """Undo it, but for cameras that were moved by hand since."""
        clients = self._server.get_clients()
        for number, (before, after) in self._moved.items():
            client = clients.get(number)
            if client is not None and np.abs(client.camera.position - after).max() < UNTOUCHED_M:
                _move(client, before)
        self._moved.clear()


def _move(client: viser.ClientHandle, position: Array) -> None:
    look_at = client.camera.look_at  # which a new position carries along
    client.camera.position = position
    client.camera.look_at = look_at
