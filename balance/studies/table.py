"""The table of a study: from rows on disk to one Parquet file, a few at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from balance.recordings.atomic_writes import replacing
from balance.studies.store import Row

ROWS_AT_ONCE = 1000


def write_table(path: Path, rows: Callable[[], Iterable[Row]]) -> None:
    """Write ``rows()``, called twice, as Parquet: first to learn the columns, then to copy them.

    A column holds numbers, truth values or text; anything else becomes JSON text.
    """
    schema = _schema(rows())
    with (
        replacing(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd") as writer,
    ):
        for some in _batches(rows(), ROWS_AT_ONCE):
            arrays = [
                pa.array([_cell(row.get(field.name), field.type) for row in some], field.type)
                for field in schema
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _schema(rows: Iterable[Row]) -> pa.Schema:
    kinds: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            found = kinds.setdefault(name, set())
            if value is not None:
                found.add(type(value))
    return pa.schema([(name, _type(found)) for name, found in kinds.items() if name != "key"])


def _type(kinds: set[type]) -> pa.DataType:
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None or isinstance(value, str) or kind != pa.string():
        return value
    return json.dumps(value)


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while some := list(islice(remaining, size)):
        yield some
