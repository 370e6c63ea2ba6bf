"""An ``.rrd`` file, as the Rerun viewer opens it: the robot moves, with its signals beside it.

Entities: ``world/LINK/...``, the links with what they look like; ``signals/NAME``, one for each
signal of the log with a series for each of its columns; ``events``; the texts ``summary`` and
``urdf``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from balance.recordings.disk_arrays import chunks
from balance.recordings.export.events import events_of
from balance.recordings.export.links import WORLD, links_of, order, poses, shown_rows, urdf_text
from balance.recordings.export.looks import looks_of
from balance.recordings.export.tables import signals_in
from balance.recordings.recording import Recording

TIMELINE = "time"
ROWS_AT_ONCE = 16_384


def write_rerun(recording: Recording, path: Path) -> None:
    """Write all of a recording."""
    import rerun as rr

    stream = rr.RecordingStream("balance", recording_id=path.stem)
    stream.save(path, default_blueprint=_blueprint())
    _write_texts(stream, recording)
    _write_robot(stream, recording)
    _write_signals(stream, recording)
    for event in events_of(recording):
        stream.set_time(TIMELINE, duration=event.time_s)
        level = rr.TextLogLevel.WARN if event.bad else rr.TextLogLevel.INFO
        stream.log("events", rr.TextLog(f"{event.kind.value}: {event.text}", level=level))
    stream.flush()
    stream.disconnect()


def _blueprint() -> Any:
    """What the viewer shows first: the robot, its CoM and the forces beside it, events below."""
    import rerun.blueprint as rrb

    shown = ("com_error", "momentum", "contact_wrenches", "torques")
    series = [rrb.TimeSeriesView(origin=f"signals/{name}", name=name) for name in shown]
    return rrb.Blueprint(
        rrb.Vertical(
            rrb.Horizontal(rrb.Spatial3DView(origin=WORLD, name="robot"), rrb.Vertical(*series)),
            rrb.TextLogView(origin="events", name="events"),
            row_shares=[5, 1],
        ),
        collapse_panels=True,
    )


def _write_texts(stream: Any, recording: Recording) -> None:
    import rerun as rr

    summary = json.dumps(recording.summary(), indent=2)
    stream.log("summary", rr.TextDocument(summary, media_type="application/json"), static=True)
    stream.log("urdf", rr.TextDocument(urdf_text(recording.robot)), static=True)
    stream.log(WORLD, rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)


def _write_robot(stream: Any, recording: Recording) -> None:
    import rerun as rr

    links, rows = links_of(recording.robot), shown_rows(recording)
    q, times = np.asarray(recording.q[rows]), np.asarray(recording.time[rows])
    paths = {name: f"{WORLD}/{path}" for name, path in order(links).items()}
    for link in links:
        if link.joint is None:
            positions, quaternions = poses(link, recording.robot.model, q[:1])
            pose = rr.Transform3D(translation=positions[0], quaternion=quaternions[0])
            stream.log(paths[link.name], pose, static=True)
            continue
        positions, quaternions = poses(link, recording.robot.model, q)
        stream.send_columns(
            paths[link.name],
            indexes=[rr.TimeColumn(TIMELINE, duration=times)],
            columns=rr.Transform3D.columns(translation=positions, quaternion=quaternions),
        )
    for number, look in enumerate(looks_of(recording.robot)):
        mesh = rr.Mesh3D(
            vertex_positions=look.points,
            triangle_indices=look.triangles,
            albedo_factor=look.colour,
        )
        stream.log(f"{paths[look.link]}/look_{number}", mesh, static=True)


def _write_signals(stream: Any, recording: Recording) -> None:
    import rerun as rr

    found = signals_in(recording)
    for signal, _, columns in found:
        names = [f"{name} [{unit}]" for name, unit in columns.items()]
        stream.log(f"signals/{signal.name}", rr.SeriesLines(names=names), static=True)
    for rows in chunks(recording.time.size, ROWS_AT_ONCE):
        times = rr.TimeColumn(TIMELINE, duration=np.asarray(recording.time[rows]))
        for signal, values, columns in found:
            numbers = np.ascontiguousarray(values[rows], dtype=np.float64)
            parts = rr.Scalars.columns(scalars=numbers.ravel())
            lengths = np.full(len(numbers), len(columns))
            stream.send_columns(
                f"signals/{signal.name}", indexes=[times], columns=parts.partition(lengths)
            )
