"""CSV and NPZ hold the numbers of ``log.parquet``, every bit of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from balance.errors import ConfigError, FileError
from balance.recordings.export import FORMATS, export
from balance.recordings.recording import Recording
from balance.recordings.signals import SIGNALS, Origin

Log = dict[str, list[float]]

OTHER_RUNS = (Origin.ESTIMATE, Origin.PHASES, Origin.CONTACTS, Origin.STEPS)


def test_a_csv_file_read_by_python_has_the_columns_and_numbers_of_the_log(
    recording: Recording, log: Log, tmp_path: Path
) -> None:
    with open(export(recording, tmp_path / "run.csv", "csv"), newline="") as file:
        head, *lines = csv.reader(file)
    assert head == list(log)
    for name, texts in zip(head, zip(*lines, strict=True), strict=True):
        assert np.array_equal([float(text) for text in texts], log[name], equal_nan=True), name


def test_numpy_reads_every_signal_with_its_shape_and_bits(
    recording: Recording, log: Log, tmp_path: Path
) -> None:
    path = export(recording, tmp_path / "run.npz", "npz")
    with np.load(path, allow_pickle=False) as found:
        for signal in SIGNALS:
            if signal.origin not in OTHER_RUNS:
                wanted = np.asarray(getattr(recording, signal.name))
                assert found[signal.name].shape == wanted.shape
                assert found[signal.name].tobytes() == wanted.tobytes()
        units = json.loads(str(found["units"]))
        assert list(units) == list(log) and units["torque_left_knee"] == "N m"
        assert json.loads(str(found["summary"]))["outcome"] == recording.summary()["outcome"]


def test_a_file_that_exists_is_not_replaced_unless_told_to(
    recording: Recording, tmp_path: Path
) -> None:
    path = tmp_path / "run.npz"
    path.write_text("mine")
    with pytest.raises(FileError, match="exists"):
        export(recording, path, "npz")
    assert path.read_text() == "mine"
    export(recording, path, "npz", overwrite=True)
    assert path.read_bytes()[:2] == b"PK"


def test_an_unknown_format_is_refused_with_the_known_ones(
    recording: Recording, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"'mcp'.*did you mean 'mcap'\?.*csv, mcap, npz, rerun"):
        export(recording, tmp_path / "x", "mcp")
    assert set(FORMATS) == {"mcap", "rerun", "csv", "npz"}
