"""MCAP, as Foxglove reads it: open the file and the robot moves.

Topics: ``/signals``, one message per control period with every column of the log; ``/tf``, the pose
of each moving link in the one that it hangs on, and ``/tf_static``, of each fixed one; ``/robot``,
what the links look like; ``/robot_description``, the URDF; ``/events``.  The units of the columns
are metadata of the channel of the signals, and ``summary.json`` is attached.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.recordings.disk_arrays import chunks
from balance.recordings.export.events import events_of
from balance.recordings.export.fixed_messages import FixedMessage
from balance.recordings.export.links import links_of, poses, shown_rows, urdf_text
from balance.recordings.export.looks import looks_of
from balance.recordings.export.tables import signals_in, units_of
from balance.recordings.recording import Recording

if TYPE_CHECKING:
    from mcap.writer import Writer

CHUNK_BYTES = 4_000_000


def write_mcap(recording: Recording, path: Path) -> None:
    """Write all of a recording."""
    from mcap.writer import Writer

    with open(path, "wb") as stream:
        writer = Writer(stream, chunk_size=CHUNK_BYTES)
        writer.start(library="balance")
        first = nanoseconds(recording.time[:1])[0]
        _write_description(writer, recording, first)
        _write_looks(writer, recording, first)
        _write_events(writer, recording)
        _write_motion(writer, recording)
        _write_signals(writer, recording)
        summary = json.dumps(recording.summary(), indent=2).encode()
        writer.add_attachment(0, first, "summary.json", "application/json", summary)
        writer.finish()


def nanoseconds(times: Any) -> list[int]:
    """Times in s as whole nanoseconds."""
    found: list[int] = np.rint(np.asarray(times) * 1e9).astype(np.int64).tolist()
    return found


class _Topic:
    """A channel of protobuf messages."""

    def __init__(
        self, writer: Writer, topic: str, name: str, schema: Any, metadata: dict[str, str]
    ) -> None:
        self._writer = writer
        schema_id = writer.register_schema(name, "protobuf", schema.SerializeToString())
        self._id = writer.register_channel(topic, "protobuf", schema_id, metadata)
        self._count = 0

    def write(self, time_ns: int, data: bytes) -> None:
        self._writer.add_message(self._id, time_ns, data, time_ns, self._count)
        self._count += 1


def _topic_of(writer: Writer, topic: str, message: Any) -> _Topic:
    """A channel of one of Foxglove's own messages."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    described, todo = FileDescriptorSet(), [message.DESCRIPTOR.file]
    known: dict[str, Any] = {}
    while todo:
        file = todo.pop()
        if file.name not in known:
            known[file.name] = file
            todo += file.dependencies
    # Readers want a file behind those that it builds on.
    for name in _dependencies_first(known):
        known[name].CopyToProto(described.file.add())
    return _Topic(writer, topic, message.DESCRIPTOR.full_name, described, {})


def _dependencies_first(files: dict[str, Any]) -> list[str]:
    done: list[str] = []

    def add(name: str) -> None:
        for needed in files[name].dependencies:
            add(needed.name)
        if name not in done:
            done.append(name)

    for name in files:
        add(name)
    return done


def _write_description(writer: Writer, recording: Recording, time_ns: int) -> None:
    """The URDF as ROS 2 says it, which is how Foxglove takes one from a topic."""
    text = urdf_text(recording.robot).encode() + b"\0"
    schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data\n")
    channel = writer.register_channel("/robot_description", "cdr", schema)
    data = b"\0\1\0\0" + struct.pack("<I", len(text)) + text  # little-endian CDR
    writer.add_message(channel, time_ns, data, time_ns)


def _write_looks(writer: Writer, recording: Recording, time_ns: int) -> None:
    """One picture of all links; each stays with its link's frame."""
    from foxglove_schemas_protobuf.SceneUpdate_pb2 import SceneUpdate

    update = SceneUpdate()
    for number, look in enumerate(looks_of(recording.robot)):
        entity = update.entities.add(
            id=f"{look.link} {number}", frame_id=look.link, frame_locked=True
        )
        part = entity.triangles.add()
        part.pose.orientation.w = 1.0
        part.color.r, part.color.g, part.color.b, part.color.a = look.colour
        for x, y, z in look.points.tolist():
            part.points.add(x=x, y=y, z=z)
        part.indices.extend(look.triangles.ravel().tolist())
    _topic_of(writer, "/robot", SceneUpdate).write(time_ns, update.SerializeToString())


def _write_events(writer: Writer, recording: Recording) -> None:
    from foxglove_schemas_protobuf.Log_pb2 import Log

    topic = _topic_of(writer, "/events", Log)
    for event in events_of(recording):
        time_ns = nanoseconds([event.time_s])[0]
        line = Log(
            level=Log.Level.WARNING if event.bad else Log.Level.INFO,
            message=event.text,
            name=event.kind.value,
        )
        line.timestamp.FromNanoseconds(time_ns)
        topic.write(time_ns, line.SerializeToString())


def _write_motion(writer: Writer, recording: Recording) -> None:
    from foxglove_schemas_protobuf.FrameTransforms_pb2 import FrameTransforms

    links, model = links_of(recording.robot), recording.robot.model
    rows = shown_rows(recording)
    times, q = nanoseconds(recording.time[rows]), np.asarray(recording.q[rows])
    still = [link for link in links if link.joint is None]
    moving = [link for link in links if link.joint is not None]
    for topic, shown, count in (("/tf_static", still, 1), ("/tf", moving, len(rows))):
        channel = _topic_of(writer, topic, FrameTransforms)
        message = FrameTransforms()
        parts = [
            message.transforms.add(parent_frame_id=link.parent, child_frame_id=link.name)
            for link in shown
        ]
        values = [np.hstack(poses(link, model, q[:count])).tolist() for link in shown]
        for row in range(count):
            for part, value in zip(parts, values, strict=True):
                part.timestamp.FromNanoseconds(times[row])
                p, o = part.translation, part.rotation
                p.x, p.y, p.z, o.x, o.y, o.z, o.w = value[row]
            channel.write(times[row], message.SerializeToString())


def _write_signals(writer: Writer, recording: Recording) -> None:
    found = signals_in(recording)
    kinds = {name: signal.dtype for signal, _, columns in found for name in columns}
    message = FixedMessage("Signals", kinds)
    units = units_of(recording)
    topic = _Topic(writer, "/signals", message.name, message.schema(), units)
    writer.add_metadata("units", units)
    for rows in chunks(recording.time.size):
        table = message.encode([column for _, values, _ in found for column in values[rows].T])
        for time_ns, data in zip(nanoseconds(recording.time[rows]), table, strict=True):
            topic.write(time_ns, data.tobytes())
