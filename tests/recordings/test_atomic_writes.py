"""A file or folder is replaced as a whole, or stays as it was."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from balance.recordings.atomic_writes import replacing, write_atomically


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_old_file_stays_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    write_atomically(target, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == {"summary.md"}


def test_readers_see_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with replacing(target) as part:
        part.write_text("ne")
        assert target.read_text() == "old"
        part.write_text("new")
    assert target.read_text() == "new"
    assert names(tmp_path) == {"table.csv"}


def test_a_folder_appears_with_all_that_is_in_it(tmp_path: Path) -> None:
    target = tmp_path / "recording"
    (tmp_path / ".recording.part").mkdir()  # of a command that was killed
    (tmp_path / ".recording.part" / "old").touch()
    with replacing(target) as part:
        part.mkdir()
        (part / "log.parquet").touch()
        assert not target.exists()
    assert names(target) == {"log.parquet"}


def test_of_a_folder_that_was_not_finished_nothing_is_left(tmp_path: Path) -> None:
    def cut_short() -> None:
        with replacing(tmp_path / "other") as part:
            part.mkdir()
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        cut_short()
    assert names(tmp_path) == set()
