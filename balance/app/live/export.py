"""A recording as one HTML file that plays by itself, without a server or the internet."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from balance.app.live.history import charted
from balance.app.live.layers import LAYERS, Overlays
from balance.app.live.observer import Instant, Observer
from balance.app.live.replay_page import replay_page
from balance.app.live.robot_view import RobotView
from balance.app.live.server import open_server
from balance.app.live.surroundings import LIGHT, Surroundings, Theme
from balance.app.live.svg_charts import charts, span_of
from balance.control.parts.setpoints import setpoint_path
from balance.errors import FileError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.recording import Recording
from balance.recordings.signals import sole_labels

FRAMES_PER_S = 30
MAX_FRAMES = 3000


def export_html(
    recording: Recording,
    path: Path,
    theme: Theme = LIGHT,
    shown: dict[str, bool] | None = None,
) -> Path:
    """Write ``path``: viser's player with the whole motion inside, verdict and plots beside it."""
    shown = shown or {name: on for name, (_, on) in LAYERS.items()}
    robot, soles = recording.robot, sole_labels(recording.robot)
    rows = frame_rows(recording)
    server = open_server("127.0.0.1", 0)
    try:
        # A page pales while it loads the environment map, anew in each round.
        surroundings = Surroundings(server, theme, environment_map=False)
        surroundings.look_at(robot)
        surroundings.follow.begin(robot.com(), 1.9 * float(robot.com()[2]))
        view = RobotView(server, robot)
        observer = Observer(robot, setpoint_path(recording.config.controller.setpoints, robot))
        overlays = Overlays(server, observer, shown)
        overlays.set_pushes(recording.pushes)

        def draw(row: int) -> Instant:
            now = observer.at(recording, row)
            view.draw(now.q)
            overlays.draw(now)
            return now

        # Once through before it counts: a player that begins anew takes all nodes back to how the
        # file began, but not those that came later.
        values = [charted(draw(int(row))) for row in rows]
        draw(int(rows[0]))
        serializer = server.get_scene_serializer()
        for row in rows:
            surroundings.follow.draw(draw(int(row)).com)
            serializer.insert_sleep(1.0 / FRAMES_PER_S)
        player = serializer.as_html(dark_mode=theme.dark)
    finally:
        server.stop()
    columns = {key: np.array([row[key] for row in values]) for key in values[0]}
    time = recording.time[rows]
    drawn = charts(time, columns, soles, recording.pushes)
    return _write(path, replay_page(player, recording, drawn, soles, span_of(time), theme))


def frame_rows(recording: Recording) -> np.ndarray:
    """Rows to show, evenly in time; long recordings are cut."""
    end = float(recording.time[-1])
    moments = np.arange(0.0, end + 0.5 / FRAMES_PER_S, 1.0 / FRAMES_PER_S)[:MAX_FRAMES]
    return np.searchsorted(recording.time, moments).clip(max=recording.time.size - 1)


def _write(path: Path, text: str) -> Path:
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None
    return path
