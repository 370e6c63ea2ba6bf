"""A recording as one HTML file that plays by itself, without a server or the internet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from balance.app.live.layers import LAYERS, Overlays
from balance.app.live.observer import Observer
from balance.app.live.robot_view import RobotView
from balance.app.live.server import open_server
from balance.app.live.surroundings import LIGHT, Surroundings, Theme
from balance.config.user_code import shown_name
from balance.control.parts.setpoints import setpoint_path
from balance.errors import FileError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.recording import Recording

FRAMES_PER_S = 30
MAX_FRAMES = 3000


def export_html(
    recording: Recording,
    path: Path,
    theme: Theme = LIGHT,
    shown: dict[str, bool] | None = None,
) -> Path:
    """Write ``path``: viser's player with the whole motion inside."""
    shown = shown or {name: on for name, (_, on) in LAYERS.items()}
    robot = recording.robot
    server = open_server("127.0.0.1", 0)
    try:
        # A page pales while it loads the environment map, anew in each round.
        surroundings = Surroundings(server, theme, environment_map=False)
        surroundings.look_at(robot)
        view = RobotView(server, robot)
        observer = Observer(robot, setpoint_path(recording.config.controller.setpoints, robot))
        overlays = Overlays(server, observer, shown)
        overlays.set_pushes(recording.pushes)
        rows = frame_rows(recording)
        serializer = server.get_scene_serializer()
        for row in rows:
            now = observer.at(recording, int(row))
            view.draw(now.q)
            overlays.draw(now)
            serializer.insert_sleep(1.0 / FRAMES_PER_S)
        text = serializer.as_html(dark_mode=theme.dark)
    finally:
        server.stop()
    return _write(
        path, _titled(text, f"{robot.name}: {shown_name(recording.config.controller.law)}")
    )


def frame_rows(recording: Recording) -> np.ndarray:
    """Rows to show, evenly in time; long recordings are cut."""
    end = float(recording.time[-1])
    moments = np.arange(0.0, end + 0.5 / FRAMES_PER_S, 1.0 / FRAMES_PER_S)[:MAX_FRAMES]
    return np.searchsorted(recording.time, moments).clip(max=recording.time.size - 1)


def _titled(text: str, title: str) -> str:
    safe = "".join(c for c in title if c.isalnum() or c in " :._-")
    begin, end = text.find("<title>"), text.find("</title>")
    if begin < 0 or end < 0:
        return text
    return f"{text[:begin]}<title>{safe}{text[end:]}"


def _write(path: Path, text: str) -> Path:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None
    return path
