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
from balance.robots import Robot
from balance.robots.surfaces import surface_label

if TYPE_CHECKING:
    import pyarrow.parquet as pq

XYZ = ("x", "y", "z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
GROUP_ROWS = 4 * CHUNK_ROWS  # fewer, larger groups: less to say about each
NUMBERS = ("DOUBLE", "FLOAT", "INT64", "INT32")  # as Parquet calls them
# Of a group's column: a number, its place in a dictionary, and what is said about them.
VALUE_BYTES, COLUMN_BYTES = 17, 100_000
# Of the file: what is said about each column of each group, and about all of it.
FOOTER_COLUMN_BYTES, FOOTER_BYTES = 300, 1_000_000


def log_columns(robot: Robot, estimated: bool) -> list[tuple[str, dict[str, str]]]:
    """Attribute of a recording, and its columns with their units."""
    joints = robot.joint_names
    soles = sole_labels(robot)

    def columns(prefix: str, unit: str, names: Sequence[str] = XYZ) -> dict[str, str]:
        return {f"{prefix}_{name}": unit for name in names}

    def wrench_columns(prefix: str) -> dict[str, str]:
        forces_first = zip(WRENCH, ["N"] * 3 + ["N m"] * 3, strict=True)
        pairs = list(forces_first)
        return {f"{prefix}_{sole}_{name}": unit for sole in soles for name, unit in pairs}

    blocks = [
        ("time", {"time": "s"}),
        ("com_error", columns("com_error", "m")),
        ("rotation_error", columns("rotation_error", "rad")),
        (
            "momentum",
            columns("linear_momentum", "kg m/s") | columns("angular_momentum", "kg m^2/s"),
        ),
        ("push_force", columns("push_force", "N")),
        ("status", {"status": "flags"}),
        (
            "shortfall",
            columns("shortfall_force", "N") | columns("shortfall_moment", "N m"),
        ),
        ("wrenches", wrench_columns("wrench")),
        ("contact_wrenches", wrench_columns("contact_wrench")),
        ("cop", {f"cop_{sole}_{axis}": "m" for sole in soles for axis in "xy"}),
        ("sole_lift", columns("sole_lift", "m", soles)),
        ("sole_slip", columns("sole_slip", "m", soles)),
        ("lowest_body", {"lowest_body": "m"}),
        ("torques", columns("torque", "N m", joints)),
        (
            "q",
            columns("base_position", "m")
            | columns("base_quaternion", "1", (*XYZ, "w"))
            | columns("q", "rad", joints),
        ),
        (
            "v",
            columns("base_velocity", "m/s")
            | columns("base_rate", "rad/s")
            | columns("v", "rad/s", joints),
        ),
    ]
    if estimated:
        parts = (("position", "m"), ("rotation", "rad"), ("velocity", "m/s"))
        names: dict[str, str] = {}
        for kind in ("error", "std"):
            for part, unit in parts:
                names |= columns(f"estimate_{kind}_{part}", unit)
        blocks.append(("estimation", names))
    return blocks


def sole_labels(robot: Robot) -> list[str]:
    """Short names of the soles, as used in column names."""
    return [surface_label(sole.name) for sole in robot.soles]


def write_log(recording: Recording, path: Path) -> None:
    """Write the log of a run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    blocks = log_columns(recording.robot, recording.estimation is not None)
    kinds = {"status": pa.int64()}
    fields = [
        pa.field(name, kinds.get(attribute, pa.float64()), metadata={"unit": unit})
        for attribute, columns in blocks
        for name, unit in columns.items()
    ]
    facts = recording.end.facts() | {
        "robot": recording.robot.name,
        "conflict": recording.conflict,
    }
    schema = pa.schema(fields, metadata=facts)
    rows = recording.time.size
    values = [
        np.asarray(getattr(recording, attribute)).reshape(rows, len(columns))
        for attribute, columns in blocks
    ]
    split = {field.name: "BYTE_STREAM_SPLIT" for field in fields if field.type == pa.float64()}
    with pq.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=False, column_encoding=split
    ) as writer:
        for chunk in chunks(rows, GROUP_ROWS):
            columns = [column for block in values for column in block[chunk].T]
            arrays = [
                pa.array(column, type=field.type)
                for column, field in zip(columns, fields, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def read_log(
    path: Path, robot: Robot, estimated: bool, most_rows: int
) -> tuple[dict[str, Any], Mapping[bytes, bytes]]:
    """The arrays (rows, columns) of a log by attribute, and what it says about the run.

    What the file says of its own size is looked at first, and nothing is read of one that is larger
    than the log of ``most_rows`` periods.
    """
    blocks = log_columns(robot, estimated)
    count = sum(len(columns) for _, columns in blocks)
    # The centre of pressure follows from the contact wrenches.
    wanted = [(attribute, list(columns)) for attribute, columns in blocks if attribute != "cop"]
    with _opened(path, count, most_rows) as file:
        names = [name for _, some in wanted for name in some]
        _check_columns(path, file, names, robot.name)
        _check_size(path, file.metadata, set(names), most_rows)
        arrays = _read(path, file, wanted)
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
    path: Path, file: pq.ParquetFile, wanted: Sequence[tuple[str, list[str]]]
) -> dict[str, Any]:
    """The columns, a few rows at a time into arrays that may be larger than the memory."""
    rows = file.metadata.num_rows
    arrays = {
        attribute: zeros((rows, len(names)), np.int64 if attribute == "status" else np.float64)
        for attribute, names in wanted
    }
    every = [name for _, names in wanted for name in names]
    begin = 0
    for batch in file.iter_batches(CHUNK_ROWS, columns=every, use_threads=False):
        end = begin + batch.num_rows
        if end > rows:
            break
        for attribute, names in wanted:
            for index, name in enumerate(names):
                values = batch.column(name).to_numpy(zero_copy_only=False)
                _check_numbers(path, attribute, name, values)
                arrays[attribute][begin:end, index] = values
        begin = end
        release()
    if begin != rows:
        raise ResultError(f"{path} does not have the {rows} rows that it says it has")
    return arrays


def _check_numbers(path: Path, attribute: str, name: str, values: Any) -> None:
    kind = np.integer if attribute == "status" else np.number
    # Without load there is no contact wrench to be finite: a run may end in an explosion; and a
    # law may command torques alone.
    if not np.issubdtype(values.dtype, kind) or (
        attribute not in ("contact_wrenches", "wrenches") and not np.isfinite(values).all()
    ):
        raise ResultError(f"{path}: column '{name}' has entries that are no numbers")
