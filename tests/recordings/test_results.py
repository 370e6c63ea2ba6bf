"""Result folders: complete, exact, and refused when they are damaged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from balance.config import load_config
from balance.errors import BalanceError, FileError, ResultError
from balance.experiment import run
from balance.recordings.outputs import RUN, Output
from balance.recordings.recording import Recording
from balance.recordings.results import fill_or_rescue, load_recording, save_recording


@pytest.fixture(scope="module")
def recording() -> Recording:
    overrides = {"duration_s": 0.35, "pushes.0.time_s": 0.05}
    return run(load_config("toro_push", overrides))


@pytest.fixture
def folder(recording: Recording, tmp_path: Path) -> Path:
    return save_recording(recording, tmp_path / "result")


def test_loading_returns_what_was_saved(recording: Recording, folder: Path) -> None:
    loaded = load_recording(folder)
    for name in Recording.__dataclass_fields__:
        value = getattr(recording, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(loaded, name), value, err_msg=name)
    assert loaded.end == recording.end
    assert loaded.summary() == recording.summary()


def test_every_column_has_a_unit(folder: Path) -> None:
    schema = pq.read_schema(folder / "log.parquet")
    assert {"time", "com_error_y", "torque_left_knee", "wrench_left_fz"} <= set(schema.names)
    assert schema.field("com_error_y").metadata == {b"unit": b"m"}
    assert schema.field("contact_wrench_right_mx").metadata == {b"unit": b"N m"}
    assert all(b"unit" in (field.metadata or {}) for field in schema)


def test_cop_columns_follow_from_the_contact_wrenches(recording: Recording, folder: Path) -> None:
    table = pq.read_table(folder / "log.parquet")
    wrench = recording.contact_wrenches[:, 0]
    np.testing.assert_allclose(table["cop_left_x"].to_numpy(), -wrench[:, 4] / wrench[:, 2])


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def damage_truncate(folder: Path) -> None:
    data = (folder / "log.parquet").read_bytes()
    (folder / "log.parquet").write_bytes(data[: len(data) // 2])


def damage_name(folder: Path) -> None:
    """A column's name with a byte that begins no character."""
    data = (folder / "log.parquet").read_bytes()
    (folder / "log.parquet").write_bytes(data.replace(b"lowest_body", b"lowest\xf1body"))


def damage_column(folder: Path) -> None:
    table = pq.read_table(folder / "log.parquet").drop_columns(["q_left_knee"])
    pq.write_table(table, folder / "log.parquet")


def damage_type(folder: Path) -> None:
    table = pq.read_table(folder / "log.parquet")
    index = table.column_names.index("com_error_y")
    table = table.set_column(index, "com_error_y", pa.array(["x"] * table.num_rows))
    pq.write_table(table, folder / "log.parquet")


def damage_summary(folder: Path) -> None:
    (folder / "summary.json").write_text("[1, 2]")


def damage_config(folder: Path) -> None:
    (folder / "config.yaml").write_text("robot: [")


def damage_log(folder: Path) -> None:
    (folder / "log.parquet").unlink()


@pytest.mark.parametrize(
    "damage",
    [
        damage_truncate,
        damage_name,
        damage_column,
        damage_type,
        damage_summary,
        damage_config,
        damage_log,
    ],
)
def test_a_damaged_folder_is_refused_with_one_sentence(folder: Path, damage) -> None:  # type: ignore[no-untyped-def]
    damage(folder)
    with pytest.raises(BalanceError) as caught:
        load_recording(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_failed_write_leaves_nothing_behind(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(FileError, match="No space left on device"):
        save_recording(recording, tmp_path / "result")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_lose_the_run(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first write fails, as when the disk has filled up meanwhile; the data goes elsewhere."""
    shelter = tmp_path / "tmp"
    shelter.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(shelter))
    plain, calls = pq.ParquetWriter.write_table, []

    def fails_once(*arguments: object, **options: object) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise OSError(28, "No space left on device")
        plain(*arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails_once)
    # What an attacker would have put where the data used to go.
    (shelter / "balance-results").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(FileError, match="was saved to"),
        Output(tmp_path / "out" / "result", RUN) as output,
    ):
        fill_or_rescue(output, recording)
    (private,) = (path for path in shelter.iterdir() if path.name != "balance-results")
    assert private.stat().st_mode & 0o077 == 0
    np.testing.assert_array_equal(load_recording(private / "result").q, recording.q)
    assert names_in(tmp_path / "out") == set()


def test_an_unreadable_parent_is_refused_before_the_run(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(FileError, match="cannot write into"):
        Output(file / "result", RUN)


def test_summary_file_is_the_summary(recording: Recording, folder: Path) -> None:
    written = json.loads((folder / "summary.json").read_text())
    assert written == json.loads(json.dumps(recording.summary()))


def test_a_foreign_folder_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"log\.parquet"):
        load_recording(tmp_path)
