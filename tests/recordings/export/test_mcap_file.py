"""MCAP files, read back with the libraries of Foxglove: numbers, robot, events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("foxglove_schemas_protobuf", reason="pip install 'pin-balance[mcap]'")
pytest.importorskip("mcap_protobuf", reason="pip install mcap-protobuf-support")

from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

from balance.recordings.export import export
from balance.recordings.recording import Recording

POSE_TOLERANCE = 1e-12  # m, and entries of a rotation matrix
Log = dict[str, list[float]]


@pytest.fixture(scope="module")
def path(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(recording, tmp_path_factory.mktemp("mcap") / "run.mcap", "mcap")


def messages(path: Path, topic: str) -> list[tuple[float, Any]]:
    """Time (s) and decoded message."""
    with open(path, "rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()], validate_crcs=True)
        found = reader.iter_decoded_messages(topics=[topic])
        return [(message.log_time * 1e-9, decoded) for _, _, message, decoded in found]


def test_the_signals_are_the_columns_of_the_log_bit_for_bit(path: Path, log: Log) -> None:
    found = messages(path, "/signals")
    assert len(found) == len(log["time"])
    for name, wanted in log.items():
        values = np.array([getattr(message, name) for _, message in found])
        assert values.tobytes() == np.array(wanted, dtype=values.dtype).tobytes(), name
    assert np.allclose([time for time, _ in found], log["time"], atol=0.5e-9)


def test_the_channel_of_the_signals_says_their_units(path: Path, log: Log) -> None:
    with open(path, "rb") as stream:
        summary = make_reader(stream).get_summary()
    assert summary is not None
    channel = next(c for c in summary.channels.values() if c.topic == "/signals")
    assert set(channel.metadata) == set(log)
    assert channel.metadata["com_error_x"] == "m" and channel.metadata["torque_left_knee"] == "N m"


def test_the_links_stand_in_the_world_where_pinocchio_puts_them(
    path: Path, recording: Recording
) -> None:
    model, data = recording.robot.model, recording.robot.model.createData()
    fixed = messages(path, "/tf_static")
    moving = messages(path, "/tf")
    assert len(fixed) == 1
    steps = np.diff([time for time, _ in moving])
    assert steps[:-1] == pytest.approx(0.01) and steps[-1] <= 0.01 + 1e-9
    for time, message in (moving[0], moving[len(moving) // 2], moving[-1]):
        at = {"world": pin.SE3.Identity()}
        todo = [*message.transforms, *fixed[0][1].transforms]
        while todo:  # parents first, whatever the order
            part = todo.pop(0)
            if part.parent_frame_id not in at:
                todo.append(part)
                continue
            p, o = part.translation, part.rotation
            pose = pin.SE3(pin.Quaternion(o.w, o.x, o.y, o.z), np.array([p.x, p.y, p.z]))
            at[part.child_frame_id] = at[part.parent_frame_id] * pose
        row = int(np.argmin(np.abs(recording.time - time)))
        pin.framesForwardKinematics(model, data, recording.q[row])
        bodies = [frame for frame in model.frames if frame.type == pin.FrameType.BODY]
        assert set(at) == {"world", *(frame.name for frame in bodies)}
        for frame in bodies:
            wanted = data.oMf[model.getFrameId(frame.name)].homogeneous
            assert np.abs(at[frame.name].homogeneous - wanted).max() < POSE_TOLERANCE, frame.name


def test_what_is_drawn_hangs_on_links_that_have_a_pose(path: Path, recording: Recording) -> None:
    [(time, update)] = messages(path, "/robot")
    links = {frame.name for frame in recording.robot.model.frames}
    assert time == 0.0 and len(update.entities) > 20
    for entity in update.entities:
        assert entity.frame_id in links and entity.frame_locked
        [part] = entity.triangles
        assert max(part.indices) < len(part.points) and part.color.a > 0.0


def test_the_urdf_is_a_ros_2_string_of_the_robots_file(path: Path, recording: Recording) -> None:
    with open(path, "rb") as stream:
        reader = make_reader(stream)
        [(schema, channel, message)] = reader.iter_messages(topics=["/robot_description"])
    assert (schema.name, channel.message_encoding) == ("std_msgs/msg/String", "cdr")
    length = int.from_bytes(message.data[4:8], "little")
    assert message.data[8 : 8 + length - 1] == recording.robot.urdf.read_bytes()


def test_the_push_and_the_verdict_are_events_and_the_summary_is_attached(
    path: Path, recording: Recording
) -> None:
    found = [(time, line.name, line.message) for time, line in messages(path, "/events")]
    [(begin, push, text), (end, verdict, words)] = found
    assert (push, verdict) == ("push", "verdict")
    assert begin == pytest.approx(0.1) and f"{recording.pushes[0].impulse:.4g} N s" in text
    assert end == pytest.approx(recording.time[-1]) and words.startswith("upright: not settled")
    with open(path, "rb") as stream:
        [attachment] = make_reader(stream).iter_attachments()
    assert json.loads(attachment.data)["robot"] == "toro"
