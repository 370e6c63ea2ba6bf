"""Rerun's files, read back with Rerun's own reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rerun.chunk", reason="pip install 'pin-balance[rerun]'")

from rerun.chunk import RrdReader

from balance.recordings.export import export
from balance.recordings.export.links import links_of, order, poses, shown_rows
from balance.recordings.recording import Recording
from balance.recordings.signals import SIGNALS, Origin

Chunks = dict[str, list[Any]]
OTHER_RUNS = (Origin.ESTIMATE, Origin.PHASES, Origin.CONTACTS, Origin.STEPS)
TIME_TOLERANCE_S = 1e-9  # Rerun counts nanoseconds


@pytest.fixture(scope="module")
def chunks(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Chunks:
    """Record batches by entity."""
    path = export(recording, tmp_path_factory.mktemp("rerun") / "run.rrd", "rerun")
    found: Chunks = {}
    for chunk in RrdReader(path).stream():
        found.setdefault(str(chunk.entity_path), []).append(chunk.to_record_batch())
    return found


def column(chunks: Chunks, entity: str, ending: str) -> list[Any]:
    """All rows of a component of an entity."""
    return [
        value
        for batch in chunks[entity]
        for name in batch.schema.names
        if name.endswith(ending)
        for value in batch.column(name).to_pylist()
    ]


def seconds(chunks: Chunks, entity: str) -> np.ndarray:
    values = [
        batch.column("time").cast("int64").to_numpy()
        for batch in chunks[entity]
        if "time" in batch.schema.names
    ]
    return 1e-9 * np.concatenate(values)


def test_the_signals_are_those_of_the_recording(recording: Recording, chunks: Chunks) -> None:
    for signal in SIGNALS:
        if signal.origin in OTHER_RUNS:
            continue
        entity = f"/signals/{signal.name}"
        wanted = np.asarray(getattr(recording, signal.name), dtype=np.float64)
        found = np.array(column(chunks, entity, "Scalars:scalars"))
        rows = recording.time.size
        assert np.array_equal(found, wanted.reshape(rows, -1), equal_nan=True), signal.name
        assert np.abs(seconds(chunks, entity) - recording.time).max() < TIME_TOLERANCE_S
        [names] = column(chunks, entity, "SeriesLines:names")
        units = signal.columns(recording.robot)
        assert names == [f"{name} [{unit}]" for name, unit in units.items()]


def test_the_links_move_as_in_the_recording(recording: Recording, chunks: Chunks) -> None:
    links, rows = links_of(recording.robot), shown_rows(recording)
    paths = order(links)
    assert rows[-1] == recording.time.size - 1
    for link in links:
        entity = f"/world/{paths[link.name]}"
        used = rows if link.joint is not None else rows[:1]
        positions, quaternions = poses(link, recording.robot.model, recording.q[used])
        found = np.array(column(chunks, entity, "Transform3D:translation"))[:, 0]
        assert found == pytest.approx(positions, abs=1e-6)  # m: Rerun's are single
        turns = np.array(column(chunks, entity, "Transform3D:quaternion"))[:, 0]
        assert np.abs(np.einsum("ij,ij->i", turns, quaternions)).min() > 1.0 - 1e-6
    assert sum("/look_" in entity for entity in chunks) > 20


def test_the_push_and_the_verdict_are_in_the_log_of_events(chunks: Chunks) -> None:
    texts = [text for [text] in column(chunks, "/events", "TextLog:text")]
    assert [text.split(":")[0] for text in texts] == ["push", "verdict"]
    assert seconds(chunks, "/events") == pytest.approx([0.1, 0.598], abs=TIME_TOLERANCE_S)
