"""Large arrays live in files and keep what was written; a long run is saved in chunks."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings import disk_arrays, log_file
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording


def in_file(array: np.ndarray) -> bool:
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, mmap.mmap)


def test_small_arrays_stay_in_memory_and_large_ones_go_to_files() -> None:
    assert not in_file(disk_arrays.zeros(10, float))
    large = disk_arrays.zeros((disk_arrays.LARGE_BYTES // 8, 2), float)
    assert in_file(large)
    assert not large[::1000].any()


def test_released_memory_comes_back_with_its_content() -> None:
    array = disk_arrays.zeros(disk_arrays.LARGE_BYTES // 8, float)
    array[:] = np.arange(array.size)
    disk_arrays.release()
    np.testing.assert_array_equal(array, np.arange(array.size))


def test_what_lives_in_a_file_is_not_copied_and_everything_else_is() -> None:
    small, large = np.zeros(3), disk_arrays.zeros(disk_arrays.LARGE_BYTES // 8, float)
    assert not np.shares_memory(disk_arrays.detached(small[:2]), small)
    assert np.shares_memory(disk_arrays.detached(large[:2]), large)


@pytest.fixture(scope="module")
def recordings() -> tuple[Recording, Recording]:
    """The same run with its arrays in memory and in files."""
    config = load_config("toro_push", {"duration_s": 0.8})
    plain = Experiment(config).run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_arrays, "LARGE_BYTES", 1)
        patch.setattr(disk_arrays, "CHUNK_ROWS", 100)
        return plain, Experiment(config).run()


NAMES = ("time", "q", "v", "torques", "wrenches", "contact_wrenches", "com_error", "sole_slip")


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_the_same_wherever_its_arrays_live(
    recordings: tuple[Recording, Recording], name: str
) -> None:
    in_memory, in_files = (getattr(recording, name) for recording in recordings)
    np.testing.assert_array_equal(in_memory, in_files)
    if name in ("q", "torques"):
        assert in_file(in_files)


def test_a_log_that_was_written_in_chunks_reads_back_whole(
    recordings: tuple[Recording, Recording], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "GROUP_ROWS", 200)
    monkeypatch.setattr(log_file, "CHUNK_ROWS", 130)  # read in other pieces than written
    save_recording(recordings[1], tmp_path / "run")
    assert pq.ParquetFile(tmp_path / "run" / "log.parquet").num_row_groups == 4
    back = load_recording(tmp_path / "run")
    for name in NAMES:
        np.testing.assert_array_equal(getattr(back, name), getattr(recordings[0], name))
