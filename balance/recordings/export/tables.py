"""Plain tables: CSV for everybody, NPZ for NumPy; every number reads back bit for bit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from balance.recordings.disk_arrays import chunks
from balance.recordings.recording import Recording
from balance.recordings.signals import Signal, stored_signals

Array = NDArray[np.float64]


def signals_in(recording: Recording) -> list[tuple[Signal, NDArray[Any], dict[str, str]]]:
    """Each signal of a log: its entry, its values (rows, columns), and its columns with units."""
    rows, robot = recording.time.size, recording.robot
    return [
        (
            signal,
            np.asarray(getattr(recording, signal.name)).reshape(rows, signal.row_size(robot)),
            signal.columns(robot),
        )
        for signal in stored_signals(recording.config)
    ]


def units_of(recording: Recording) -> dict[str, str]:
    """The unit of each column of the log."""
    return {name: unit for _, _, columns in signals_in(recording) for name, unit in columns.items()}


def write_csv(recording: Recording, path: Path) -> None:
    """A line for each control period below one with the columns' names, as in ``log.parquet``.

    Numbers have as many digits as it takes to read the same ones back.
    """
    import pyarrow as pa
    import pyarrow.csv as csv

    found = signals_in(recording)
    schema = pa.schema(
        [
            pa.field(name, pa.from_numpy_dtype(signal.dtype))
            for signal, _, columns in found
            for name in columns
        ]
    )
    options = csv.WriteOptions(quoting_style="none")
    with csv.CSVWriter(path, schema, write_options=options) as writer:
        for rows in chunks(recording.time.size):
            columns = [column for _, values, _ in found for column in values[rows].T]
            arrays = [
                pa.array(column, type=field.type)
                for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def write_npz(recording: Recording, path: Path) -> None:
    """An array for each signal by its name, and as text the columns with units and the summary."""
    texts = {"units": units_of(recording), "summary": recording.summary()}
    with ZipFile(path, "w", ZIP_STORED) as archive:
        for signal, values, _ in signals_in(recording):
            shape = (recording.time.size, *signal.row_shape(recording.robot))
            _store(archive, signal.name, shape, values.dtype, values)
        for name, tree in texts.items():
            text = np.array(json.dumps(tree))
            _store(archive, name, text.shape, text.dtype, text.reshape(1))


def _store(
    archive: ZipFile, name: str, shape: tuple[int, ...], dtype: Any, values: NDArray[Any]
) -> None:
    """An array as NumPy stores it, a few rows at a time: it may be larger than the memory."""
    head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, head)
        for block in _blocks(values):
            file.write(block)


def _blocks(values: NDArray[Any]) -> Iterator[bytes]:
    for rows in chunks(len(values)):
        yield np.ascontiguousarray(values[rows]).tobytes()
