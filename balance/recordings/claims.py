"""A claim on the name of an output: while one command works on it, no other one does.

Beside ``NAME`` there is a folder ``.NAME.balance`` for as long: ``claim`` in it is locked and says
by whom, ``new`` is what is being written, ``old`` what is being replaced.  The lock ends with the
process, so what a killed command leaves is told from the work of a living one, and is put right by
the next command that meets it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from balance.errors import FileError
from balance.recordings.system_calls import exchange, move_to_free, try_lock

SUFFIX, CLAIM, NEW, OLD = ".balance", "claim", "new", "old"
HEAD = b"balance: "
ATTEMPTS, PAUSE_S = 6, 0.02  # one that cleans up holds the lock for a moment


class TakenError(FileError):
    """The name belongs to something else, or another command is writing there."""


class Claim:
    """The right to make or replace ``path``, until :meth:`release`."""

    def __init__(self, path: Path) -> None:
        """Take it, or raise :class:`TakenError`; ``path`` is absolute, without links."""
        self.path = path
        self._work = workspace(path)
        self.new, self._old = self._work / NEW, self._work / OLD
        self._file = self._take()
        try:
            heal(path)
            self._sign()
        except OSError:
            _give_back(self._work, self._file)
            raise

    def _take(self) -> int:
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_S)
            with contextlib.suppress(FileNotFoundError):  # another has just given it back
                file = self._try()
                if file is not None:
                    return file
        raise TakenError(
            f"{self.path} is being written by another command{_holder(self._work)}; wait for it "
            "to end, or choose another name"
        )

    def _try(self) -> int | None:
        self._work.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            self._work.mkdir(mode=0o700)
        if not _is_ours(self._work):
            raise TakenError(
                f"{self.path} cannot be written while {self._work} is there, which is no claim of "
                "this user; choose another name"
            )
        return _locked(self._work, make=True)

    def _sign(self) -> None:
        since = datetime.now().astimezone().isoformat(timespec="seconds")
        os.ftruncate(self._file, 0)
        text = f"process {os.getpid()} on {socket.gethostname()} since {since}\n"
        os.pwrite(self._file, HEAD + text.encode(), 0)

    def fresh(self) -> Path:
        """An empty folder to fill, which nobody sees until :meth:`publish`."""
        _remove(self.new)
        self.new.mkdir(parents=True)
        return self.new

    def publish(self, replace: bool) -> None:
        """Show what was written, whole; without ``replace`` only under a free name.

        A reader sees either the old or the new.  Where two names cannot be swapped there is none
        for a moment; a command killed in that moment leaves what :func:`heal` puts back.
        """
        if not replace or not os.path.lexists(self.path):
            move_to_free(self.new, self.path)
        elif not exchange(self.new, self.path):
            os.rename(self.path, self._old)
            os.rename(self.new, self.path)
            _remove(self._old)

    def publish_file(self, name: str, replace: bool) -> None:
        """The same for one of the files that were written."""
        if replace:
            os.replace(self.new / name, self.path)
        else:
            move_to_free(self.new / name, self.path)

    def discard(self) -> None:
        """Take away what is under the name; in one step, for those who look."""
        _remove(self.new)
        os.rename(self.path, self._old)

    def release(self) -> None:
        """Clean up, and let others claim the name."""
        heal(self.path)
        _give_back(self._work, self._file)

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def workspace(path: Path) -> Path:
    """Where the claim on a name is, and what is being written under it."""
    return path.with_name(f".{path.name}{SUFFIX}")


def numbered(path: Path, suffix: str = "") -> Iterator[Path]:
    """``path``, then ``path-2``, ``path-3`` and so on; a file's ``suffix`` stays at the end."""
    yield path
    for count in itertools.count(2):
        yield path.with_name(f"{path.name.removesuffix(suffix)}-{count}{suffix}")


def heal(path: Path) -> None:
    """Put right what the holder of a claim left when it ended, however it ended.

    Only for who holds the claim.  As long as ``new`` is there beside ``old``, the old result has
    not been replaced: it goes back to its name, or a free one if somebody has taken that meanwhile.
    """
    new, old = workspace(path) / NEW, workspace(path) / OLD
    if os.path.lexists(old) and os.path.lexists(new):
        for name in numbered(path):
            with contextlib.suppress(FileExistsError):
                move_to_free(old, name)
                break
    _remove(old)
    _remove(new)


def recover(path: Path) -> None:
    """Put right what a killed command left under a name; nothing if there is nothing to do."""
    work = workspace(Path(os.path.realpath(path)))
    with contextlib.suppress(OSError):
        if not os.path.isdir(work) or not _is_ours(work):
            return
        file = _locked(work, make=False)
        if file is not None:
            heal(work.with_name(work.name[1 : -len(SUFFIX)]))
            _give_back(work, file)
        work.rmdir()  # if it is empty


def sweep(parent: Path) -> None:
    """Put right what killed commands left in a folder, under whatever name."""
    with contextlib.suppress(OSError):
        for work in parent.glob(f".*{SUFFIX}"):
            recover(work.with_name(work.name[1 : -len(SUFFIX)]))


def _is_ours(work: Path) -> bool:
    """A folder of this user, with nothing in it but what a claim has."""
    found = work.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return False
    names = {entry.name for entry in work.iterdir()}
    if not names <= {CLAIM, NEW, OLD}:
        return False
    if CLAIM not in names:
        return not names
    return _signature(work).startswith(HEAD) or _signature(work) == b""


def _signature(work: Path) -> bytes:
    try:
        with open(work / CLAIM, "rb") as file:
            return file.read(200)
    except FileNotFoundError:  # given back meanwhile
        return b""


def _holder(work: Path) -> str:
    text = _signature(work).removeprefix(HEAD).decode(errors="replace").strip()
    return f" ({text})" if text else ""


def _locked(work: Path, make: bool) -> int | None:
    """The claim file, open and locked; None if another process has it, or has just removed it."""
    made = False
    try:
        file = os.open(work / CLAIM, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if not make:
            return None
        try:
            file = os.open(work / CLAIM, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except (FileExistsError, FileNotFoundError):
            return None
        made = True
    lock = try_lock(file)
    # Where nothing can be locked, whoever made the file has the claim until it is removed.
    if (made if lock is None else lock) and _is_still(file, work / CLAIM):
        return file
    os.close(file)
    return None


def _is_still(file: int, path: Path) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


def _give_back(work: Path, file: int) -> None:
    with contextlib.suppress(OSError):
        # What could not be removed stays recognisable, for the next command to try.
        if not os.path.lexists(work / NEW) and not os.path.lexists(work / OLD):
            (work / CLAIM).unlink(missing_ok=True)
    os.close(file)
    with contextlib.suppress(OSError):
        work.rmdir()


def _remove(path: Path) -> None:
    if os.path.islink(path) or os.path.isfile(path):
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
