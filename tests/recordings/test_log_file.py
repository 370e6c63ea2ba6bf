"""``log.parquet``: small, exact to the last bit, and measured before it is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from balance.config import load_config
from balance.errors import ResultError
from balance.experiment import run
from balance.recordings import log_file, results
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording


@pytest.fixture(scope="module")
def recording() -> Recording:
    return run(load_config("toro_push", {"duration_s": 0.8}))


@pytest.fixture
def log(recording: Recording, tmp_path: Path) -> Path:
    return save_recording(recording, tmp_path / "result") / "log.parquet"


def arrays(recording: Recording) -> dict[str, bytes]:
    values = {name: getattr(recording, name) for name in Recording.__dataclass_fields__}
    return {name: v.tobytes() for name, v in values.items() if isinstance(v, np.ndarray)}


def test_a_log_takes_three_quarters_of_its_numbers_and_every_bit_comes_back(
    recording: Recording, log: Path
) -> None:
    """Of 10 s: 8.6 MB instead of the 12.5 MB that zstd alone makes of it."""
    found = pq.ParquetFile(log).metadata
    plain = 8 * found.num_rows * found.num_columns
    column = found.row_group(0).column(found.num_columns - 1)
    assert "BYTE_STREAM_SPLIT" in column.encodings
    stored = sum(
        found.row_group(0).column(i).total_compressed_size for i in range(found.num_columns)
    )
    assert stored < 0.75 * plain
    assert arrays(load_recording(log.parent)) == arrays(recording)


def test_odd_bits_survive(recording: Recording, tmp_path: Path) -> None:
    """The sign of a zero, numbers too small to be normal, and the payload of a NaN."""
    odd = recording.contact_wrenches.copy()
    odd[0, 0, :4] = [-0.0, 5e-324, -np.inf, np.nan]
    odd.view(np.uint64)[1, 0, 0] = 0x7FF8_0000_DEAD_BEEF
    changed = replace(recording, contact_wrenches=odd)
    folder = save_recording(changed, tmp_path / "odd")
    assert load_recording(folder).contact_wrenches.tobytes() == odd.tobytes()


def test_a_log_in_the_format_of_earlier_versions_is_read(recording: Recording, log: Path) -> None:
    """zstd and dictionaries, groups of 4096 rows; without compression; as pandas would write it."""
    table = pq.read_table(log)
    for options in ({"compression": "zstd", "row_group_size": 4096}, {"compression": "none"}, {}):
        pq.write_table(table, log, **options)
        assert arrays(load_recording(log.parent)) == arrays(recording)


def grown(table: pa.Table) -> pa.Table:
    """Many more rows than its run has; in the file they are a few bytes each."""
    return pa.concat_tables([table.slice(0, 1)] * 5000)


def fat(table: pa.Table) -> pa.Table:
    """A column of long texts, under the name of one of numbers."""
    index = table.column_names.index("com_error_y")
    return table.set_column(index, "com_error_y", pa.array(["x" * 10_000] * table.num_rows))


def nested(table: pa.Table) -> pa.Table:
    """A column of which each row is a long list of numbers."""
    index = table.column_names.index("com_error_y")
    lists = pa.array([[0.0] * 1000] * table.num_rows)
    return table.set_column(index, "com_error_y", lists)


def wordy(table: pa.Table) -> pa.Table:
    """Megabytes about the columns."""
    return table.replace_schema_metadata({"end": "finished", "more": "x" * 2_000_000})


@pytest.mark.parametrize("craft", [grown, fat, nested, wordy])
def test_a_log_that_is_larger_than_its_run_is_refused_before_it_is_read(
    log: Path, craft: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(craft(pq.read_table(log)), log, compression="zstd")
    monkeypatch.setattr(results, "HARMLESS_ROWS", 1)
    for reader in ("read", "iter_batches", "read_row_group", "read_row_groups"):
        monkeypatch.setattr(pq.ParquetFile, reader, lambda *_, **__: pytest.fail("it is read"))
    with pytest.raises(ResultError, match=str(log)):
        load_recording(log.parent)


def test_more_bytes_than_rows_can_need_are_refused(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "COLUMN_BYTES", 0)
    monkeypatch.setattr(log_file, "VALUE_BYTES", 4)
    with pytest.raises(ResultError, match="more than its 800 rows can need"):
        load_recording(log.parent)


def test_columns_that_nobody_reads_may_hold_anything(recording: Recording, log: Path) -> None:
    table = pq.read_table(log)
    notes = pa.array(["as I saw it " * 100] * table.num_rows)
    pq.write_table(table.append_column("notes", notes), log)
    assert arrays(load_recording(log.parent)) == arrays(recording)
