"""``log.parquet``: one row per control period, every number bit for bit as it was recorded.

The low bytes of a number look like noise and the high ones change slowly, so the bytes of a column
are stored apart (byte stream split) before they are compressed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.errors import ResultError
from balance.recordings.disk_arrays import CHUNK_ROWS, chunks, release, zeros
from balance.recordings.recording import Recording
from balance.recordings.signals import Origin, Signal, stored_signals
from balance.robots import Robot

if TYPE_CHECKING:
    import pyarrow.parquet as pq

GROUP_ROWS = CHUNK_ROWS  # larger groups make the file 2 % smaller, and take 100 MB more to write
NUMBERS = ("DOUBLE", "FLOAT", "INT64", "INT32")  # as Parquet calls them
# Of a group's column: a number, its place in a dictionary, and what is said about them.
VALUE_BYTES, COLUMN_BYTES = 17, 100_000
# Of the file: what is said about each column of each group, and about all of it.
FOOTER_COLUMN_BYTES, FOOTER_BYTES = 300, 1_000_000


def write_log(recording: Recording, path: Path) -> None:
    """Write the log of a run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    signals = stored_signals(recording.config)
    fields = [
        pa.field(name, pa.from_numpy_dtype(signal.dtype), metadata={"unit": unit})
        for signal in signals
        for name, unit in signal.columns(recording.robot).items()
    ]
    facts = recording.end.facts() | {
        "robot": recording.robot.name,
        "conflict": recording.conflict,
    }
    schema = pa.schema(fields, metadata=facts)
    sizes = {signal.name: signal.row_size(recording.robot) for signal in signals}
    split = {field.name: "BYTE_STREAM_SPLIT" for field in fields if field.type == pa.float64()}
    with pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=False, column_encoding=split
    ) as writer:
        for chunk in chunks(recording.time.size, GROUP_ROWS):
            part = recording.part(chunk)  # what follows from signals is had of a few rows at a time
            columns = [
                column
                for name, size in sizes.items()
                for column in np.asarray(getattr(part, name)).reshape(part.time.size, size).T
            ]
            arrays = [
                pa.array(column, type=field.type)
                for column, field in zip(columns, fields, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def read_log(
    path: Path, robot: Robot, signals: Sequence[Signal], most_rows: int
) -> tuple[dict[str, Any], Mapping[bytes, bytes]]:
    """The ``signals`` in a log by name, and what it says about the run.

    What the file says of its own size is looked at first, and nothing is read of one that is larger
    than the log of ``most_rows`` periods.
    """
    count = sum(signal.row_size(robot) for signal in signals)
    wanted = [signal for signal in signals if signal.origin is not Origin.SIGNALS]
    with _opened(path, count, most_rows) as file:
        names = [name for signal in wanted for name in signal.columns(robot)]
        _check_columns(path, file, names, robot.name)
        _check_size(path, file.metadata, set(names), most_rows)
        arrays = _read(path, file, wanted, robot)
        return arrays, file.schema_arrow.metadata or {}


@contextmanager
def _opened(path: Path, columns: int, rows: int) -> Iterator[pq.ParquetFile]:
    """The file, unless what it says about itself is too long, or is not to be understood."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        most = FOOTER_BYTES + FOOTER_COLUMN_BYTES * columns * (1 + rows // CHUNK_ROWS)
        with open(path, "rb") as raw:
            raw.seek(-min(8, os.fstat(raw.fileno()).st_size), os.SEEK_END)
            footer = int.from_bytes(raw.read(4), "little")
        if footer > most:
            raise ResultError(
                f"{path} has {footer} bytes about its columns; a log of {rows} rows has at most "
                f"{most}"
            )
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ResultError(f"{path} cannot be read: {reason}") from None


def _check_columns(path: Path, file: pq.ParquetFile, names: Sequence[str], robot: str) -> None:
    known = {column.path: column for column in map(file.schema.column, range(len(file.schema)))}
    for name in names:
        if name not in known:
            raise ResultError(
                f"{path} has no column '{name}'; it was not written for robot '{robot}' by this "
                "version of balance"
            )
        if known[name].physical_type not in NUMBERS or known[name].max_repetition_level:
            raise ResultError(f"{path}: column '{name}' has entries that are no numbers")


def _check_size(path: Path, found: pq.FileMetaData, names: set[str], most_rows: int) -> None:
    groups = [found.row_group(index) for index in range(found.num_row_groups)]
    rows = max(found.num_rows, sum(group.num_rows for group in groups))
    if rows > most_rows:
        raise ResultError(f"{path} has {rows} rows; a run of its config has at most {most_rows}")
    for group in groups:
        most = COLUMN_BYTES + VALUE_BYTES * group.num_rows
        for index in range(group.num_columns):
            column = group.column(index)
            if column.path_in_schema not in names:
                continue  # is not read
            size = max(column.total_uncompressed_size, column.total_compressed_size)
            if size > most or column.num_values > group.num_rows:
                raise ResultError(
                    f"{path}: column '{column.path_in_schema}' has {size} bytes, more than its "
                    f"{group.num_rows} rows can need"
                )


def _read(
    path: Path, file: pq.ParquetFile, wanted: Sequence[Signal], robot: Robot
) -> dict[str, Any]:
    """The signals, a few rows at a time into arrays that may be larger than the memory."""
    rows = file.metadata.num_rows
    columns = {signal.name: list(signal.columns(robot)) for signal in wanted}
    arrays = {
        signal.name: zeros((rows, *signal.row_shape(robot)), signal.dtype) for signal in wanted
    }
    flat = {name: array.reshape(rows, len(columns[name])) for name, array in arrays.items()}
    every = [name for names in columns.values() for name in names]
    begin = 0
    for batch in file.iter_batches(CHUNK_ROWS, columns=every, use_threads=False):
        end = begin + batch.num_rows
        if end > rows:
            break
        for signal in wanted:
            for index, name in enumerate(columns[signal.name]):
                values = batch.column(name).to_numpy(zero_copy_only=False)
                _check_numbers(path, signal, name, values)
                flat[signal.name][begin:end, index] = values
        begin = end
        release()
    if begin != rows:
        raise ResultError(f"{path} does not have the {rows} rows that it says it has")
    return arrays


def _check_numbers(path: Path, signal: Signal, name: str, values: Any) -> None:
    kind = np.integer if np.issubdtype(signal.dtype, np.integer) else np.number
    if not np.issubdtype(values.dtype, kind) or (signal.finite and not np.isfinite(values).all()):
        raise ResultError(f"{path}: column '{name}' has entries that are no numbers")
