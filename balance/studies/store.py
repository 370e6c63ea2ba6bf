"""The folder of a study: its definition, and a log to which every finished run is added at once.

A line of the log is the CRC-32 of a row and the row as JSON.  A line that was cut off by a crash or
a full disk does not match its sum and counts as not written; its run is repeated.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import balance
from balance.errors import BalanceError, FileError
from balance.recordings.atomic_writes import write_atomically
from balance.recordings.claims import Claim, sweep
from balance.recordings.outputs import STUDY
from balance.recordings.system_calls import try_lock

DEFINITION, LOG, LOCK = "study.json", "runs.log", ".lock"
Row = dict[str, Any]
"""A finished run: ``key`` names it; the rest are columns of the table."""


class StudyStoppedError(BalanceError):
    """A study ended early through nobody's mistake; the same command goes on where it stopped."""

    exit_code = 1


class StudyFolder:
    """A study on disk, open for one command at a time."""

    def __init__(self, path: Path, kind: str, definition: Mapping[str, Any]) -> None:
        """Open the study in ``path``, or make it; another study's folder is refused."""
        self.path = path
        self._offsets: dict[str, int] = {}
        wanted = {"kind": kind, "balance": balance.__version__, **definition}
        wanted = json.loads(json.dumps(wanted))  # tuples become lists, as in the file
        # Not sorted: the order of axes and cases numbers the cells.
        fingerprint = hashlib.sha256(json.dumps(wanted).encode()).hexdigest()
        try:
            sweep(path.absolute().parent)
            path.mkdir(parents=True, exist_ok=True)
            self._check(wanted, fingerprint)
            self._lock = _claim(path)
            self._check(wanted, fingerprint)  # another may have made it before the lock was ours
            if not (path / DEFINITION).exists():
                text = json.dumps({"fingerprint": fingerprint, **wanted}, indent=2)
                write_atomically(path / DEFINITION, text.encode())
            self._end = 0
            # Unbuffered: what could not be written must not linger and be written later.
            self._writer: FileIO = open(path / LOG, "ab", buffering=0)  # noqa: SIM115
            self._reader: BinaryIO = open(path / LOG, "rb")  # noqa: SIM115
            self._index()
        except OSError as error:
            raise FileError(f"cannot open the study folder {path}: {error.strerror}") from None

    def _check(self, wanted: Row, fingerprint: str) -> None:
        file = self.path / DEFINITION
        if not file.exists():
            if any(not entry.name.startswith(".") for entry in self.path.iterdir()):
                raise FileError(
                    f"{self.path} is not empty and not a study of balance; choose another folder "
                    "with --out"
                )
            return
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise FileError(f"{file} is damaged; choose another folder with --out")
        if found.pop("fingerprint", None) != fingerprint:
            differ = [key for key in wanted if found.get(key) != wanted[key]]
            verb = "differ" if len(differ) > 1 else "differs"
            raise FileError(
                f"{self.path} holds another study ({', '.join(differ or ['something'])} {verb}); "
                "choose another folder with --out, or give --overwrite to start it anew"
            )

    def _index(self) -> None:
        """Find the rows of the log; cut off what a crash left half written at its end."""
        for line in self._reader:
            if not line.endswith(b"\n"):
                break
            row = _parse(line)
            if row is not None:
                self._offsets[row["key"]] = self._end
            self._end += len(line)
        self._writer.truncate(self._end)

    def append(self, row: Row) -> None:
        """Add a finished run; when this returns it is on the disk."""
        line = _line(row)
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._writer.write(rest) :]
            os.fsync(self._writer.fileno())
        except OSError as error:
            self._writer.truncate(self._end)
            raise self.stopped(f"cannot write to {self.path / LOG}: {error.strerror}") from None
        self._offsets[row["key"]] = self._end
        self._end += len(line)

    def stopped(self, why: str) -> StudyStoppedError:
        """What to raise when the study cannot go on."""
        return StudyStoppedError(
            f"{why}; the {len(self)} finished runs in {self.path} are kept, and the same command "
            "goes on from there"
        )

    def get(self, key: str) -> Row | None:
        """The finished run of this key."""
        offset = self._offsets.get(key)
        if offset is None:
            return None
        self._reader.seek(offset)
        return _parse(self._reader.readline())

    def rows(self, keys: Iterable[str] | None = None) -> Iterator[Row]:
        """Finished runs, one at a time, in the order of ``keys`` or as they finished."""
        for key in list(self._offsets) if keys is None else keys:
            row = self.get(key)
            if row is not None:
                yield row

    def __contains__(self, key: object) -> bool:
        return key in self._offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def close(self) -> None:
        """Let others open the folder."""
        self._reader.close()
        self._writer.close()
        self._lock.close()

    def __enter__(self) -> StudyFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _claim(path: Path) -> BinaryIO:
    """A lock on the folder that ends with the process, however it ends."""
    lock = open(path / LOCK, "ab")  # noqa: SIM115
    # Locked, and still the lock of this folder: it may have been replaced while we waited.
    if (
        try_lock(lock.fileno()) is False
        or not os.path.exists(path / LOCK)
        or not (os.path.samestat(os.fstat(lock.fileno()), (path / LOCK).stat()))
    ):
        lock.close()
        raise FileError(f"{path} is in use by another command; wait for it to end")
    return lock


def _line(row: Row) -> bytes:
    body = json.dumps(row, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _parse(line: bytes) -> Row | None:
    """The row of a line; None if the line is damaged."""
    head, _, body = line.rstrip(b"\n").partition(b" ")
    try:
        if int(head, 16) != zlib.crc32(body):
            return None
        row: Row = json.loads(body)
    except ValueError:
        return None
    return row


def check_removable(path: Path) -> None:
    """Raise if there is anything in ``path`` but a study that no command uses."""
    begun = {LOCK, f".{DEFINITION}.part"}  # all that a command killed at its start leaves
    if path.is_dir() and {entry.name for entry in path.iterdir()} <= begun:
        return
    STUDY.check_replaceable(path)
    with _claim(path):
        pass


def remove_study(path: Path) -> None:
    """Delete the folder of a study that no command uses, and nothing else."""
    if not path.exists():
        return
    try:
        check_removable(path)
        # Out of sight in one step: a command that is killed leaves no half of a study.
        with Claim(Path(os.path.realpath(path))) as claim, _claim(path):
            claim.discard()
    except OSError as error:
        raise FileError(f"cannot remove {path}: {error.strerror}") from None
