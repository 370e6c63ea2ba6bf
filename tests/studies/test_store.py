"""The folder of a study: what is finished stays finished, and studies do not mix."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from balance.errors import FileError
from balance.studies import store
from balance.studies.store import (
    DEFINITION,
    LOG,
    Row,
    StudyFolder,
    StudyStoppedError,
    remove_study,
)
from balance.studies.table import write_table


def opened(path: Path, **definition: object) -> StudyFolder:
    return StudyFolder(path, "sweep", definition or {"axes": [1, 2]})


def row(number: int, **columns: object) -> Row:
    return {"key": str(number), "cell": number, "outcome": "recovered", **columns}


def test_rows_survive_and_come_back_in_any_order(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.append(row(2))
        folder.append(row(0))
        folder.append(row(1, value=0.1))
    with opened(tmp_path) as folder:
        assert len(folder) == 3 and "1" in folder and "7" not in folder
        assert folder.get("1") == row(1, value=0.1)
        assert [r["cell"] for r in folder.rows(["0", "1", "2", "3"])] == [0, 1, 2]


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_a_line_cut_off_by_a_crash_counts_as_not_written(tmp_path: Path, kept: int) -> None:
    with opened(tmp_path) as folder:
        folder.append(row(0))
        whole = (tmp_path / LOG).stat().st_size
        folder.append(row(1))
    log = tmp_path / LOG
    log.write_bytes(log.read_bytes()[: whole + kept if kept > 0 else kept])
    with opened(tmp_path) as folder:
        assert "0" in folder and "1" not in folder
        folder.append(row(1))
        folder.append(row(2))
    with opened(tmp_path) as folder:
        assert [r["cell"] for r in folder.rows()] == [0, 1, 2]


def test_a_damaged_line_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        for number in range(3):
            folder.append(row(number))
    log = tmp_path / LOG
    lines = log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"recovered", b"recovexed")
    log.write_bytes(b"".join(lines))
    with opened(tmp_path) as folder:
        assert "1" not in folder and len(folder) == 2
        folder.append(row(1))
        assert folder.get("1") == row(1)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the size of files makes a write fail half way, as a full disk does."""
    with opened(tmp_path) as folder:
        folder.append(row(0))
        room = (tmp_path / LOG).stat().st_size + 25
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            with pytest.raises(StudyStoppedError) as caught:
                folder.append(row(1))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "the 1 finished runs" in str(caught.value)
        assert "the same command goes on" in str(caught.value)
        assert caught.value.exit_code == 1
        assert (tmp_path / LOG).stat().st_size == room - 25
        folder.append(row(1))
    with opened(tmp_path) as folder:
        assert [r["cell"] for r in folder.rows()] == [0, 1]


def test_another_study_is_refused_by_name_of_what_differs(tmp_path: Path) -> None:
    opened(tmp_path, axes=[1, 2], metric="a").close()
    opened(tmp_path, axes=(1, 2), metric="a").close()
    with pytest.raises(FileError, match=r"holds another study \(axes differs\).*--overwrite"):
        opened(tmp_path, axes=[1, 3], metric="a")
    with pytest.raises(FileError, match="kind differs"):
        StudyFolder(tmp_path, "envelope", {"axes": [1, 2], "metric": "a"})


def test_a_folder_of_something_else_is_refused_and_not_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileError, match="not empty and not a study"):
        opened(tmp_path)
    with pytest.raises(FileError, match="not a study of balance, so it is not replaced"):
        remove_study(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_study_in_use_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path):
        with pytest.raises(FileError, match="in use by another command"):
            opened(tmp_path)
        with pytest.raises(FileError, match="in use by another command"):
            remove_study(tmp_path)
    remove_study(tmp_path)
    assert not tmp_path.exists()


def test_a_study_with_something_of_the_users_in_it_is_not_removed(tmp_path: Path) -> None:
    opened(tmp_path / "study").close()
    (tmp_path / "study" / "thesis.tex").write_text("years of work")
    with pytest.raises(FileError, match=r"'thesis\.tex', which is no part of a study"):
        remove_study(tmp_path / "study")
    assert (tmp_path / "study" / DEFINITION).is_file()


def test_a_study_that_was_killed_before_it_was_defined_can_be_removed(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    for name in (".lock", f".{DEFINITION}.part"):
        (study / name).touch()
    remove_study(study)
    assert not study.exists()


def test_wherever_a_removal_is_killed_the_study_is_whole_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before it moves the folder out of sight, or before it deletes what it moved."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with opened(tmp_path / "study") as folder:
        folder.append(row(0))
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", lambda *_, **__: None)
        remove_study(tmp_path / "study")
    assert not (tmp_path / "study").exists()
    assert [path.name for path in tmp_path.iterdir()] == [".study.balance"]
    opened(tmp_path / "study").close()
    assert [path.name for path in tmp_path.iterdir()] == ["study"]
    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(FileError, match="cannot remove"):
        remove_study(tmp_path / "study")
    opened(tmp_path / "study").close()


def test_another_study_that_came_first_is_noticed_under_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two commands look at an empty folder; one defines its study before the other has the lock."""
    plain = store._claim

    def late(path: Path) -> object:
        monkeypatch.setattr(store, "_claim", plain)
        opened(path, axes=[1, 2]).close()
        return plain(path)

    monkeypatch.setattr(store, "_claim", late)
    with pytest.raises(FileError, match="holds another study"):
        opened(tmp_path, axes=[1, 3])


def test_a_damaged_definition_is_refused(tmp_path: Path) -> None:
    (tmp_path / DEFINITION).write_text("{")
    with pytest.raises(FileError, match="is damaged"):
        opened(tmp_path)


def test_the_table_has_every_column_of_every_row(tmp_path: Path) -> None:
    rows = [
        row(0, whole=1, mixed=1, text="a", flag=True, vector=[1, 2]),
        {"key": "1", "cell": 1, "outcome": "error", "error": "it broke", "mixed": 0.5},
    ]
    path = tmp_path / "runs.parquet"
    write_table(path, lambda: iter(rows))
    table = pq.read_table(path)
    assert table.column("mixed").to_pylist() == [1.0, 0.5]
    assert table.column("vector").to_pylist() == ["[1, 2]", None]
    assert table.column("flag").to_pylist() == [True, None]
    assert table.column("error").to_pylist() == [None, "it broke"]
    assert str(table.schema.field("whole").type) == "int64"
    assert "key" not in table.column_names


def test_long_tables_are_written_a_few_rows_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "runs.parquet"
    write_table(path, lambda: (row(i) for i in range(2500)))
    assert pq.ParquetFile(path).num_row_groups == 3
    assert pq.read_table(path).column("cell").to_pylist() == list(range(2500))
